"""Wrappers come off, code inside stays byte for byte, and an open fence is told."""

from __future__ import annotations

import pytest

from core.fences import is_cut, is_wrapped, unwrap

INNER = "Intro.\n\n```python\nprint(1)\n```\n\nOutro."

WRAPPED = [
    (f"```markdown\n{INNER}\n```", INNER),
    (f"\n\n```markdown\n{INNER}\n```\n\n", INNER),
    (f"~~~\n{INNER}\n~~~", INNER),
    (f"````\n{INNER}\n````", INNER),
    ("````md\nA\n```\ncode\n```\nB\n````", "A\n```\ncode\n```\nB"),
    ("```\nplain\n```", "plain"),
    ("```python\nx = 1\n\n\n```", "x = 1\n\n"),
    ("```\r\na\r\nb\r\n```\r\n", "a\r\nb"),
    ("```\n\n```", ""),
    ("```\n```", ""),
]

UNTOUCHED = [
    "no fence",
    "",
    '```json\n{"a":1 ',
    '{"code": "```json\\n{}\\n```"}',
    '{"code": "```json"}',
    "```python\na\n```\nand then\n```python\nb\n```",
    "Here it is:\n```\na\n```",
    "```\na\n```\nThat is all.",
    "```inline```",
    '"Quoted as a whole."',
    'Here is the revised text:\n\n"A text."',
    "```",
]


@pytest.mark.parametrize(("text", "inner"), WRAPPED)
def test_a_wrapper_comes_off(text: str, inner: str) -> None:
    assert is_wrapped(text)
    assert unwrap(text) == inner
    assert not is_cut(text)
    assert not is_cut(unwrap(text))


@pytest.mark.parametrize("text", UNTOUCHED)
def test_anything_else_stays_as_it_is(text: str) -> None:
    assert unwrap(text) == text


def test_the_inner_code_is_byte_identical() -> None:
    code = "```python\n\tif x:\n\t\ty = '\u2028'  \n```"
    assert unwrap(f"```markdown\n{code}\n```") == code


def test_a_fence_that_the_source_has_too_is_part_of_the_text() -> None:
    assert unwrap("```python\nx = 2\n```", like="```python\nx = 1\n```") == "```python\nx = 2\n```"
    assert unwrap("```python\nx = 2\n```", like="x = 1") == "x = 2"


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"a":1 ',
        "Text.\n\n~~~\ncode",
        "```markdown\n```python\nprint(1)\n```",
        "````\n```\na\n```\n",
    ],
)
def test_an_open_fence_is_cut(text: str) -> None:
    assert is_cut(text)
    assert unwrap(text) == text


@pytest.mark.parametrize(
    "text", ["", "plain", "a ``` in a line", "```\na\n```\n\n~~~\nb\n~~~", "~~~\n```python\n~~~"]
)
def test_closed_or_no_fences_are_not_cut(text: str) -> None:
    assert not is_cut(text)
