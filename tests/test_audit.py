"""Which points a revision meets, out of the forms in which critics answer."""

from __future__ import annotations

import pytest

from core.audit import quotes_changed, read_audit
from core.domain import Point


@pytest.mark.parametrize(
    "raw",
    [
        "1: yes\n2: no | the middle still drags\n3: yes",
        "1. Yes.\n2) No, it still drags\n3 - yes",
        "**1:** yes\n**2:** **no** – it drags\n**3:** yes",
        "- Point 1: yes\n- Point 2: not met (it drags)\n- Point 3: met",
        "Here is what I found:\n\n1: YES\n2: NO\n3: YES\n\nAll in all it is better.",
        '{"1": "yes", "2": "no", "3": true}',
        '```json\n[{"point": 1, "met": true}, {"point": "2", "met": false}, {"id": 3, "met": "Yes"},]\n```',
        '{"points": [{"point": 1, "met": true}, {"point": 2, "met": "no"}, {"point": 3, "met": true}]}',
        "1: yes\n1: yes\n2: no\n3: yes\n4: no\n0: no",
    ],
)
def test_three_answers_in_many_forms(raw: str) -> None:
    assert read_audit(raw, 3) == (True, False, True)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "yes",
        "All points are met.",
        "1: partly",
        "1: yes\n1: no",
        "1: yes or no",
        "1: yes | no",
        "1: yes/no",
        "1: no one would say so",
        "1. No changes were made to the middle",
        "NUMBER: yes\nNUMBER: no | REASON",
        "11: yes",
        "12: yes\n2: yes and more",
        '{"1": "yes", "1": "no"}',
        '{"1": "yes"',
        '{"1": null, "2": 1, "point": [1]}',
        '{"' + "1" * 5000 + '": "yes"}',
        "1" * 50_000 + ": yes",
        "1:" + " " * 50_000 + "yes",
        "\x00\ud800" * 100,
        "[" * 5000,
    ],
)
def test_what_is_not_said_plainly_is_not_said(raw: str) -> None:
    assert read_audit(raw, 2) == (None, None)


def test_of_a_single_point_a_bare_word_is_enough() -> None:
    assert read_audit("Yes.", 1) == (True,)
    assert read_audit("no, it drags", 1) == (False,)
    assert read_audit("yes\nno", 1) == (None,)
    assert read_audit("Yes", 0) == ()


def test_one_answer_says_nothing_of_the_others() -> None:
    assert read_audit("2: no | too long", 3) == (None, False, None)


def test_quoted_words_that_are_gone_count_as_changed() -> None:
    points = [Point("a", quote="good"), Point("b", quote="slow"), Point("c"), Point("d", quote="never there")]
    assert quotes_changed(points, "good food, slow staff", "fine food, slow staff") == (
        True,
        False,
        None,
        None,
    )
    twice = [Point("a", quote="good")]
    assert quotes_changed(twice, "good and good", "good and fine") == (True,)
    assert quotes_changed(twice, "good and fine", "fine and good") == (False,)
