"""Whether raters saw through the blind: Bang's index of what they guessed at the end."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.studies.distributions import normal_quantile
from core.studies.figures import LEVEL, Estimate, Interval, Undefined

Guessed = Literal["right", "wrong", "unsure"]


@dataclass(frozen=True)
class Guess:
    """What one rater thought which system was which, held against the truth."""

    rater: str
    guessed: Guessed


@dataclass(frozen=True)
class Blinding:
    """How many raters guessed right, wrong, or did not know, and Bang's index: 1 = all right, 0 = as by
    chance, -1 = all wrong."""

    right: int
    wrong: int
    unsure: int
    index: Estimate | Undefined


def blinding(guesses: Iterable[Guess]) -> Blinding:
    """Bang's blinding index, (right - wrong) / all, with its interval (Bang, Ni & Davis 2004)."""
    given = [guess.guessed for guess in {guess.rater: guess for guess in guesses}.values()]
    right, wrong = given.count("right"), given.count("wrong")
    return Blinding(right, wrong, len(given) - right - wrong, _index(right, wrong, len(given)))


def _index(right: int, wrong: int, asked: int) -> Estimate | Undefined:
    if asked == 0:
        return Undefined("no rater was asked for a guess")
    value = (right - wrong) / asked
    variance = ((right + wrong) / asked - value**2) / asked
    se = math.sqrt(max(variance, 0.0))
    reach = normal_quantile((1 + LEVEL) / 2) * se
    interval = Interval(max(value - reach, -1.0), min(value + reach, 1.0), "Wald")
    return Estimate(value, se, interval if se > 0 else Undefined("every rater answered the same"))
