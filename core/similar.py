"""Which of some short texts are nearly the same, so that a page can show them as one with a count.

Knows characters only, neither words nor meaning: in a long text a changed digit or a "not" is a small change,
and the two count as near duplicates. Compare answers with a scorer where that matters.

Two texts are the same when they are equal after folding: case, width, space other than between words, double
quotes and the marks that end sentences or their parts. Marks that say something stay: 1.5, -5, 5!, x.y,
x[1:] and a != b keep theirs. Other texts are near duplicates when they share most of their triples of
characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2019: "'"}
_HAN = "\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
_QUOTES = re.compile('["“”„«»「」『』《》〈〉]')
_MARKS = re.compile(rf"(?:[.,;:?…]|(?<!\d)!)+(?=\s|$)|[。、・]|(?<=[{_HAN}])[.,;:?!]+")
_IDLE = re.compile(rf"(?<![^\W{_HAN}])\s+|\s+(?![^\W{_HAN}])")


def folded(text: str) -> str:
    """The text as it is compared."""
    plain = unicodedata.normalize("NFC", text).translate(_WIDE).casefold()
    return _IDLE.sub("", " ".join(_MARKS.sub(" ", _QUOTES.sub("", plain)).split()))


def _triples(text: str) -> frozenset[int]:
    """Every three characters in a row, as one number each: equal numbers are equal triples."""
    codes = [0, *map(ord, text), 0]
    return frozenset(
        (one << 42) | (two << 21) | three
        for one, two, three in zip(codes, codes[1:], codes[2:], strict=False)
    )


def _alike(one: frozenset[int], other: frozenset[int], threshold: float) -> bool:
    """Whether the Jaccard index of two sets that are not empty reaches the threshold."""
    fewer, more = sorted((len(one), len(other)))
    if fewer < threshold * more:
        return False
    shared = len(one & other)
    return shared >= threshold * (fewer + more - shared)


def groups(texts: Sequence[str], threshold: float = 0.9) -> tuple[tuple[int, ...], ...]:
    """The texts' places in classes of near duplicates, in the order of their first members.

    A class is what its first text stands for: each other is compared with that one alone, so that no chain of
    small changes joins texts that differ. `threshold`, above 0 and up to 1, is the Jaccard index from which
    on two texts are near duplicates. Raises ValueError for another one.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"The threshold is {threshold}; give one above 0 and up to 1.")
    plain = [folded(text) for text in texts]
    triples = {text: _triples(text) for text in plain if text}
    firsts: dict[str, list[int]] = {}
    for place, text in enumerate(plain):
        firsts.setdefault(_first(text, list(firsts), triples, threshold), []).append(place)
    return tuple(map(tuple, firsts.values()))


def _first(text: str, firsts: list[str], triples: dict[str, frozenset[int]], threshold: float) -> str:
    """The first text of the class that a text belongs to: an equal one, the earliest alike, or itself."""
    if text in firsts or not text:
        return text
    alike = (first for first in firsts if first and _alike(triples[first], triples[text], threshold))
    return next(alike, text)
