"""Resampling of raters, and of raters and items: thousands of draws at once. Knows counts, not figures.

A draw of the worths needs no vote, only how often each rater decided each pair each way: one matrix product
of drawn weights with those counts gives the tables of all draws, and one Newton run fits them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import normal_below, t_quantile
from core.studies.figures import LEVEL, NO_VOTES, ONE_RATER, Interval, Undefined
from core.studies.votes import SKIP, TIE, VoteTable, compact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE = 10_000_000
"""Numbers in a matrix up to which it is kept whole; beyond, only what is not 0."""
AT_ONCE = 4_000_000
"""Numbers in the drawn weights that are held at one time."""
WAYS = 3
PIGEONHOLE = "percentiles of a two-way (pigeonhole) bootstrap of raters and items"


def rater_counts(table: VoteTable) -> Any:
    """[raters, pairs * 3]: how often each rater with votes preferred a pair's first, its second, neither.

    Pairs as numpy.triu_indices orders them; both bad counts as neither, a skip not at all.
    A numpy array, or a scipy sparse one where that would be large.
    """
    votes = table.where(table.outcome < SKIP)
    size = len(table.systems)
    pairs = size * (size - 1) // 2
    code = _pair_place(votes, size) * WAYS + np.minimum(votes.outcome, TIE)
    present, row = compact(votes.rater)
    shape = (present, pairs * WAYS)
    if shape[0] * shape[1] <= DENSE:
        flat = np.bincount(row * shape[1] + code, minlength=shape[0] * shape[1])
        return flat.reshape(shape).astype(np.float64)
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(code)), (row, code)), shape=shape)


def _pair_place(votes: VoteTable, size: int) -> Ints:
    """Where a pair stands in numpy.triu_indices(size, 1)."""
    first, second = votes.first, votes.second
    return first * (2 * size - first - 1) // 2 + second - first - 1


def tables(counts: Floats, size: int) -> tuple[Floats, Floats]:
    """Wins and ties [..., systems, systems] out of counts [..., pairs * 3]."""
    first, second = np.triu_indices(size, 1)
    by_way = counts.reshape(*counts.shape[:-1], len(first), WAYS)
    wins = np.zeros((*counts.shape[:-1], size, size))
    ties = np.zeros_like(wins)
    wins[..., first, second], wins[..., second, first] = by_way[..., 0], by_way[..., 1]
    ties[..., first, second] = ties[..., second, first] = by_way[..., TIE]
    return wins, ties


def rater_draws(counts: Any, draws: int, seed: int) -> Floats:
    """[draws, pairs * 3]: the counts of `draws` samples of raters, as many as there are, with repeats."""
    rng = np.random.default_rng(seed)
    found = [(counts.T @ weights.T).T for weights in _weights(rng, draws, counts.shape[0])]
    return np.concatenate(found) if found else np.zeros((0, counts.shape[1]))


def _weights(rng: np.random.Generator, draws: int, size: int) -> Iterator[Floats]:
    """How often each of `size` is drawn [some draws, size], a bounded block of draws at a time."""
    block = max(1, AT_ONCE // max(size, 1))
    for begin in range(0, draws, block):
        yield _drawn(rng, min(block, draws - begin), size)


def _drawn(rng: np.random.Generator, draws: int, size: int) -> Floats:
    picks = rng.integers(size, size=(draws, size)) + np.arange(draws)[:, None] * size
    return np.bincount(picks.ravel(), minlength=draws * size).reshape(draws, size).astype(np.float64)


def expanded_percentiles(samples: Floats, clusters: int, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Low and high percentiles over the first axis, set further out for few clusters.

    A bootstrap of n clusters is too narrow by sqrt((n - 1) / n) and knows no Student's t: Hesterberg (2015),
    "expanded percentile interval".
    """
    reach = t_quantile((1 + level) / 2, clusters - 1) * np.sqrt(clusters / (clusters - 1))
    low = normal_below(-reach)
    found = np.quantile(samples, [low, 1 - low], axis=0)
    return found[0], found[1]


def pigeonhole(
    values: Floats, raters: Ints, items: Ints, draws: int, seed: int, level: float = LEVEL
) -> Interval | Undefined:
    """The interval of a mean when raters and items are both drawn anew (Owen 2007).

    It counts the chance in a single vote up to three times, so it is too wide where raters and items differ
    little; it is here to be compared with the closed form.
    """
    if len(values) == 0:
        return NO_VOTES
    from scipy.sparse import csr_array

    (rater_count, rater), (item_count, item) = compact(raters), compact(items)
    if rater_count < 2:
        return ONE_RATER
    if values.min() == values.max():
        return Undefined("every vote is the same, so every draw is")
    shape = (item_count, rater_count)
    sums, sizes = (csr_array((data, (item, rater)), shape=shape) for data in (values, np.ones(len(values))))
    rng = np.random.default_rng(seed)
    means = []
    block = max(1, AT_ONCE // max(shape))
    for begin in range(0, draws, block):
        by_item, by_rater = (_drawn(rng, min(block, draws - begin), size) for size in shape)
        weight = ((sizes @ by_rater.T) * by_item.T).sum(axis=0)
        some = weight > 0
        means.append(((sums @ by_rater.T) * by_item.T).sum(axis=0)[some] / weight[some])
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), PIGEONHOLE, level)
