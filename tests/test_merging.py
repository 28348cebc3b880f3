"""Parts of several texts put into one."""

from __future__ import annotations

import pytest

from core.diff import apply_hunks, hunks
from core.merging import Overlap, changes, merge

BASE = "The food was good. The staff was slow. We left early."
OTHERS = {
    1: "The food was splendid. The staff was slow. We left late.",
    2: "The food was good. The staff was very kind. We left early.",
    3: "The meal was awful. The staff was slow. We left early.",
}


def test_changes_of_two_texts_are_put_into_one() -> None:
    assert (
        merge(BASE, OTHERS, [(1, 0), (2, 0)])
        == "The food was splendid. The staff was very kind. We left early."
    )
    assert (
        merge(BASE, OTHERS, [(2, 0), (1, 1)]) == "The food was good. The staff was very kind. We left late."
    )


def test_all_changes_of_one_text_give_that_text_and_single_ones_what_the_diff_gives() -> None:
    for number, other in OTHERS.items():
        every = [(number, i) for i in range(len(changes(BASE, other)))]
        assert merge(BASE, OTHERS, every) == other
        assert len(every) == len(hunks(BASE, other))
        for each in every:
            assert merge(BASE, OTHERS, [each]) == apply_hunks(BASE, other, {each[1]})


def test_two_changes_of_one_place_exclude_each_other_unless_they_are_the_same() -> None:
    with pytest.raises(Overlap, match=r"candidate 2 and one of candidate 4 .* Take one"):
        merge(BASE, OTHERS, [(1, 0), (3, 0), (3, 1)])
    same = {1: "The meal was good. The staff was slow. We left early.", 2: "The meal was good. Bye."}
    assert merge(BASE, same, [(1, 0), (2, 0)]).startswith("The meal was good.")


def test_a_change_that_is_not_there_is_refused() -> None:
    for wrong in ((1, 9), (1, -1), (7, 0)):
        with pytest.raises(ValueError, match="compare the texts again"):
            merge(BASE, OTHERS, [wrong])


def test_insertions_and_texts_without_spaces() -> None:
    assert merge("海洋の温度", {1: "海洋温度", 2: "海洋の水温度"}, [(2, 0)]) == "海洋の水温度"
    assert merge("", {1: "new"}, [(1, 0)]) == "new"
    assert merge("a b", {1: "a b c", 2: "z a b"}, [(1, 0), (2, 0)]) == "z a b c"
