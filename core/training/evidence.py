"""What counts as a reason to learn a text, and what its scores say of it. Knows no session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Draft

VERIFIERS = ("math_equivalence", "unit_tests", "coverage", "rules", "json_schema", "regex", "length")
"""Scorers for which 1 means that a text is right, and less that it is not."""


@dataclass(frozen=True)
class Evidence:
    """What counts as a reason to learn a text.

    `threshold` is the least value of `scorer` for SFT; for DPO the texts' values differ by `margin` at least.
    `by_person` leaves out what only the policy ruled; `steps` adds revisions with the prompt of their step.
    """

    accepted: bool = True
    verifier: bool = True
    scorer: str | None = None
    threshold: float | None = None
    margin: float = 0.0
    by_person: bool = False
    steps: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a threshold of no score."""
        if self.threshold is not None and self.scorer is None:
            raise ValueError("A threshold is one of a score: say of which.")


def passed(draft: Draft) -> str:
    """The verifier that the draft passes, or "": one that it fails outweighs one that it passes."""
    values = {name: draft.value(name) for name in VERIFIERS}
    known = {name: value for name, value in values.items() if value is not None}
    return next(iter(known), "") if known and all(value == 1.0 for value in known.values()) else ""


def all_wrong(drafts: Sequence[Draft]) -> bool | None:
    """Whether every draft fails a verifier; None where of one of them that is unknown."""
    said = [verdict(draft) for draft in drafts]
    if any(said) or not said:
        return False if said else None
    return None if None in said else True


def verdict(draft: Draft) -> bool | None:
    known = [value for name in VERIFIERS if (value := draft.value(name)) is not None]
    return all(value == 1.0 for value in known) if known else None


def gap(better: Draft, worse: Draft, name: str) -> float | None:
    """By how much a score is higher; None where the two don't compare."""
    one, other = better.score(name), worse.score(name)
    if one is None or other is None or one.value is None or other.value is None:
        return None
    return one.value - other.value if one.condition == other.condition else None
