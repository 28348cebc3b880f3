"""What was shown and answered: counts, sides, exclusions, repeats. Counts only, no inference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.figures import Interval, Undefined
from core.studies.proportions import wilson
from core.studies.votes import BOTH_BAD, SECOND, SKIP, TIE, VoteTable, compact

Ints = NDArray[np.int64]
NOT_ASKED_TWICE = Undefined("no pairing was shown to a rater twice")


@dataclass(frozen=True)
class Counts:
    """How many answers of each sort; `votes` = all but skips; `repeated`: a pairing that its rater had
    judged before; `other_kinds` practice, gold and attention items, `retests` second showings: neither is
    in the other numbers."""

    raters: int
    items: int
    votes: int
    decided: int
    ties: int
    both_bad: int
    skipped: int
    repeated: int
    retests: int
    other_kinds: int
    excluded: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class PairSides:
    """How often the first of two systems was shown on the left, and on the right."""

    first: str
    second: str
    first_left: int
    first_right: int


@dataclass(frozen=True)
class Sides:
    """Realised balance of sides: per pair, and the largest difference within one rater and pair."""

    pairs: tuple[PairSides, ...]
    largest_difference: int
    largest_difference_of_a_rater: int


@dataclass(frozen=True)
class Consistency:
    """How often a rater gave the same answer to the same pairing, sides turned or not."""

    same: int
    asked: int
    share: float | Undefined
    interval: Interval | Undefined


def counts(table: VoteTable) -> Counts:
    """The numbers of answers in a table; those of the main items, and the others apart."""
    main = table.main()
    by_outcome = np.bincount(main.outcome, minlength=SKIP + 1)
    skipped = int(by_outcome[SKIP])
    return Counts(
        raters=_distinct(main.rater),
        items=_distinct(main.item),
        votes=len(main) - skipped,
        decided=int(by_outcome[: SECOND + 1].sum()),
        ties=int(by_outcome[TIE]),
        both_bad=int(by_outcome[BOTH_BAD]),
        skipped=skipped,
        repeated=len(main) - _distinct(showing(main)),
        retests=int((table.counted & (table.retest > 0)).sum()),
        other_kinds=int((~table.counted).sum()),
        excluded=_excluded(main),
    )


def _distinct(codes: Ints) -> int:
    return compact(codes)[0]


def showing(table: VoteTable) -> Ints:
    """A code for rater, item and pair together."""
    size = len(table.systems) ** 2
    return (table.rater * len(table.items) + table.item) * size + table.pair


def _excluded(table: VoteTable) -> tuple[tuple[str, int], ...]:
    """How many votes each rule marks; a vote can be marked by several."""
    often = np.bincount(table.mark, minlength=len(table.marks))
    rules = sorted({rule for mark in table.marks for rule in mark})
    sums = (
        (rule, sum(int(n) for n, mark in zip(often, table.marks, strict=True) if rule in mark))
        for rule in rules
    )
    return tuple((rule, number) for rule, number in sums if number)


def sides(table: VoteTable) -> Sides:
    """How often each system of each pair stood on the left, skips counted too: they were shown."""
    lean = np.where(table.first_left, 1, -1)
    pairs, place = np.unique(table.pair, return_inverse=True)
    left = np.bincount(place, table.first_left, minlength=len(pairs)).astype(int)
    shown = np.bincount(place, minlength=len(pairs))
    _, each = np.unique(table.rater * len(pairs) + place, return_inverse=True)
    by_rater = np.abs(np.bincount(each, lean)) if len(table) else np.zeros(1)
    found = tuple(
        PairSides(*_names(table, int(pair)), first_left=int(a), first_right=int(n - a))
        for pair, a, n in zip(pairs, left, shown, strict=True)
    )
    largest = max((abs(pair.first_left - pair.first_right) for pair in found), default=0)
    return Sides(found, largest, int(by_rater.max(initial=0)))


def _names(table: VoteTable, pair: int) -> tuple[str, str]:
    first, second = divmod(pair, len(table.systems))
    return table.systems[first], table.systems[second]


def consistency(table: VoteTable) -> Consistency:
    """How often a retest got the answer of the first showing; skips on either side take no part."""
    if not (table.counted & (table.retest > 0)).any():
        return Consistency(0, 0, NOT_ASKED_TWICE, NOT_ASKED_TWICE)
    votes = table.where(table.counted & (table.outcome < SKIP))
    code = showing(votes)
    first, again = votes.retest == 0, votes.retest > 0
    known, place = np.unique(code[first], return_index=True)
    before = votes.outcome[first][place]
    found = np.searchsorted(known, code[again])
    there = np.isin(code[again], known)
    same = int((before[found[there]] == votes.outcome[again][there]).sum())
    asked = int(there.sum())
    if not asked:
        return Consistency(0, 0, NOT_ASKED_TWICE, NOT_ASKED_TWICE)
    return Consistency(same, asked, same / asked, wilson(same, asked))
