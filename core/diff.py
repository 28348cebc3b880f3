"""What changed between two texts, for reading and for accepting in parts. Knows no page and no model.

Words are the unit in scripts with spaces, characters (whole graphemes) in Chinese, Japanese, Thai, Lao,
Khmer, Burmese and Tibetan, single digits in numbers, single characters elsewhere; so a changed space or
line end never marks the word beside it. Long texts are first matched by the lines, sentences and words that
occur once in both, and only what lies between is compared word by word: the work stays bounded for any pair
of texts.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import regex

from core.invisible import visible as visible

Kind = Literal["same", "removed", "added"]

WHOLE, BETWEEN, TOKENS = 5_000, 40_000, 6_000
"""Most pairs of equal tokens, in whole texts and between anchors, and most tokens, that difflib compares."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
_LETTER = rf"(?=[\p{{L}}--[{_UNSPACED}]])\X"
_TOKEN = regex.compile(rf"[\ud800-\udbff][\udc00-\udfff]|(?:{_LETTER})+(?:['’](?:{_LETTER})+)*|\X", regex.V1)
_LINE = regex.compile(r"[^\n]*\n|[^\n]+", regex.V1)
_CONTENT = regex.compile(rf"(?P<one>\d|[{_UNSPACED}])|\p{{L}}", regex.V1)


@dataclass(frozen=True)
class Piece:
    """A run of text; the same and removed pieces join to the old text, the same and added to the new."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Hunk:
    """One change that can be accepted by itself; `removed` or `added` may be empty."""

    index: int
    removed: str
    added: str


@dataclass(frozen=True)
class _Change:
    """Part of an alignment: `same` is whether old and new are equal here."""

    same: bool
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, str]:
        return "".join(self.old), "".join(self.new)


Split = Callable[[str], list[str]]


def tokens(text: str) -> list[str]:
    """The words, characters, digits and white space that a diff compares; they join to the text."""
    found: list[str] = _TOKEN.findall(text)
    return found


def _lines(text: str) -> list[str]:
    found: list[str] = _LINE.findall(text)
    return found


def _sentences(text: str) -> list[str]:
    """Runs of tokens up to the end of a sentence."""
    units: list[str] = []
    running: list[str] = []
    for token in tokens(text):
        running.append(token)
        if token[-1] in ".!?。！？\n":
            units.append("".join(running))
            running = []
    return [*units, "".join(running)] if running else units


_LEVELS: tuple[Split, ...] = (_lines, _sentences, tokens)


def _ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many units are equal at the start, and at the end of what remains."""
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    rest = most - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    return head, tail


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs, sorted by their first, in which the second rises too."""
    heights: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, height) in enumerate(pairs):
        place = bisect_left(heights, height)
        heights[place : place + 1] = [height]
        last[place : place + 1] = [index]
        before.append(last[place - 1] if place else -1)
    chain: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of units that occur once in both, in an order common to both."""
    olds, news = Counter(old), Counter(new)
    places = {unit: place for place, unit in enumerate(new)}
    once = [(i, places[unit]) for i, unit in enumerate(old) if olds[unit] == 1 == news[unit]]
    return _rising(once)


def _small(old: Sequence[str], new: Sequence[str], matches: int) -> bool:
    if len(old) + len(new) > TOKENS:
        return False
    news = Counter(unit for unit in new if not unit.isspace())
    return sum(news[unit] for unit in old) <= matches


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[_Change]:
    matcher = difflib.SequenceMatcher(str.isspace, old, new, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            yield _Change(True, tuple(old[i:j]), tuple(new[k:m]))
        else:
            yield from _trimmed(old[i:j], new[k:m])


def _trimmed(old: Sequence[str], new: Sequence[str]) -> Iterator[_Change]:
    """A change without what is equal at its ends: difflib finds white space only beside a word."""
    head, tail = _ends(old, new)
    yield _Change(True, tuple(old[:head]), tuple(new[:head]))
    yield _Change(False, tuple(old[head : len(old) - tail]), tuple(new[head : len(new) - tail]))
    yield _Change(True, tuple(old[len(old) - tail :]), tuple(new[len(new) - tail :]))


def _between(old: Sequence[str], new: Sequence[str], level: int) -> Iterator[_Change]:
    """The alignment of what lies between anchors: at the next finer level, or as replaced whole."""
    if level + 1 < len(_LEVELS):
        yield from _align("".join(old), "".join(new), level + 1)
    elif _small(old, new, BETWEEN):
        yield from _compare(old, new)
    else:
        yield _Change(False, tuple(old), tuple(new))


def _anchored(old: list[str], new: list[str], level: int) -> Iterator[_Change]:
    i = j = 0
    for a, b in [*_anchors(old, new), (len(old), len(new))]:
        head, tail = _ends(old[i:a], new[j:b])
        yield _Change(True, tuple(old[i : i + head]), tuple(new[j : j + head]))
        yield from _between(old[i + head : a - tail], new[j + head : b - tail], level)
        yield _Change(True, tuple(old[a - tail : a + 1]), tuple(new[b - tail : b + 1]))
        i, j = a + 1, b + 1


def _align(old: str, new: str, level: int) -> Iterator[_Change]:
    """An alignment of two texts by the units of this level."""
    if not old or not new:
        yield _Change(False, (old,) if old else (), (new,) if new else ())
    elif len(old) + len(new) <= TOKENS * 4 and level < len(_LEVELS) - 1:
        yield from _align(old, new, len(_LEVELS) - 1)
    else:
        units, others = _LEVELS[level](old), _LEVELS[level](new)
        fine = level == len(_LEVELS) - 1 and _small(units, others, WHOLE)
        yield from _compare(units, others) if fine else _anchored(units, others, level)


def _joined(changes: Iterable[_Change]) -> list[_Change]:
    """The alignment with neighbours of one kind made one, and the empty ones left out."""
    runs: list[tuple[bool, list[str], list[str]]] = []
    for change in changes:
        if not change.old and not change.new:
            continue
        if not runs or runs[-1][0] != change.same:
            runs.append((change.same, [], []))
        runs[-1][1].extend(change.old)
        runs[-1][2].extend(change.new)
    return [_Change(same, tuple(old), tuple(new)) for same, old, new in runs]


def _weight(text: str) -> int:
    """How much a run says: digits and characters of unspaced scripts count, and letters, at most 9."""
    return sum(1 for _, _found in zip(range(9), _CONTENT.finditer(text), strict=False))


def _splinter(before: _Change, same: _Change, after: _Change) -> bool:
    """Whether an unchanged run between two changes is too little to read by itself.

    That is: nothing but spaces and signs between two changes of words, on one line; or a single letter or
    character between two larger changes.
    """
    text = same.texts[0]
    weight = _weight(text)
    sides = [max(map(_weight, change.texts)) for change in (before, after)]
    if weight == 0:
        return min(sides) > 0 and "\n" not in text and "\r" not in text
    return weight == 1 and min(sides) > 1 and "\n" not in text


def _readable(changes: list[_Change]) -> list[_Change]:
    """The alignment without splinters, so that a rewritten phrase reads as one change."""
    done: list[_Change] = []
    for change in changes:
        if len(done) >= 2 and not change.same and done[-1].same and _splinter(done[-2], done[-1], change):
            same, before = done.pop(), done.pop()
            parts = (before, same, change)
            change = _Change(
                False,
                tuple(token for part in parts for token in part.old),
                tuple(token for part in parts for token in part.new),
            )
        done.append(change)
    return done


def _changes(old: str, new: str) -> list[_Change]:
    if old == new:
        return [_Change(True, (old,), (new,))] if old else []
    return _readable(_joined(_align(old, new, 0)))


def _pieces(change: _Change) -> tuple[Piece, ...]:
    old, new = change.texts
    if change.same:
        return (Piece("same", old),)
    both = (Piece("removed", old), Piece("added", new))
    return tuple(piece for piece in both if piece.text)


def diff(old: str, new: str) -> tuple[Piece, ...]:
    """The pieces from which both texts can be read off; a removal stands before what replaces it."""
    return tuple(piece for change in _changes(old, new) for piece in _pieces(change))


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """The changes in order, numbered from 0."""
    changed = [change.texts for change in _changes(old, new) if not change.same]
    return tuple(Hunk(index, removed, added) for index, (removed, added) in enumerate(changed))


def apply_hunks(old: str, new: str, accepted: set[int]) -> str:
    """The old text with the accepted hunks put in. Raises ValueError for a hunk that is not there."""
    changes = _changes(old, new)
    numbers = iter(range(len(changes)))
    numbered = [(None if change.same else next(numbers), change) for change in changes]
    unknown = accepted - {number for number, _ in numbered if number is not None}
    if unknown:
        raise ValueError(f"There is no change number {min(unknown)} between these texts; compare them again.")
    return "".join(change.texts[number in accepted] for number, change in numbered)


def line_ends_only(old: str, new: str) -> bool:
    """Whether the texts differ, and only in how their lines end (CRLF, CR, LF)."""
    return old != new and _one_line_end(old) == _one_line_end(new)


def _one_line_end(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def similar(old: str, new: str) -> float:
    """The share of characters, 0 to 1, that the two texts have in common; two empty texts are equal: 1."""
    if old == new:
        return 1.0
    same = sum(len(piece.text) for piece in diff(old, new) if piece.kind == "same")
    return 2 * same / (len(old) + len(new))
