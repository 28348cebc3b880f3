"""Several systems in order: worths with intervals, standings, the win matrix. Knows no page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.studies.bootstrap import expanded_percentiles, rater_counts, rater_draws, tables
from core.studies.distributions import normal_quantile
from core.studies.figures import LEVEL, NO_VOTES, ONE_RATER, Interval, Undefined
from core.studies.proportions import wilson
from core.studies.votes import VoteTable
from core.studies.worths import Fit, covariance, davidson, determined, fit

Floats = NDArray[np.float64]
Ties = Literal["davidson", "half", "dropped"]
MOST_UNDEFINED = 0.01
FIXED = 1e-9
ALIKE = Undefined("every sample of raters gives the same worth, so how far raters differ can't be told")
WALD = "Wald, votes taken as independent"
DRAWN = "percentiles of a bootstrap of raters, set further out for few raters"


@dataclass(frozen=True)
class Worth:
    """A system's log worth against the mean of all, and the rank (1 = best) it had in 95 % of the draws."""

    system: str
    worth: float
    se: float
    naive: Interval
    clustered: Interval | Undefined
    rank: int
    ranks: tuple[int, int] | Undefined


@dataclass(frozen=True)
class Worths:
    """Worths of all systems with votes, the best first; `nu` is Davidson's (0 where ties are not modelled).
    `undefined_draws` of `draws` had no worths and are left out."""

    ties: Ties
    worths: tuple[Worth, ...]
    nu: float
    draws: int
    undefined_draws: int


@dataclass(frozen=True)
class Standing:
    """What a system's votes come to without a model; `note`: unbeaten, never won, or no votes."""

    system: str
    wins: int
    losses: int
    ties: int
    share: float | Undefined
    interval: Interval | Undefined
    note: str


@dataclass(frozen=True)
class Ranking:
    """The worths with ties in three ways, each system's standing, and wins[row][column]: how often the row's
    system was preferred to the column's; `ties` likewise. Both bad counts as a tie."""

    davidson: Worths | Undefined
    half: Worths | Undefined
    dropped: Worths | Undefined
    standings: tuple[Standing, ...]
    wins: tuple[tuple[int, ...], ...]
    ties: tuple[tuple[int, ...], ...]


def ranking(table: VoteTable, *, draws: int = 0, seed: int = 0) -> Ranking:
    """Worths and standings of the systems of a table; draws=0 leaves the bootstrap out."""
    counts = rater_counts(table)
    size = len(table.systems)
    wins, ties = tables(np.asarray(counts.sum(axis=0)), size)
    played = np.flatnonzero((wins + wins.T + ties).any(axis=1))
    drawn = _drawn(counts, size, played, draws, seed)
    names = tuple(table.systems[place] for place in played)
    found = {
        how: _worths(names, how, _taken(_among(wins, played), _among(ties, played), how), drawn)
        for how in ("davidson", "half", "dropped")
    }
    return Ranking(
        found["davidson"],
        found["half"],
        found["dropped"],
        _standings(table.systems, wins, ties),
        _whole(wins),
        _whole(ties),
    )


@dataclass(frozen=True)
class _Draws:
    """Tables of all draws, or why there are none."""

    wins: Floats
    ties: Floats
    raters: int
    why: Undefined | None


def _drawn(counts: Any, size: int, played: NDArray[np.intp], draws: int, seed: int) -> _Draws:
    empty = np.zeros((0, len(played), len(played)))
    if draws == 0 or counts.shape[0] < 2:
        why = ONE_RATER if counts.shape[0] == 1 else Undefined("no draws were asked for")
        return _Draws(empty, empty, counts.shape[0], why)
    wins, ties = tables(rater_draws(counts, draws, seed), size)
    return _Draws(_among(wins, played), _among(ties, played), counts.shape[0], None)


def _among(matrix: Floats, played: NDArray[np.intp]) -> Floats:
    return matrix[..., played[:, None], played[None, :]]


def _taken(wins: Floats, ties: Floats, how: Ties) -> tuple[Floats, Floats]:
    """Wins and ties as one way of counting ties has them."""
    if how == "davidson":
        return wins, ties
    return (wins + ties / 2 if how == "half" else wins), np.zeros_like(ties)


def _worths(
    systems: tuple[str, ...], how: Ties, counted: tuple[Floats, Floats], drawn: _Draws
) -> Worths | Undefined:
    if len(systems) == 0:
        return NO_VOTES
    if not counted[0].any():
        return Undefined("every vote is a tie")
    found = davidson(*counted, systems)
    if isinstance(found, Undefined):
        return found
    samples, missing, why = _samples(found, how, drawn)
    se = np.sqrt(np.diag(covariance(found)))
    clustered, ranks = _intervals(samples, drawn.raters, why, len(systems))
    order = np.argsort(-found.worths, kind="stable")
    worths = tuple(
        Worth(
            systems[place],
            float(found.worths[place]),
            float(se[place]),
            _wald(float(found.worths[place]), float(se[place])),
            clustered[place],
            rank,
            ranks[place],
        )
        for rank, place in enumerate(order, 1)
    )
    return Worths(how, worths, float(np.exp(found.log_nu)), len(drawn.wins), missing)


def _wald(worth: float, se: float) -> Interval:
    reach = normal_quantile((1 + LEVEL) / 2) * se
    return Interval(worth - reach, worth + reach, WALD)


def _samples(found: Fit, how: Ties, drawn: _Draws) -> tuple[Floats, int, Undefined | None]:
    """The worths of all draws that have some, how many have none, and why they are of no use."""
    if drawn.why:
        return np.zeros((0, len(found.worths))), 0, drawn.why
    wins, ties = _taken(drawn.wins, drawn.ties, how)
    good = determined(wins, ties)
    missing = int((~good).sum())
    if missing > MOST_UNDEFINED * len(good):
        why = Undefined(f"{missing} of {len(good)} samples of raters leave a system unbeaten or apart")
        return np.zeros((0, len(found.worths))), missing, why
    return fit(wins[good], ties[good], found.worths).worths, missing, None


def _intervals(
    samples: Floats, raters: int, why: Undefined | None, size: int
) -> tuple[list[Interval | Undefined], list[tuple[int, int] | Undefined]]:
    if why:
        return [why] * size, [why] * size
    low, high = expanded_percentiles(samples, raters)
    ranks = (-samples).argsort(axis=1).argsort(axis=1) + 1
    best, worst = np.quantile(ranks, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="nearest")
    # Raters all alike give one worth over and over, which says nothing of other raters.
    fixed = np.ptp(samples, axis=0) < FIXED
    intervals = [Interval(float(a), float(b), DRAWN) for a, b in zip(low, high, strict=True)]
    places = [(int(a), int(b)) for a, b in zip(best, worst, strict=True)]
    return (
        [ALIKE if same else interval for same, interval in zip(fixed, intervals, strict=True)],
        [ALIKE if same else place for same, place in zip(fixed, places, strict=True)],
    )


def _standings(systems: tuple[str, ...], wins: Floats, ties: Floats) -> tuple[Standing, ...]:
    sums = (wins.sum(axis=1), wins.sum(axis=0), ties.sum(axis=1))
    return tuple(
        _standing(name, float(won), float(lost), float(even))
        for name, won, lost, even in zip(systems, *sums, strict=True)
    )


def _standing(system: str, wins: float, losses: float, ties: float) -> Standing:
    interval = wilson(wins, wins + losses)
    share = wins / (wins + losses) if wins + losses else NO_VOTES
    return Standing(system, int(wins), int(losses), int(ties), share, interval, _note(wins, losses, ties))


def _note(wins: float, losses: float, ties: float) -> str:
    if wins + losses + ties == 0:
        return "no votes"
    if wins + losses == 0:
        return "only ties"
    return "unbeaten" if losses == 0 else "never won" if wins == 0 else ""


def _whole(matrix: Floats) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(number) for number in row) for row in matrix)
