"""Answers taken out of texts, and the three states: one, several, none."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from core.scoring.answers import boxes, find_answer


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("So she sold 64 tickets, in the end.", ("64",)),
        (r"Put it in \boxed . Answer: 9", ("9",)),
        (r"roots \boxed{4} and \boxed{-1}", ("4", "-1")),
        ("#### 18\nQuestion: next one\n#### 5", ("18",)),
        ("She has 3 * 6 = 18\n#### 1,218", ("1218",)),
        ("#### Step 1\nSo the answer is 7.", ("7",)),
        (r"The domain is \boxed{[1,6)}", ("[1,6)",)),
        ("$90,000 - $65,000 = $25,000 left over", ("25000",)),
        (r"\boxed{\frac{1}{\sqrt{2}}}", (r"\frac{1}{\sqrt{2}}",)),
        (r"\boxed{\{1, 2\}}", (r"\{1, 2\}",)),
        (r"first \boxed{3}, again \boxed{3}", ("3",)),
        (r"\boxed{5", ("5",)),
        (r"\fbox{12} is it", ("12",)),
        (r"\boxed 7", ("7",)),
        ("The answer is (B).", ("(B)",)),
        ("The correct answer is B, since 3 < 4.", ("B",)),
        ("**Answer:** 12", ("12",)),
        (r"The answer is 3. No: the answer is $\frac{3}{4}$.", (r"\frac{3}{4}",)),
        ("The answer is Evelyn.", ("Evelyn",)),
        ("The final answer is x = 5.", ("x = 5",)),
        ("7 3/4", ("7 3/4",)),
        ("x=5", ("x=5",)),
        (r"\frac{1}{2}", (r"\frac{1}{2}",)),
        ("It costs $1,299.50 in all.", ("1299.50",)),
        ("The temperature fell to -4 degrees overnight.", ("-4",)),
        ("There is nothing to be said about this matter.", ()),
        ("", ()),
        ("   \n ", ()),
        (r"\boxed{}", ()),
        (r"\boxed{ } and then some words follow here", ()),
    ],
)
def test_answers(text: str, answers: tuple[str, ...]) -> None:
    assert find_answer(text).answers == answers


def test_the_rule_is_named() -> None:
    rules = [
        find_answer(t).rule for t in (r"\boxed{1}", "#### 1", "Answer: 1", "1", "I have 1 of them now", "no")
    ]
    assert rules == [
        "boxed",
        "after ####",
        'after "answer"',
        "the whole text",
        "last number",
        "the whole text",
    ]
    assert find_answer("Nobody knows what it could possibly be.").rule == "not found"


@pytest.mark.parametrize("piece", [r"\boxed{", "}", "answer is ", "1,", "$", "#### ", "7 ", "{"])
def test_a_million_characters_take_no_longer_than_they_must(piece: str) -> None:
    started = time.process_time()
    find_answer(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 5


def test_boxes_in_boxes() -> None:
    assert boxes(r"\boxed{a \boxed{b}}") == (r"a \boxed{b}", "b")


def test_references_of_gsm8k() -> None:
    folder = os.environ.get("REDRAFT_TEST_DATA")
    if not folder:
        pytest.skip("REDRAFT_TEST_DATA is not set")
    for line in (Path(folder) / "gsm8k_test.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            solution = json.loads(line)["answer"]
            wanted = solution.rpartition("####")[2].strip().replace(",", "")
            assert find_answer(solution).answers == (wanted,)
