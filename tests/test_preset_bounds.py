"""Templates that would run long or grow large are refused with their line, or stopped."""

from __future__ import annotations

import pytest

from core import preset_bounds
from core.preset_schema import Text
from core.preset_templates import checked, fill
from core.presets import PresetError, load_preset
from tests.small_preset import SMALL


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for i in range(10**9) %}x{% endfor %}", "range"),
        ("{% for a in input %}{% for b in input %}{% endfor %}{% endfor %}", "inside a loop"),
        ("{% for a in labels recursive %}{{ loop(a) }}{% endfor %}", "inside a loop"),
        ("{{ 'a' * 10000 }}", r"\*"),
        ("{{ 10 ** 9 }}", r"\*\*"),
        ("{{ input % 3 }}", "%"),
        ("{{ '%100000000d' | format(1) }}", "format"),
        ("{{ '%*d' | format(9, 1) }}", "format"),
        ("{{ input | format(1) }}", "format"),
        ("{{ input | join(input) }}", "join"),
        ("{{ input | join(d=input) }}", "join"),
        ("{{ input | center(10) }}", "center"),
        ("{{ input | replace('a', input) }}", "replace"),
        ("{{ input.center(10) }}", "center"),
        ("{{ input.format(1) }}", "format"),
        ("{{ input | truncate(1000000000) }}", "too large"),
        ("{% set a = input ~ input %}{{ a }}", "set"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "can't"),
        ("{% filter upper %}x{% endfilter %}", "filter"),
        ("{% include 'x' %}", "include"),
        ("{{ input" + " ~ input" * 200 + " }}", "100 parts"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "nested too deeply"),
        ("{% if input %}" * 150 + "{% endif %}" * 150, "nested too deeply"),
        ("{{ ().__class__.__mro__ }}", "unsafe"),
    ],
)
def test_what_could_run_long_is_refused_when_it_is_read(template: str, words: str) -> None:
    with pytest.raises(PresetError, match=words) as refusal:
        checked("draft", Text("\n" + template, 5), "mine.yaml")
    assert refusal.value.line in (5, 6)


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("{% for a in labels | reverse %}{{ loop.index }}{{ a }}{% endfor %}", "1b2a"),
        ("{{ input.split()[0] | upper }}{{ ', ' ~ (labels | join(', ')) }}", "ONE, a, b"),
        ("{{ '%s of %03d' | format(labels | first, labels | length) }}", "a of 002"),
        ("{% if 'one' in input and not target %}yes{% elif target %}no{% endif %}", "yes"),
        ("{% for a in labels | unique %}{{ a }}{{ ';' if not loop.last }}{% endfor %}", "a;b"),
    ],
)  # fmt: skip
def test_what_templates_need_works(template: str, made: str) -> None:
    values = {"input": "one two", "labels": ("a", "b"), "target": ""}
    assert checked("draft", Text(template, 1), "x") == template
    assert fill(template, values, "x") == made


def test_a_text_that_grows_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{% for a in input %}{{ input }}{% endfor %}"
    assert len(fill(template, {"input": "x" * 1_000}, "x")) == 1_000_000
    with pytest.raises(PresetError, match="8,000,000 characters"):
        fill(template, {"input": "x" * 9_000}, "x")
    with pytest.raises(PresetError, match="10,000 items"):
        fill(template, {"input": "x" * 10_001}, "x")
    monkeypatch.setattr(preset_bounds, "SECONDS", -1.0)
    with pytest.raises(PresetError, match="longer than"):
        fill(template, {"input": "x"}, "x")


def test_worked_examples_are_few() -> None:
    more = "  - input: x\n    answer: y\n"
    assert len(load_preset(SMALL + more * 49).examples) == 50
    with pytest.raises(PresetError, match="more than 50"):
        load_preset(SMALL + more * 50)
