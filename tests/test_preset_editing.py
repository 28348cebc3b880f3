"""Single values changed in a preset's text: the value is read back, and nothing else is touched."""

from __future__ import annotations

import pytest

from core.preset_editing import Path, lines_of, set_value
from core.presets import BUILT_IN, PresetError, load_preset
from tests.small_preset import RICH, SMALL

REWRITE = (BUILT_IN / "rewrite.yaml").read_text(encoding="utf-8")


def changed_lines(old: str, new: str) -> list[str]:
    before = old.splitlines()
    return [line for line in new.splitlines() if line not in before]


@pytest.mark.parametrize(
    "value",
    ["Short", "a: b", "# no comment", "{{ 7*7 }}", "[x]", '"quoted"', "it's", "12", "yes", "null", "- a",
     "<b>&amp;</b>", "a #b", "\\u0041", "é 漢 🙂", "*star", "&and", "%", "@", "`", "x, y", "~"],
)  # fmt: skip
def test_any_text_is_read_back_as_it_was_put_in(value: str) -> None:
    for text in (REWRITE, SMALL, "\ufeff" + SMALL):
        new = set_value(text, ("title",), value)
        assert load_preset(new).title == value
        assert len(changed_lines(text, new)) == 1


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("rounds",), "5", "rounds: 5"),
        (("scorer",), "label, logprob", "scorer: [label, logprob]"),
        (("scorer",), "judge", "scorer: judge"),
        (("rubric", 1, "question"), "Is it?", '    question: "Is it?"'),
        (("rubric", 1, "high"), "3", "    high: 3"),
        (("fields", "instruction"), "What now", "  instruction: What now"),
        (("max_tokens", "draft"), "90", "  draft: 90"),
        (("description",), "two\nlines", "description: two lines"),
        (("verifier",), "coverage", "verifier: coverage"),
        (("labels",), "bad, so so, good", "labels: [bad, so so, good]"),
    ],
)
def test_a_value_is_changed_or_put_in_where_it_belongs(path: Path, value: str, line: str) -> None:
    new = set_value(REWRITE, path, value)
    assert changed_lines(REWRITE, new) == [line]
    load_preset(new)
    assert new.splitlines()[lines_of(new)[path] - 1] == line


def test_comments_and_blocks_stay() -> None:
    text = "labels:\n- x\n- y\n\n# why\nrounds: 3 # three\ncaution: >\n  one\n  two\n\nfields:\n  input: T\n"
    assert set_value(text, ("labels",), "p, q") == text.replace("\n- x\n- y", " [p, q]")
    assert set_value(text, ("rounds",), "4") == text.replace("3 #", "4 #")
    assert set_value(text, ("caution",), "three") == text.replace(">\n  one\n  two", "three")


def test_an_empty_value_takes_the_key_away() -> None:
    assert set_value(RICH, ("verifier",), " ") == RICH.replace("verifier: coverage\n", "")
    assert set_value(RICH, ("caution",), "") == RICH.replace("caution: >\n  It seldom\n  helps.\n", "")
    assert set_value(RICH, ("rubric", 1, "low"), "") == RICH.replace("    low: 1\n", "")
    assert set_value(SMALL, ("verifier",), "") == SMALL


def test_what_only_a_person_can_change_is_said() -> None:
    wrong: list[tuple[str, Path]] = [
        ("{name: a, title: b}", ("title",)),
        (RICH, ("rubric", 1, "name")),
        (RICH, ("rubric", 7, "name")),
        (RICH, ("rubric", 1)),
        (RICH, ("title", "x")),
        (RICH, ()),
        ("", ("title",)),
        ("[", ("title",)),
    ]
    for text, path in wrong:
        with pytest.raises(PresetError):
            set_value(text, path, "")


def test_a_wrong_value_is_put_in_as_text_for_the_reader_to_refuse() -> None:
    with pytest.raises(PresetError, match="rounds"):
        load_preset(set_value(REWRITE, ("rounds",), "many"))
    with pytest.raises(PresetError, match="character"):
        load_preset(set_value(REWRITE, ("title",), "a\x00b"))
