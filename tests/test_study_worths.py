"""Worths: when there are some, what evalica makes of the same votes, and draws of raters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from core.studies.bootstrap import (
    AT_ONCE,
    expanded_percentiles,
    pigeonhole,
    rater_counts,
    rater_draws,
    tables,
)
from core.studies.distributions import t_quantile
from core.studies.figures import Interval, Undefined
from core.studies.rankings import Worths, ranking
from core.studies.votes import VoteTable, tabulate
from core.studies.worths import Fit, connected, davidson, determined, fit, reachable
from tests.study_votes import ballots, simulated

NAMES = tuple("ABCDEF")
Matrix = list[list[float]]


def matrices(wins: Matrix, ties: Matrix | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Wins, and ties made symmetrical."""
    upper = np.array(ties or np.zeros_like(wins), dtype=float)
    return np.array(wins, dtype=float), upper + upper.T


def league() -> VoteTable:
    """Four systems, thirty raters, ties among the results."""
    rng = np.random.default_rng(8)
    votes = []
    for rater in range(30):
        for one, other, lean in (
            ("A", "B", 0.6),
            ("A", "C", 0.7),
            ("B", "C", 0.5),
            ("C", "D", 0.6),
            ("D", "A", 0.4),
        ):
            letters = "".join("T" if rng.random() < 0.2 else "WL"[rng.random() > lean] for _ in range(4))
            votes += ballots(one, other, letters, f"rater {rater} ")
    return tabulate(votes)


@pytest.mark.parametrize(
    ("wins", "ties", "why"),
    [
        ([[0, 3, 0], [0, 0, 2], [0, 1, 0]], None, "A never lost to B and C"),
        ([[0, 3, 0], [1, 0, 0], [0, 0, 0]], None, "no votes for C"),
        (
            [[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]],
            None,
            "A and B; C and D were never compared",
        ),
        ([[0, 0], [0, 0]], [[0, 5], [0, 0]], "every vote is a tie"),
        ([[0, 0], [0, 0]], None, "there are no votes"),
        ([[0, 3], [0, 0]], [[0, 2], [0, 0]], "wins and ties are too few"),
    ],
)
def test_no_worths_without_a_reason(wins: Matrix, ties: Matrix | None, why: str) -> None:
    found = davidson(*matrices(wins, ties), NAMES[: len(wins)])
    assert isinstance(found, Undefined)
    assert why in found.why


def test_worths_exist_exactly_where_the_likelihood_has_a_maximum() -> None:
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(400):
        size = int(rng.integers(2, 5))
        wins = rng.poisson(rng.choice([0.3, 0.6, 1.0]), (size, size)) * (1.0 - np.eye(size))
        upper = np.triu(rng.poisson(0.4, (size, size)), 1).astype(np.float64)
        ties = np.asarray(upper + upper.T, dtype=np.float64)
        if not reachable(wins + wins.T, ties).all():
            continue
        try:
            finite = bool(np.abs(fit(wins, ties).worths).max() < 9)
        except (ArithmeticError, np.linalg.LinAlgError):
            finite = False
        assert bool(determined(wins, ties)) == finite, (wins, ties)
        seen.add((finite, bool(connected(wins, ties))))
    assert seen == {(True, True), (False, True), (False, False)}


def test_a_stack_of_tables_is_fitted_like_each_alone() -> None:
    rng = np.random.default_rng(1)
    wins = rng.poisson(20, (6, 4, 4)) * (1.0 - np.eye(4))
    ties = np.triu(rng.poisson(5, (6, 4, 4)), 1).astype(float)
    ties += np.swapaxes(ties, -1, -2)
    ties[2] = 0
    together = fit(wins, ties)
    for place in range(6):
        alone = fit(wins[place], ties[place])
        assert together.worths[place] == pytest.approx(alone.worths, abs=1e-9)
        assert np.exp(together.log_nu[place]) == pytest.approx(np.exp(alone.log_nu), abs=1e-9)
    assert np.exp(together.log_nu[2]) == 0


def test_evalica_newman_is_davidson_with_half_of_nu_once_its_tolerance_is_tight() -> None:
    import evalica

    table = league()
    wins, ties = tables(rater_counts(table).sum(axis=0), 4)
    ours = davidson(wins, ties, table.systems)
    assert isinstance(ours, Fit)
    results = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw]
    pairs = [[table.systems[code] for code in codes] for codes in (table.first, table.second)]
    said = [results[outcome] for outcome in table.outcome]
    tight = evalica.newman(pairs[0], pairs[1], said, tolerance=1e-12, limit=100_000)
    logs = np.log([tight.scores[name] for name in table.systems])
    assert logs - logs.mean() == pytest.approx(ours.worths, abs=1e-6)
    assert 2 * tight.v == pytest.approx(float(np.exp(ours.log_nu)), abs=1e-6)


def test_evalica_stops_too_early_by_default() -> None:
    import evalica

    chain = [f"s{place:02}" for place in range(12)]
    wins = np.diag([6.0] * 11, 1) + np.diag([2.0] * 11, -1)
    ours = fit(wins, np.zeros_like(wins)).worths
    pairs = [(one, other) for one, other in pairwise(chain) for _ in range(8)]
    said = ([evalica.Winner.X] * 6 + [evalica.Winner.Y] * 2) * 11
    one, other = ([pair[place] for pair in pairs] for place in (0, 1))
    for found, close in (
        (evalica.bradley_terry(one, other, said), False),
        (evalica.bradley_terry(one, other, said, tolerance=1e-12, limit=10_000), True),
    ):
        logs = np.log([found.scores[name] for name in chain])
        assert (np.abs(logs - logs.mean() - ours).max() < 1e-6) == close


def test_what_evalica_gives_in_silence_for_an_unbeaten_system_is_undefined_here() -> None:
    import evalica

    result = evalica.bradley_terry(["A", "A", "B", "C"], ["B", "C", "C", "B"], [evalica.Winner.X] * 4)
    assert min(result.scores) == pytest.approx(0, abs=1e-6)
    found = davidson(*matrices([[0, 1, 1], [0, 0, 1], [0, 1, 0]]), ("A", "B", "C"))
    assert isinstance(found, Undefined)


def test_counts_of_raters_add_up_to_the_table() -> None:
    table = tabulate([*ballots("A", "B", "WWLTB", "x"), *ballots("A", "C", "LSW/LL", "y")])
    counts = rater_counts(table)
    assert counts.shape == (3, 9)
    wins, ties = tables(counts.sum(axis=0), 3)
    assert wins.tolist() == [[0, 2, 1], [1, 0, 0], [3, 0, 0]]
    assert ties.tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]


def test_draws_are_the_same_from_sparse_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    table = league()
    whole = rater_draws(rater_counts(table), 50, seed=4)
    monkeypatch.setattr("core.studies.bootstrap.DENSE", 10)
    assert rater_draws(rater_counts(table), 50, seed=4) == pytest.approx(whole)


def test_a_draw_is_as_many_raters_as_there_are() -> None:
    counts = np.eye(40)
    drawn = rater_draws(counts, 300, seed=0)
    assert drawn.sum(axis=1).tolist() == [40] * 300
    assert drawn.mean() == pytest.approx(1)
    assert drawn.var() == pytest.approx(1 - 1 / 40, abs=0.03)
    assert AT_ONCE > 300 * 40


def test_few_clusters_set_percentiles_further_out() -> None:
    samples = np.random.default_rng(0).normal(size=200_000)
    low, high = expanded_percentiles(samples, 8)
    reach = t_quantile(0.975, 7) * np.sqrt(8 / 7)
    assert (float(low), float(high)) == pytest.approx((-reach, reach), abs=0.05)


def test_worths_of_a_league() -> None:
    found = ranking(league(), draws=300, seed=2).davidson
    assert isinstance(found, Worths)
    assert [worth.rank for worth in found.worths] == [1, 2, 3, 4]
    assert sum(worth.worth for worth in found.worths) == pytest.approx(0, abs=1e-9)
    assert found.worths[0].system == "A"
    assert (found.draws, found.undefined_draws) == (300, 0)
    for worth in found.worths:
        assert isinstance(worth.clustered, Interval)
        assert worth.worth in worth.clustered
        assert not isinstance(worth.ranks, Undefined)
        assert worth.ranks[0] <= worth.rank <= worth.ranks[1]


def test_ties_in_three_ways() -> None:
    found = ranking(tabulate(ballots("A", "B", "W" * 40 + "L" * 10 + "T" * 20)))
    ratios = []
    for worths in (found.davidson, found.half, found.dropped):
        assert isinstance(worths, Worths)
        ratios.append((worths.worths[0].worth * 2, worths.nu))
    assert ratios[0] == pytest.approx((np.log(4), 1))
    assert ratios[1] == pytest.approx((np.log(50 / 20), 0))
    assert ratios[2] == pytest.approx((np.log(4), 0))


def test_samples_that_leave_a_system_unbeaten_are_not_passed_over_in_silence() -> None:
    votes = [*ballots("A", "B", "WWWW/WWWW/WWWL")]
    found = ranking(tabulate(votes), draws=200).davidson
    assert isinstance(found, Worths)
    assert found.undefined_draws > 20
    assert isinstance(found.worths[0].clustered, Undefined)
    assert "leave a system unbeaten" in found.worths[0].clustered.why


def test_two_way_bootstrap_does_not_depend_on_how_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = tabulate(simulated(12, 20, 0.5, 0.0, taste=0.8)).decided()
    columns = (votes.first_wins, votes.rater, votes.item)
    one = pigeonhole(*columns, 400, 0)
    assert isinstance(one, Interval)
    assert one.low < float(votes.first_wins.mean()) < one.high
    monkeypatch.setattr("core.studies.bootstrap.AT_ONCE", 900)
    cut = pigeonhole(*columns, 400, 0)
    assert isinstance(cut, Interval)
    assert (cut.low, cut.high) == pytest.approx((one.low, one.high), abs=0.03)
