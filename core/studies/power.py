"""How many votes a study needs, and what the votes it has could have shown.

Power is that of the exact two-sided sign test on non-tied votes. Votes of one rater resemble each other; the
design effect 1 + (m - 1) * ICC for m votes a rater says how many of them are worth one independent vote.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import binomial_up_to
from core.studies.figures import LEVEL, NO_VOTES, Undefined

ALPHA = 1 - LEVEL
CLOSEST = 0.0005


@dataclass(frozen=True)
class Plan:
    """What a study needs to show a preference: `decided` independent votes that are no ties, `votes` in all,
    ties and design effect counted in, `raters` of `votes_per_rater` each."""

    preference: float
    power: float
    decided: int
    design_effect: float
    votes: int
    votes_per_rater: int
    raters: int


@dataclass(frozen=True)
class Achieved:
    """What `decided` votes, worth `effective` independent ones, could have shown: their power against the
    preference that was planned for (not the one found), and the smallest preference found with `target`."""

    preference: float
    decided: int
    effective: float
    power: float
    target: float
    detectable: float | Undefined


def sign_test_power(
    votes: int | NDArray[np.int64], preference: float, alpha: float = ALPHA
) -> NDArray[np.float64]:
    """How likely the exact sign test finds a true preference (0 to 1) in that many non-tied votes."""
    trials = np.asarray(votes, dtype=np.int64)
    most = critical_losses(trials, alpha)
    return binomial_up_to(most, trials, preference) + binomial_up_to(most, trials, 1 - preference)


def critical_losses(trials: NDArray[np.int64], alpha: float = ALPHA) -> NDArray[np.int64]:
    """The most losses with which the test still finds a preference, per number of votes; -1 for never."""
    low, high = np.full(trials.shape, -1), trials // 2
    while np.any(low < high):
        middle = (low + high + 1) // 2
        significant = 2 * binomial_up_to(middle, trials, 0.5) <= alpha
        low, high = np.where(significant, middle, low), np.where(significant, high, middle - 1)
    return np.asarray(low, dtype=np.int64)


def votes_needed(preference: float, power: float = 0.8, alpha: float = ALPHA) -> int | Undefined:
    """The non-tied independent votes from which on the exact sign test never has less than that power.

    (Some smaller numbers have it too: with every vote more the power falls a little, until one more
    loss is allowed and it jumps.)
    """
    if not (0 < preference < 1 and 0 < power < 1):
        return Undefined("preference and power must lie between 0 and 1")
    if abs(preference - 0.5) < CLOSEST:
        return Undefined(f"a preference within {CLOSEST} of one half takes too many votes")
    losses = _first(lambda most: _lowest_power(most, preference, alpha) >= power)
    return fewest_trials(losses, alpha)


def fewest_trials(losses: int, alpha: float = ALPHA) -> int:
    """The fewest votes in which so many losses are still significant."""
    return _first(lambda trials: trials > losses and 2 * _up_to(losses, trials, 0.5) <= alpha)


def _lowest_power(losses: int, preference: float, alpha: float) -> float:
    """The power where it is lowest: one vote before another loss is allowed."""
    trials = fewest_trials(losses + 1, alpha) - 1
    return _up_to(losses, trials, preference) + _up_to(losses, trials, 1 - preference)


def _up_to(most: int, trials: int, chance: float) -> float:
    return float(binomial_up_to(most, trials, chance))


def _first(holds: Callable[[int], bool]) -> int:
    """The smallest number from 0 on for which something holds that holds for all greater ones."""
    high = 1
    while not holds(high):
        high *= 2
    return bisect_left(range(high), True, key=holds)


def design_effect(votes_per_rater: float, icc: float) -> float:
    """How many votes of raters alike by `icc` are worth one independent vote (Kish 1965); at least 1."""
    return 1 + max(votes_per_rater - 1, 0) * max(icc, 0)


def plan(
    preference: float,
    votes_per_rater: int,
    *,
    icc: float = 0.0,
    tie_share: float = 0.0,
    power: float = 0.8,
    alpha: float = ALPHA,
) -> Plan | Undefined:
    """What it takes to show `preference` (share of non-tied votes); ICC and share of ties are guesses."""
    if votes_per_rater < 1 or not 0 <= tie_share < 1 or not 0 <= icc <= 1:
        return Undefined("a rater gives a vote at least, ties are fewer than all, and the ICC is 0 to 1")
    decided = votes_needed(preference, power, alpha)
    if isinstance(decided, Undefined):
        return decided
    effect = design_effect(votes_per_rater * (1 - tie_share), icc)
    votes = math.ceil(round(decided * effect / (1 - tie_share), 9))
    return Plan(
        preference, power, decided, effect, votes, votes_per_rater, math.ceil(votes / votes_per_rater)
    )


def achieved(
    decided: int, effect: float, preference: float, target: float = 0.8, alpha: float = ALPHA
) -> Achieved | Undefined:
    """What `decided` votes under a design effect could show of `preference`, planned before the votes."""
    if decided == 0:
        return NO_VOTES
    effective = decided / max(effect, 1.0)
    whole = max(int(effective), 1)
    found = float(sign_test_power(whole, preference, alpha))
    return Achieved(preference, decided, effective, found, target, _detectable(whole, target, alpha))


def _detectable(votes: int, power: float, alpha: float) -> float | Undefined:
    """The smallest preference above one half found with that power, to three digits."""
    tried = np.arange(501, 1000) / 1000
    most = critical_losses(np.array(votes), alpha)
    enough = binomial_up_to(most, votes, tried) + binomial_up_to(most, votes, 1 - tried) >= power
    return float(tried[int(enough.argmax())]) if enough.any() else Undefined("too few votes for any")
