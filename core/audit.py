"""Which points of a critique a revision meets: as its critic says, and by what became of the quoted words.

Knows no model.

The form that critics are asked for is `1: yes` or `2: no | why` on a line each; JSON is read as well. A point
that is not named, or is said to be both, is not said (None).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.domain import Point
from core.loose_json import Value, find_values

_MET = {"yes": True, "met": True, "done": True, "true": True,
        "no": False, "not met": False, "not done": False, "unmet": False, "false": False}  # fmt: skip
_WORD = rf"(?P<word>{'|'.join(sorted(_MET, key=len, reverse=True))})"
_WHY = r"(?:\s{0,3}[|.,;:(!–—-]\s*(?P<why>.*)|\s*)$"
_LINE = re.compile(
    rf"(?:point\s{{1,3}}|no\.\s{{0,3}}|#)?\(?(?P<number>\d{{1,3}})[\s.:)|=*_\-–—]{{1,6}}{_WORD}[*_]{{0,3}}{_WHY}",
    re.I,
)
_ALONE = re.compile(rf"{_WORD}[*_]{{0,3}}{_WHY}", re.I)
_MARKS = " \t\r>*_•+|-["
_NUMBERS, _ANSWERS = ("point", "number", "id"), ("met", "addressed", "answer", "verdict", "done")

Said = tuple[int, bool]


def read_audit(raw: str, count: int) -> tuple[bool | None, ...]:
    """For each of `count` points in order whether it is met; None where the reply does not say so plainly."""
    said = {(number, met) for number, met in [*_lines(raw, count), *_json(raw)] if 1 <= number <= count}
    return tuple(_agreed({met for which, met in said if which == number}) for number in range(1, count + 1))


def _agreed(answers: set[bool]) -> bool | None:
    return answers.pop() if len(answers) == 1 else None


def _lines(raw: str, count: int) -> Iterator[Said]:
    """What the lines say; of a single point a bare yes or no is said as well."""
    lines = [line.lstrip(_MARKS) for line in raw.split("\n") if line.strip()]
    for line in lines:
        found = _LINE.match(line)
        if found and _plain(found):
            yield int(found["number"]), _MET[found["word"].lower()]
    alone = _ALONE.match(lines[0]) if count == 1 and len(lines) == 1 else None
    if alone and _plain(alone):
        yield 1, _MET[alone["word"].lower()]


def _plain(found: re.Match[str]) -> bool:
    """Whether the answer is not followed by the other one, as where the form itself is repeated."""
    return re.match(r"(?:or\s+)?(?:yes|no)\b", (found["why"] or "").lower()) is None


def _json(raw: str) -> Iterator[Said]:
    for found in find_values(raw):
        if found.whole:
            yield from _stated(found.value)


def _stated(value: Value) -> Iterator[Said]:
    """{"1": "yes"}, {"point": 1, "met": true}, or a list of such."""
    if isinstance(value, list):
        for item in value:
            yield from _stated(item)
    elif isinstance(value, dict):
        number = next((value[key] for key in _NUMBERS if key in value), None)
        if number is not None:
            answer = next((value[key] for key in _ANSWERS if key in value), None)
            yield from _told(str(number), answer)
        else:
            for key, item in value.items():
                yield from _stated(item) if isinstance(item, list) else _told(key, item)


def _told(number: str, answer: Value) -> Iterator[Said]:
    met = answer if isinstance(answer, bool) else _MET.get(str(answer).strip().lower())
    if met is not None and re.fullmatch(r"\s*\d{1,3}\s*", number):
        yield int(number), met


def quotes_changed(points: Sequence[Point], old: str, new: str) -> tuple[bool | None, ...]:
    """For each point whether the words that it quotes changed; None where it quotes nothing of the old."""
    return tuple(_changed(point.quote.strip(), old, new) for point in points)


def _changed(quote: str, old: str, new: str) -> bool | None:
    before = old.count(quote) if quote else 0
    return new.count(quote) < before if before else None
