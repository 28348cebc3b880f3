"""One rule by itself: a schema, a pattern, a length, as the task's target states it."""

from __future__ import annotations

import asyncio

import pytest

from core.domain import Score, Task
from core.scoring.single_rules import SingleRule

SCHEMA = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'


def score(name: str, target: str, text: str, reference: str = "") -> Score:
    task = Task("?", target=target, reference=reference)
    return asyncio.run(SingleRule(name).measure(task, (), [text]))[0]


@pytest.mark.parametrize(
    ("name", "target", "text", "value"),
    [
        ("json_schema", SCHEMA, '{"n": 1}', 1.0),
        ("json_schema", SCHEMA, '```json\n{"n": 1}\n```', 1.0),
        ("json_schema", SCHEMA, '{"n": "1"}', 0.0),
        ("json_schema", SCHEMA, "n is 1", 0.0),
        ("regex", r"^\d{4}-\d\d$", "Dates:\n2026-11", 1.0),
        ("regex", r"^\d{4}-\d\d$", "2026-1", 0.0),
        ("length", "at most 3 words", "one two three", 1.0),
        ("length", "Up to 3 words.", "one two three four", 0.0),
        ("length", "at least 5 characters", "four", 0.0),
        ("length", "2 to 3 words", "one two", 1.0),
        ("length", "2-3 words", "one", 0.0),
        ("length", "2-3 words", "one two three four", 0.0),
    ],
)
def test_a_rule_is_kept_or_not(name: str, target: str, text: str, value: float) -> None:
    assert score(name, target, text).value == value


def test_a_broken_rule_is_told_in_words() -> None:
    assert score("length", "2 to 3 words", "one").why == "1 words, at least 2"
    assert "is not of type 'integer'" in score("json_schema", SCHEMA, '{"n": "1"}').why


def test_the_rule_may_stand_in_the_reference() -> None:
    assert score("regex", "", "abc", reference="b").value == 1.0


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("json_schema", "", "must be a JSON schema"),
        ("regex", " ", "must be a regular expression"),
        ("length", "", "at most 50 words"),
        ("json_schema", "{", "no JSON"),
        ("json_schema", "[1]", "JSON object"),
        ("json_schema", '{"type": 7}', "schema is none"),
        ("regex", "(", "no regular expression"),
        ("length", "short", "A length is such as"),
        ("length", "50 words", "A length is such as"),
        ("length", "at most 2 to 3 words", "A length is such as"),
    ],
)
def test_a_rule_that_is_missing_or_none_says_what_to_change(name: str, target: str, said: str) -> None:
    found = score(name, target, "text")
    assert found.value is None
    assert said in found.why


def test_a_pattern_that_never_ends_is_unknown() -> None:
    found = score("regex", "^(a|aa)+$", "a" * 60 + "b")
    assert found.value is None and "took longer" in found.why
