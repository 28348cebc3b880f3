"""Changes of several texts put into one: which parts of the others are taken over into a base text.

Knows no candidate and no page; changes are numbered as core.diff.hunks numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from core.diff import diff


class Overlap(ValueError):
    """Two of the chosen changes want another text in the same place."""


@dataclass(frozen=True)
class Change:
    """The base's characters from `start` up to `end` give way to `new`."""

    start: int
    end: int
    new: str


def changes(base: str, other: str) -> tuple[Change, ...]:
    """What makes the other text of the base, in order; the place in the tuple is the change's number."""
    found: list[Change] = []
    at, before = 0, "same"
    for piece in diff(base, other):
        length = 0 if piece.kind == "added" else len(piece.text)
        new = piece.text if piece.kind == "added" else ""
        if piece.kind == "added" and before == "removed":
            found[-1] = Change(found[-1].start, found[-1].end, new)
        elif piece.kind != "same":
            found.append(Change(at, at + length, new))
        at, before = at + length, piece.kind
    return tuple(found)


def merge(base: str, others: Mapping[int, str], chosen: Iterable[tuple[int, int]]) -> str:
    """The base with the chosen changes, each (number of the other text, number of the change).

    Raises ValueError for a change that is not there, Overlap for two that exclude each other.
    """
    apart = {number: changes(base, other) for number, other in others.items()}
    wanted: dict[Change, tuple[int, int]] = {}
    for which, number in chosen:
        if which not in apart or not 0 <= number < len(apart[which]):
            raise ValueError(f"Candidate {which + 1} has no change {number + 1}; compare the texts again.")
        wanted.setdefault(apart[which][number], (which, number))
    ordered = sorted(wanted, key=lambda change: (change.start, change.end))
    for one, other in pairwise(ordered):
        if one.end > other.start or (one.start, one.end) == (other.start, other.end):
            raise Overlap(
                f"A change of candidate {wanted[one][0] + 1} and one of candidate {wanted[other][0] + 1} are "
                "in the same place. Take one of the two."
            )
    return _applied(base, ordered)


def _applied(base: str, ordered: Iterable[Change]) -> str:
    parts, at = [], 0
    for change in ordered:
        parts += [base[at : change.start], change.new]
        at = change.end
    return "".join([*parts, base[at:]])
