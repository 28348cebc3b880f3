"""Corrections for asking several questions of the same votes. Knows p values only."""

from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjusted p values, in the order given (Holm 1979)."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return tuple(adjusted)
