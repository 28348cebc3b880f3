"""The statistics against published worked examples and exact values, to the printed digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.studies.agreement import (
    Alpha,
    Level,
    cohen_kappa,
    counts_of,
    fleiss_kappa,
    gwet_ac1,
    krippendorff,
    raw_agreement,
    table_counts,
)
from core.studies.corrections import holm
from core.studies.figures import Estimate, Interval, Undefined
from core.studies.guesses import Guess, blinding
from core.studies.logit import SideEffect, side_effect
from core.studies.power import design_effect, plan, sign_test_power, votes_needed
from core.studies.proportions import Share, Spread, share_of, sign_test, wilson
from core.studies.votes import Vote, tabulate
from core.studies.worths import Fit, against, bradley_terry, davidson, deviance

JOURNALS = ("Biometrika", "CommStat", "JASA", "JRSS-B")
CITATIONS = np.array(
    [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]], dtype=float
)
CODERS = """1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 ."""
PSYCHIATRISTS = (
    """0 0 0 0 14/0 2 6 4 2/0 0 3 5 6/0 3 9 2 0/2 2 8 1 1/7 7 0 0 0/3 2 6 3 0/2 5 3 2 2/6 5 2 1 0/0 2 2 3 7"""
)


def ratings() -> list[list[float | None]]:
    """Coders by units, None where one is missing."""
    return [[None if cell == "." else float(cell) for cell in line.split()] for line in CODERS.splitlines()]


def test_bradley_terry_on_journal_citations() -> None:
    found = bradley_terry(CITATIONS, JOURNALS)
    assert isinstance(found, Fit)
    worths, errors = against(found, 0)
    assert worths.tolist() == pytest.approx([0, -2.9491, -0.4796, 0.2690], abs=5e-5)
    assert errors.tolist() == pytest.approx([0, 0.1025, 0.0606, 0.0708], abs=5e-5)
    off, freedom = deviance(CITATIONS, found.worths)
    assert off == pytest.approx(4.2934, abs=5e-5)
    assert freedom == 3


def test_davidson_on_two_items() -> None:
    found = davidson(np.array([[0.0, 40], [10, 0]]), np.array([[0.0, 20], [20, 0]]), ("a", "b"))
    assert isinstance(found, Fit)
    assert float(found.worths[0] - found.worths[1]) == pytest.approx(1.386294, abs=5e-7)
    assert float(np.exp(found.log_nu)) == pytest.approx(1)


def test_side_effect_clustered_by_rater() -> None:
    """With A and B equal on either side the sandwich is that of a share, on the log odds scale."""
    votes = [
        Vote(f"r{rater}", f"i{n}", left, right, "left" if n < won else "right")
        for rater, won in enumerate((9, 8, 5, 2))
        for left, right in (("A", "B"), ("B", "A"))
        for n in range(10)
    ]
    found = side_effect(tabulate(votes))
    assert isinstance(found, SideEffect)
    assert isinstance(found.clustered, Estimate)
    assert found.clustered.value == pytest.approx(math.log(0.6 / 0.4))
    assert found.clustered.se == pytest.approx(0.136931 / 0.24 * math.sqrt(4 / 3), abs=5e-6)


def test_side_effect() -> None:
    votes = [
        Vote(f"r{n}", f"i{n}", "A", "B", "left" if n < 30 else "right")
        if on_left
        else Vote(f"r{n}", f"i{n}", "B", "A", "right" if n < 20 else "left")
        for on_left in (True, False)
        for n in range(40)
    ]
    found = side_effect(tabulate(votes))
    assert isinstance(found, SideEffect)
    assert (found.left, found.decided) == (50, 80)
    for figure in (found.effect, found.preference):
        assert isinstance(figure, Estimate)
        assert figure.value == pytest.approx(0.549306, abs=5e-7)
        assert figure.se == pytest.approx(0.241523, abs=5e-7)


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491), ("ratio", 0.7974)]
)
def test_krippendorff(level: Level, value: float) -> None:
    counts, values = counts_of(ratings())
    found = krippendorff(counts, values, level, draws=200)
    assert isinstance(found, Alpha)
    assert found.value == pytest.approx(value, abs=5e-5)
    assert (found.units, found.ratings) == (11, 40)
    assert isinstance(found.interval, Interval)
    assert found.interval.low < value <= found.interval.high


def test_gwet_with_missing_ratings() -> None:
    found = gwet_ac1(counts_of(ratings())[0])
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(0.77544, abs=5e-6)
    assert found.se == pytest.approx(0.14295, abs=5e-6)


def test_fleiss() -> None:
    counts = np.array([[float(cell) for cell in row.split()] for row in PSYCHIATRISTS.split("/")])
    assert fleiss_kappa(counts) == pytest.approx(0.209931, abs=5e-7)


def test_cohen_and_the_paradox_of_kappa() -> None:
    even, lopsided = np.array([[20.0, 5], [10, 15]]), np.array([[118.0, 5], [2, 0]])
    assert cohen_kappa(even) == pytest.approx(0.40, abs=5e-3)
    assert cohen_kappa(lopsided) == pytest.approx(-0.0234, abs=5e-5)
    assert raw_agreement(table_counts(lopsided)) == pytest.approx(0.944)
    found = gwet_ac1(table_counts(lopsided))
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(0.9408, abs=5e-5)


@pytest.mark.parametrize(
    ("wins", "votes", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (0, 20, 0, 0.1611),
        (5, 5, 0.566, 1),
        (6, 10, 0.313, 0.832),
        (4, 6, 0.300, 0.903),
    ],
)
def test_wilson(wins: int, votes: int, low: float, high: float) -> None:
    found = wilson(wins, votes)
    assert isinstance(found, Interval)
    assert found.low == pytest.approx(low, abs=5e-4 if votes < 20 else 5e-5)
    assert found.high == pytest.approx(high, abs=5e-4 if votes < 20 else 5e-5)


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(8, 2, 0.109375), (15, 5, 0.041389), (60, 40, 0.056888), (4, 2, 0.6875), (2, 8, 0.109375), (3, 3, 1.0)],
)
def test_sign_test(wins: int, losses: int, p: float) -> None:
    assert sign_test(wins, losses) == pytest.approx(p, abs=5e-7)


def test_cluster_robust_error_of_four_raters() -> None:
    values = np.concatenate([[1.0] * won + [0.0] * (10 - won) for won in (9, 8, 5, 2)])
    found = share_of(values, np.repeat(np.arange(4), 10), np.arange(40))
    assert isinstance(found, Share)
    assert isinstance(found.spread, Spread)
    assert found.value == 0.6
    assert found.spread.naive_se == pytest.approx(0.07746, abs=5e-6)
    assert found.spread.rater_se == pytest.approx(0.13693, abs=5e-6)
    assert isinstance(found.clustered, Interval)
    assert found.clustered.low < found.wilson.low < found.wilson.high < found.clustered.high


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == (1.0, 1.0)


@pytest.mark.parametrize(("preference", "votes"), [(0.60, 210), (0.70, 54), (0.75, 35), (0.40, 210)])
def test_votes_needed(preference: float, votes: int) -> None:
    assert votes_needed(preference) == votes
    around = sign_test_power(np.arange(votes - 1, votes + 400), preference)
    assert around[0] < 0.8 <= around[1:].min()


def test_plan_counts_design_effect_and_ties() -> None:
    assert design_effect(20, 0.1) == pytest.approx(2.9)
    found = plan(0.6, 20, icc=0.1)
    assert not isinstance(found, Undefined)
    assert (found.decided, found.votes, found.raters) == (210, 609, 31)
    with_ties = plan(0.6, 20, tie_share=0.3)
    assert not isinstance(with_ties, Undefined)
    assert (with_ties.votes, with_ties.raters) == (300, 15)


def test_bang_index() -> None:
    guessed = ["right"] * 12 + ["wrong"] * 6 + ["unsure"] * 2
    found = blinding(Guess(f"r{n}", word) for n, word in enumerate(guessed))  # type: ignore[arg-type]
    assert isinstance(found.index, Estimate)
    assert found.index.value == pytest.approx(0.3)
    assert found.index.se == pytest.approx(math.sqrt((0.9 - 0.09) / 20))
