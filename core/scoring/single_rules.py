"""One rule by itself as a scorer: a JSON schema, a pattern, or a length. Each is 1 or 0, and says why.

Convention: Task.target, or else Task.reference, holds the rule itself, without the JSON object around it that
the scorer `rules` wants: the schema; the pattern; for lengths `at most 50 words`, `at least 200 characters`
or `50 to 80 words`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from core.domain import Message, Score, Task
from core.scoring.rules import BadRules, Rule, Rules, at_least, at_most, follows, matches

_LENGTH = re.compile(
    r"(?:(?P<bound>at most|at least|up to)\s+)?(?P<first>\d{1,9})"
    r"(?:\s*(?:to|-|–)\s*(?P<last>\d{1,9}))?\s*(?P<unit>words?|characters?)\.?",
    re.IGNORECASE,
)


def read_schema(text: str) -> tuple[Rule, ...]:
    """The rule of a JSON schema. Raises BadRules."""
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRules(f"The JSON schema is no JSON: {error}.") from error
    if not isinstance(schema, dict):
        raise BadRules("A schema is a JSON object.")
    return (follows(schema),)


def read_pattern(text: str) -> tuple[Rule, ...]:
    """The rule of a regular expression. Raises BadRules."""
    return (matches(text),)


def read_length(text: str) -> tuple[Rule, ...]:
    """The rule or rules of a length in words or characters. Raises BadRules."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None or (found["bound"] and found["last"]) or not (found["bound"] or found["last"]):
        raise BadRules(f"A length is such as: at most 50 words, or: 50 to 80 words. Not {text[:80]!r}.")
    unit, first = found["unit"].lower().rstrip("s") + "s", int(found["first"])
    if found["last"]:
        return at_least(first, unit), at_most(int(found["last"]), unit)
    return ((at_least if found["bound"].lower() == "at least" else at_most)(first, unit),)


READERS: dict[str, tuple[Callable[[str], tuple[Rule, ...]], str]] = {
    "json_schema": (read_schema, "a JSON schema"),
    "regex": (read_pattern, "a regular expression"),
    "length": (read_length, "a length, such as: at most 50 words"),
}
"""How each rule is read, and what it is called where it is missing."""


class SingleRule:
    """1 where the text keeps the task's one rule of this kind, 0 where it does not, with the reason."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._read, self._called = READERS[name]

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order; none has one where the task names no such rule."""
        given = next((part for part in (task.target, task.reference) if part.strip()), "")
        if not given:
            why = f"The task names no rule. Its target must be {self._called}."
            return tuple(Score(self.name, None, why) for _ in texts)
        try:
            rules = self._read(given)
        except BadRules as error:
            return tuple(Score(self.name, None, str(error)) for _ in texts)
        found = await Rules(rules).measure(task, prompt, texts)
        return tuple(self._own(score) for score in found)

    def _own(self, score: Score) -> Score:
        """The whole or nothing: half of a length is no length."""
        value = None if score.value is None else float(score.value == 1.0)
        return Score(self.name, value, score.why, score.condition and "the task's rule")
