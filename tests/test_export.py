"""A session as JSON, Markdown and HTML, from every kind of step."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.domain import Decision, Outcome, Point, Settings, Task
from core.engine import Finished
from core.export import document, to_html, to_json, to_markdown
from core.history import tell
from core.sessions import Session
from core.steps import Step
from core.strategies import self_refine
from tests.driving import PlainWords, Script, drive
from tests.values import TASK, recipe

SETTINGS = Settings(rounds=1, scorers=("s",), gate_scorer="s", patience=0)
SCORES: dict[str, float | None] = {"a": 1.0, "b": 2.0, "mine": 3.0}


def by(ruling: str, **more: object) -> Decision:
    return Decision(ruling, "Anna", **more)  # type: ignore[arg-type]


def session(
    rulings: list[Decision], texts: list[str] | None = None, task: Task = TASK
) -> tuple[Session, Outcome]:
    """A session of one round with these rulings, and how it ended."""
    script = Script(texts or ["a", "p", "b"], dict(SCORES), rulings)
    outcome, steps = drive(self_refine(task, PlainWords(), SETTINGS), script.answer)
    made = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    return Session("ID", "A title", made, task, recipe(), "ask", tuple(steps)), outcome


def markdown(of: Session, outcome: Outcome | None) -> str:
    return to_markdown(of, outcome, tell(of.steps, (), source=of.task.input))


def page(of: Session, outcome: Outcome | None) -> str:
    return to_html(of, outcome, tell(of.steps, (), source=of.task.input))


def headings(text: str) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", found) for found in re.findall("^## (.*)$", text, re.M)]


def test_the_document_holds_all_that_is_kept() -> None:
    kept, outcome = session([by("accept"), by("accept")])
    kept = replace(kept, parent=("OTHER", 3), problem="")
    made = document(kept, Finished(len(kept.steps), outcome), tell(kept.steps, (), source=""))
    read = json.loads(to_json(made))
    assert (read["session"], read["parent"], read["mode"]) == ("ID", ["OTHER", 3], "ask")
    assert read["created_at"] == "2026-01-02T03:04:00+00:00"
    assert [s["position"] for s in read["steps"]] == list(range(len(kept.steps)))
    assert [s["request"]["kind"] for s in read["steps"]] == [s.request.kind for s in kept.steps]
    assert read["steps"][3]["answer"]["decision"]["by"] == "Anna"
    assert read["recipe"]["settings"]["rounds"] == kept.recipe.settings.rounds
    assert read["outcome"]["draft"]["text"] == "b" and read["spent"]["calls"] == 3


def test_a_session_that_has_not_ended_has_no_outcome() -> None:
    kept, _ = session([by("accept"), by("accept")])
    made = document(kept, None, tell(kept.steps[:2], (), source=""))
    assert made["outcome"] is None
    assert headings(markdown(kept, None))[-1] == "Not ended"
    assert "out of reach" in markdown(replace(kept, problem="out of reach"), None)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_no_json(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json({"x": number})


def test_json_is_one_line_to_every_reader_of_lines() -> None:
    text = to_json({"x": "a\u2028b\u2029c\u0085d\x0be 🌍"})
    assert text.isascii() and len(text.splitlines()) == text.count("\n") + 1
    assert json.loads(text) == {"x": "a\u2028b\u2029c\u0085d\x0be 🌍"}


def test_passages_come_in_the_order_of_the_session() -> None:
    kept, outcome = session([by("accept"), by("accept")])
    expected = ["Task", "First draft", "Round 1: critique", "Round 1: revision", "Outcome"]
    text = markdown(kept, outcome)
    assert headings(text) == expected
    assert re.findall("<h2>(.*?)</h2>", page(kept, outcome)) == expected
    assert "Ruled on by Anna\\." in text and "accept by Anna" in text
    assert "s 2 against 1" in text.replace("\\", "")


def test_everything_a_person_wrote_is_there() -> None:
    points = (Point("too sweet", "less sugar", "honey", by="Anna"),)
    kept, outcome = session([by("accept", points=points), by("edit", text="mine")])
    text = markdown(kept, outcome)
    assert headings(text)[2:5] == ["Round 1: critique", "Round 1: points agreed on", "Round 1: revision"]
    assert headings(text)[5] == "Round 1: written by Anna"
    assert "honey too sweet less sugar" in text and "```text\nmine\n```" in text
    assert "s 3" in text.replace("\\", "")


def test_a_draft_written_at_its_critique_and_a_note_are_there() -> None:
    rulings = [by("edit", text="mine"), by("accept"), by("retry", note="more salt"), by("reject", why="dull")]
    kept, outcome = session(rulings, ["a", "p", "q", "b", "c"])
    text = markdown(kept, outcome).replace("\\", "")
    assert "## Round 1: written by Anna" in text and "```text\nmine\n```" in text
    assert "more salt" in text and "dull" in text
    assert text.count("## Round 1: revision") == 2


def test_a_session_without_a_draft_says_so() -> None:
    kept, outcome = session([], ["", ""])
    assert outcome.draft is None or outcome.draft.text == ""
    assert "the model gave no text, twice" in markdown(kept, outcome)
    assert "the model gave no text, twice" in page(kept, outcome)


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```",
        "~~~\n`````` six\n~~~",
        "\n\nstarts with lines",
        "ends with lines\n\n",
        "a\r\nb\rc",
        "</pre><script>x</script>&lt;b&gt;&amp;",
        "$title $body ${x} $$ %s {0}",
        "مرحبا 👩‍👩‍👧 한국어",
    ],
)
def test_every_text_is_there_to_the_letter(text: str) -> None:
    kept, outcome = session([], [text, "done"], Task(text, instruction="x"))
    fence = re.search(r"^(`{3,})text$", markdown(kept, outcome), re.M)
    assert fence is not None
    block = f"\n{fence[1]}text\n{text}\n{fence[1]}\n"
    assert fence[1] not in text and markdown(kept, outcome).count(block) >= 2
    bodies = re.findall(r"<pre>\n(.*?)</pre>", page(kept, outcome), re.S)
    assert len(bodies) >= 3 and "<script>" not in page(kept, outcome)
    assert "\r" not in page(kept, outcome)
    assert unescaped(bodies[0]) == text


def unescaped(markup: str) -> str:
    """What a reader of HTML makes of text without tags."""
    assert "<" not in markup
    named = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "#x27": "'", "#13": "\r"}
    return re.sub("&([^;]*);", lambda found: named[found[1]], markup)


@pytest.mark.parametrize(
    "title", ["<b>x</b>", "# x", "[a](javascript:b)", "a|b", "&lt;", "*x* _y_ `z`", "$body"]
)
def test_a_title_is_only_text(title: str) -> None:
    kept, outcome = session([by("accept"), by("accept")])
    kept = replace(kept, title=title)
    first = markdown(kept, outcome).splitlines()[0]
    assert re.sub(r"\\(.)", r"\1", first) == f"# {title}"
    assert re.search(r"(?<!\\)[][<>|&*_`$]", first) is None
    titles = re.findall("<title>(.*?)</title>|<h1>(.*?)</h1>", page(kept, outcome))
    assert [unescaped("".join(found)) for found in titles] == [title, title]


def test_a_page_of_an_unended_session_is_made_from_any_beginning() -> None:
    kept, _ = session([by("accept"), by("retry", note="n"), by("accept")], ["a", "p", "b", "c"])
    for count in range(len(kept.steps)):
        steps: tuple[Step, ...] = kept.steps[:count]
        part = replace(kept, steps=steps)
        story = tell(steps, (kept.steps[count].request,), source="")
        assert "Not ended" in to_html(part, None, story)
        assert "## Not ended" in to_markdown(part, None, story)
