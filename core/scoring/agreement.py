"""How far judges agree who rated the same texts: how far apart they are, and Krippendorff's alpha (interval).

Knows numbers only: neither judges nor people. Alpha itself is that of the studies (core.studies.agreement).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Agreement:
    """Alpha, or (None) why it is undefined; `apart` is how far two ratings of one text are on average.

    `apart` is None where no text has two ratings.
    """

    alpha: float | None
    apart: float | None
    why: str = ""


def agreement(ratings: Sequence[Sequence[float | None]]) -> Agreement:
    """The agreement of a table with a row for each judge and a column for each text, None where unrated."""
    texts = [[value for value in column if value is not None] for column in zip(*ratings, strict=True)]
    rated = [values for values in texts if len(values) > 1]
    if not rated:
        return Agreement(None, None, "no text has two ratings")
    apart = statistics.fmean(abs(a - b) for values in rated for a, b in combinations(values, 2))
    if len(rated) < 2:
        return Agreement(None, apart, "it needs two texts that have two ratings each")
    return _with_alpha(ratings, apart)


def _with_alpha(ratings: Sequence[Sequence[float | None]], apart: float) -> Agreement:
    from core.studies.agreement import Alpha, counts_of, krippendorff  # numpy, which starting has no need of

    found = krippendorff(*counts_of(ratings), level="interval", draws=0)
    return Agreement(found.value, apart) if isinstance(found, Alpha) else Agreement(None, apart, found.why)
