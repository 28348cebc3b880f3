"""What a figure of a report is: a number, an interval, or the reason why there is none. Knows no votes."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.95


@dataclass(frozen=True)
class Undefined:
    """In place of a number that does not exist; `why` is half a sentence for a reader."""

    why: str


@dataclass(frozen=True)
class Interval:
    """A confidence interval in the units of its figure; `method` is said wherever it is shown."""

    low: float
    high: float
    method: str
    level: float = LEVEL

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Estimate:
    """A number, its standard error and its interval, all in the same units."""

    value: float
    se: float
    interval: Interval | Undefined


NO_VOTES = Undefined("there are no votes")
ONE_RATER = Undefined("there is one rater, so how far raters differ can't be told")
