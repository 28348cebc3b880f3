"""Presets: what they hold, and how a mistake in one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.presets import PresetError, find_presets, load_preset, read_preset
from core.rubric import Dimension, Rubric
from tests.small_preset import RICH, SMALL


def broken(old: str, new: str) -> PresetError:
    assert old in SMALL
    with pytest.raises(PresetError) as caught:
        load_preset(SMALL.replace(old, new, 1), "mine.yaml")
    return caught.value


def line_of(text: str) -> int:
    return SMALL[: SMALL.index(text)].count("\n") + 1


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
        ("title: A small one", "title: A\nstop: label", "fields", ['can\'t be "label"', "verdict, none"]),
        ("title: A small one", "title: A\nscorer: []", "fields", ['"scorer" must be text', "a list"]),
        ("title: A small one", "title: A\nscorer: [a, {b: c}]", "fields", ['"scorer, item 2" must be text']),
        ("title: A small one", "title: A\nrubric: []", "fields", ["at least one dimension"]),
        ("title: A small one", "title: A\nrubric: [{name: a}]", "fields", ['"question" is missing']),
        ("title: A", "rubric: [{name: 'a:b', question: q}]\ntitle: A", "title", ["made of letters"]),
        ("title: A", "rubric: [{name: Total, question: q}]\ntitle: A", "title", ["not the total"]),
        ("title: A", "rubric: [{name: a, question: q, low: 9, high: 1}]\ntitle: A", "title", ["9 and 1"]),
        ("title: A", "rubric: [{name: a b, question: q}, {name: A_B, question: q}]\ntitle: A", "title",
         ["each name once"]),
        ("  kept:", "  judge: '{{ points }}'\n  kept:", "  kept:", ['"points" is not a value', "dimensions"]),
        ("  kept:", "  audit: '{{ points.x.y }}'\n  kept:", "  kept:", ["can't be filled in"]),
        ("  kept:", "  synthesise: '{{ candidates[0].txt }}'\n  kept:", "  kept:", ["can't be filled in"]),
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
        ("a: &a [x]\nname: *a", "line 2: an alias"),
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


def test_what_a_preset_may_hold_besides() -> None:
    preset = load_preset(RICH)
    assert (preset.scorers, preset.default_scorer, preset.verifier) == (
        ("judge", "logprob"),
        "judge",
        "coverage",
    )
    assert (preset.caution, preset.stop, preset.history) == ("It seldom helps.", "none", "by_score")
    assert preset.rubric == Rubric(
        (Dimension("plain words", "Are they?"), Dimension("short", "Is it?", 1, 5))
    )
    plain = load_preset(SMALL)
    assert (plain.scorers, plain.default_scorer, plain.verifier, plain.caution) == ((), "", "", "")
    assert (plain.stop, plain.rubric) == ("verdict", None)
