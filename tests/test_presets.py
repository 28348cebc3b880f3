"""Presets: what they hold, how a mistake in one is told, and the requests made from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import Feedback, Message, Point, Task
from core.presets import BUILT_IN, PresetError, Prompts, find_presets, load_preset, read_preset

SMALL = """\
name: small
title: A small one
fields:
  input: Text
templates:
  system: You edit.
  draft: |
    Do: {{ instruction }}
    {{ input }}
  draft_step_by_step: "Think first. {{ input }}"
  critique:
    specific: What is wrong? For example - "some words" | their fault | better words
    generic: Could it be better?
  revise: Again, {{ feedback }}.
  revise_again: Again, and {{ note }}.
  kept: "{% if reason %}Not kept: {{ reason }}.{% endif %}{% if current %} Now: {{ current }}{% endif %}"
examples:
  - input: Long text.
    instruction: cut
    answer: Text.
"""
TASK = Task(input="A text.", instruction="shorten")
HOSTILE = ["{{7*7}}", "${x}", r"\u0041", r"C:\new\table", "{% for %}", "{# no #}", "<b>&amp;",
           "a\n\n  b  ", "\ud800\x00"]  # fmt: skip


def broken(old: str, new: str) -> PresetError:
    assert old in SMALL
    with pytest.raises(PresetError) as caught:
        load_preset(SMALL.replace(old, new, 1), "mine.yaml")
    return caught.value


def line_of(text: str) -> int:
    return SMALL[: SMALL.index(text)].count("\n") + 1


def prompts(text: str = SMALL) -> Prompts:
    return Prompts(load_preset(text))


def test_what_a_preset_holds() -> None:
    preset = load_preset(SMALL)
    assert (preset.name, preset.title, preset.text) == ("small", "A small one", SMALL)
    assert (preset.parse, preset.rounds, preset.history, preset.labels) == ("points", 3, "full", ())
    assert preset.examples == (("Do: cut\nLong text.", "Text."),)
    assert [(field.name, field.label) for field in preset.fields] == [("input", "Text")]


@pytest.mark.parametrize(
    ("old", "new", "at", "words"),
    [
        ("title: A", "titel: A", "title: A", ['no key "titel"', 'Did you mean "title"?']),
        ("  draft: |", "  drafts: |", "  draft: |", ['"drafts"', '"draft"']),
        ("title: A small one\n", "", "name: small", ['"title" is missing', 'Add "title: ..."']),
        ("    generic: Could it be better?\n", "", "    specific", ['"generic" is missing in "templates.c']),
        ("title: A small one", "title: no", "title", ['"title" must be text', "quotes"]),
        ("title: A small one", "title: [a]", "title", ['"title" must be text', "a list"]),
        ("title: A small one", "title: !!python/object:os.system x", "title", ['"title" must be text']),
        ("title: A small one", "title: A\nrounds: three", "fields", ['"rounds" must be a whole number']),
        ("title: A small one", "title: A\nrounds: 99", "fields", ['"rounds" is 99', "from 1 to 20"]),
        ("title: A small one", "title: A\nhistory: ful", "fields", ['Did you mean "full"?']),
        ("title: A small one", "title: A\nparse: label_and_points", "fields", ['needs "labels"']),
        ("title: A small one", "title: A\nlabels: [a, A]", "fields", ["each of them once"]),
        ("title: A small one", "title: A\ntitle: B", "fields", ['"title" stands here twice']),
        ("    Do: {{ instruction }}", "    Do: {{ instruktion }}", "    Do:", ['"instruktion"', "Use input"]),
        ("    {{ input }}", "    {{ input }", "    {{ input }}", ["Jinja2 can't read this template"]),
        ("    {{ input }}", "    {{ input | upcase }}", "    {{ input }}", ["upcase"]),
        ("Again, {{ feedback }}", "Again, {{ note }}", "  revise:", ['"note" is not a value']),
        ("Again, {{ feedback }}", "Again, {{ feedback.x.y }}", "  revise:", ["can't be filled in"]),
        ("Again, {{ feedback }}", "Again, {{ ''.__class__ }}", "  revise:", ["can't be filled in"]),
        ("  input: Text", "  inputs: Text", "  input: Text", ['Did you mean "input"?']),
        ("  system: You", "\tsystem: You", "  system", ["a tab", "spaces"]),
        ("  system: You edit.", "  system: You: edit.", "  system", ["not valid YAML"]),
        ("examples:", "---\nexamples:", "examples:", ["second document"]),
        ("    answer: Text.", "    answers: Text.", "    answer:", ['Did you mean "answer"?']),
        ("title: A small one", "title: A\x00", "title", ["line 2"]),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_file_line_and_remedy(old: str, new: str, at: str, words: list[str]) -> None:
    error = broken(old, new)
    assert str(error).startswith("mine.yaml, line")
    assert error.line == line_of(at)
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("- a\n- b", "must be a mapping"),
        ("just text", "must be a mapping"),
        ("[" * 5_000, "nested too deeply"),
        ("x" * 300_000, "300,000 characters"),
        ("a: &a [x]\nname: *a", 'no key "a"'),
    ],
)
def test_what_is_no_preset_at_all(text: str, words: str) -> None:
    with pytest.raises(PresetError, match=words):
        load_preset(text)


def test_a_byte_order_mark_and_crlf_do_no_harm() -> None:
    assert load_preset("\ufeff" + SMALL.replace("\n", "\r\n")).examples == load_preset(SMALL).examples


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"name: a\ntitle: caf\xe9\n")
    with pytest.raises(PresetError, match=r"latin\.yaml, line 2: .*UTF-8"):
        read_preset(tmp_path / "latin.yaml")
    with pytest.raises(PresetError, match=r"absent\.yaml"):
        read_preset(tmp_path / "absent.yaml")


def test_an_earlier_folder_wins(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder, names in ((mine, ["a.yaml", "note.txt"]), (theirs, ["a.yaml", "b.yml"])):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(SMALL, encoding="utf-8")
    assert find_presets(mine, theirs, tmp_path / "absent") == {"a": mine / "a.yaml", "b": theirs / "b.yml"}


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


@pytest.mark.parametrize("name", ["rewrite", "sentiment_reversal"])
def test_a_built_in_preset_is_whole(name: str) -> None:
    preset = read_preset(find_presets(BUILT_IN)[name])
    assert preset.name == name
    assert load_preset(preset.text) == preset
    assert preset.default_scorer and preset.description and preset.page_examples
    assert preset.draft_max_tokens and preset.critique_max_tokens


@pytest.mark.parametrize("name", ["rewrite", "sentiment_reversal"])
@pytest.mark.parametrize("feedback", ["specific", "generic"])
def test_requests_repeat_neither_the_text_nor_change_between_rounds(name: str, feedback: Feedback) -> None:
    made = Prompts(read_preset(BUILT_IN / f"{name}.yaml"))
    task = Task(input="UNIQUE INPUT", instruction="UNIQUE INSTRUCTION", target="neutral")
    asked = made.critique_request(task, feedback=feedback)
    again = made.revise_request(task, feedback=feedback, points=[Point("UNIQUE POINT")])
    assert "UNIQUE" not in asked + again
    assert again == made.revise_request(task, feedback=feedback, points=())
    assert made.critique_request(task, feedback=feedback, kept_reason="the score fell").endswith(asked)
    assert "VERDICT" in asked or "LABEL" in asked
    noted = made.revise_request(task, feedback=feedback, points=(), note="Keep the name.")
    assert "Keep the name." in noted


@pytest.mark.parametrize("name", ["rewrite", "sentiment_reversal"])
def test_feedback_specific_is_worded_apart_and_asks_for_the_text_alone(name: str) -> None:
    made = Prompts(read_preset(BUILT_IN / f"{name}.yaml"))
    task = Task(input="x", target="positive")
    specific, generic, none = (
        made.revise_request(task, feedback=feedback, points=()) for feedback in FEEDBACKS
    )
    assert "above" in specific and "above" not in none
    assert generic == none
    assert "alone: no remarks" in specific and "alone: no remarks" in none
    assert made.critique_request(task, feedback="specific") != made.critique_request(task, feedback="generic")


FEEDBACKS: tuple[Feedback, ...] = ("specific", "generic", "none")


def test_sentiment_is_done_when_the_target_label_is_stated() -> None:
    made = Prompts(read_preset(BUILT_IN / "sentiment_reversal.yaml"))
    assert made.read_critique(Task("x", target="positive"), "LABEL: positive").done is True
    assert made.read_critique(Task("x", target="positive"), "LABEL: neutral").done is False
    assert made.read_critique(Task("x"), "LABEL: very positive").done is True


def test_the_last_turn_of_every_head_is_the_users() -> None:
    for path in find_presets(BUILT_IN).values():
        preset = read_preset(path)
        for task in preset.page_examples:
            head = Prompts(preset).system_and_task(task)
            assert head[-1].role == "user"
            assert task.input in head[-1].content
            assert [turn.role for turn in head[1:]] == ["user", "assistant"] * len(preset.examples) + ["user"]
