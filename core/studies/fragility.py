"""How little would have to be otherwise for another winner. Knows counts and labels."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.distributions import binomial_up_to
from core.studies.figures import NO_VOTES, Undefined
from core.studies.power import ALPHA
from core.studies.proportions import sign_test
from core.studies.worths import Fit, davidson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Fragility:
    """How many votes of the leader would have to go to the runner-up to turn the order, and for the sign
    test no longer to show a preference; how many raters would have to be left out to turn the order."""

    leader: str
    runner_up: str
    votes_to_turn: int | Undefined
    votes_to_blur: int | Undefined
    raters_to_turn: int | Undefined


def of_two(values: Floats, raters: Ints, names: tuple[str, str]) -> Fragility | Undefined:
    """The fragility of a preference between two; `values`: 1 for the first of them, 0 for the second."""
    wins = int(values.sum())
    losses = len(values) - wins
    if not len(values):
        return NO_VOTES
    if wins == losses:
        return Undefined("both have as many votes")
    leads = 2 * values - 1 if wins > losses else 1 - 2 * values
    leader, runner_up = names if wins > losses else names[::-1]
    most, least = max(wins, losses), min(wins, losses)
    turn = (most - least) // 2 + 1
    return Fragility(leader, runner_up, turn, _to_blur(most, least), _raters(leads, raters))


def _to_blur(most: int, least: int) -> int | Undefined:
    """Votes to change until the sign test's p is above ALPHA."""
    found = sign_test(most, least)
    if isinstance(found, Undefined) or found > ALPHA:
        return Undefined("the sign test shows no preference as it is")
    tried = np.arange(1, (most - least) // 2 + 1)
    blurred = 2 * binomial_up_to(least + tried, most + least, 0.5) > ALPHA
    return int(tried[int(blurred.argmax())])


def _raters(leads: Floats, raters: Ints) -> int | Undefined:
    """Raters to leave out, those who favour the leader most first, until the lead is gone."""
    by_rater = np.sort(np.bincount(raters, leads))[::-1]
    left = by_rater.sum() - np.cumsum(by_rater)
    if not (left < 0).any():
        return Undefined("no choice of raters turns it: nobody favours the other")
    return int((left < 0).argmax()) + 1


def of_worths(wins: Floats, ties: Floats, systems: tuple[str, ...], found: Fit) -> Fragility | Undefined:
    """The fragility of the order of the two best by worth: votes between those two are turned."""
    leader, runner_up = np.argsort(-found.worths)[:2]
    votes = int(wins[leader, runner_up])

    def turned(changed: int) -> bool:
        table = wins.copy()
        table[leader, runner_up] -= changed
        table[runner_up, leader] += changed
        new = davidson(table, ties, systems)
        return not isinstance(new, Undefined) and bool(new.worths[leader] < new.worths[runner_up])

    needed = bisect_left(range(votes + 1), True, key=turned) if turned(votes) else None
    enough = Undefined("not even all votes between the two") if needed is None else needed
    unknown = Undefined("told for two systems only")
    return Fragility(systems[leader], systems[runner_up], enough, unknown, unknown)
