"""A small, seeded simulation with known truth: what benchmarks/study_coverage.py does with 2,000 studies."""

from __future__ import annotations

import pytest

from benchmarks.study_coverage import CASES, Rates, mean_chance, simulate, simulate_worths

STUDIES = 400
BY_NAME = {case.name: (case, seed) for seed, case in enumerate(CASES)}


def rates(name: str) -> Rates:
    """The rates of a case over some studies."""
    case, seed = BY_NAME[name]
    return simulate(case, STUDIES, seed)


def test_independent_votes() -> None:
    found = rates("independent votes")
    assert 0.93 <= found.rate("Wilson") <= 0.97
    assert 0.93 <= found.rate("clustered") <= 0.97
    assert found.rate("sign test") > 0.9


def test_the_sign_test_rarely_finds_what_is_not_there() -> None:
    found = rates("independent votes, no preference")
    assert 0.01 < found.rate("sign test") <= 0.055


@pytest.mark.parametrize("name", ["raters and items differ", "eight raters, who differ"])
def test_only_the_clustered_interval_keeps_its_coverage(name: str) -> None:
    found = rates(name)
    assert 0.93 <= found.rate("clustered") <= 0.97
    assert found.rate("Wilson") < 0.8


def test_a_test_that_knows_no_raters_finds_too_much() -> None:
    found = rates("raters differ, no preference")
    assert found.rate("sign test") > 0.2
    assert found.rate("clustered test") <= 0.08


def test_worths_of_raters_who_differ() -> None:
    found = simulate_worths(30, 0.7, 40, 7)
    assert found.rate("raters drawn anew") > found.rate("naive")
    assert found.rate("raters drawn anew") >= 0.9


def test_the_truth_is_known() -> None:
    assert mean_chance(0.0, 2.0) == pytest.approx(0.5)
    assert mean_chance(1.0, 0.0) == pytest.approx(0.731059, abs=1e-6)
    assert 0.5 < mean_chance(1.0, 1.0) < 0.731
