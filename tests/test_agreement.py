"""Agreement of judges: a published worked example, and what is undefined says why."""

from __future__ import annotations

import pytest

from core.scoring.agreement import agreement

# Krippendorff's own example: four coders, twelve units, some ratings missing.
TABLE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
CODERS = [
    [None if value == "." else float(value) for value in row.split()] for row in TABLE.strip().split("\n")
]


def test_the_published_example() -> None:
    assert agreement(CODERS).alpha == pytest.approx(0.8491, abs=5e-5)


def test_a_rating_without_another_of_its_text_counts_for_nothing() -> None:
    alone = [[1.0, 3.0, None], [2.0, 3.0, None]]
    assert agreement(alone) == agreement([[*alone[0][:2], 9.0], alone[1]])


def test_the_mean_distance_is_over_all_pairs_of_ratings_of_one_text() -> None:
    assert agreement([[1.0, 5.0], [3.0, 5.0], [2.0, None]]).apart == pytest.approx((2 + 1 + 1 + 0) / 4)


def test_full_agreement_is_1_and_systematic_disagreement_is_below_0() -> None:
    assert agreement([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]).alpha == 1.0
    assert (agreement([[1.0, 2.0], [2.0, 1.0]]).alpha or 0.0) < 0


@pytest.mark.parametrize(
    ("ratings", "apart", "why"),
    [
        ([], None, "no text has two ratings"),
        ([[1.0, 2.0]], None, "no text has two ratings"),
        ([[1.0, None], [None, 2.0]], None, "no text has two ratings"),
        ([[1.0], [4.0]], 3.0, "it needs two texts"),
        ([[2.0, 2.0], [2.0, 2.0]], 0.0, "every rating is the same"),
    ],
)
def test_what_is_undefined_is_no_number(
    ratings: list[list[float | None]], apart: float | None, why: str
) -> None:
    found = agreement(ratings)
    assert (found.alpha, found.apart) == (None, apart)
    assert why in found.why
