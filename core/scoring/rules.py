"""Rules that a text keeps or breaks, checked in code: length, words, patterns, JSON. Knows no model.

Convention: Task.target holds the rules as one JSON object; its keys are those of KEYS:
{"max_words": 50, "must_include": ["deadline"], "must_not_include": ["!"], "pattern": "...", "schema": {...}}
Words are looked for as they are, without regard to case, and where they begin or end with a letter or digit
not inside other words. A pattern (of the `regex` package) must be found somewhere; ^ and $ are the ends of
lines. Words are counted as what stands between blanks. A schema applies to the text as JSON, with or without
a fence around it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain import Message, Score, Task
from core.fences import unwrap

PATTERN_SECONDS = 1.0
"""The longest that one pattern may search one text."""


class BadRules(ValueError):
    """The rules can't be read; the message says what to change."""


@dataclass(frozen=True)
class Checked:
    """What became of one rule: kept, broken, or (None) not to be told; in words."""

    kept: bool | None
    words: str


Rule = Callable[[str], Checked]


def at_most(most: int, unit: str) -> Rule:
    """Not more words or characters than this."""

    def rule(text: str) -> Checked:
        size = _size(text, unit)
        return Checked(size <= most, f"{size:,} {unit}, at most {most:,}")

    return rule


def at_least(least: int, unit: str) -> Rule:
    """Not fewer words or characters than this."""

    def rule(text: str) -> Checked:
        size = _size(text, unit)
        return Checked(size >= least, f"{size:,} {unit}, at least {least:,}")

    return rule


def _size(text: str, unit: str) -> int:
    return len(text.split()) if unit == "words" else len(text.strip())


def includes(wanted: str) -> Rule:
    """The words occur."""

    def rule(text: str) -> Checked:
        found = _occurs(wanted, text)
        return Checked(found, f"{wanted!r} {'is there' if found else 'is missing'}")

    return rule


def leaves_out(unwanted: str) -> Rule:
    """The words do not occur."""

    def rule(text: str) -> Checked:
        found = _occurs(unwanted, text)
        return Checked(not found, f"{unwanted!r} {'must not be there' if found else 'is not there'}")

    return rule


def _occurs(words: str, text: str) -> bool:
    import regex

    start = r"(?<!\w)" if words[:1].isalnum() else ""
    end = r"(?!\w)" if words[-1:].isalnum() else ""
    pattern = start + r"\s+".join(regex.escape(word) for word in words.split()) + end
    return regex.search(pattern, text, regex.IGNORECASE | regex.FULLCASE) is not None


def matches(pattern: str) -> Rule:
    """The pattern is found within PATTERN_SECONDS. Raises BadRules for one that is none."""
    import regex

    try:
        compiled = regex.compile(pattern, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise BadRules(f"The pattern {pattern[:80]!r} is no regular expression: {error}.") from error

    def rule(text: str) -> Checked:
        try:
            found = compiled.search(text, timeout=PATTERN_SECONDS) is not None
        except TimeoutError:
            return Checked(None, f"the pattern {pattern[:80]!r} took longer than {PATTERN_SECONDS:g} s")
        return Checked(found, f"the pattern {pattern[:80]!r} is {'' if found else 'not '}found")

    return rule


def follows(schema: Mapping[str, Any]) -> Rule:
    """The text is JSON of this schema. Raises BadRules for a schema that is none, or asks for other files."""
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise BadRules(f"The JSON schema is none: {error.message}.") from error
    validator = Draft202012Validator(schema, registry=Registry())  # nothing is fetched for a $ref

    def rule(text: str) -> Checked:
        try:
            value = json.loads(unwrap(text))
        except (ValueError, RecursionError) as error:
            return Checked(False, f"it is no JSON: {error}")
        try:
            first = next(
                iter(sorted(validator.iter_errors(value), key=lambda e: list(map(str, e.path)))), None
            )
        except Unresolvable as error:
            return Checked(None, f"the schema refers to what it does not contain: {error.ref}")
        if first is None:
            return Checked(True, "it is JSON of the schema")
        return Checked(False, f"at {first.json_path}: {first.message[:200]}")

    return rule


def _sized(make: Callable[[int, str], Rule], unit: str) -> Callable[[Any], list[Rule]]:
    def read(value: Any) -> list[Rule]:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BadRules(f"A number of {unit} is a whole number, not {value!r}.")
        return [make(value, unit)]

    return read


def _listed(make: Callable[[str], Rule]) -> Callable[[Any], list[Rule]]:
    def read(value: Any) -> list[Rule]:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(one, str) and one.strip() for one in values):
            raise BadRules(f"Expected a text or a list of texts, not {value!r}.")
        return [make(one) for one in values]

    return read


def _schema(value: Any) -> list[Rule]:
    if not isinstance(value, dict):
        raise BadRules("A schema is a JSON object.")
    return [follows(value)]


KEYS: dict[str, Callable[[Any], list[Rule]]] = {
    "min_words": _sized(at_least, "words"),
    "max_words": _sized(at_most, "words"),
    "min_characters": _sized(at_least, "characters"),
    "max_characters": _sized(at_most, "characters"),
    "must_include": _listed(includes),
    "must_not_include": _listed(leaves_out),
    "pattern": _listed(matches),
    "schema": _schema,
}
"""What a set of rules may hold, and how each is read."""


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a JSON object, in its order. Raises BadRules."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRules(f"The rules are no JSON: {error}.") from error
    if not isinstance(given, dict) or not given:
        raise BadRules(f"Rules are a JSON object with some of {', '.join(KEYS)}.")
    if unknown := set(given) - set(KEYS):
        raise BadRules(f"There is no rule {min(unknown)!r}. Known: {', '.join(KEYS)}.")
    return tuple(rule for key, value in given.items() for rule in KEYS[key](value))


class Rules:
    """The share of the rules that a text keeps, from 0 to 1; the broken ones in words.

    One rule that could not be told makes the whole unknown.
    """

    name = "rules"

    def __init__(self, rules: Sequence[Rule] | None = None) -> None:
        self._rules = rules

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order, by the rules given or else the task's (Task.target)."""
        try:
            rules = read_rules(task.target) if self._rules is None else self._rules
        except BadRules as error:
            return tuple(Score(self.name, None, str(error)) for _ in texts)
        return tuple([await asyncio.to_thread(self._score, rules, text) for text in texts])

    def _score(self, rules: Sequence[Rule], text: str) -> Score:
        if not rules:
            return Score(self.name, None, "There are no rules to check.")
        checked = [rule(text) for rule in rules]
        untold = [one.words for one in checked if one.kept is None]
        if untold:
            return Score(self.name, None, "; ".join(untold))
        broken = [one.words for one in checked if not one.kept]
        details = (("kept", float(len(checked) - len(broken))), ("rules", float(len(checked))))
        return Score(
            self.name, 1 - len(broken) / len(checked), "; ".join(broken), "the task's rules", details
        )
