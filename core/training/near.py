"""Which of many texts are nearly the same: MinHash signatures in bands, and then the texts themselves.

Two texts are near when their sets of five characters in a row, after core.similar's folding, have a Jaccard
index of at least the threshold. A signature only says which texts to look at; the index is then computed.
Memory and time grow with the number of texts, not its square. Source: Broder 1997; Leskovec et al., Mining of
Massive Datasets, chapter 3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from core.similar import folded

BANDS, ROWS, WIDTH = 25, 4, 5
"""Of two texts at the index 0.8 all but one pair in 300,000 share a band, at 0.5 four of five do."""

AT_A_TIME = 4096

Numbers = np.ndarray[Any, np.dtype[np.uint64]]
_BASE = np.uint64(0x100000001B3)
_drawn = np.random.default_rng(20_090_084)
_FACTORS = _drawn.integers(1, 2**63, size=(BANDS * ROWS, 1), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SHIFTS = _drawn.integers(0, 2**63, size=(BANDS * ROWS, 1), dtype=np.uint64)


def shingles(text: str) -> Numbers:
    """Every five characters in a row of the folded text as one number each, sorted, each once."""
    codes = np.frombuffer(folded(text).encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    codes = np.concatenate([np.ones(1, np.uint64), codes, np.zeros(max(WIDTH - len(codes), 0), np.uint64)])
    mixed = np.zeros(len(codes) - WIDTH + 1, np.uint64)
    with np.errstate(over="ignore"):
        for place in range(WIDTH):
            mixed = mixed * _BASE + codes[place : len(mixed) + place]
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.unique(mixed ^ (mixed >> np.uint64(32)))


@lru_cache(maxsize=512)
def _kept_shingles(text: str) -> Numbers:
    return shingles(text)


def jaccard(one: str, other: str) -> float:
    """The share of shingles that two texts have in common, from 0 to 1."""
    a, b = _kept_shingles(one), _kept_shingles(other)
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)


def _bands(text: str) -> list[tuple[int, bytes]]:
    found = shingles(text)
    least = np.full(BANDS * ROWS, np.iinfo(np.uint64).max, np.uint64)
    # In parts: all at once would take a hundred times a long text's memory.
    for start in range(0, len(found), AT_A_TIME):
        part = found[start : start + AT_A_TIME]
        least = np.minimum(least, (part * _FACTORS + _SHIFTS).min(axis=1))
    return [(band, least[band * ROWS : (band + 1) * ROWS].tobytes()) for band in range(BANDS)]


class Near:
    """Texts that were added, by which others can be looked up that are nearly the same."""

    def __init__(self, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"The threshold is {threshold}; give one above 0 and up to 1.")
        self._threshold = threshold
        self._texts: list[str] = []
        self._homes: defaultdict[tuple[int, bytes], list[int]] = defaultdict(list)

    def like(self, text: str) -> list[int]:
        """The numbers of the added texts that are nearly the same, the earliest first."""
        return self._like(text, _bands(text))

    def add(self, text: str) -> list[int]:
        """The same, and the text is added under the next number."""
        bands = _bands(text)
        found = self._like(text, bands)
        for band in bands:
            self._homes[band].append(len(self._texts))
        self._texts.append(text)
        return found

    def _like(self, text: str, bands: Iterable[tuple[int, bytes]]) -> list[int]:
        near = {number for band in bands for number in self._homes.get(band, ())}
        return [n for n in sorted(near) if jaccard(text, self._texts[n]) >= self._threshold]


def groups(texts: Sequence[str], threshold: float) -> list[int]:
    """For each text the number of the first of its group; near texts are in one, by however many steps."""
    near, homes = Near(threshold), list(range(len(texts)))
    first: dict[str, int] = {}
    known: list[int] = []
    for number, text in enumerate(texts):
        if text in first:
            homes[number] = first[text]
            continue
        first[text] = number
        for other in near.add(text):
            _join(homes, known[other], number)
        known.append(number)
    return [_home(homes, number) for number in range(len(texts))]


def _home(homes: list[int], number: int) -> int:
    while homes[number] != number:
        homes[number] = number = homes[homes[number]]
    return number


def _join(homes: list[int], one: int, other: int) -> None:
    low, high = sorted((_home(homes, one), _home(homes, other)))
    homes[high] = low
