"""Folding for searches: what is typed plainly equals what was pasted."""

from __future__ import annotations

import sys

import pytest

from core.domain import Task
from core.words import plain, searchable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Art.\u00a05º", "art. 5o"),
        ("\u201cYes\u201d \u2014 it\u2019s", '"yes" - it\'s'),
        ("soft\u00adhyphen zero\u200bwidth \ufeffstart \u202eabc\u202c", "softhyphen zerowidth start abc"),
        ("E\u0301 = É = é", "e = e = e"),
        ("İSTANBUL Straße ﬁne", "istanbul strasse fine"),
        ("한국어 हिन्दी ไทย", "한국어 हिन्दी ไทย"),
        ("two\r\n\tlines \u2028 here", "two lines here"),
        ("a\0b\ud800c", "abc"),
        ("❤\ufe0f", "❤"),
        ("non\u2011breaking", "non-breaking"),
        (" \u200b ", ""),
    ],
)
def test_what_it_becomes(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_folding_what_is_folded_changes_nothing() -> None:
    changed = [code for code in range(0, sys.maxunicode, 7) if plain(plain(chr(code))) != plain(chr(code))]
    assert changed == []


def test_a_match_does_not_run_from_one_text_into_the_next() -> None:
    copy = searchable("A title", Task("the text", instruction="Shorten", target="", reference="the end"))
    assert copy.splitlines() == ["a title", "shorten", "the text", "the end"]
