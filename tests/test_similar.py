"""Near duplicates in one class, texts that say something else apart."""

from __future__ import annotations

import random
import time

import pytest

from core.similar import folded, groups

LONG = "The soup was warm, the bread was fresh and somebody came at once when we called for the bill. " * 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The soup was warm.", "the soup  was WARM"),
        ("Warm soup!", " Warm, soup\n"),
        ('"Warm soup."', "Warm soup"),
        ("It’s warm", "It's warm"),
        ("ＡＢＣ　１２", "abc 12"),
        ("汤很热，面包很新鲜。", "汤很热 面包很新鲜"),
        ("用 Python 写", "用Python写"),
        ("스프가 따뜻했다.", "스프가 따뜻했다"),
        ("x = a + b", "x=a+b"),
        ("cafe\u0301", "caf\u00e9"),
        ("", " \n"),
        ("", "..."),
    ],
)
def test_equal_after_folding(one: str, other: str) -> None:
    assert groups([one, other], threshold=1.0) == ((0, 1),)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.5", "15"),
        ("-5", "5"),
        ("5!", "5"),
        ("a != b", "a = b"),
        ("x[1:]", "x[1]"),
        ("x.y", "xy"),
        ("x = a + b", "x = a - b"),
        ("f'(x)", "f(x)"),
        ("therapist", "the rapist"),
        ("汤很热", "汤很冷"),
        ("yes", "no"),
        ("", "a"),
        ("🙂", "🙁"),
        ("x²", "x2"),
    ],
)
def test_small_differences_that_say_something(one: str, other: str) -> None:
    assert groups([one, other]) == ((0,), (1,))


def test_one_word_in_a_long_text_is_a_near_duplicate_unless_the_threshold_says_otherwise() -> None:
    other = LONG.replace("fresh", "crisp", 1)
    assert groups([LONG, other]) == ((0, 1),)
    assert groups([LONG, other], threshold=1.0) == ((0,), (1,))


def test_code_with_another_name_is_one_class_and_another_program_is_not() -> None:
    line = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n"
    code = (line + "    return result\n") * 2
    renamed = code.replace("total", "totals", 1)
    assert groups([code, renamed, "print(sum(map(int, input().split())))"]) == ((0, 1), (2,))


def test_classes_keep_the_order_and_hold_every_text_once() -> None:
    texts = ["b", "a", "B.", LONG, "c", "A", LONG + " Bye."]
    found = groups(texts)
    assert found == ((0, 2), (1, 5), (3, 6), (4,))
    assert groups([]) == ()
    assert groups(["one"]) == ((0,),)


def test_small_changes_do_not_chain() -> None:
    old, new = ("".join(map(chr, range(start, start + 100))) for start in (0x4E00, 0x5E00))
    steps = [new[:done] + old[done:] for done in range(0, 40, 2)]
    found = groups(steps)
    assert all(groups([steps[kind[0]], steps[place]]) == ((0, 1),) for kind in found for place in kind[1:])
    assert len(found) > 3


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.1, float("nan")])
def test_a_threshold_that_is_none_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        groups(["a"], threshold=threshold)


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "." * 100_000, " " * 100_000, "a " * 50_000, "!" * 100_000, "汤 " * 50_000]
)
def test_odd_texts_are_texts(text: str) -> None:
    started = time.monotonic()
    assert groups([text, text]) == ((0, 1),)
    assert len(folded(text)) <= len(text)
    assert time.monotonic() - started < 5


def test_sixty_four_texts_of_a_page_each_take_no_time() -> None:
    rng = random.Random(7)
    words = ["soup", "bread", "warm", "cold", "came", "called", "nobody", "evening", "table", "bill"]
    texts = [" ".join(rng.choices(words, k=500)) for _ in range(64)]
    started = time.monotonic()
    found = groups(texts)
    assert sorted(place for kind in found for place in kind) == list(range(64))
    assert time.monotonic() - started < 2
