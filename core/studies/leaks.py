"""Finds names of systems in what raters will read, and takes them out where the owner says so.

Knows no store. A name is found word-bounded, in any case, and however its parts are joined: zeta-q4 also as
"Zeta Q4" or "zetaq4", not in "zetas". Names of one or two characters are words of too many texts and are not
looked for; the protocol's aliases say what else would give a system away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

LeakDecision = Literal["open", "redact", "keep", "drop"]
SHORTEST = 3
REPLACEMENT = "[…]"
SELF_NAMING = "(says what wrote it)"

_MADE_BY = r"(?:\w+ ){0,3}?(?:made|trained|built|developed|created|provided) by \w+"
_SELF = re.compile(
    r"\b(?:as|i am|i'm|i’m|being) an? (?:\w+ ){0,2}?"
    rf"(?:(?:(?:ai )?(?:large )?language model|ai(?: (?:model|assistant|chatbot))?|chatbot)\b(?: {_MADE_BY})?"
    rf"|(?:assistant|model|bot) {_MADE_BY})",
    re.I,
)
_JOINT = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Find:
    """A name in a text: from character `start` to before `end`."""

    alias: str
    start: int
    end: int


@dataclass(frozen=True)
class Leak:
    """A name in one text or prompt that waits for the owner's decision, or has it.

    `place` is the number of the output or the item; `context` shows the first place, `times` says how many.
    """

    id: int
    where: Literal["text", "prompt"]
    place: int
    item: str
    alias: str
    context: str
    times: int
    decision: LeakDecision
    by: str = ""


def searched(systems: Iterable[str], aliases: Iterable[str]) -> tuple[str, ...]:
    """The names that are looked for: longest first, so that a name is found before a part of it."""
    names = {name.strip() for name in (*systems, *aliases)}
    return tuple(sorted((n for n in names if len(n) >= SHORTEST), key=lambda n: (-len(n), n)))


def finds(text: str, names: Sequence[str]) -> tuple[Find, ...]:
    """Every name in the text, in order, and where it says itself what wrote it; none overlap."""
    found: list[Find] = []
    for alias, pattern in [*((name, _pattern(name)) for name in names), (SELF_NAMING, _SELF)]:
        for match in pattern.finditer(text):
            if all(match.end() <= other.start or match.start() >= other.end for other in found):
                found.append(Find(alias, match.start(), match.end()))
    return tuple(sorted(found, key=lambda find: find.start))


def _pattern(name: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in _JOINT.split(name) if part]
    middle = r"[\W_]{0,2}".join(parts) if parts else re.escape(name)
    return re.compile(rf"(?<![^\W_]){middle}(?![^\W_])", re.I)


def redacted(text: str, names: Sequence[str], alias: str) -> str:
    """The text with every find of this name replaced by a sign that is always the same."""
    out, last = [], 0
    for find in finds(text, names):
        if find.alias != alias:
            continue
        out += [text[last : find.start], REPLACEMENT]
        last = find.end
    return "".join([*out, text[last:]])


def context(text: str, find: Find, around: int = 40) -> str:
    """The find with some text around it, on one line, for the owner's queue."""
    before, after = max(find.start - around, 0), find.end + around
    return " ".join(text[before:after].split())
