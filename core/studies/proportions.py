"""Shares of votes with their intervals and tests. Knows shares, not systems.

The clustered interval is Wilson's with the number of votes divided by the design effect, and Student's t in
place of the normal. The design effect is the two-way cluster-robust variance (Cameron, Gelbach & Miller 2011:
raters + items - single votes) over the variance of independent votes; t has as many degrees of freedom as the
smaller number of clusters, less one. It keeps its coverage with few raters, where a bootstrap of clusters
falls short (benchmarks/study_coverage.py), and stays within 0 and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import binomial_up_to, normal_quantile, t_below, t_quantile
from core.studies.figures import LEVEL, NO_VOTES, ONE_RATER, Interval, Undefined
from core.studies.votes import compact

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SMALLEST = 0.5
"""Of the variance of single votes: votes that seem more even than independent ones are so by chance."""
WILSON = "Wilson, votes taken as independent"


@dataclass(frozen=True)
class Spread:
    """How far a share may be off: standard errors for independent votes, clustered by rater (without any
    correction for few raters), and by rater and item; `design_effect` = how many votes count as one."""

    naive_se: float
    rater_se: float
    two_way_se: float
    design_effect: float
    freedom: int
    by: str


@dataclass(frozen=True)
class Share:
    """A share of `votes` with both intervals; `p` is the two-sided test against one half, clustered."""

    value: float
    votes: int
    wilson: Interval
    clustered: Interval | Undefined
    spread: Spread | Undefined
    p: float | Undefined


def wilson(successes: float, trials: float, level: float = LEVEL) -> Interval | Undefined:
    """Wilson's score interval of a share (Wilson 1927); undefined without trials."""
    if trials <= 0:
        return NO_VOTES
    return _score_interval(successes / trials, trials, normal_quantile((1 + level) / 2), WILSON, level)


def _score_interval(share: float, trials: float, reach: float, method: str, level: float) -> Interval:
    square = reach * reach
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = reach * math.sqrt(share * (1 - share) / trials + square / (4 * trials**2)) / (1 + square / trials)
    low = 0.0 if share == 0 else max(centre - half, 0.0)
    return Interval(low, 1.0 if share == 1 else min(centre + half, 1.0), method, level)


def sign_test(wins: int, losses: int) -> float | Undefined:
    """The exact two-sided sign test of wins against losses; ties take no part."""
    if wins + losses == 0:
        return NO_VOTES
    return min(1.0, 2 * float(binomial_up_to(min(wins, losses), wins + losses, 0.5)))


def spread(values: Floats, raters: Ints, items: Ints) -> Spread | Undefined:
    """How far the mean of `values` (0 to 1, one a vote) may be off; needs two raters and differing values."""
    if len(values) == 0:
        return NO_VOTES
    (rater_count, rater), (item_count, item) = compact(raters), compact(items)
    if rater_count < 2:
        return ONE_RATER
    share = float(values.mean())
    if values.min() == values.max():
        return Undefined("every vote is the same, so how far raters differ can't be told")
    single = share * (1 - share) / len(values)
    off = (values - share) / len(values)
    by_rater, by_item, by_vote = _squares(off, rater), _squares(off, item), float(off @ off)
    two_way = _two_way(by_rater, by_item, by_vote, rater_count, item_count)
    freedom = (min(rater_count, item_count) if item_count > 1 else rater_count) - 1
    by = "rater and item" if item_count > 1 else "rater"
    naive, one_way, both = math.sqrt(single), math.sqrt(by_rater), math.sqrt(two_way)
    return Spread(naive, one_way, both, two_way / single, freedom, by)


def _squares(off: Floats, clusters: Ints) -> float:
    """The sum over clusters of their squared sums of deviations."""
    sums = np.bincount(clusters, off)
    return float(sums @ sums)


def _two_way(by_rater: float, by_item: float, by_vote: float, raters: int, items: int) -> float:
    """Raters + items - votes, each enlarged for few clusters; never below SMALLEST of single votes."""
    rater_part = by_rater * raters / (raters - 1)
    item_part = by_item * items / (items - 1) - by_vote if items > 1 else 0.0
    return max(rater_part + item_part, SMALLEST * by_vote)


def share_of(values: Floats, raters: Ints, items: Ints, level: float = LEVEL) -> Share | Undefined:
    """The mean of `values` (1 won, 0 lost, 0.5 a tie that counts half; one a vote) with its intervals."""
    if len(values) == 0:
        return NO_VOTES
    value, votes = float(values.mean()), len(values)
    plain = wilson(float(values.sum()), votes, level)
    assert isinstance(plain, Interval)
    found = spread(values, raters, items)
    if isinstance(found, Undefined):
        return Share(value, votes, plain, found, found, found)
    effective = votes / found.design_effect
    reach = t_quantile((1 + level) / 2, found.freedom)
    method = f"Wilson with Student's t, clustered by {found.by}"
    clustered = _score_interval(value, effective, reach, method, level)
    distance = abs(value - 0.5) / math.sqrt(0.25 / effective)
    return Share(value, votes, plain, clustered, found, 2 * t_below(-distance, found.freedom))


def intraclass(values: Floats, raters: Ints) -> float | Undefined:
    """How alike one rater's votes are: the intraclass correlation of a one-way analysis of variance.

    1 = raters differ and each always votes the same; about 0 = a rater's votes are as good as anybody's.
    """
    _, place, sizes = np.unique(raters, return_inverse=True, return_counts=True)
    groups, total = len(sizes), len(values)
    if groups < 2:
        return ONE_RATER if total else NO_VOTES
    if total == groups:
        return Undefined("no rater has voted twice")
    means = np.bincount(place, values) / sizes
    between = float(sizes @ (means - values.mean()) ** 2) / (groups - 1)
    within = float(((values - means[place]) ** 2).sum()) / (total - groups)
    size = (total - float((sizes**2).sum()) / total) / (groups - 1)
    if between + (size - 1) * within <= 0:
        return Undefined("every vote is the same")
    return (between - within) / (between + (size - 1) * within)
