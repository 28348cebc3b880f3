"""The presets that come with Redraft: whole, worded alike round by round, reading what models write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import Feedback, Point, Task
from core.models.protocol import Capabilities
from core.preset_preview import preview
from core.presets import BUILT_IN, Preset, Prompts, find_presets, load_preset, read_preset
from core.ratings import parse_ratings
from core.recipes import Wishes, make_recipe
from core.scoring.catalog import SCORERS
from core.scoring.coverage import coverage, read_concepts
from core.scoring.math_equivalence import MathEquivalence
from core.scoring.program import read_cases
from tests.small_preset import HOSTILE

NAMES = sorted(find_presets(BUILT_IN))
FEEDBACKS: tuple[Feedback, ...] = ("specific", "generic", "none")
CAN = Capabilities(True, True, True, True, True, True)
TASK = Task("UNIQUE INPUT", "UNIQUE INSTRUCTION", "UNIQUE REFERENCE", "neutral")
each = pytest.mark.parametrize("name", NAMES)


def preset(name: str) -> Preset:
    return read_preset(BUILT_IN / f"{name}.yaml")


def prompts(name: str) -> Prompts:
    return Prompts(preset(name))


def asked_of(name: str, task: Task) -> str:
    """Everything that is asked of models about a task."""
    return "\n".join(words for _, words in preview(preset(name).text, task))


def test_the_presets_there_are() -> None:
    assert NAMES == ["acronym", "code_optimisation", "code_readability", "constrained_generation",
                     "dialogue_response", "math_reasoning", "rewrite", "sentiment_reversal"]  # fmt: skip


@each
def test_a_built_in_preset_is_whole(name: str) -> None:
    found = preset(name)
    assert found.name == name
    assert load_preset(found.text) == found
    assert found.description and 1 <= len(found.page_examples) <= 3
    assert found.draft_max_tokens and found.critique_max_tokens
    assert found.scorers and found.scorers[-1] in SCORERS


@each
def test_what_the_table_says(name: str) -> None:
    found = preset(name)
    highest = found.rubric.highest if found.rubric else None
    told = (found.stop, found.rounds, found.history, found.scorers[0], found.verifier, highest)
    assert told == {
        "rewrite": ("verdict", 3, "full", "judge", "", 40),
        "sentiment_reversal": ("label", 4, "full", "label", "", None),
        "dialogue_response": ("none", 3, "full", "judge", "", 30),
        "acronym": ("none", 5, "by_score", "judge", "", 25),
        "code_optimisation": ("verdict", 4, "latest", "speed", "unit_tests", None),
        "code_readability": ("none", 5, "latest", "readability", "", None),
        "math_reasoning": ("verdict", 4, "full", "math_equivalence", "", None),
        "constrained_generation": ("complete", 5, "full", "judge", "coverage", 30),
    }[name]  # fmt: skip


@each
def test_requests_of_a_round_repeat_no_text_and_stay_the_same(name: str) -> None:
    made = prompts(name)
    for feedback in FEEDBACKS[:2]:
        asked = made.critique_request(TASK, feedback=feedback)
        again = made.revise_request(TASK, feedback=feedback, points=[Point("UNIQUE POINT")])
        assert "UNIQUE" not in asked + again
        assert again == made.revise_request(TASK, feedback=feedback, points=())
        told = made.critique_request(TASK, feedback=feedback, kept_reason="the score fell", current="NOW")
        assert told.endswith(asked) and "the score fell" in told and "NOW" in told
        noted = made.revise_request(TASK, feedback=feedback, points=(), note="Keep the name.")
        assert "Keep the name." in noted


@each
def test_feedback_specific_is_worded_apart_and_asks_for_the_text_alone(name: str) -> None:
    made = prompts(name)
    specific, generic, none = (
        made.revise_request(TASK, feedback=feedback, points=()) for feedback in FEEDBACKS
    )
    assert "above" in specific and "above" not in none
    assert generic == none
    assert "alone: no remarks" in specific and "alone: no remarks" in none
    assert made.critique_request(TASK, feedback="specific") != made.critique_request(TASK, feedback="generic")


@each
def test_the_verdict_is_asked_for_where_it_is_heard(name: str) -> None:
    words = {"verdict": "VERDICT: done", "complete": "VERDICT: done", "label": "LABEL:", "none": ""}
    for feedback in FEEDBACKS[:2]:
        asked = prompts(name).critique_request(TASK, feedback=feedback)
        assert words[preset(name).stop] in asked
        assert ("VERDICT" in asked) == (preset(name).stop in ("verdict", "complete"))


@each
def test_every_head_ends_with_the_users_task(name: str) -> None:
    found = preset(name)
    for task in found.page_examples:
        head = Prompts(found).system_and_task(task)
        assert task.input in head[-1].content
        turns = [turn.role for turn in head[1:]]
        assert turns == ["user", "assistant"] * len(found.examples) + ["user"]
        stepwise = Prompts(found).system_and_task(task, step_by_step=True)
        assert stepwise[-1].role == "user" and task.input in stepwise[-1].content


@each
def test_no_model_sees_the_reference(name: str) -> None:
    assert "UNIQUE REFERENCE" not in asked_of(name, TASK)
    assert "UNIQUE INPUT" in asked_of(name, TASK)


@each
@pytest.mark.parametrize("text", HOSTILE)
def test_what_people_type_stays_literal(name: str, text: str) -> None:
    made, task = prompts(name), Task(f"a{text}z", f"b{text}y")
    assert f"a{text}z" in made.system_and_task(task)[-1].content
    assert text in made.revise_request(task, feedback="specific", points=(), note=text)
    assert text in made.synthesis_request(task, [(text, 1), ("other", 2)])
    if made.preset.rubric:
        assert text in made.judge_prompt(task, text)[0].content


SLOPPY = '**Here are my thoughts:**\n\n1. [Major] "so bad": too harsh -> "not good"\n2. dull | liven it up'


@each
def test_a_good_and_a_sloppy_critique_are_read(name: str) -> None:
    made, whole = prompts(name), "UNIQUE INPUT NEUTRAL"
    rule = made.preset.parse
    good = made.read_critique(TASK, '- "so bad" | too harsh | not good\n- dull | liven it up', whole)
    sloppy = made.read_critique(TASK, SLOPPY, whole)
    points = (Point("too harsh", "not good", "so bad"), Point("dull", "liven it up"))
    wanted = points[:1] if rule == "one_point" else points
    assert good.points == wanted
    assert tuple(replace(point, severity="unstated") for point in sloppy.points) == wanted


@each
@pytest.mark.parametrize(
    "raw",
    ["", "{" * 5000, "VERDICT: done or revise", '{"score": 7,}', "\x00\ud800", "- " * 3000, "LABEL: ...",
     "{{ 7 * 7 }}", '```json\n{"points": [{"problem": "cut in the mid'],
)  # fmt: skip
def test_a_hostile_or_cut_critique_is_no_verdict(name: str, raw: str) -> None:
    read = prompts(name).read_critique(TASK, raw, "UNIQUE INPUT NEUTRAL")
    assert read.done is None
    assert read.raw == raw


@each
def test_the_request_said_back_is_no_critique(name: str) -> None:
    made = prompts(name)
    asked = made.critique_request(TASK, feedback="specific")
    listed = "\n".join(line for line in asked.splitlines() if line.startswith("- "))
    assert made.read_critique(TASK, listed, "UNIQUE INPUT NEUTRAL").points == ()


@pytest.mark.parametrize("name", [name for name in NAMES if preset(name).rubric])
def test_a_judges_form_filled_in_is_read_and_the_empty_form_is_not(name: str) -> None:
    made, rubric = prompts(name), preset(name).rubric
    assert rubric is not None
    form = made.judge_prompt(TASK, "the text")[0].content
    assert set(parse_ratings(form, rubric).values) == {None}
    filled = parse_ratings(form.replace("NUMBER", "2").replace("SUM OF THE 2S", "7"), rubric)
    assert filled.total == 2 * len(rubric.dimensions)
    assert filled.stated_total == 7


@each
def test_a_verdict_ends_it_by_the_presets_rule(name: str) -> None:
    made, stop = prompts(name), preset(name).stop
    done = made.read_critique(TASK, "VERDICT: done", "Unique inputs, neutral.").done
    assert done == (None if stop == "none" else True)
    assert made.read_critique(TASK, "LABEL: neutral").done == (True if stop == "label" else None)


def test_sentiment_is_done_when_the_target_label_is_stated() -> None:
    made = prompts("sentiment_reversal")
    assert made.read_critique(Task("x", target="positive"), "LABEL: positive").done is True
    assert made.read_critique(Task("x", target="positive"), "LABEL: neutral").done is False
    assert made.read_critique(Task("x"), "LABEL: very positive").done is True


def test_missing_words_keep_a_text_from_being_done_and_are_asked_for() -> None:
    made, task = prompts("constrained_generation"), Task("cat, sofa, sun")
    read = made.read_critique(task, "VERDICT: done", "The cats sleep on a sofa.")
    assert (read.done, [point.problem for point in read.points]) == (False, ["missing: sun"])
    assert "missing from the text: sun." in made.revise_request(task, feedback="specific", points=read.points)
    assert (
        made.read_critique(task, "VERDICT: done", "The cats sleep on a sunny sofa in the sun.").done is True
    )


def test_the_worked_examples_do_what_they_show() -> None:
    for asked, answer in preset("constrained_generation").examples:
        assert coverage(read_concepts(asked.removeprefix("Words: ")), answer).missing == ()
    for found in ("code_optimisation", "code_readability"):
        for asked, answer in preset(found).examples:
            for text in (asked, answer):
                compile(text.split("```python\n")[1].split("```")[0], found, "exec")


def test_math_examples_end_in_an_answer_that_the_scorer_finds() -> None:
    import asyncio

    for _, answer in preset("math_reasoning").examples:
        boxed = answer.rsplit("\\boxed{", 1)[1].rstrip("}")
        (score,) = asyncio.run(MathEquivalence().measure(Task("", reference=boxed), (), (answer,)))
        assert score.value == 1


def test_tests_of_the_page_examples_can_be_read() -> None:
    for task in preset("code_optimisation").page_examples:
        assert len(read_cases(task.reference)) >= 2


@each
def test_a_recipe_can_be_made_for_every_example(name: str) -> None:
    for task in preset(name).page_examples:
        recipe = make_recipe(preset(name), "starter", CAN, Wishes(), task)
        assert set(recipe.settings.scorers) <= set(SCORERS)
        assert recipe.settings.gate_scorer in SCORERS
        assert recipe.settings.history == preset(name).history
