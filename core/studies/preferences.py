"""The preference between two systems, ties counted in three ways. Knows one pair at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from core.studies.bootstrap import pigeonhole
from core.studies.corrections import holm
from core.studies.figures import Interval, Undefined
from core.studies.proportions import Share, share_of, sign_test
from core.studies.votes import BOTH_BAD, FIRST, SECOND, SKIP, TIE, VoteTable
from core.studies.worths import davidson

NOT_DRAWN = Undefined("resampled for studies of two systems only")


@dataclass(frozen=True)
class TieModel:
    """Davidson's model of one pair: the log ratio of worths (first to second), nu, and the share of non-tied
    votes it gives the first; the chance of a tie between equals is nu / (2 + nu)."""

    log_ratio: float
    nu: float
    share: float


@dataclass(frozen=True)
class Preference:
    """How often `first` was preferred to `second`: `dropped` among non-tied votes, `half` with ties as half a
    vote each, `davidson` with ties modelled. `sign_p` is the exact sign test, `clustered_p` the test that
    votes of one rater or item resemble each other; the adjusted ones are Holm's over the same family."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    both_bad: int
    skipped: int
    dropped: Share | Undefined
    half: Share | Undefined
    davidson: TieModel | Undefined
    bootstrap: Interval | Undefined
    sign_p: float | Undefined
    sign_p_holm: float | Undefined
    clustered_p: float | Undefined
    clustered_p_holm: float | Undefined


def preferences(table: VoteTable, *, draws: int = 0, seed: int = 0) -> tuple[Preference, ...]:
    """Every pair that was shown, in order, with Holm's correction over the pairs; draws=0: no resampling."""
    order = np.argsort(table.pair, kind="stable")
    ordered = table.where(order)
    ends = np.flatnonzero(np.diff(ordered.pair, prepend=-1, append=-1))
    found = [_preference(ordered.where(np.arange(a, b)), draws, seed) for a, b in pairwise(ends)]
    return adjusted(found)


def adjusted(family: list[Preference]) -> tuple[Preference, ...]:
    """The same preferences with Holm's p values over all of them that have a p value."""
    signs = _holm([one.sign_p for one in family])
    clustered = _holm([one.clustered_p for one in family])
    return tuple(
        replace(one, sign_p_holm=sign, clustered_p_holm=p)
        for one, sign, p in zip(family, signs, clustered, strict=True)
    )


def _holm(values: list[float | Undefined]) -> list[float | Undefined]:
    found = iter(holm([value for value in values if not isinstance(value, Undefined)]))
    return [value if isinstance(value, Undefined) else next(found) for value in values]


def _preference(votes: VoteTable, draws: int, seed: int) -> Preference:
    number = [int(n) for n in np.bincount(votes.outcome, minlength=SKIP + 1)]
    decided, answered = votes.decided(), votes.where(votes.outcome < SKIP)
    dropped = _share(decided)
    if isinstance(dropped, Undefined) and number[TIE] + number[BOTH_BAD]:
        dropped = Undefined("every vote is a tie")
    p = dropped if isinstance(dropped, Undefined) else dropped.p
    sign = dropped if isinstance(dropped, Undefined) else sign_test(number[FIRST], number[SECOND])
    drawn = pigeonhole(decided.first_wins, decided.rater, decided.item, draws, seed) if draws else NOT_DRAWN
    return Preference(
        first=votes.systems[int(votes.first[0])],
        second=votes.systems[int(votes.second[0])],
        wins=number[FIRST],
        losses=number[SECOND],
        ties=number[TIE],
        both_bad=number[BOTH_BAD],
        skipped=number[SKIP],
        dropped=dropped,
        half=_share(answered),
        davidson=_tie_model(number[FIRST], number[SECOND], number[TIE] + number[BOTH_BAD]),
        bootstrap=drawn,
        sign_p=sign,
        sign_p_holm=sign,
        clustered_p=p,
        clustered_p_holm=p,
    )


def _share(votes: VoteTable) -> Share | Undefined:
    return share_of(votes.first_wins, votes.rater, votes.item)


def _tie_model(wins: int, losses: int, ties: int) -> TieModel | Undefined:
    results, even = np.array([[0.0, wins], [losses, 0.0]]), np.array([[0.0, ties], [ties, 0.0]])
    found = davidson(results, even, ("the first", "the second"))
    if isinstance(found, Undefined):
        return found
    ratio = float(found.worths[0] - found.worths[1])
    return TieModel(ratio, float(np.exp(found.log_nu)), float(1 / (1 + np.exp(-ratio))))
