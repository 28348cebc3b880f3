"""Readability in numbers: names, comments, lengths; what is no program has no score."""

from __future__ import annotations

import asyncio

import pytest

from core.domain import Score, Task
from core.scoring.readability import LARGEST, CodeReadability, NotPython, readability

GOOD = '''
def mean_price(prices):
    """The mean of some prices, 0 for none."""
    if not prices:
        return 0  # nothing was sold
    return sum(prices) / len(prices)
'''
BAD = """
def f(x):
    if not x:
        return 0
    tmp = sum(x)
    aaa = len(x)
    return tmp / aaa
"""


def score(text: str) -> Score:
    return asyncio.run(CodeReadability().measure(Task("?"), (), [text]))[0]


def test_a_readable_program_scores_higher_than_the_same_with_poor_names_and_no_comments() -> None:
    good, bad = score(GOOD), score(BAD)
    assert good.value == 1.0
    assert bad.value == pytest.approx(1 / 3)
    assert dict(bad.details)["names"] == 0.0
    assert bad.notes == ("names that say little: f, x, tmp, aaa",)


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("for i in range(3):\n    print(i)", ()),
        ("i = 3", ("i",)),
        ("total = [k for k in range(3)]", ()),
        ("total = [q for q in range(3)]", ("q",)),
        ("_, rest = divmod(7, 2)", ()),
        ("class Account:\n    def close(self, at): pass", ("at",)),
        ("user_id = x_temperature = val2 = 1", ("val2",)),
        ("größe = 1", ()),
    ],
)
def test_which_names_say_little(program: str, names: tuple[str, ...]) -> None:
    assert readability(program).names == names


def test_a_name_counts_once_however_often_it_is_given() -> None:
    assert readability("x = 1\nx = 2\nx = 3\nwidth = 4").share == 0.5


def test_comments_are_lines_for_a_line_of_code_docstrings_too() -> None:
    assert readability("width = 1\n# one\n# two\nheight = 2").comments == 1.0
    assert readability('"""Two\nlines."""\nwidth = 1\nheight = 2').comments == 1.0
    assert readability('width = "# no comment"').comments == 0.0


def test_more_comment_than_code_is_not_readable() -> None:
    assert readability("# a\n# b\nwidth = 1").parts[1] == 0.0


def test_long_functions_cost_and_so_does_a_long_program_without_functions() -> None:
    body = "".join(f"    width{n} = {n}\n" for n in range(39))
    long = readability(f"def sizes():\n{body}")
    assert (long.functions, long.parts[2]) == ((40,), 0.5)
    both = readability(f"def sizes():\n{body}\ndef short(): return 1\n")
    assert both.parts[2] == pytest.approx(0.75)
    flat = readability("".join(f"width{n} = {n}\n" for n in range(40)))
    assert (flat.functions, flat.parts[2]) == ((40,), 0.5)


def test_blank_lines_and_comments_do_not_make_a_function_long() -> None:
    assert readability("def sizes():\n\n\n    # why\n\n    return 1").functions == (2,)


def test_the_program_of_a_reply_is_found_in_its_fence() -> None:
    assert score(f"Here it is:\n```python\n{GOOD}\n```\nIt is short.").value == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the text is empty"),
        ("def f(:", "line 1"),
        ("x = 1\n  y = 2", "line 2"),
        ("Sorry, I can't do that.", "no Python program"),
        ("# nothing but words", "no code"),
        ("x = 1\0", "null bytes"),
        ("(" * 100_000, "no Python program"),
        ("-" * 100_000 + "1", "no Python program"),
        ("x = " + "1+" * 90_000 + "1", "no Python program"),
        ('x = "\ud800"', "no Python program"),
        ("x = 1\n" * LARGEST, "at most are read"),
    ],
)
def test_what_is_no_program_has_no_score_and_says_why(text: str, said: str) -> None:
    found = score(text)
    assert found.value is None
    assert said in found.why


def test_a_program_that_python_would_warn_of_is_read(recwarn: pytest.WarningsRecorder) -> None:
    assert readability('pattern = "\\d"').share == 1.0
    assert list(recwarn) == []


def test_a_function_of_nothing_but_a_docstring_on_its_line_is_counted() -> None:
    assert readability('def nothing(): "Does nothing."\nwidth = 1').functions == (1, 1)


def test_no_code_at_all_is_no_program() -> None:
    with pytest.raises(NotPython, match="no code"):
        readability('"""Only words."""')
