"""Figures with intervals on worked numbers; undefined where there is nothing; cells folded into charts."""

from __future__ import annotations

import math
import random

import pytest

from core.insight import (
    BOOTSTRAP,
    STUDENT,
    Changes,
    Figure,
    RoundCell,
    Scope,
    SessionCell,
    mean,
    ratio,
    rounds_together,
    sessions_together,
    share,
)
from core.questions import NO_GAIN, Insight, insight


def ends(figure: Figure) -> tuple[float, float]:
    assert figure.interval is not None
    return figure.interval.low, figure.interval.high


def test_a_share_has_wilsons_interval() -> None:
    # 15 of 50: Wilson's 95 % interval is 0.1910 to 0.4375 (Brown, Cai & DasGupta's formula by hand).
    figure = share(15, 50, "")
    assert (figure.value, figure.n) == (0.3, 50)
    assert ends(figure) == pytest.approx((0.1910, 0.4375), abs=2e-4)


def test_a_mean_out_of_sums_has_students_interval() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 10.0]  # mean 4, standard deviation 3.5355, t(4) 2.7764
    figure = mean(5, sum(values), sum(v * v for v in values), "")
    half = 2.776445 * 3.535534 / math.sqrt(5)
    assert (figure.value, figure.interval and figure.interval.method) == (4.0, STUDENT)
    assert ends(figure) == pytest.approx((4 - half, 4 + half), abs=1e-4)


def test_few_values_are_drawn_from_and_agree_with_students() -> None:
    rng = random.Random(5)
    values = [rng.gauss(2, 1) for _ in range(400)]
    sums = (len(values), sum(values), sum(v * v for v in values))
    drawn, plain = mean(*sums, "", values), mean(*sums, "")
    assert drawn.interval is not None and drawn.interval.method == BOOTSTRAP
    assert ends(drawn) == pytest.approx(ends(plain), abs=0.02)
    assert ends(drawn) == ends(mean(*sums, "", values))  # the same draws each time


def test_a_price_holds_the_truth_about_as_often_as_it_says() -> None:
    rng, held = random.Random(9), 0
    for _ in range(200):
        pairs = []
        for _ in range(120):
            m = rng.choice([0, 1, 2])
            pairs.append((m, 3 * m + rng.uniform(0, 6)))  # truth: (3 * 1 + 3) / 1 = 6 a piece
        tops = [s for _, s in pairs]
        bottoms = [float(m) for m, _ in pairs]
        squares = (sum(s * s for s in tops), sum(m * m for m in bottoms), sum(m * s for m, s in pairs))
        low, high = ends(ratio(len(pairs), sum(tops), sum(bottoms), squares, ""))
        held += low <= 6 <= high
    assert 180 <= held <= 199


def test_what_there_is_not_is_undefined_and_says_why() -> None:
    assert share(0, 0, "nobody ruled") == Figure(0, why="nobody ruled")
    assert mean(0, 0, 0, "no score").why == "no score"
    assert mean(1, 2.5, 6.25, "").interval is None and mean(1, 2.5, 6.25, "").value == 2.5
    assert ratio(3, 10, 0, (0, 0, 0), NO_GAIN) == Figure(3, why=NO_GAIN)


def test_cells_sum_field_by_field() -> None:
    one = RoundCell("a", 1, "major", tried=2, gain_sum=0.5, righted=1)
    other = RoundCell("b", 2, "none", tried=3, gain_sum=-0.25)
    whole = rounds_together([one, other], "all", 7)
    assert (whole.group, whole.round, whole.tried, whole.gain_sum, whole.righted) == ("all", 7, 5, 0.25, 1)
    assert sessions_together([SessionCell("a", 2, m=1.5), SessionCell("b", 3)]) == SessionCell("", 5, m=1.5)


class Counted:
    """A store that counted these cells."""

    def __init__(self, rounds: list[RoundCell], sessions: list[SessionCell]) -> None:
        self._rounds, self._sessions = rounds, sessions

    def scorers(self, scope: Scope) -> list[tuple[str, int]]:
        return [("", 9), ("label", 5)]

    def rounds(self, scope: Scope, by: str, scorer: str) -> list[RoundCell]:
        return self._rounds

    def sessions(self, scope: Scope, by: str, scorer: str) -> list[SessionCell]:
        return self._sessions

    def changes(self, scope: Scope, by: str, scorer: str, most: int) -> Changes:
        return Changes()

    def votes_for_persons(self, scope: Scope) -> tuple[int, int]:
        return 3, 4

    def behind(self) -> int:
        return 0

    def listed(self, ids: object) -> list[object]:
        return []


def asked(rounds: list[RoundCell], sessions: list[SessionCell]) -> Insight:
    return insight(Counted(rounds, sessions), Scope(), "strategy")  # type: ignore[arg-type]


def lines(found: Insight, key: str) -> dict[str, tuple[Figure, ...]]:
    chart = next(each for each in found.charts if each.key == key)
    return {line.name: line.figures for line in chart.lines}


def test_late_rounds_are_one_group_and_the_scorer_is_the_most_frequent_that_there_is() -> None:
    cells = [RoundCell("s", n, "major", tried=1, policy_ruled=1, policy_accepted=n % 2) for n in (1, 10, 15)]
    found = asked(cells, [SessionCell("s", sessions=3)])
    assert found.scorer == "label" and found.rounds == 3
    accepted = lines(found, "accepted")
    assert list(accepted) == ["round 1", "round 10 and later"]
    assert [f[0].n for f in accepted.values()] == [1, 2]


def test_without_any_session_every_question_says_why_it_has_no_answer() -> None:
    found = asked([], [])
    lines_of = [(c.key, line) for c in found.charts for line in c.lines if not line.name.startswith("raters")]
    for key, line in lines_of:
        assert all(figure.value is None and figure.why for figure in line.figures), key


def test_price_without_any_recorded_time_is_not_nought() -> None:
    cell = SessionCell("s", sessions=2, refined=2, m=3, mm=5)
    assert lines(asked([], [cell]), "seconds")["all"][0].why == "no time was recorded"


def test_votes_on_rulings_are_a_share_of_their_own() -> None:
    (figure,) = lines(asked([], []), "overruled")["raters side with the person, of their votes on both texts"]
    assert (figure.value, figure.n) == (0.75, 4)
