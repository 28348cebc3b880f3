"""The routes of the session view, asked over HTTP in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.domain import Completion, Decision, Message, Sampling, Score, Task, Usage
from core.models.protocol import Reply
from core.steps import Ask, Measure, Measured, Replied, Step
from tests.benches import Bench
from tests.played import FIRST, OWN, PERSON, SECOND, THIRD, bench_in, played
from tests.values import TASK, recipe, step
from ui.guard import Guard
from ui.session_view_routes import MOST_PLAYED, session_view_routes

HOSTILE = "<script>alert(1)</script> ${x} {{y}} \u202eabc"


def ask(bench: Bench, session_id: str, what: str) -> tuple[int, Any]:
    """The status and the JSON of an answer."""

    async def get() -> tuple[int, Any]:
        app = FastAPI()
        app.add_middleware(Guard)
        app.include_router(session_view_routes(bench))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
            answer = await web.get(f"/api/sessions/{session_id}/{what}")
            return answer.status_code, answer.json()

    return asyncio.run(get())


def found(bench: Bench, session_id: str, what: str) -> Any:
    status, answer = ask(bench, session_id, what)
    assert status == 200, answer
    return answer


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_in(tmp_path)


def test_the_timeline_has_a_line_a_step_and_no_prompt(bench: Bench) -> None:
    view = found(bench, played(bench), "timeline")
    titles = [line["title"] for line in view["steps"]]
    assert titles[:4] == ["Draft", "Scores", "Critique", "Decision on the critique"]
    assert titles[4:7] == ["Revision", "Scores", "Decision on the revision"]
    assert view["steps"][6]["who"] == PERSON and "Accepted in part (1 change)" in view["steps"][6]["excerpt"]
    assert view["steps"][1]["excerpt"] == "logprob -3"
    assert [text["step"] for text in view["texts"]] == [0, 4, 6, 10, 12]
    assert (view["preset"], view["state"].split(".")[0]) == ("rewrite", "Ended: the rounds are used up")
    assert "messages" not in str(view) and "prompt'" not in str(view)


def test_a_step_shows_the_prompt_exactly_as_it_was_sent(bench: Bench) -> None:
    session_id = played(bench)
    sent = bench.store.load(session_id).steps[4].request
    assert isinstance(sent, Ask)
    view = found(bench, session_id, "steps/4")
    assert view["prompt"] == [{"role": m.role, "content": m.content} for m in sent.messages]
    assert view["parts"] == [{"heading": "Reply", "text": SECOND}]
    assert ["temperature", "0.7"] in view["facts"] and ["ended", "ended by itself"] in view["facts"]


def test_a_step_tells_notes_cuts_seeds_and_what_was_stopped(bench: Bench) -> None:
    session_id = bench.store.create(TASK, recipe(), "auto", title="t")
    sampling = Sampling(temperature=0.0, seed=7, max_tokens=9)
    asked = Ask("draft", 0, (Message("user", HOSTILE),), sampling, notes=("an earlier draft was left out",))
    cut = Reply(
        (Completion("I wrote", "length", thinking="hm"),), Usage(3, 2, 1), 1.5, "big-7b", ("retried",)
    )
    bench.store.append(session_id, 0, Step(asked, Replied(cut, stopped_by="Ben", money=0.25)))
    view = found(bench, session_id, "steps/0")
    assert view["prompt"][0]["content"] == HOSTILE
    remarks = ["an earlier draft was left out", "retried", "cut off at the limit of tokens"]
    assert view["notes"][:3] == view["remarks"][:3] == remarks and view["notes"][-1] == "stopped by Ben"
    assert ["seed", "7"] in view["facts"] and ["the server calls it", "big-7b"] in view["facts"]
    assert [part["heading"] for part in view["parts"]] == ["Thinking", "Reply"]
    figures = ("prompt_tokens", "completion_tokens", "cached_tokens", "seconds", "money")
    assert [view[name] for name in figures] == [3, 2, 1, 1.5, 0.25]


def test_scores_come_with_their_reasons_and_the_judges_replies(bench: Bench) -> None:
    session_id = bench.store.create(TASK, recipe(), "auto", title="t")
    bench.store.append(session_id, 0, step(answer="A text."))
    judged = Score(
        "judge", 7.0, notes=("clear: 4, as it is short",), replies=("Clear: 4",), details=(("clear", 4.0),)
    )
    measure = Measure(("judge",), 0, TASK, (), ("A text.",))
    bench.store.append(session_id, 1, Step(measure, Measured(((judged,),))))
    (part,) = found(bench, session_id, "steps/1")["parts"]
    assert part["scores"][0]["notes"] == ["clear: 4, as it is short"]
    text = found(bench, session_id, "texts?step=0")
    assert text["reasons"][0]["replies"] == ["Clear: 4"]
    assert [score["label"] for score in text["draft"]["scores"]][-1] == "judge"


def test_any_text_is_compared_with_any_other(bench: Bench) -> None:
    session_id = played(bench)
    view = found(bench, session_id, "texts?step=12&against=0")
    old = "".join(c for kind, _, marks in view["pieces"] if kind != "added" for c, _ in marks)
    new = "".join(c for kind, _, marks in view["pieces"] if kind != "removed" for c, _ in marks)
    assert (old, new, view["draft"]["by"]) == (FIRST, OWN, PERSON)
    assert [s["change"] for s in view["draft"]["scores"]] == [1.5]
    back = found(bench, session_id, "texts?step=0&against=12")
    assert back["draft"]["text"] == FIRST
    assert found(bench, session_id, "texts?step=10")["pieces"] is None
    assert found(bench, session_id, "texts?step=10&against=10")["pieces"] is None


def test_the_evolution_joins_to_the_texts_that_stood(bench: Bench) -> None:
    view = found(bench, played(bench), "evolution")
    assert ["".join(text for _, text in frame["runs"]) for frame in view["frames"]][-1] == OWN
    assert [(f["step"], f["how"], f["by"]) for f in view["frames"]] == [
        (0, "first draft", "scripted"), (6, "accepted in part", PERSON), (12, "written", PERSON),
    ]  # fmt: skip
    person = next(i for i, author in enumerate(view["authors"]) if author["person"])
    assert "".join(text for by, text in view["frames"][-1]["runs"] if by == person) == "our waiter"


def test_of_very_long_texts_the_last_are_played(tmp_path: Path) -> None:
    long, longer = "a" * MOST_PLAYED, "b" * 10
    bench = Bench(
        tmp_path, [long, '- [major] "a" | x | y\nVERDICT: revise', longer], scores={long: -1.0, longer: -1.0}
    )
    rulings = (Decision("accept", PERSON), Decision("accept", PERSON))
    session_id = played(bench, rulings, recipe_of_one_round())
    view = found(bench, session_id, "evolution")
    assert (view["left_out"], len(view["frames"])) == (1, 1)


def recipe_of_one_round() -> Any:
    from tests.benches import recipe as made

    return made(rounds=1)


@pytest.mark.parametrize("what", ["steps/99", "steps/-1", "texts?step=1", "texts?step=0&against=99"])
def test_what_there_is_not_is_said(bench: Bench, what: str) -> None:
    status, answer = ask(bench, played(bench), what)
    assert status == 404 and "reload the page" in answer["error"]


@pytest.mark.parametrize("what", ["timeline", "steps/0", "texts?step=0", "evolution"])
def test_an_unknown_session_is_said(bench: Bench, what: str) -> None:
    status, answer = ask(bench, "nothing", what)
    assert status == 404 and "There is no session 'nothing'" in answer["error"]


def test_a_session_without_steps_and_a_preset_that_is_broken(bench: Bench) -> None:
    empty = found(bench, bench.new(), "timeline")
    assert (empty["steps"], empty["texts"], empty["state"]) == ([], [], "Not ended.")
    broken = bench.store.create(Task(HOSTILE), recipe(preset="name: [x"), "auto", title=HOSTILE)
    bench.store.append(broken, 0, step(answer=THIRD))
    view = found(bench, broken, "timeline")
    assert view["title"] == HOSTILE and view["texts"] == [{"step": 0, "name": "First draft"}]
