"""What sessions show in the mass: counts and sums of many, and figures with intervals made of them.

Pure: the counting is a store's (InsightStore), the questions are core/questions.py's. A share has Wilson's
interval. A mean has a bootstrap interval where its values are few enough to be drawn from, else Student's
from their sums. A price is a ratio of two sums over sessions, with its linearised variance. Each figure says
its n and its method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal, Protocol

import numpy as np

from core.studies.figures import LEVEL, Interval
from core.studies.proportions import WILSON, wilson

By = Literal["preset", "strategy", "model"]
BYS: tuple[By, ...] = ("preset", "strategy", "model")
Points = Literal["major", "minor", "unstated", "none"]
FULL_SCALE = (
    "label",
    "math_equivalence",
    "unit_tests",
    "coverage",
    "rules",
    "json_schema",
    "regex",
    "length",
)
"""Scorers whose full score, 1, means that the text is as it was asked for."""
VERIFIERS = ("math_equivalence", "unit_tests", "json_schema", "regex", "length")
"""Scorers that know right from wrong where a session names no verifier."""
MOST_DRAWN = 5_000
"""Up to so many values a mean's interval is bootstrapped."""
DRAWS = 2_000
BOOTSTRAP = f"percentile bootstrap, {DRAWS:,} draws"
STUDENT = "Student's t from sums"
LINEAR = "ratio of sums over sessions, linearised"


@dataclass(frozen=True)
class Scope:
    """Which sessions are asked about; "" and None ask for nothing. Moments are those of a session's start."""

    preset: str = ""
    strategy: str = ""
    model: str = ""
    scorer: str = ""
    since: datetime | None = None
    until: datetime | None = None
    tag: str = ""


@dataclass(frozen=True)
class RoundCell:
    """Sums over the rounds of one group, round number and worst kind of point, each round counted once.

    `tried` have a revision. A ruling is `accepted` whole or in part. `gain_*` are changes of the gate's score
    as proposed, `kept_*` the same with 0 for what was not accepted. `wrong` and `right` count drafts by a
    verifier, `righted` and `wronged` those that the revision turned. `would_*` count persons' rulings by the
    policy's view, `not_*` those against it.
    """

    group: str
    round: int
    points: Points
    tried: int = 0
    policy_ruled: int = 0
    policy_accepted: int = 0
    person_ruled: int = 0
    person_accepted: int = 0
    gain_n: int = 0
    gain_sum: float = 0.0
    gain_squares: float = 0.0
    kept_n: int = 0
    kept_sum: float = 0.0
    kept_squares: float = 0.0
    wrong: int = 0
    righted: int = 0
    right: int = 0
    wronged: int = 0
    returned: int = 0
    unchanged: int = 0
    remarks: int = 0
    refusals: int = 0
    broken: int = 0
    would_accept: int = 0
    not_accepted: int = 0
    would_reject: int = 0
    not_rejected: int = 0


@dataclass(frozen=True)
class SessionCell:
    """Sums over the sessions of one group.

    `change_*` are those of the gate's score from first draft to the text that stands. `full_n` sessions are
    counted for the full score; `*_full` are those whose first, last, standing, any text has it, `unscored`
    those with a text that has no score. `fallen` of `fell_n` stand on less than the best they had. Of the
    `refined` sessions, which have rounds with calls that were counted, `m` are accepted improvements, for so
    many seconds `s`, tokens `t`, and money `c` (of `priced` ones, whose improvements are `pm`): sums,
    squares, products.
    """

    group: str
    sessions: int = 0
    forks: int = 0
    change_n: int = 0
    change_sum: float = 0.0
    change_squares: float = 0.0
    full_n: int = 0
    first_full: int = 0
    last_full: int = 0
    stands_full: int = 0
    any_full: int = 0
    unscored: int = 0
    fell_n: int = 0
    fallen: int = 0
    refined: int = 0
    m: float = 0.0
    mm: float = 0.0
    s: float = 0.0
    ss: float = 0.0
    sm: float = 0.0
    t: float = 0.0
    tt: float = 0.0
    tm: float = 0.0
    priced: int = 0
    pm: float = 0.0
    pmm: float = 0.0
    c: float = 0.0
    cc: float = 0.0
    cm: float = 0.0


@dataclass(frozen=True)
class Changes:
    """Single values behind the sums, where they are few: (group, round, gain, kept) and (group, change)."""

    rounds: tuple[tuple[str, int, float, float | None], ...] = ()
    sessions: tuple[tuple[str, float], ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Listed:
    """A session as a row of a table; scores are its gate's, as core.facts.Facts says."""

    session_id: str
    title: str
    preset: str
    strategy: str
    model: str
    outcome: str
    scorer: str
    rounds: int
    first_score: float | None
    last_score: float | None
    best_score: float | None
    change: float | None
    tokens: int
    seconds: float
    money: float | None


class InsightStore(Protocol):
    """Counts over all sessions that aren't deleted."""

    def scorers(self, scope: Scope) -> list[tuple[str, int]]:
        """The gates' scorers with their numbers of sessions, the most frequent first."""
        ...

    def rounds(self, scope: Scope, by: By, scorer: str) -> list[RoundCell]:
        """Every group, round and kind of point; gains are of sessions whose gate has this scorer."""
        ...

    def sessions(self, scope: Scope, by: By, scorer: str) -> list[SessionCell]:
        """Every group; scores are of sessions whose gate has this scorer."""
        ...

    def changes(self, scope: Scope, by: By, scorer: str, most: int) -> Changes:
        """The single values behind gains and changes; not whole where there are more than `most`."""
        ...

    def votes_for_persons(self, scope: Scope) -> tuple[int, int]:
        """How many votes side with persons who overruled the policy, of how many on both texts.

        Votes are those of unblinded studies.
        """
        ...

    def behind(self) -> int:
        """How many sessions have steps that are not counted yet."""
        ...

    def stamp(self) -> str:
        """Changes whenever anything that is counted here may have."""
        ...

    def listed(self, ids: Sequence[str]) -> list[Listed]:
        """The sessions of these ids, in that order; deleted and unknown ones left out."""
        ...


# -- figures ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A number of `n` cases with its interval, or (value None) the reason why there is none."""

    n: int
    value: float | None = None
    interval: Interval | None = None
    why: str = ""


def undefined(why: str, n: int = 0) -> Figure:
    """In place of a number that does not exist."""
    return Figure(n, why=why)


def share(count: int, of: int, why: str) -> Figure:
    """A share with Wilson's interval; `why` is said where there is nothing to take a share of."""
    interval = wilson(count, of)
    if not isinstance(interval, Interval):
        return undefined(why)
    return Figure(of, count / of, Interval(interval.low, interval.high, WILSON.replace("votes", "cases")))


def mean(n: int, total: float, squares: float, why: str, values: Sequence[float] = ()) -> Figure:
    """A mean out of its sums; the interval out of the values, where all of them are there."""
    if n == 0:
        return undefined(why)
    if n == 1:
        return Figure(1, total, why="one value has no interval")
    if len(values) == n:
        return Figure(n, total / n, _bootstrapped(values))
    variance = max(squares - total * total / n, 0.0) / (n - 1)
    return Figure(n, total / n, _student(total / n, math.sqrt(variance / n), n))


def _bootstrapped(values: Sequence[float]) -> Interval:
    data = np.asarray(values, dtype=float)
    rng = np.random.default_rng(0)
    means = np.array([data[rng.integers(0, len(data), len(data))].mean() for _ in range(DRAWS)])
    low, high = np.percentile(means, [100 * (1 - LEVEL) / 2, 100 * (1 + LEVEL) / 2])
    return Interval(float(low), float(high), BOOTSTRAP)


def _student(centre: float, error: float, n: int, method: str = STUDENT) -> Interval:
    from core.studies.distributions import t_quantile

    reach = t_quantile((1 + LEVEL) / 2, n - 1) * error
    return Interval(centre - reach, centre + reach, method)


def ratio(n: int, top: float, bottom: float, squares: tuple[float, float, float], why: str) -> Figure:
    """The sum `top` for each of `bottom` over n sessions; `squares` sum those of both, and their products."""
    if bottom <= 0:
        return undefined(why, n)
    value = top / bottom
    if n == 1:
        return Figure(1, value, why="one session has no interval")
    tops, bottoms, products = squares
    residual = max(tops - 2 * value * products + value * value * bottoms, 0.0)
    error = math.sqrt(residual * n / (n - 1)) / bottom
    interval = _student(value, error, n, LINEAR)
    return Figure(n, value, Interval(max(interval.low, 0.0), interval.high, LINEAR))


# -- sums of cells ------------------------------------------------------------------------------

_COUNTED = [field.name for field in fields(RoundCell)][3:]
_SUMMED = [field.name for field in fields(SessionCell)][1:]


def rounds_together(cells: Iterable[RoundCell], name: str = "", number: int = 0) -> RoundCell:
    """The cells as one, under a name."""
    found = list(cells)
    return RoundCell(name, number, "none", **{f: sum(getattr(cell, f) for cell in found) for f in _COUNTED})


def sessions_together(cells: Iterable[SessionCell], name: str = "") -> SessionCell:
    """The cells as one, under a name."""
    found = list(cells)
    return SessionCell(name, **{f: sum(getattr(cell, f) for cell in found) for f in _SUMMED})


def grouped(cells: Iterable[RoundCell], key: Callable[[RoundCell], str | int]) -> dict[str | int, RoundCell]:
    """The cells summed by a key, in the key's order of appearance."""
    found: dict[str | int, list[RoundCell]] = {}
    for cell in cells:
        found.setdefault(key(cell), []).append(cell)
    return {name: rounds_together(members, str(name)) for name, members in found.items()}
