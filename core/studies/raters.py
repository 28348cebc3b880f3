"""What each rater did, one row a rater: for looking after a study, not for naming a winner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.figures import Undefined
from core.studies.votes import BOTH_BAD, SECOND, SKIP, VoteTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOT_TIMED = Undefined("no vote says how long it took")


@dataclass(frozen=True)
class RaterRow:
    """One rater's answers; `left` of `decided` votes went left; both bad counts among the
    ties; `seconds`: the median of active time."""

    rater: str
    votes: int
    decided: int
    left: int
    ties: int
    skipped: int
    seconds: float | Undefined


def rater_rows(table: VoteTable) -> tuple[RaterRow, ...]:
    """A row for every rater with an answer, in the order of their names."""
    decided = table.outcome <= SECOND
    left = decided & (table.first_left == (table.first_wins == 1))
    even = (table.outcome > SECOND) & (table.outcome <= BOTH_BAD)
    chose, on_left, neither, none = (
        _per_rater(table, rows) for rows in (decided, left, even, table.outcome == SKIP)
    )
    seconds = _medians(table)
    return tuple(
        RaterRow(
            rater=table.raters[code],
            votes=int(chose[code] + neither[code]),
            decided=int(chose[code]),
            left=int(on_left[code]),
            ties=int(neither[code]),
            skipped=int(none[code]),
            seconds=seconds.get(int(code), NOT_TIMED),
        )
        for code in np.unique(table.rater)
    )


def _per_rater(table: VoteTable, rows: NDArray[np.bool_]) -> Ints:
    return np.bincount(table.rater[rows], minlength=len(table.raters))


def _medians(table: VoteTable) -> dict[int, float | Undefined]:
    """The median of each rater's timed answers, in seconds."""
    timed = np.isfinite(table.active_ms)
    raters, times = table.rater[timed], table.active_ms[timed]
    span = float(times.max(initial=0.0)) + 1
    ordered = np.sort(raters * span + times)  # by rater, then by time
    begins = np.flatnonzero(np.diff(np.sort(raters), prepend=-1))
    sizes = np.diff(begins, append=len(raters))
    codes = np.sort(raters)[begins]
    low, high = (ordered[begins + place] - codes * span for place in ((sizes - 1) // 2, sizes // 2))
    return {int(code): float(value) / 2000 for code, value in zip(codes, low + high, strict=True)}
