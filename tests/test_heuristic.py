"""The heuristic score and finding boxed answers."""

from __future__ import annotations

import asyncio
import math

import pytest

from core.domain import Task
from core.scoring.heuristic import Heuristic, boxed
from core.scoring.protocol import Scorer


def value(text: str) -> float | None:
    scorer: Scorer = Heuristic()
    return asyncio.run(scorer.measure(Task("q"), (), [text]))[0].value


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"so \boxed{42}.", "42"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\text{a {b} c}} end}", r"\text{a {b} c}"),
        (r"roots \boxed{4} and \boxed{-1}", "-1"),
        (r"The domain is \boxed{[1,6)}", "[1,6)"),
        (r"\boxed{\{1,3\}}", r"\{1,3\}"),
        (r"\boxed 25 is it", "25"),
        (r"\boxed {7}", "7"),
        (r"\fbox{9}", "9"),
        (r"\boxed{3} but \boxed{}", "3"),
        (r"\boxed{3} but \boxed{4", "3"),
        (r"Put it in \boxed . Answer: 9", None),
        (r"the \boxedx{3}", None),
        (r"put it in \boxed form", None),
        (r"\boxed", None),
        (r"\boxed{", None),
        ("no box 4", None),
    ],
)
def test_the_content_of_the_last_box(text: str, content: str | None) -> None:
    assert boxed(text) == content


def test_a_box_is_worth_two_any_number_one() -> None:
    for text, worth in [(r"It is \boxed{5}", 2.0), ("It is 5", 1.0), ("It is five", 0.0)]:
        assert value(text) == pytest.approx(worth + 1.5 * math.exp(-len(text) / 500))


def test_shorter_is_better_and_the_details_add_up() -> None:
    short, long = asyncio.run(Heuristic().measure(Task("q"), (), ["4", "4" * 1000]))
    assert short.value is not None and long.value is not None
    assert short.value > long.value
    assert short.value == pytest.approx(sum(part for _, part in short.details))
    assert long.value == pytest.approx(1 + 1.5 * math.exp(-2))
    assert {short.scorer, long.scorer} == {Heuristic.name}


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_has_no_score(text: str) -> None:
    (score,) = asyncio.run(Heuristic().measure(Task("q"), (), [text]))
    assert score.value is None
    assert "empty" in score.why


def test_one_score_a_text_in_order() -> None:
    scores = asyncio.run(Heuristic().measure(Task("q"), (), [r"\boxed{1}", "", "none"]))
    assert [score.value is None for score in scores] == [False, True, False]
    assert asyncio.run(Heuristic().measure(Task("q"), (), [])) == ()
