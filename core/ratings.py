"""Reads what a judge's reply states: one rating, or one for each dimension of a rubric. Knows no model.

A rating is read for certain or not at all. The form that judges are asked for is `NAME: SCORE | reason` on
a line for each dimension and then `TOTAL: SUM`; tables and JSON are read as well. What is off the scale,
hedged ("7 or 8"), stated twice in different ways, or stands in a JSON that was cut is unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.loose_json import Found, Value, find_values
from core.rubric import Rubric

_SCORE_KEYS = ("score", "rating", "total", "overall", "grade", "overall_score", "total_score")
_RATED = re.compile(r"(?P<value>[-+]?\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*(?P<top>\d+(?:\.\d+)?))?")
_RATING_LINE = re.compile(
    r"^[\s*_#>\-]*(?:overall |total |final )?(?:score|rating|grade)[\s*_]*[:=]\s*[*_]*"
    r"(?P<rest>[^\n]*?)[\s*_.]*$",
    re.I | re.M,
)


def _number(text: str, highest: float) -> float | None:
    """The number of "8", "8.5" or "8/10" where 10 is the scale's top."""
    found = _RATED.fullmatch(text.strip())
    if found is None or (found["top"] and float(found["top"]) != highest):
        return None
    return float(found["value"])


def _rated(value: Value, highest: float) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    return _number(value, highest) if isinstance(value, str) else None


def _json_rating(found: Found, highest: float) -> float | None:
    if not found.whole or not isinstance(found.value, dict):
        return None
    rated = {key.strip().lower(): item for key, item in found.value.items()}
    named = [key for key in _SCORE_KEYS if key in rated]
    single = named[:1] if "score" in rated or len(named) == 1 else []
    return _rated(rated[single[0]], highest) if single else None


def _stated(raw: str, highest: float) -> float | None:
    """The rating of a reply without JSON: the number alone, or the one line that names it."""
    alone = _number(raw.strip().strip("*_."), highest)
    if alone is not None:
        return alone
    lines = [found["rest"] for found in _RATING_LINE.finditer(raw)]
    return _number(lines[0], highest) if len(lines) == 1 else None


def parse_rating(raw: str, lowest: float, highest: float) -> float | None:
    """The rating that a judge's reply states, within the scale; None when it can't be read for certain."""
    objects = [found for found in find_values(raw) if isinstance(found.value, dict)]
    if len(objects) > 1:
        return None
    value = _json_rating(objects[0], highest) if objects else _stated(raw, highest)
    if value is None or not math.isfinite(value) or not lowest <= value <= highest:
        return None
    return value


@dataclass(frozen=True)
class Ratings:
    """What one verdict states: a value (None where it states none) and a reason for each dimension, in order.

    `stated_total` is the judge's own sum, which nothing but a comparison is made with.
    """

    values: tuple[float | None, ...]
    reasons: tuple[str, ...]
    stated_total: float | None = None

    @property
    def total(self) -> float | None:
        """The sum of the values; None unless every dimension has one."""
        known = [value for value in self.values if value is not None]
        return math.fsum(known) if known and len(known) == len(self.values) else None


@dataclass(frozen=True)
class _Scale:
    """Where a number must lie, and what it may be said to be out of."""

    low: float
    high: float
    top: float


@dataclass(frozen=True)
class _Said:
    """One statement on one dimension; its value is None where a number is given but not for certain."""

    value: float | None
    reason: str = ""


_MARKS = " \t\r>*_#•+|-"
_NUMBERED = re.compile(r"\(?\d{1,2}[.)]\s+")
_AFTER_NAME = r"[\s*_]{0,4}(?:\([^()\n]{0,60}\)|\[[^\]\n]{0,60}\])?[\s*_]{0,4}[:=|–—-][\s*_]{0,4}"
_VALUE = re.compile(
    r"(?P<value>[-+]?\d{1,6}(?:\.\d{1,6})?)"
    r"(?:\s{0,3}(?:/|out of)\s{0,3}(?P<top>\d{1,6}(?:\.\d{1,6})?))?[*_\]]{0,3}"
)
_APART = re.compile(r"\s{0,3}[|.,;:(!–—-]|\s*$")
_ANOTHER = re.compile(r"[\s.,;:(!–—-]*(?:(?:or|to|and|maybe|perhaps|possibly|even|up)\s+)*[-+]?\.?\d")
_CELL = re.compile(r"\s*\|\s*[-+]?[\d./]+\s*(?:\||$)")
_TOTALS = ("total", "total score", "overall total", "final total", "sum")
_GROUPS = ("ratings", "scores", "dimensions", "verdict")
_NAMES, _REASONS = ("name", "dimension", "criterion"), ("reason", "why", "comment", "explanation")


def _folded(name: str) -> str:
    return " ".join(re.sub(r"[_-]+", " ", name).lower().split())


def _certain(found: re.Match[str], after: str, scale: _Scale) -> float | None:
    """The number at the start of a statement where nothing after it takes it back, and it is on the scale."""
    value, top = float(found["value"]), found["top"]
    hedged = not _APART.match(after) or _ANOTHER.match(after) or _CELL.match(after)
    other_scale = top is not None and float(top) != scale.top
    return None if hedged or other_scale or not scale.low <= value <= scale.high else value


def _in_words(rest: str, scale: _Scale) -> _Said | None:
    """What follows a name on its line; None where that is no number, or the scale as it was asked."""
    found = _VALUE.match(rest)
    asked = rf"{scale.low:g}\s*(?:-|–|to|\.\.)\s*{scale.high:g}\s*(?:$|\|)"
    if found is None or re.match(asked, rest):
        return None
    after = rest[found.end() :]
    return _Said(_certain(found, after, scale), after.strip(" \t\r|.,;:()!–—*_-"))


def _lines(raw: str, names: Sequence[str], scale: _Scale) -> Iterator[_Said]:
    """The statements on the lines that begin with one of the names."""
    spelt = "|".join(r"[\s_-]{1,3}".join(map(re.escape, _folded(name).split())) for name in names)
    head = re.compile(f"(?:{spelt}){_AFTER_NAME}", re.I)
    for line in raw.split("\n"):
        bare = line.lstrip(_MARKS)
        numbered = _NUMBERED.match(bare)
        bare = bare[numbered.end() :].lstrip(_MARKS) if numbered else bare
        found = head.match(bare)
        said = _in_words(bare[found.end() :], scale) if found else None
        if said:
            yield said


def _in_json(value: Value, scale: _Scale) -> _Said:
    """A rating as a number, as a text such as "8/10", or as an object with its reason."""
    if isinstance(value, dict):
        keyed = {_folded(key): item for key, item in value.items()}
        rated = [keyed[key] for key in _SCORE_KEYS if key in keyed]
        reason = next((text for key in _REASONS if isinstance(text := keyed.get(key), str)), "")
        return _Said(_in_json(rated[0], scale).value if len(rated) == 1 else None, reason.strip())
    number = _rated(value, scale.top)
    on_scale = number is not None and scale.low <= number <= scale.high
    return _Said(number if on_scale else None)


def _pairs(value: Value) -> Iterator[tuple[str, Value]]:
    """What a JSON value says under which name, in its usual shapes."""
    if isinstance(value, list):
        for item in value:
            yield from _pairs(item)
    elif isinstance(value, dict):
        keyed = {_folded(key): item for key, item in value.items()}
        name = next((text for key in _NAMES if isinstance(text := keyed.get(key), str)), None)
        if name is not None:
            yield _folded(name), value
        for key, item in keyed.items() if name is None else ():
            if key in _GROUPS and isinstance(item, (dict, list)):
                yield from _pairs(item)
            else:
                yield key, item


def _settled(said: Iterable[_Said]) -> _Said:
    """What all statements on one dimension agree on."""
    found = list(said)
    values = {one.value for one in found}
    reason = next((one.reason for one in found if one.reason), "")
    return _Said(values.pop() if len(values) == 1 else None, reason)


def parse_ratings(raw: str, rubric: Rubric) -> Ratings:
    """What a judge's reply states for each dimension of the rubric; nothing is guessed or filled in."""
    pairs = [pair for found in find_values(raw) if found.whole for pair in _pairs(found.value)]

    def read(names: Sequence[str], scale: _Scale) -> _Said:
        folded = {_folded(name) for name in names}
        said = [_in_json(value, scale) for name, value in pairs if name in folded]
        return _settled([*said, *_lines(raw, names, scale)])

    each = [read((one.name,), _Scale(one.low, one.high, one.high)) for one in rubric.dimensions]
    total = read(_TOTALS, _Scale(-math.inf, math.inf, rubric.highest))
    return Ratings(tuple(one.value for one in each), tuple(one.reason for one in each), total.value)
