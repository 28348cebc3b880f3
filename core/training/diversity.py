"""How varied many texts are, and a choice of some that keeps the variety.

Texts are compared as bags of words and pairs of words, hashed into `SIZE` dimensions. They are not weighted
by rarity: among texts that are alike it is the rare words that differ, and such texts would look unlike. The
Vendi score (Friedman and Dieng 2023) is the effective number of different texts: 1 where all are alike; by
these dimensions it is `SIZE` at most. Knows no session and no file.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

SIZE = 512
PASSES = 12
MOST_CLUSTERS = 200

Vectors = np.ndarray[Any, np.dtype[np.float32]]
_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class Diversity:
    """How varied `texts` texts are: Vendi score; mean cosine of two of them, None below two; shares of words
    and of pairs of words that are different ones.
    """

    texts: int
    vendi: float
    similarity: float | None
    distinct_words: float
    distinct_pairs: float


def words(text: str) -> list[str]:
    """The words of a text in small letters; each character of scripts without spaces is one."""
    return _WORD.findall(text.casefold())


def _features(text: str) -> list[int]:
    """The words and pairs of words as numbers that are the same on every machine."""
    found = words(text)
    pairs = (f"{one} {other}" for one, other in pairwise(found))
    return [zlib.crc32(each.encode("utf-8", "replace")) for each in [*found, *pairs]]


def vectors(texts: Sequence[str]) -> Vectors:
    """One row of unit length a text; a text without words is a row of zeros."""
    counted = [Counter(_features(text)) for text in texts]
    made = np.zeros((len(texts), SIZE), np.float32)
    for row, each in zip(made, counted, strict=True):
        for feature, count in each.items():
            weight = 1 + math.log(count)
            row[feature % SIZE] += weight if feature & 0x80000000 else -weight
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / np.where(lengths > 0, lengths, 1), np.float32)


def diversity(texts: Sequence[str], rows: Vectors) -> Diversity:
    """The figures of texts whose vectors are `rows`."""
    every = [words(text) for text in texts]
    pairs = [list(pairwise(each)) for each in every]
    return Diversity(len(texts), vendi(rows), mean_similarity(rows), _distinct(every), _distinct(pairs))


def _distinct(lists: Sequence[Sequence[object]]) -> float:
    total = sum(map(len, lists))
    return len({each for one in lists for each in one}) / total if total else 0.0


def vendi(rows: Vectors) -> float:
    """The effective number of different rows: exp of the entropy of their kernel's eigenvalues; 0 of none."""
    if not len(rows):
        return 0.0
    wide = rows.astype(np.float64)
    shares = np.linalg.eigvalsh(wide.T @ wide / len(rows))
    known = shares[shares > 1e-12]
    return float(np.exp(-(known * np.log(known)).sum()))


def mean_similarity(rows: Vectors) -> float | None:
    """The mean cosine of two different rows, by the length of their sum; None below two rows."""
    count = len(rows)
    if count < 2:
        return None
    total = rows.astype(np.float64).sum(axis=0)
    return float((total @ total - (rows.astype(np.float64) ** 2).sum()) / (count * (count - 1)))


def clusters(rows: Vectors, seed: int) -> list[int]:
    """For each row the number of its cluster (spherical k-means, about the root of half the rows)."""
    count = max(1, min(round((len(rows) / 2) ** 0.5), MOST_CLUSTERS))
    drawn = np.random.default_rng(seed)
    centres = rows[np.sort(drawn.choice(len(rows), count, replace=False))]
    homes = np.zeros(len(rows), np.int64)
    for _ in range(PASSES):
        homes = np.argmax(rows @ centres.T, axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, homes, rows)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), centres).astype(np.float32)
    return [int(home) for home in homes]


def spread(homes: Sequence[int], most: int) -> list[int]:
    """The places of at most `most` rows: one of each cluster in turn, in order, until there are enough."""
    turns: Counter[int] = Counter()
    ranked = []
    for place, home in enumerate(homes):
        ranked.append((turns[home], place))
        turns[home] += 1
    return sorted(place for _, place in sorted(ranked)[:most])
