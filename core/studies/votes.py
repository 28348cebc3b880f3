"""Votes as values, and as the columns that the figures are computed from.

Knows neither how votes were collected nor what the systems are called: a label is a label. Two systems
of a pair are in the order of the labels, never in the order of the screen, which is a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Choice = Literal["left", "right", "tie", "both_bad", "skip"]
Kind = Literal["item", "practice", "gold", "attention"]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

FIRST, SECOND, TIE, BOTH_BAD, SKIP = range(5)
"""Outcomes: the pair's first system was preferred, its second, neither, both bad, no answer."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One answer of one rater. A skip is not a tie: it says nothing about the systems.

    `strength` is 0 where it was not asked, 1 slightly, 2 clearly; `retest` 0 for the first showing;
    `active_ms` milliseconds; `excluded` the rules that mark this vote (none: it counts).
    """

    rater: str
    item: str
    system_left: str
    system_right: str
    choice: Choice
    strength: int = 0
    stratum: str = ""
    active_ms: int | None = None
    left_chars: int | None = None
    right_chars: int | None = None
    retest: int = 0
    kind: Kind = "item"
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class VoteTable:
    """Votes as columns of equal length; `rater`, `item`, `first`, `second`, `stratum`, `mark` are codes.

    `longer` is log(characters of the first system's text / of the second's), NaN where unknown;
    so is `active_ms`. `counted`: one of the study's own items.
    """

    raters: tuple[str, ...]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    strata: tuple[str, ...]
    marks: tuple[tuple[str, ...], ...]
    rater: Ints
    item: Ints
    first: Ints
    second: Ints
    outcome: Ints
    first_left: Bools
    strength: Ints
    stratum: Ints
    mark: Ints
    longer: Floats
    active_ms: Floats
    retest: Ints
    counted: Bools

    def __len__(self) -> int:
        return len(self.outcome)

    def where(self, rows: Bools | Ints) -> VoteTable:
        """The rows that are wanted, under the same codes."""
        columns = {f.name: getattr(self, f.name) for f in fields(self)}
        taken: dict[str, Any] = {k: v[rows] for k, v in columns.items() if isinstance(v, np.ndarray)}
        return replace(self, **taken)

    def main(self) -> VoteTable:
        """The first showings of the study's own items: what every figure but the retests is about."""
        rows = self.counted & (self.retest == 0)
        return self if rows.all() else self.where(rows)

    def kept(self) -> VoteTable:
        """The votes that no exclusion rule marks."""
        clean = np.array([not mark for mark in self.marks], dtype=bool)
        rows = clean[self.mark] if len(self) else np.zeros(0, dtype=bool)
        return self if rows.all() else self.where(rows)

    def decided(self) -> VoteTable:
        """The votes for one side or the other."""
        return self.where(self.outcome <= SECOND)

    def renamed(self, names: Mapping[str, str]) -> VoteTable:
        """The same votes with other names for the systems; a label without a name stays."""
        return replace(self, systems=tuple(names.get(label, label) for label in self.systems))

    @property
    def first_wins(self) -> Floats:
        """1 where the pair's first system was preferred, 0 where its second, 0.5 otherwise."""
        return np.choose(np.minimum(self.outcome, TIE), [1.0, 0.0, 0.5])

    @property
    def pair(self) -> Ints:
        """A code for the pair of systems."""
        return self.first * len(self.systems) + self.second


def compact(codes: Ints) -> tuple[int, Ints]:
    """How many different codes occur, and the codes without gaps, in the same order."""
    if len(codes) == 0:
        return 0, codes
    if int(codes.max()) > 4 * len(codes):
        found, place = np.unique(codes, return_inverse=True)
        return len(found), place
    used = np.bincount(codes) > 0  # much quicker than sorting, where the codes are dense
    return int(used.sum()), (np.cumsum(used) - 1)[codes]


def tabulate(votes: Iterable[Vote], systems: Sequence[str] = ()) -> VoteTable:
    """The votes as columns; `systems` names those of the study, also those that got no vote.

    Raises ValueError for a choice that is none and for a system against itself.
    """
    rows = list(votes)
    for row in rows:
        _check(row)
    labels = {*systems, *(v.system_left for v in rows), *(v.system_right for v in rows)}
    ordered = tuple(sorted(labels))
    left, right = (_codes([getattr(v, s) for v in rows], ordered) for s in ("system_left", "system_right"))
    raters, items, strata = (_distinct(rows, name) for name in ("rater", "item", "stratum"))
    marks = tuple(sorted({v.excluded for v in rows}))
    return VoteTable(
        raters=raters,
        items=items,
        systems=ordered,
        strata=strata,
        marks=marks,
        rater=_codes([v.rater for v in rows], raters),
        item=_codes([v.item for v in rows], items),
        first=np.minimum(left, right),
        second=np.maximum(left, right),
        outcome=_outcomes(rows, left < right),
        first_left=left < right,
        strength=_ints([v.strength for v in rows]),
        stratum=_codes([v.stratum for v in rows], strata),
        mark=_codes([v.excluded for v in rows], marks),
        longer=_log_lengths(rows, left < right),
        active_ms=np.array([np.nan if v.active_ms is None else v.active_ms for v in rows], dtype=np.float64),
        retest=_ints([v.retest for v in rows]),
        counted=np.array([v.kind == "item" for v in rows], dtype=bool),
    )


def _check(vote: Vote) -> None:
    if vote.choice not in get_args(Choice):
        raise ValueError(f"{vote.choice!r} is no choice; it may be {', '.join(get_args(Choice))}")
    if vote.system_left == vote.system_right:
        raise ValueError(f"{vote.system_left!r} stands against itself in item {vote.item!r}")


def _distinct(rows: Sequence[Vote], name: str) -> tuple[str, ...]:
    return tuple(sorted({getattr(vote, name) for vote in rows}))


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _codes(values: Sequence[T], known: Sequence[T]) -> Ints:
    place = {value: code for code, value in enumerate(known)}
    return _ints([place[value] for value in values])


def _outcomes(rows: Sequence[Vote], first_left: Bools) -> Ints:
    place = {"left": 0, "right": 1, "tie": TIE, "both_bad": BOTH_BAD, "skip": SKIP}
    shown = _ints([place[vote.choice] for vote in rows])
    turned = (shown < TIE) & ~first_left
    return np.where(turned, 1 - shown, shown)


def _log_lengths(rows: Sequence[Vote], first_left: Bools) -> Floats:
    lengths = [[v.left_chars or np.nan, v.right_chars or np.nan] for v in rows]
    left, right = np.log(np.array(lengths, dtype=np.float64).reshape(-1, 2)).T
    return np.asarray(np.where(first_left, left - right, right - left))
