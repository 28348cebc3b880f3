"""Logistic regression on votes: what the side does, and what is left of a preference at equal length.

Knows columns, not pages. Newton's method on a sparse design; standard errors for independent votes and
clustered by rater (sandwich, enlarged by raters / (raters - 1), with Student's t).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import normal_quantile, t_quantile
from core.studies.figures import LEVEL, NO_VOTES, ONE_RATER, Estimate, Interval, Undefined
from core.studies.proportions import wilson
from core.studies.votes import VoteTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FARTHEST = 15.0
"""Log odds of a single vote beyond which the maximum is taken to be at infinity."""
ROUNDS = 50


@dataclass(frozen=True)
class Coefficients:
    """Coefficients, standard errors of independent votes, and rater-clustered ones (None: one rater)."""

    values: Floats
    se: Floats
    clustered_se: Floats | None
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
class LengthAdjusted:
    """The preference for `first` over `second` (log odds) at texts of equal length, on either side; what one
    standard deviation more of log length does; and the preference without the adjustment, on the same votes.
    `share` is the adjusted preference as a share of votes."""

    first: str
    second: str
    preference: Estimate
    share: Interval | Undefined
    unadjusted: Estimate
    length: Estimate
    votes: int


def regress(design: Any, wins: Floats, raters: Ints) -> Coefficients | Undefined:
    """The coefficients of P(win) = 1 / (1 + exp(-design @ coefficients)); design [votes, columns], sparse."""
    values = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-(design @ values)))
        information = _information(design, chance)
        if np.linalg.matrix_rank(information, tol=1e-9 * max(len(wins), 1)) < len(values):
            return Undefined("what is to be told apart always came together")
        step = np.linalg.solve(information, design.T @ (wins - chance))
        values = values + step * min(1.0, 2 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(design @ values).max() > FARTHEST:
            return Undefined("some votes went only one way, so there is no limit to the effect")
        if np.abs(step).max() < 1e-10:
            return _with_errors(design, wins, raters, values)
    return Undefined("the likelihood has no maximum that can be reached")


def _information(design: Any, chance: Floats) -> Floats:
    weighted = design.multiply((chance * (1 - chance))[:, None])
    return np.asarray((design.T @ weighted).toarray())


def _with_errors(design: Any, wins: Floats, raters: Ints, values: Floats) -> Coefficients:
    from scipy.sparse import csr_array

    chance = 1 / (1 + np.exp(-(design @ values)))
    inverse = np.linalg.inv(_information(design, chance))
    count = len(np.unique(raters))
    membership = csr_array((np.ones(len(raters)), (raters, np.arange(len(raters)))))
    scores = (membership @ design.multiply((wins - chance)[:, None])).toarray()
    robust = inverse @ (scores.T @ scores) @ inverse * count / max(count - 1, 1)
    clustered = np.sqrt(np.diag(robust)) if count > 1 else None
    return Coefficients(values, np.sqrt(np.diag(inverse)), clustered, count)


def _naive(found: Coefficients, place: int) -> Estimate:
    value, se = float(found.values[place]), float(found.se[place])
    return _estimate(value, se, normal_quantile((1 + LEVEL) / 2), "Wald, votes taken as independent")


def _clustered(found: Coefficients, place: int) -> Estimate | Undefined:
    if found.clustered_se is None:
        return ONE_RATER
    value, se = float(found.values[place]), float(found.clustered_se[place])
    return _estimate(value, se, t_quantile((1 + LEVEL) / 2, found.raters - 1), "Wald, clustered by rater")


def _estimate(value: float, se: float, reach: float, method: str) -> Estimate:
    return Estimate(value, se, Interval(value - reach * se, value + reach * se, method))


def _design(votes: VoteTable) -> Any:
    """Columns: every present system but the last (1 as a pair's first, -1 as its second), then the side."""
    from scipy.sparse import csr_array, hstack

    present = np.unique(np.concatenate([votes.first, votes.second]))
    rows = np.arange(len(votes))
    places = [np.searchsorted(present, codes) for codes in (votes.first, votes.second)]
    signs = np.concatenate([np.ones(len(votes)), -np.ones(len(votes))])
    shape = (len(votes), len(present))
    systems = csr_array((signs, (np.concatenate([rows, rows]), np.concatenate(places))), shape=shape)
    return hstack([systems[:, :-1], csr_array(_side(votes)[:, None])], format="csr")


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
    """The preference between the two systems of a table at equal length (side held even too)."""
    votes = table.decided()
    votes = votes.where(np.isfinite(votes.longer))
    if len(votes) == 0:
        return Undefined("no vote says how long the texts were") if len(table) else NO_VOTES
    if len(np.unique(votes.pair)) > 1:
        return Undefined("it compares two systems; take one pair")
    deviation = float(votes.longer.std())
    if deviation < 1e-9:
        return Undefined("the texts' lengths never differ")
    side, length = _side(votes), votes.longer / deviation
    plain, adjusted = (_against(votes, columns) for columns in ([side], [side, length]))
    if isinstance(plain, Undefined):
        return plain
    if isinstance(adjusted, Undefined):
        return adjusted
    names = [votes.systems[int(codes[0])] for codes in (votes.first, votes.second)]
    best, unadjusted, longer = _best(adjusted, 0), _best(plain, 0), _best(adjusted, 2)
    return LengthAdjusted(names[0], names[1], best, _as_share(best), unadjusted, longer, len(votes))


def _against(votes: VoteTable, columns: list[Floats]) -> Coefficients | Undefined:
    from scipy.sparse import csr_array

    design = np.column_stack([np.ones(len(votes)), *columns])
    return regress(csr_array(design), votes.first_wins, votes.rater)


def _best(found: Coefficients, place: int) -> Estimate:
    """The clustered estimate, or the one of independent votes where there is one rater."""
    clustered = _clustered(found, place)
    return _naive(found, place) if isinstance(clustered, Undefined) else clustered


def _as_share(odds: Estimate) -> Interval | Undefined:
    if isinstance(odds.interval, Undefined):
        return odds.interval
    low, high = (1 / (1 + np.exp(-end)) for end in (odds.interval.low, odds.interval.high))
    return Interval(float(low), float(high), odds.interval.method)
