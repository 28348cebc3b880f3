"""Thinking and answer told apart."""

from __future__ import annotations

import pytest

from core.models.answers import ThinkingFilter, split_thinking

CASES = [
    ("plain text\n", "", "plain text\n"),
    ("", "", ""),
    ("Let me add 3 and 5.</think>\n\nThe sum is 8.", "Let me add 3 and 5.", "The sum is 8."),
    ("<think>Let me", "Let me", ""),
    ("<think>", "", ""),
    ("[THINK]a[/THINK]8", "a", "8"),
    ("  <think>\na\n</think>\n\n8\n", "a", "8\n"),
    ("<think></think>8", "", "8"),
    ("<think>a</think>x\n<think>b</think>y", "a\n\nb", "x\n\ny"),
    ("<think>use ``` and `here</think>8", "use ``` and `here", "8"),
    ("<think>it says `</think>` there</think>8", "it says `</think>` there", "8"),
    ("<think>a<think>b</think>c</think>8", "a<think>b\n\nc", "8"),
]
UNTOUCHED = [
    "`</think>` closes it",
    "``a ` </think>`` closes it",
    "Use `<think>` and `</think>`.",
    "```\n<think>a</think>\n```\n",
    "```html\n</think>",
    "~~~~\n~~~\n</think>\n~~~~\nend",
    "the </think> tag ends it",
    "write '</think>' at the end",
    "a <think> tag in prose, never closed",
    "\n  leading blanks",
    "think> </ think",
]


@pytest.mark.parametrize(("text", "thinking", "answer"), CASES)
def test_thinking_is_taken_out(text: str, thinking: str, answer: str) -> None:
    assert split_thinking(text) == (thinking, answer)


@pytest.mark.parametrize("text", UNTOUCHED)
def test_text_about_tags_and_plain_text_are_untouched(text: str) -> None:
    assert split_thinking(text) == ("", text)


def filtered(text: str, size: int) -> str:
    holds = ThinkingFilter()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join([*map(holds.feed, pieces), holds.rest()])


@pytest.mark.parametrize("size", [1, 2, 5, 100])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>a < b</th></think>\n\nThe sum", "The sum"),
        ("[THINK]a[/THINK]8", "8"),
        ("<think>never ends", ""),
        ("<think>a</think>  ", ""),
        ("<think>a</think>\n<think>b</think>8", "8"),
        ("<thin", "<thin"),
        ("\n <b>bold</b>", "\n <b>bold</b>"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_a_leading_block_is_not_shown_while_it_streams(text: str, shown: str, size: int) -> None:
    assert filtered(text, size) == shown


def test_plain_text_is_shown_at_once() -> None:
    assert ThinkingFilter().feed("Hello") == "Hello"


def test_the_filter_says_whether_the_model_thinks() -> None:
    holds = ThinkingFilter()
    holds.feed("<think>hm")
    during = holds.thinking
    holds.feed("</think>8")
    assert (during, holds.thinking) == (True, False)
