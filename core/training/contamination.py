"""Rows that share a passage with files that models are to be tested on.

A passage is some words in a row, as core.training.diversity parts words; a shorter test text counts whole,
from `SHORTEST` words on. Words are compared without case and punctuation. Knows no session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.studies.protocol import BadStudy
from core.studies.table_files import read_rows
from core.training.diversity import words

SHORTEST = 5
PASSAGE = 13
"""Words, as in the overlap analysis of Brown et al. 2020 (GPT-3), appendix C."""


class BadTestFile(ValueError):
    """A file of tests that can't be read."""


@dataclass(frozen=True)
class Tests:
    """The passages of test files: for each length in words, which passage is of which file."""

    passages: Mapping[int, Mapping[str, str]]
    texts: Mapping[str, int]
    too_short: int

    def found_in(self, texts: Iterable[str]) -> str:
        """The file that one of the texts shares a passage with, or ""."""
        for text in texts:
            said = words(text)
            for length, known in self.passages.items():
                for passage in _passages(said, length):
                    if passage in known:
                        return known[passage]
        return ""


def read_tests(files: Mapping[str, bytes], length: int = PASSAGE) -> Tests:
    """The passages of all texts of these files (JSON, JSONL, CSV or plain lines). Raises BadTestFile."""
    passages: dict[int, dict[str, str]] = {}
    counts: dict[str, int] = {}
    too_short = 0
    for name, data in files.items():
        counts[name] = 0
        for text in _texts(name, data):
            said = words(text)
            if len(said) < SHORTEST:
                too_short += 1
                continue
            counts[name] += 1
            size = min(length, len(said))
            known = passages.setdefault(size, {})
            for passage in _passages(said, size):
                known.setdefault(passage, name)
    return Tests(passages, counts, too_short)


def _passages(said: list[str], length: int) -> Iterator[str]:
    return (" ".join(said[start : start + length]) for start in range(len(said) - length + 1))


def _texts(name: str, data: bytes) -> Iterator[str]:
    if not data.strip():
        raise BadTestFile(f"{name} is empty.")
    if name.endswith((".txt", ".md")):
        yield from _decoded(name, data).split("\n")
    elif name.endswith(".json"):
        yield from _strings(_json(name, data))
    else:
        yield from _cells(name, data)


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTestFile(f"{name} is not UTF-8: byte {error.start + 1}.") from None


def _json(name: str, data: bytes) -> object:
    try:
        return json.loads(_decoded(name, data))
    except (ValueError, RecursionError) as error:
        raise BadTestFile(f"{name} can't be read as JSON: {error}.") from None


def _cells(name: str, data: bytes) -> Iterator[str]:
    try:
        rows = read_rows(data)
    except BadStudy as error:
        raise BadTestFile(f"{name}: {str(error).removesuffix(' Nothing was added.')}") from None
    for row in rows:
        yield from _strings(row.values)


def _strings(value: object) -> Iterator[str]:
    """Every text within JSON values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
