"""What a judge rates a text by. Knows no model and no prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dimension:
    """One thing to rate, from `low` to `high`; `question` says what is asked."""

    name: str
    question: str
    low: float = 0.0
    high: float = 10.0


@dataclass(frozen=True)
class Rubric:
    """The dimensions of a kind of task. The total is always computed here, never taken from a judge."""

    dimensions: tuple[Dimension, ...]

    @property
    def highest(self) -> float:
        """The total of a text that is rated best in everything."""
        return sum(dimension.high for dimension in self.dimensions)
