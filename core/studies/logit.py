"""Logistic regression on votes: what the side does, and what is left of a preference at equal length.

Knows columns, not pages. Standard errors are those of independent votes, and clustered by rater (sandwich,
enlarged by raters / (raters - 1), with Student's t). Newton's method on sums by system and pair instead of
statsmodels, which gives the same figures: a million votes need no design matrix, and 70 MB less is installed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import normal_quantile, t_quantile
from core.studies.figures import LEVEL, NO_VOTES, ONE_RATER, Estimate, Interval, Undefined
from core.studies.proportions import wilson
from core.studies.votes import VoteTable, compact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FARTHEST = 15.0
"""Log odds of a single vote beyond which the maximum is taken to be at infinity."""
ROUNDS = 50
SAME_LENGTH = 1e-9


@dataclass(frozen=True)
class Coefficients:
    """Coefficients, their covariance for independent votes, and clustered by rater (None: one rater)."""

    values: Floats
    covariance: Floats
    clustered: Floats | None
    raters: int


@dataclass(frozen=True)
class SideEffect:
    """What standing on the left does: `left` of `decided` votes went left; `effect` in log odds (above 0: the
    left is favoured), for equally good systems, with either interval; `preference`: the log odds of the
    pair's first system with the side held even, where there are two."""

    left: int
    decided: int
    share: Interval | Undefined
    effect: Estimate | Undefined
    clustered: Estimate | Undefined
    preference: Estimate | Undefined


@dataclass(frozen=True)
class AdjustedWorth:
    """A system's log worth against the mean of all at texts of equal length, and without that adjustment."""

    system: str
    adjusted: Estimate
    unadjusted: float


@dataclass(frozen=True)
class LengthAdjusted:
    """What is left of preferences at equal length, side held even, on the `votes` whose lengths are known.

    `length`: log odds for one standard deviation more of log(length / the other's length). With two systems
    `preference` is the log odds of `worths[0]`'s system, `share` the same as a share of votes.
    """

    votes: int
    length: Estimate
    worths: tuple[AdjustedWorth, ...]
    preference: Estimate | Undefined
    share: Interval | Undefined


@dataclass(frozen=True)
class Design:
    """What each vote is explained by: its two systems (codes below `systems`; the worth of the last one is
    0) and `more` [votes, columns]. Coefficients: the other systems' worths, then one for each column."""

    first: Ints
    second: Ints
    systems: int
    more: Floats

    def odds(self, values: Floats) -> Floats:
        """[votes]: the log odds of the first system."""
        worths = np.append(values[: self.systems - 1], 0.0)
        more: Floats = self.more @ values[self.systems - 1 :]
        return np.asarray(worths[self.first] - worths[self.second] + more)

    def summed(self, weights: Floats, group: Ints | None = None, groups: int = 1) -> Floats:
        """[groups, coefficients]: the columns times the votes' weights, summed within groups."""
        place = np.zeros(len(weights), dtype=np.int64) if group is None else group
        size = groups * self.systems
        first, second = (
            np.bincount(place * self.systems + of, weights, size) for of in (self.first, self.second)
        )
        more = [np.bincount(place, weights * column, groups) for column in self.more.T]
        return np.column_stack([(first - second).reshape(groups, -1)[:, :-1], *more])

    def squared(self, weights: Floats) -> Floats:
        """[coefficients, coefficients]: the columns' products times the votes' weights, summed."""
        size, systems = self.systems, self.systems - 1
        met = np.bincount(self.first * size + self.second, weights, size * size).reshape(size, size)
        met = met + met.T
        found = np.zeros((systems + self.more.shape[1],) * 2)
        found[:systems, :systems] = (np.diag(met.sum(axis=1)) - met)[:-1, :-1]
        for place, column in enumerate(self.more.T, systems):
            found[place] = found[:, place] = self.summed(weights * column)[0]
        return found


def regress(
    design: Design, wins: Floats, raters: Ints, start: Floats | None = None
) -> Coefficients | Undefined:
    """The coefficients of log odds of `wins` (1, or 0) by Newton's method, or why there are none."""
    values = np.zeros(design.systems - 1 + design.more.shape[1]) if start is None else start
    for _ in range(ROUNDS):
        odds = design.odds(values)
        if np.abs(odds).max() > FARTHEST:
            return Undefined("some votes went only one way, so there is no limit to the effect")
        chance = 1 / (1 + np.exp(-odds))
        information = design.squared(chance * (1 - chance))
        if np.linalg.matrix_rank(information, tol=1e-9 * len(wins)) < len(values):
            return Undefined("in these votes the systems and the side (or length) always went together")
        step = np.linalg.solve(information, design.summed(wins - chance)[0])
        values = values + step * min(1.0, 2 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-9:
            return _with_errors(design, wins - chance, raters, values, information)
    return Undefined("the likelihood has no maximum that can be reached")


def _with_errors(
    design: Design, off: Floats, raters: Ints, values: Floats, information: Floats
) -> Coefficients:
    inverse: Floats = np.asarray(np.linalg.inv(information), dtype=np.float64)
    count, rater = compact(raters)
    scores = design.summed(off, rater, count)
    robust = inverse @ (scores.T @ scores) @ inverse * count / max(count - 1, 1)
    return Coefficients(values, inverse, robust if count > 1 else None, count)


def _naive(found: Coefficients, of: int | Floats) -> Estimate:
    reach = normal_quantile((1 + LEVEL) / 2)
    return _estimate(found.values, found.covariance, of, reach, "Wald, votes taken as independent")


def _clustered(found: Coefficients, of: int | Floats) -> Estimate | Undefined:
    if found.clustered is None:
        return ONE_RATER
    reach = t_quantile((1 + LEVEL) / 2, found.raters - 1)
    return _estimate(found.values, found.clustered, of, reach, "Wald, clustered by rater")


def _estimate(values: Floats, covariance: Floats, of: int | Floats, reach: float, method: str) -> Estimate:
    """One coefficient (its place) or a weighted sum of them."""
    weights = np.eye(len(values))[of] if isinstance(of, int) else of
    value, se = float(weights @ values), float(np.sqrt(max(weights @ covariance @ weights, 0.0)))
    return Estimate(value, se, Interval(value - reach * se, value + reach * se, method))


def _design(votes: VoteTable, *more: Floats) -> Design:
    """The present systems, the side (1: the pair's first stands on the left), and more columns."""
    present = _present(votes)
    first, second = (np.searchsorted(present, codes) for codes in (votes.first, votes.second))
    return Design(first, second, len(present), np.column_stack([_side(votes), *more]))


def _side(votes: VoteTable) -> Floats:
    return np.where(votes.first_left, 1.0, -1.0)


def side_effect(table: VoteTable) -> SideEffect | Undefined:
    """The effect of the left side on votes for one of the two, next to the systems' own worths."""
    votes = table.decided()
    if len(votes) == 0:
        return NO_VOTES
    left = int((votes.first_left == (votes.first_wins == 1)).sum())
    found = regress(_design(votes), votes.first_wins, votes.rater)
    share = wilson(left, len(votes))
    if isinstance(found, Undefined):
        return SideEffect(left, len(votes), share, found, found, found)
    two = len(found.values) == 2
    preference = _naive(found, 0) if two else Undefined("there are more than two systems; see their worths")
    return SideEffect(left, len(votes), share, _naive(found, -1), _clustered(found, -1), preference)


def length_adjusted(table: VoteTable) -> LengthAdjusted | Undefined:
    """The worths of the systems of a table (two: the preference) at equal length."""
    votes = table.decided()
    votes = votes.where(np.isfinite(votes.longer))
    if len(votes) == 0:
        return Undefined("no vote says how long the texts were") if len(table.decided()) else NO_VOTES
    deviation = float(votes.longer.std())
    if deviation < SAME_LENGTH:
        return Undefined("the texts' lengths never differ")
    plain = regress(_design(votes), votes.first_wins, votes.rater)
    if isinstance(plain, Undefined):
        return plain
    design = _design(votes, votes.longer / deviation)
    adjusted = regress(design, votes.first_wins, votes.rater, np.append(plain.values, 0.0))
    if isinstance(adjusted, Undefined):
        return adjusted
    worths = _adjusted_worths(votes, adjusted, plain)
    two = Undefined("there are more than two systems; see their worths")
    preference = _best(adjusted, 0) if len(worths) == 2 else two
    share = preference if isinstance(preference, Undefined) else _as_share(preference)
    return LengthAdjusted(len(votes), _best(adjusted, -1), worths, preference, share)


def _adjusted_worths(
    votes: VoteTable, adjusted: Coefficients, plain: Coefficients
) -> tuple[AdjustedWorth, ...]:
    present = _present(votes)
    centred = np.eye(len(present))[:, :-1] - 1 / len(present)  # the last system's coefficient is 0
    without = centred @ plain.values[: len(present) - 1]
    return tuple(
        AdjustedWorth(
            votes.systems[int(code)],
            _best(adjusted, np.concatenate([row, np.zeros(2)])),
            float(without[place]),
        )
        for place, (code, row) in enumerate(zip(present, centred, strict=True))
    )


def _present(votes: VoteTable) -> Ints:
    used = np.bincount(votes.first, minlength=len(votes.systems)) + np.bincount(
        votes.second, minlength=len(votes.systems)
    )
    return np.flatnonzero(used)


def _best(found: Coefficients, of: int | Floats) -> Estimate:
    """The clustered estimate, or the one of independent votes where there is one rater."""
    clustered = _clustered(found, of)
    return _naive(found, of) if isinstance(clustered, Undefined) else clustered


def _as_share(odds: Estimate) -> Interval | Undefined:
    if isinstance(odds.interval, Undefined):
        return odds.interval
    low, high = (1 / (1 + np.exp(-end)) for end in (odds.interval.low, odds.interval.high))
    return Interval(float(low), float(high), odds.interval.method)
