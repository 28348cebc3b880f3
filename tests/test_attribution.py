"""Who wrote which characters: runs join to the text, whatever it is; unchanged parts keep their author."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from core.attribution import Author, Run, joined, rewritten, written

MODEL, LATER = Author("model", False, 0, 0), Author("model", False, 1, 4)
ANNA = Author("Anna", True, 1, 6)
PIECES = [
    *("word", " ", "\n", "味", "は", "😀", "👨\u200d👩\u200d👧", "é", "e\u0301", "\u202e"),
    *("\r\n", "\x00", "if x:\n    y()", "\ud800", "أهلا", "."),
]


def by(runs: tuple[Run, ...], author: Author) -> str:
    """All that one author wrote."""
    return "|".join(run.text for run in runs if run.by == author)


def test_a_change_is_its_authors_and_the_rest_stays_the_others() -> None:
    first = written("The food was good and the staff was rude.", MODEL)
    second = rewritten(first, "The meal was good and the staff was rude.", LATER)
    third = rewritten(second, "The meal was good and our waiter was rude.", ANNA)
    assert (by(third, LATER), by(third, ANNA)) == ("meal", "our waiter")
    assert by(third, MODEL) == "The | was good and | was rude."


def test_what_is_taken_out_and_put_in_again_is_the_last_ones() -> None:
    runs = rewritten(rewritten(written("one two", MODEL), "one", LATER), "one two", ANNA)
    assert by(runs, ANNA) == " two"


def test_nothing_and_the_same_text() -> None:
    assert written("", MODEL) == () == rewritten(written("all", MODEL), "", ANNA)
    assert rewritten((), "all", ANNA) == (Run("all", ANNA),)
    same = rewritten(written("all", MODEL), "all", ANNA)
    assert same == (Run("all", MODEL),)


@pytest.mark.parametrize(
    ("old", "new", "added"),
    [
        ("味は良い。店員は親切。", "味は悪い。店員は親切。", "悪"),
        ("a 😀 b", "a 😁 b", "😁"),
        ("def f(x):\n    return x\n", "def f(x):\n    return x + 1\n", " + 1"),
    ],
)
def test_other_scripts_and_code(old: str, new: str, added: str) -> None:
    runs = rewritten(written(old, MODEL), new, ANNA)
    assert (joined(runs), by(runs, ANNA)) == (new, added)


def test_runs_always_join_to_the_text_and_have_no_equal_neighbours() -> None:
    rng = random.Random(3)
    for _ in range(60):
        texts = ["".join(rng.choices(PIECES, k=rng.randrange(12))) for _ in range(5)]
        runs = written(texts[0], MODEL)
        for number, text in enumerate(texts[1:], 1):
            runs = rewritten(runs, text, Author("model", False, number, number))
            assert joined(runs) == text
            assert all(run.text for run in runs)
            assert all(a.by != b.by for a, b in pairwise(runs))
