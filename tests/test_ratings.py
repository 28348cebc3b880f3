"""Ratings by dimension: read for certain or not at all, whatever a judge writes."""

from __future__ import annotations

import random
import re

import pytest

from core.ratings import Ratings, parse_ratings
from core.rubric import Dimension, Rubric

RUBRIC = Rubric((Dimension("clear", "?"), Dimension("meets instruction", "?"), Dimension("short", "?", 0, 3)))
ASKED = "clear: 8 | plain words\nmeets instruction: 7.5 | one thing is missing\nshort: 3 | yes\nTOTAL: 18.5"


def values(raw: str) -> tuple[float | None, ...]:
    return parse_ratings(raw, RUBRIC).values


def first(line: str) -> float | None:
    return values(line)[0]


def test_the_form_that_was_asked_for() -> None:
    read = parse_ratings(ASKED, RUBRIC)
    assert read == Ratings((8, 7.5, 3), ("plain words", "one thing is missing", "yes"), 18.5)
    assert read.total == 18.5


def test_a_stated_total_is_kept_apart_from_the_sum() -> None:
    read = parse_ratings(ASKED.replace("18.5", "20/23"), RUBRIC)
    assert (read.total, read.stated_total) == (18.5, 20)
    assert parse_ratings(ASKED.replace("18.5", "99"), RUBRIC).stated_total == 99
    assert parse_ratings(ASKED.replace("18.5", "20/50"), RUBRIC).stated_total is None


def test_a_dimension_without_a_value_leaves_no_total() -> None:
    read = parse_ratings("clear: 8\nTOTAL: 8", RUBRIC)
    assert read.values == (8, None, None)
    assert read.total is None
    assert parse_ratings("", RUBRIC).total is None


@pytest.mark.parametrize(
    "raw",
    [
        "**Clear**: 8/10 - plain\n**Meets_instruction:** 7 out of 10 (misses one)\n**Short** = 3/3",
        "1. CLEAR: 8\n2. Meets-Instruction: 7\n3. short: 3",
        "- clear (0 to 10): 8 | plain\n- meets instruction [0-10]: 7 | fine\n- short (0 to 3): 3 | yes",
        "| dimension | score | reason |\n|---|---|---|\n| clear | 8 | plain |\n"
        "| meets instruction | 7 | fine |\n| short | 3 | yes |",
        "clear: 0 to 10 | is it?\n\nclear: 8.\nmeets instruction: 7; fine\nshort: 3, no word too many",
        '{"clear": 8, "meets_instruction": 7, "short": 3, "total": 18}',
        '```json\n{"Clear": {"score": 8, "reason": "plain"}, "Meets Instruction": {"score": "7/10"},'
        ' "short": {"rating": 3,},}\n```',
        '{"ratings": [{"name": "clear", "score": 8}, {"name": "meets instruction", "score": 7},'
        ' {"name": "short", "score": "3"}]}',
        '{"scores": {"clear": 8, "meets instruction": 7}}\nshort: 3',
        "clear: 8\r\nmeets instruction: 7\r\nshort: 3\r\n",
    ],
)
def test_other_forms_that_say_the_same(raw: str) -> None:
    assert values(raw) == (8, 7, 3)


@pytest.mark.parametrize(
    "line",
    [
        "clear: 7 or 8",
        "clear: 7-8",
        "clear: 7 - 8 | between",
        "clear: 7, maybe 8",
        "clear: 7 (or 8)",
        "clear: 3 of the 4 sentences are",
        "clear: 11",
        "clear: -1",
        "clear: 4/5",
        "clear: 80%",
        "clear: 8 10",
        "clear: 7.5.1",
        "clear: 1e1",
        "clear: eight",
        "clear: NUMBER | REASON",
        "clear: 0 to 10 | reason",
        "clear | 7 | 9 | ok",
        "clear: 7\nclear: 8",
        "clear: 7\nclear: 7 or 8",
        "clear: 7\n{\"clear\": 3}",
        "clear and short: 8",
        "unclear: 8",
        "It is clear: 8 people liked it",
        "8 | clear",
        '{"clear": 85}',
        '{"clear": null}',
        '{"clear": true}',
        '{"clear": NaN}',
        '{"clear": "7 or 8"}',
        '{"clear": [7, 8]}',
        '{"clear": {"score": 7, "total": 3}}',
        '{"clear": 7, "clear": 8}',
        '{"clear": 7, "short": 3, "reason": "it is cut of',
        '{\n"clear": 7,\n"short": 3',
        '{"clear": 7} {"clear": 8}',
    ],
)  # fmt: skip
def test_what_is_hedged_off_the_scale_or_said_twice_is_unknown(line: str) -> None:
    assert first(line) is None


def test_the_same_rating_said_twice_is_that_rating() -> None:
    assert first("clear: 7 | so\n\nIn short:\nclear: 7/10") == 7


def test_the_reason_of_a_rating_that_cannot_be_read_is_kept() -> None:
    read = parse_ratings("clear: 12 | far better than asked", RUBRIC)
    assert (read.values[0], read.reasons[0]) == (None, "far better than asked")


NAMES = [one.name for one in RUBRIC.dimensions]
SURE = (
    "{n}: {v} | so",
    "**{n}**: {v}/{h}",
    "- {n} = {v}",
    "{n} (from 0 to {h}): {v} - because",
    "| {n} | {v} | x |",
)
UNSURE = ("{n}: {v} or {v}", "{n}: {v}-{h}", "{n}: {v} words", "{n}: about {v}", "the {n} one: {v}",
          "{n} {v}", "{n}: {v}99", "{n}: {v}/7", "un{n}: {v}", "{v} for {n}", "")  # fmt: skip


def test_only_what_is_stated_for_certain_is_ever_read() -> None:
    drawn = random.Random(11)
    for _ in range(400):
        lines, truth = [], []
        for one in RUBRIC.dimensions:
            value, sure = drawn.randint(int(one.low), int(one.high)), drawn.random() < 0.5
            form = drawn.choice(SURE if sure else UNSURE)
            lines.append(form.format(n=one.name, v=value, h=int(one.high)))
            truth.append(float(value) if sure else None)
        lines += drawn.choices(["", "It has 3 parts and 10 words.", "TOTAL: 9", "Score: 5", "5"], k=2)
        drawn.shuffle(lines)
        assert values("\n".join(lines)) == tuple(truth), lines


def test_no_heap_of_words_and_numbers_gives_a_value_that_does_not_stand_beside_its_name() -> None:
    drawn = random.Random(12)
    pieces = [
        *NAMES,
        "8",
        "3",
        "12",
        ":",
        "|",
        "\n",
        " ",
        "/",
        "10",
        "-",
        "or",
        "{",
        "}",
        '"',
        ",",
        "[",
        "]",
        "total",
    ]
    for _ in range(3000):
        raw = "".join(drawn.choices(pieces, k=25))
        for name, value in zip(NAMES, values(raw), strict=True):
            beside = rf"{name}\W*?(?<!\d){value:g}(?!\d)" if value is not None else ""
            assert re.search(beside, raw), (raw, name, value)


@pytest.mark.parametrize(
    "raw",
    ["{" * 5000, '{"clear":' * 5000, "clear" * 20_000, "clear:" + "*" * 50_000, "*" * 50_000 + "clear: x",
     "clear: " + "9" * 50_000, "clear " + "(" * 50_000, "\x00\ud800", "clear: 8" + " " * 50_000 + "or 9",
     "|" * 50_000, "clear: 7" + "|" * 50_000 + "\nclear: 8"],
)  # fmt: skip
def test_hostile_replies_are_read_quickly_and_give_nothing(raw: str) -> None:
    assert first(raw) is None
