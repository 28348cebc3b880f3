"""Rules kept and broken, in words; patterns and schemas that are none, or never end."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from core.domain import Score, Task
from core.scoring.rules import BadRules, Rules, read_rules

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def score(rules: object, text: str) -> Score:
    task = Task("?", target=json.dumps(rules))
    return asyncio.run(Rules().measure(task, (), [text]))[0]


@pytest.mark.parametrize(
    ("rules", "text", "value", "why"),
    [
        ({"max_words": 3}, "one two three", 1.0, ""),
        ({"max_words": 3}, "one two three four", 0.0, "4 words, at most 3"),
        ({"min_words": 3}, "one two", 0.0, "2 words, at least 3"),
        ({"max_characters": 3}, " abc ", 1.0, ""),
        ({"min_characters": 3}, "ab", 0.0, "2 characters, at least 3"),
        ({"must_include": ["cat", "dog"]}, "A Cat sat", 0.5, "'dog' is missing"),
        ({"must_include": "cat"}, "category", 0.0, "'cat' is missing"),
        ({"must_include": "ice cream"}, "ice\ncream", 1.0, ""),
        ({"must_include": "C++"}, "in C++20", 1.0, ""),
        ({"must_not_include": ["!"]}, "Go!", 0.0, "'!' must not be there"),
        ({"must_not_include": "straße"}, "STRASSE", 0.0, "'straße' must not be there"),
        ({"pattern": "^b"}, "a\nb", 1.0, ""),
        ({"pattern": "^c"}, "a\nb", 0.0, "the pattern '^c' is not found"),
        ({"schema": SCHEMA}, '{"n": 1}', 1.0, ""),
        ({"schema": SCHEMA}, '```json\n{"n": 1}\n```', 1.0, ""),
        ({"schema": SCHEMA}, '{"n": "x"}', 0.0, "at $.n: 'x' is not of type 'integer'"),
    ],
)
def test_single_rules(rules: object, text: str, value: float, why: str) -> None:
    found = score(rules, text)
    assert (found.value, found.why) == (value, why)


def test_several_rules_share_the_score() -> None:
    found = score({"max_words": 1, "must_include": "x", "pattern": "x"}, "a x")
    assert found.value == pytest.approx(2 / 3)
    assert dict(found.details) == {"kept": 2.0, "rules": 3.0}


def test_no_json_is_a_broken_rule() -> None:
    assert "it is no JSON" in score({"schema": SCHEMA}, "n is 1").why
    assert score({"schema": SCHEMA}, "[" * 100_000).value == 0.0


def test_a_pattern_that_never_ends_is_unknown() -> None:
    started = time.monotonic()
    found = score({"pattern": "^(a|aa)+$", "max_words": 5}, "a" * 60 + "b")
    assert found.value is None
    assert "took longer than 1 s" in found.why
    assert time.monotonic() - started < 5


def test_a_schema_fetches_nothing() -> None:
    found = score({"schema": {"$ref": "http://192.0.2.1/schema.json"}}, "{}")
    assert found.value is None
    assert "does not contain" in found.why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("[1]", "JSON object"),
        ("{}", "JSON object"),
        ('{"max_word": 3}', "no rule 'max_word'"),
        ('{"max_words": "3"}', "whole number"),
        ('{"max_words": true}', "whole number"),
        ('{"must_include": [""]}', "list of texts"),
        ('{"pattern": "("}', "no regular expression"),
        ('{"schema": {"type": 7}}', "JSON schema is none"),
        ('{"schema": []}', "JSON object"),
    ],
)
def test_bad_rules_say_what_to_change(text: str, said: str) -> None:
    with pytest.raises(BadRules, match=said):
        read_rules(text)
    scores = asyncio.run(Rules().measure(Task("?", target=text), (), ["a", "b"]))
    assert [one.value for one in scores] == [None, None]
    assert said in scores[0].why


def test_no_rules_are_no_score() -> None:
    assert asyncio.run(Rules(()).measure(Task("?"), (), ["a"]))[0].value is None
