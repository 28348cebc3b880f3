"""Critiques, labels and ratings in the many forms that models write them in."""

from __future__ import annotations

import pytest

from core.domain import Point
from core.loose_json import find_values
from core.parsing import parse_critique, parse_rating, read_label

LABELS = ("very negative", "negative", "neutral", "positive", "very positive")
POINT = Point("too long", "now", "at this point", "major")


@pytest.mark.parametrize(
    "raw",
    [
        '- [major] "at this point" | too long | now\nVERDICT: revise',
        "* [Major] “at this point” | too long | now\n\n**VERDICT: revise**",
        '1. (major) "at this point" | too long | "now"\nVerdict: revise.',
        "• **[major]** `at this point` | too long | now\n> VERDICT: REVISE",
        'Here is what I found:\n\n- major: "at this point": too long -> now\n\nVERDICT: not done',
        '- [major] "at this point" | too\n  long | now\nVERDICT: needs revision',
        'Quote: "at this point"\nProblem: too long\nAction: now\nSeverity: major\nVERDICT: revise',
        '{"points":[{"quote":"at this point","problem":"too long","action":"now",'
        '"severity":"major"}],"done":false}',
        '```json\n{"points":[{"quote":"at this point","problem":"too long","action":"now",'
        '"severity":"high"},],\n'
        '"verdict":"revise",}\n```',
        "{'issues': [{'phrase': 'at this point', 'issue': 'too long', 'fix': 'now', "
        "'severity': 'Major'}], 'done': False}",
        '[{"text":"at this point","problem":"too long","suggestion":"now","severity":"critical"}]\n'
        '{"done": false}',
    ],
)
def test_one_point_and_its_verdict_in_many_forms(raw: str) -> None:
    read = parse_critique(raw)
    assert read.points == (POINT,)
    assert read.done is False
    assert read.structured
    assert read.raw == raw


@pytest.mark.parametrize(
    ("line", "point"),
    [
        ('- "teh" | misspelt | the', Point("misspelt", "the", "teh")),
        ("- too long | cut the second sentence", Point("too long", "cut the second sentence")),
        ("- It is too long.", Point("It is too long.")),
        ('- "weak" -> "strong"', Point("", "strong", "weak")),
        ("2) It's dull → liven it up", Point("It's dull", "liven it up")),
        ("- [minor] 'so' | filler | leave it out", Point("filler", "leave it out", "so", "minor")),
        ("- [note] see above | unclear | say what", Point("unclear", "say what", "[note] see above")),
        ('- "价格" | 不清楚 | 写明数字', Point("不清楚", "写明数字", "价格")),
        ('- "only a quote"', Point("only a quote")),
    ],
)
def test_the_parts_of_a_bullet(line: str, point: Point) -> None:
    assert parse_critique(line).points == (point,)
    assert parse_critique(line).structured


@pytest.mark.parametrize(
    "raw",
    [
        "It is not done yet, the middle drags.",
        "I would say this is done well but could be better",
        "The verdict: done deals are boring.",
        "VERDICT: done or VERDICT: revise",
        "VERDICT: done\n\nOn second thoughts\nVERDICT: revise",
        'The text says "VERDICT: done" in its last line.',
        '"VERDICT: done"',
        "{'verdict': 'done or revise', 'comment': 'x'}",
        '{"done": "yes", "problem": "x"}',
        "done",
    ],
)
def test_what_only_looks_like_a_verdict_is_none(raw: str) -> None:
    assert parse_critique(raw).done is None


@pytest.mark.parametrize(
    "raw", ["VERDICT: done", "verdict = Done.", "- none\nVERDICT: done", "None.\n\nVERDICT: done"]
)
def test_nothing_to_do_is_done_without_points(raw: str) -> None:
    read = parse_critique(raw)
    assert (read.points, read.done, read.structured) == ((), True, True)


@pytest.mark.parametrize("raw", ["", "  \n "])
def test_an_empty_reply_says_nothing(raw: str) -> None:
    read = parse_critique(raw)
    assert (read.points, read.done, read.structured) == ((), None, False)


def test_prose_is_one_point_and_unstructured() -> None:
    read = parse_critique("The text drags.\nShorten it.\nVERDICT: revise")
    assert read.points == (Point("The text drags.\nShorten it."),)
    assert read.done is False
    assert not read.structured


def test_a_point_said_many_times_is_one() -> None:
    assert len(parse_critique("- dull | liven it\n" * 30).points) == 1


def test_a_cut_json_gives_the_points_that_were_whole_and_the_start_of_the_last() -> None:
    read = parse_critique('```json\n{"points": [{"problem": "a", "action": "b"}, {"problem": "c')
    assert [point.problem for point in read.points] == ["a", "c"]
    assert read.done is None


def test_code_in_a_reply_is_never_run() -> None:
    raw = "{'problem': __import__('os').getcwd()}"
    read = parse_critique(raw)
    assert read.points == (Point(raw),)
    assert not read.structured


@pytest.mark.parametrize(
    "raw", ["{" * 5000, "[" * 5000, '{"a":' * 5000, "- " * 3000, '"' * 5000, "|" * 5000, "\x00\ud800"]
)
def test_hostile_replies_are_read_without_harm(raw: str) -> None:
    assert parse_critique(raw).done is None
    assert parse_rating(raw, 0, 10) is None


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ("LABEL: very positive", "very positive"),
        ("**Label:** Positive\n- x | y | z", "positive"),
        ("The review sounds good. The sentiment is Very negative.", "very negative"),
        ('{"label": "neutral"}', "neutral"),
        ("Very positive.", "very positive"),
        ("The sentiment is not positive.", None),
        ("LABEL: positive\nLABEL: negative", None),
        ("LABEL: positively glowing", None),
        ("I am positive that this is neutral", None),
        ("LABEL: ...", None),
        ("", None),
    ],
)
def test_a_label_is_read_only_where_one_is_stated(raw: str, label: str | None) -> None:
    assert read_label(raw, LABELS) == label


def test_with_labels_done_means_the_target_is_reached() -> None:
    def done(raw: str, target: str = "very positive") -> bool | None:
        return parse_critique(raw, parse="label_and_points", labels=LABELS, target=target).done

    assert done("LABEL: very positive") is True
    assert done('LABEL: positive\n- "nice" | weak | superb') is False
    assert done("LABEL: positive\nVERDICT: done") is False
    assert done('{"label": "Very Positive", "points": []}') is True
    assert done("Rather nice, I think.") is None
    assert done("LABEL: Neutral", "neutral") is True


def test_a_label_line_is_no_point() -> None:
    read = parse_critique(
        'LABEL: positive\n- "nice" | weak | superb', parse="label_and_points", labels=LABELS
    )
    assert read.points == (Point("weak", "superb", "nice"),)
    alone = parse_critique("LABEL: positive", parse="label_and_points", labels=LABELS, target="positive")
    assert (alone.points, alone.done, alone.structured) == ((), True, True)


@pytest.mark.parametrize(
    ("raw", "rating"),
    [
        ('```json\n{"score": 7, "reason": "ok"}\n```', 7),
        ('{"score": 7,}', 7),
        ("{'score': 7, 'ok': True}", 7),
        ('Sure: {"Score":"8/10"}', 8),
        ('{"rating": 6.5}', 6.5),
        ('{"score": {"value": 3}}', None),
        ("9", 9),
        ("8/10", 8),
        ("**Score: 8/10**", 8),
        ("Clear and short.\nRating: 9.", 9),
        ("8 out of 10", 8),
        ("4/5", None),
        ('{"score": "4/5"}', None),
        ('{"score": 85}', None),
        ('{"score": 0}', None),
        ('{"score": -3}', None),
        ('{"score": null}', None),
        ('{"score": true}', None),
        ('{"score": NaN}', None),
        ('{"score": 1e999}', None),
        ('{"score": 7} {"score": 3}', None),
        ('{"score": 7, "score": 3}', None),
        ('{"score": 7, "reason": "the text is', None),
        ('{"score": 7', None),
        ('{"clarity": 7, "tone": 8}', None),
        ('{"total": 7, "grade": 3}', None),
        ("Score: 7\nScore: 3", None),
        ("an excellent 3-step plan", None),
        ("I would give it a 7 or an 8", None),
        ("", None),
    ],
)
def test_a_rating_is_read_for_certain_or_not_at_all(raw: str, rating: float | None) -> None:
    assert parse_rating(raw, 1, 10) == rating


def test_unreadable_ratings_stay_out_of_the_mean() -> None:
    ratings = [parse_rating(raw, 1, 10) for raw in ('{"score": 8}', "great, 3 cheers")]
    known = [rating for rating in ratings if rating is not None]
    assert (sum(known) / len(known), len(known)) == (8, 1)


def test_loose_json_reads_escapes_and_tells_a_cut() -> None:
    (found,) = find_values(r'x {"a": "\u4ef7 \ud83c\udf0d \ud83c \n \"", "b": [1, -2.5e1, True, none,],} y')
    assert found.whole
    assert found.value == {"a": '价 🌍 \ufffd \n "', "b": [1, -25.0, True, None]}
    assert [cut.whole for cut in find_values('{"a": [1, 2')] == [False]
    assert find_values("see [1a] and {x}") == []
