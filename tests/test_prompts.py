"""The requests made from a preset, and how the replies to them are read."""

from __future__ import annotations

import pytest

from core.domain import Message, Point, Task
from core.preset_templates import last_turns
from core.presets import PresetError, Prompts, load_preset
from core.ratings import parse_ratings
from tests.small_preset import HOSTILE, RICH, SMALL

TASK = Task(input="A text.", instruction="shorten")


def prompts(text: str = SMALL) -> Prompts:
    return Prompts(load_preset(text))


def test_the_head_of_the_chat() -> None:
    head = prompts().system_and_task(TASK)
    assert head == (
        Message("system", "You edit."),
        Message("user", "Do: cut\nLong text."),
        Message("assistant", "Text."),
        Message("user", "Do: shorten\nA text."),
    )
    thought = prompts().system_and_task(TASK, step_by_step=True)
    assert thought == (Message("system", "You edit."), Message("user", "Think first. A text."))
    plain = SMALL.replace('  draft_step_by_step: "Think first. {{ input }}"\n', "")
    assert prompts(plain).system_and_task(TASK, step_by_step=True) == head


@pytest.mark.parametrize("text", HOSTILE)
def test_what_people_type_stays_literal(text: str) -> None:
    task = Task(input=text, instruction=text)
    assert prompts().system_and_task(task)[-1].content == f"Do: {text}\n{text}"
    assert prompts().revise_request(task, feedback="none", points=(), note=text) == f"Again, and {text}."
    asked = prompts().critique_request(task, feedback="generic", kept_reason=text, current=text)
    assert asked == f"Not kept: {text}. Now: {text}\n\nCould it be better?"


def test_feedback_chooses_the_request() -> None:
    made = prompts()
    assert made.critique_request(TASK, feedback="specific").startswith("What is wrong?")
    assert made.critique_request(TASK, feedback="generic") == "Could it be better?"
    with pytest.raises(ValueError, match="no critique"):
        made.critique_request(TASK, feedback="none")
    assert made.revise_request(TASK, feedback="none", points=()) == "Again, none."


def test_a_template_that_fails_for_this_task_alone_is_a_preset_error() -> None:
    made = prompts(SMALL.replace("Again, {{ feedback }}", "Again, {{ 1 // (input | length - 7) }}"))
    with pytest.raises(PresetError, match="small: a template can't be filled in"):
        made.revise_request(Task("1234567"), feedback="none", points=())


POINTS = (
    Point("too long", "cut it", "at this point", "major"),
    Point("dull"),
    Point("misspelt", "the", "teh", "minor"),
    Point("It drags", "shorten the middle"),
)


def test_rendered_points_read_back_as_the_same_points() -> None:
    made = prompts()
    assert made.read_critique(TASK, made.render_points(POINTS)).points == POINTS
    assert made.render_points(()) == ""


def test_a_rendered_point_stays_on_its_line_and_in_its_columns() -> None:
    assert prompts().render_points([Point("a|b\nc", "d", "e\n|f")]) == '- "e /f" | a/b c | d'


def test_the_example_of_the_request_is_no_point() -> None:
    echo = '- "some words" | their fault | better words'
    read = prompts().read_critique(TASK, f"{echo}\n- dull | liven it\nVERDICT: revise")
    assert read.points == (Point("dull", "liven it"),)
    assert read.done is False


def test_a_judge_sees_task_and_text_alone() -> None:
    (turn,) = prompts(RICH).judge_prompt(TASK, "Its text.")
    assert turn.role == "user"
    for part in (
        "Do: shorten\nA text.",
        "Its text.",
        "plain words, from 0 to 10: Are they?",
        "from 1 to 5: Is it?",
    ):
        assert part in turn.content
    assert turn.content.endswith(
        "plain words: NUMBER | REASON\nshort: NUMBER | REASON\nTOTAL: SUM OF THE NUMBERS"
    )
    assert "You edit." not in turn.content and "Long text." not in turn.content
    with pytest.raises(ValueError, match="no rubric"):
        prompts().judge_prompt(TASK, "Its text.")


def test_the_forms_of_the_requests_are_no_answers() -> None:
    made = prompts(RICH)
    rubric = made.preset.rubric
    assert rubric is not None
    echoed = parse_ratings(made.judge_prompt(TASK, "x")[0].content, rubric)
    assert (echoed.values, echoed.stated_total) == ((None, None), None)
    assert made.read_audit(made.audit_request(TASK, POINTS), 4) == (None,) * 4


def test_a_synthesis_names_each_text_with_its_count() -> None:
    asked = prompts().synthesis_request(TASK, [("One.", 1), ("Two.", 3)])
    assert "[Answer 1]\nOne." in asked and "[Answer 2, given 3 times]\nTwo." in asked
    assert "all of them are wrong" in asked
    single = prompts().synthesis_request(TASK, [("One.", 4)])
    assert "[Answer 1, given 4 times]\nOne." in single
    assert "Compare" not in single and "Answer 2" not in single


def test_an_audit_numbers_the_points() -> None:
    asked = prompts().audit_request(TASK, POINTS)
    assert '1. [major] "at this point" | too long | cut it\n2. dull\n' in asked
    assert "4. It drags" in asked


def test_a_presets_own_words_for_judge_synthesis_and_audit() -> None:
    own = """\
  judge: "J {{ text }} {% for one in dimensions %}{{ one.name }}/{{ one.high }} {% endfor %}"
  synthesise: "S {% for one in candidates %}{{ one.count }}x{{ one.text }} {% endfor %}"
  audit: "A {{ points | length }}"
  kept:"""
    made = prompts(RICH.replace("  kept:", own, 1))
    assert made.judge_prompt(TASK, "t")[0].content == "J t plain words/10 short/5 "
    assert made.synthesis_request(TASK, [("a", 1), ("b", 2)]) == "S 1xa 2xb "
    assert made.audit_request(TASK, POINTS) == "A 4"


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_stay_literal_for_judges_and_syntheses_too(text: str) -> None:
    made, task = prompts(RICH), Task(input=text, instruction=text)
    judged = made.judge_prompt(task, text)[0].content
    assert judged.count(text.strip()) >= 3
    assert f"\n{text}\n" in made.synthesis_request(task, [(text, 2), ("b", 1)])
    listed = " ".join(text.split()).replace("|", "/")
    assert f"\n1. {listed}\n" in made.audit_request(task, [Point(text)])


def test_a_stop_rule_of_none_hears_no_verdict() -> None:
    assert prompts(RICH).read_critique(TASK, "VERDICT: done").done is None
    assert prompts().read_critique(TASK, "VERDICT: done").done is True


def test_one_point_keeps_the_first() -> None:
    made = prompts(SMALL.replace("fields:", "parse: one_point\nfields:"))
    echo = '- "some words" | their fault | better words'
    read = made.read_critique(TASK, f"{echo}\n- a | b\n- c | d")
    assert read.points == (Point("a", "b"),)
    prose = "The loop is hard to follow.\nName what it counts."
    assert made.read_critique(TASK, prose).points == (Point(prose),)


def test_words_that_are_missing_are_found_in_code() -> None:
    made = prompts(SMALL.replace("fields:", "parse: concepts_and_points\nfields:"))
    task = Task(input="dog, run, ball")
    read = made.read_critique(task, '- "It is." | dull | more life\nVERDICT: done', "It is. The dogs ran.")
    assert read.points == (
        Point("missing: ball", "use it", by="the word check"),
        Point("dull", "more life", "It is."),
    )
    assert read.done is False
    whole = "The dogs ran after balls."
    assert made.read_critique(task, "VERDICT: done", whole).done is True
    assert made.read_critique(task, "VERDICT: revise", whole).done is False
    assert made.read_critique(task, "It is nice.", whole).done is None
    assert made.read_critique(task, "VERDICT: done").done is None


def test_a_revision_is_told_which_words_are_missing_still() -> None:
    made = prompts(SMALL.replace("Again, {{ feedback }}.", "Use {{ missing }}."))
    points = (Point("missing: ball", "use it", by="the word check"), Point("dull"))
    assert made.revise_request(TASK, feedback="specific", points=points) == "Use ball."
    assert made.revise_request(TASK, feedback="specific", points=points[1:]) == "Use ."


def test_a_point_that_begins_as_the_requests_example_is_none() -> None:
    echo = '- "some words" | their fault | better words\nThe revised version is:'
    assert prompts().read_critique(TASK, echo).points == ()


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("A: 1\nB: 2\nA: 3", "B: 2\nA: 3"),
        ("A: 1\nB: 2\nand more\n\nA: 3", "B: 2\nand more\n\nA: 3"),
        ("1\n2\n3", "2\n3"),
        ("A: 1", "A: 1"),
        ("", ""),
    ],
)
def test_the_last_turns_of_a_conversation(text: str, last: str) -> None:
    assert last_turns(text, 2) == last
