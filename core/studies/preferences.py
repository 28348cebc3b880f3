"""The preference between two systems, ties counted in three ways. Knows one pair at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from core.studies.bootstrap import pigeonhole
from core.studies.corrections import holm
from core.studies.figures import Interval, Undefined
from core.studies.proportions import Share, share_of, sign_test
from core.studies.votes import BOTH_BAD, FIRST, SECOND, SKIP, TIE, Floats, Ints, VoteTable
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
    columns = (table.pair[order], table.outcome[order], table.rater[order], table.item[order])
    ends = np.flatnonzero(np.diff(columns[0], prepend=-1, append=-1))
    slices = [_Votes(*(column[begin:end] for column in columns)) for begin, end in pairwise(ends)]
    return adjusted([_preference(votes, table.systems, draws, seed) for votes in slices])


@dataclass(frozen=True)
class _Votes:
    """The votes on one pair, as columns."""

    pair: Ints
    outcome: Ints
    rater: Ints
    item: Ints

    def up_to(self, outcome: int) -> tuple[Floats, Ints, Ints]:
        """What the first system got of each vote of these sorts, with its rater and item."""
        rows = self.outcome <= outcome
        got = np.array([1.0, 0.0, 0.5, 0.5])[self.outcome[rows]]
        return got, self.rater[rows], self.item[rows]


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


def _preference(votes: _Votes, systems: tuple[str, ...], draws: int, seed: int) -> Preference:
    number = [int(n) for n in np.bincount(votes.outcome, minlength=SKIP + 1)]
    decided = votes.up_to(SECOND)
    dropped = share_of(*decided)
    if isinstance(dropped, Undefined) and number[TIE] + number[BOTH_BAD]:
        dropped = Undefined("every vote is a tie")
    p = dropped if isinstance(dropped, Undefined) else dropped.p
    sign = dropped if isinstance(dropped, Undefined) else sign_test(number[FIRST], number[SECOND])
    first, second = divmod(int(votes.pair[0]), len(systems))
    return Preference(
        first=systems[first],
        second=systems[second],
        wins=number[FIRST],
        losses=number[SECOND],
        ties=number[TIE],
        both_bad=number[BOTH_BAD],
        skipped=number[SKIP],
        dropped=dropped,
        half=share_of(*votes.up_to(BOTH_BAD)),
        davidson=_tie_model((systems[first], systems[second]), number),
        bootstrap=pigeonhole(*decided, draws, seed) if draws else NOT_DRAWN,
        sign_p=sign,
        sign_p_holm=sign,
        clustered_p=p,
        clustered_p_holm=p,
    )


def _tie_model(names: tuple[str, str], number: list[int]) -> TieModel | Undefined:
    ties = number[TIE] + number[BOTH_BAD]
    results = np.array([[0.0, number[FIRST]], [number[SECOND], 0.0]])
    found = davidson(results, np.array([[0.0, ties], [ties, 0.0]]), names)
    if isinstance(found, Undefined):
        return found
    ratio = float(found.worths[0] - found.worths[1])
    return TieModel(ratio, float(np.exp(found.log_nu)), float(1 / (1 + np.exp(-ratio))))
