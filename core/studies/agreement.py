"""How far raters agree, beyond chance: Krippendorff's alpha, Gwet's AC1, Fleiss' and Cohen's kappa.

Knows ratings, not systems. Everything is computed from how often each unit got each value, [units, values];
a missing rating is simply not counted. Intervals resample units (percentiles).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import t_quantile
from core.studies.figures import LEVEL, Estimate, Interval, Undefined

Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval", "ratio"]

UNITS = "percentiles of a bootstrap of units"
NO_PAIRS = Undefined("nothing was judged twice")
UNANIMOUS = Undefined("every rating is the same, so chance agreement is complete as well")
MANY_UNDEFINED = 0.01


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha (1 = full, 0 = chance) of `ratings` pairable ratings in `units` units."""

    value: float
    interval: Interval | Undefined
    level: Level
    units: int
    ratings: int


def counts_of(
    ratings: Sequence[Sequence[float | None]],
) -> tuple[Floats, tuple[float, ...]]:
    """Counts [units, values] and the values in order, from [raters][units] with None where one is missing."""
    values = tuple(sorted({value for row in ratings for value in row if value is not None}))
    place = {value: column for column, value in enumerate(values)}
    counts = np.zeros((max(map(len, ratings), default=0), len(values)))
    for row in ratings:
        for unit, value in enumerate(row):
            if value is not None:
                counts[unit, place[value]] += 1
    return counts, values


def krippendorff(
    counts: Floats, values: Sequence[float], level: Level = "nominal", *, draws: int = 1000, seed: int = 0
) -> Alpha | Undefined:
    """Alpha of counts [units, values]; `values` are the numbers that the columns stand for.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability". draws=0 leaves the interval out.
    """
    pairable = counts[counts.sum(axis=1) >= 2]
    if len(pairable) == 0:
        return NO_PAIRS
    if (pairable.sum(axis=0) > 0).sum() < 2:
        return UNANIMOUS
    patterns, times = np.unique(pairable, axis=0, return_counts=True)
    pairs = _coincidences(patterns)
    distances = _distance(np.asarray(values, dtype=np.float64), level)
    value = _alpha(np.tensordot(times, pairs, 1), distances)
    interval = _resampled(pairs, times, lambda sums: _alpha(sums, distances), draws, seed)
    return Alpha(value, interval, level, len(pairable), int(pairable.sum()))


def _coincidences(counts: Floats) -> Floats:
    """[units, values, values]: pairs of values within each unit, each unit with the weight of its ratings."""
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _distance(values: Floats, level: Level) -> Callable[[Floats], Floats]:
    """From how often each value occurs [values] to squared distances [values, values]."""
    low, high = values[:, None], values[None, :]
    if level == "nominal":
        return lambda _: (low != high).astype(np.float64)
    if level == "interval":
        return lambda _: (low - high) ** 2
    if level == "ratio":
        total = np.where(low + high == 0, 1.0, low + high)
        return lambda _: ((low - high) / total) ** 2
    return _ordinal


def _ordinal(often: Floats) -> Floats:
    upto = np.cumsum(often)
    middle = upto - often / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2)


def _alpha(pairs: Floats, distances: Callable[[Floats], Floats]) -> float:
    """1 - observed / expected disagreement, from the coincidence matrix; NaN where only one value occurs."""
    often = pairs.sum(axis=1)
    far = distances(often)
    expected = float((np.outer(often, often) * far).sum())
    total = float(often.sum())
    return 1 - (total - 1) * float((pairs * far).sum()) / expected if expected > 0 else math.nan


def _resampled(
    pairs: Floats, times: NDArray[np.intp], figure: Callable[[Floats], float], draws: int, seed: int
) -> Interval | Undefined:
    """Percentiles of a figure of sums over units drawn with repeats; `times`: units of each pattern."""
    units = int(times.sum())
    if draws == 0 or units < 2:
        return Undefined("there is one unit" if draws else "no interval was asked for")
    drawn = np.random.default_rng(seed).multinomial(units, times / units, size=draws)
    sums = (drawn @ pairs.reshape(len(pairs), -1)).reshape(draws, *pairs.shape[1:])
    found = np.array([figure(one) for one in sums])
    undefined = np.isnan(found)
    if undefined.mean() > MANY_UNDEFINED:
        return Undefined(f"in {undefined.mean():.0%} of the draws every rating is the same")
    low, high = np.quantile(found[~undefined], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), UNITS)


def raw_agreement(counts: Floats) -> float | Undefined:
    """The share of pairs of ratings of one unit that are equal, averaged over units rated twice or more."""
    rated = counts[counts.sum(axis=1) >= 2]
    return float(_equal_pairs(rated).mean()) if len(rated) else NO_PAIRS


def _equal_pairs(counts: Floats) -> Floats:
    """[units]: the share of a unit's pairs of ratings that are equal."""
    sizes = counts.sum(axis=1)
    return np.asarray((counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1)))


def gwet_ac1(counts: Floats, categories: int | None = None) -> Estimate | Undefined:
    """Gwet's AC1 with its standard error over units, raters taken as fixed (Gwet 2008, 2014).

    `categories` is how many there were to choose from, by default how many were chosen.
    """
    counts = counts[counts.sum(axis=1) > 0]
    rated = counts.sum(axis=1) >= 2
    chosen = categories or int((counts.sum(axis=0) > 0).sum())
    if not rated.any():
        return NO_PAIRS
    if chosen < 2:
        return UNANIMOUS
    shares = counts / counts.sum(axis=1, keepdims=True)
    often = shares.mean(axis=0)
    expected = float((often * (1 - often)).sum()) / (chosen - 1)
    agree = np.zeros(len(counts))
    agree[rated] = _equal_pairs(counts[rated])
    value = (float(agree[rated].mean()) - expected) / (1 - expected)
    per_unit = np.where(rated, len(counts) / rated.sum() * (agree - expected) / (1 - expected), 0.0)
    by_chance = (shares * (1 - often)).sum(axis=1) / (chosen - 1)
    off = per_unit - 2 * (1 - value) * (by_chance - expected) / (1 - expected) - value
    return _over_units(value, off)


def _over_units(value: float, off: Floats) -> Estimate | Undefined:
    units = len(off)
    if units < 2:
        return Undefined("there is one unit")
    se = math.sqrt(float(off @ off) / (units * (units - 1)))
    reach = t_quantile((1 + LEVEL) / 2, units - 1) * se
    interval = Interval(max(value - reach, -1.0), min(value + reach, 1.0), "Student's t over units")
    return Estimate(value, se, interval if se > 0 else Undefined("every unit is the same"))


def fleiss_kappa(counts: Floats) -> float | Undefined:
    """Fleiss' kappa of counts [units, values], every unit rated equally often (Fleiss 1971)."""
    sizes = counts.sum(axis=1)
    if len(counts) == 0 or sizes.min() < 2:
        return NO_PAIRS
    if sizes.min() != sizes.max():
        return Undefined("units were rated by different numbers of raters; take alpha")
    often = counts.sum(axis=0) / counts.sum()
    expected = float(often @ often)
    return UNANIMOUS if expected == 1 else (float(_equal_pairs(counts).mean()) - expected) / (1 - expected)


def cohen_kappa(table: Floats) -> float | Undefined:
    """Cohen's kappa of a square table [first rater's value, second rater's value] (Cohen 1960)."""
    total = float(table.sum())
    if total == 0:
        return NO_PAIRS
    expected = float(table.sum(axis=1) @ table.sum(axis=0)) / total**2
    return UNANIMOUS if expected == 1 else (float(np.trace(table)) / total - expected) / (1 - expected)


def table_counts(table: Floats) -> Floats:
    """Counts [units, values] of a square table of two raters, for the other coefficients."""
    size = len(table)
    first, second = np.divmod(np.repeat(np.arange(size * size), table.astype(int).ravel()), size)
    return np.eye(size)[first] + np.eye(size)[second]
