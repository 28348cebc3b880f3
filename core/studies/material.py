"""What a study compares: prompts with a text by each system, checked whole before anything is kept.

Knows neither files nor sessions; both are read into these values elsewhere (core.studies.imports,
core.studies.from_sessions).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import get_args

from core.detect import flags
from core.domain import Flag
from core.studies.protocol import BadStudy, fingerprint
from core.studies.votes import Choice, Kind

MAX_CHARACTERS = 200_000
EXPECTED_CHOICES: tuple[Choice, ...] = ("left", "right", "tie", "both_bad")

_MARKDOWN = {
    "headings": re.compile(r"^ {0,3}#{1,6}\s", re.M),
    "bullets": re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s", re.M),
    "bold": re.compile(r"\*\*\S[^*\n]*\*\*|__\S[^_\n]*__"),
    "code": re.compile(r"`[^`\n]+`|^```", re.M),
    "links": re.compile(r"\[[^\]\n]+\]\([^)\s]+\)"),
    "tables": re.compile(r"^\|.*\|\s*$", re.M),
}


@dataclass(frozen=True)
class Entry:
    """One prompt with the texts of systems, as (system, text).

    `key` names it in the file it came from. `expected` is what a gold or attention item is to be answered
    with: a system's name or a choice. `source` is the text that the texts were written from, if any.
    """

    key: str
    prompt: str
    texts: tuple[tuple[str, str], ...]
    stratum: str = ""
    kind: Kind = "item"
    expected: str = ""
    source: str = ""


@dataclass(frozen=True)
class Measures:
    """What is known of a text without reading it: characters (code points), Markdown marks, flags."""

    sha256: str
    characters: int
    markdown: tuple[tuple[str, int], ...]
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class Added:
    """What came of adding entries: those new, and those that were there already, word for word."""

    new: int
    repeated: int


def measure(text: str, source: str = "") -> Measures:
    """The measures of a text; flags as of a reply to `source` (refusal, meta-text, empty, cut off)."""
    marks = tuple((name, len(pattern.findall(text))) for name, pattern in _MARKDOWN.items())
    return Measures(fingerprint(text), len(text), marks, flags(text, finish="stop", source=source))


def same(one: str, other: str) -> bool:
    """Whether a rater would see the same text: characters composed or not, white space at line ends aside."""
    return _seen(one) == _seen(other)


def _seen(text: str) -> str:
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def folded(name: str) -> str:
    """A name or key as it is compared: composed, without white space around it."""
    return unicodedata.normalize("NFC", name).strip()


def systems_of(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The names of the systems, in the order in which they first occur."""
    return tuple(dict.fromkeys(name for entry in entries for name, _ in entry.texts))


def checked(entries: Sequence[Entry], where: str = "entry") -> tuple[Entry, ...]:
    """The entries with names and keys folded, repeats left out. Raises BadStudy, naming the bad one."""
    kept: dict[str, Entry] = {}
    for number, raw in enumerate(entries, 1):
        entry = _folded(raw)
        place = f"{where} {number} ({entry.key!r})"
        check_entry(entry, place)
        if kept.setdefault(entry.key, entry) != entry:
            raise BadStudy(f"{place} has the key of an earlier one, but differs from it. Nothing was added.")
    return tuple(kept.values())


def _folded(entry: Entry) -> Entry:
    texts = tuple((folded(name), text) for name, text in entry.texts)
    return replace(entry, key=folded(entry.key), texts=texts, expected=folded(entry.expected))


def check_entry(entry: Entry, place: str) -> None:
    """Raises BadStudy for an entry that can't be asked."""
    names = [name for name, _ in entry.texts]
    if not entry.key:
        raise BadStudy(f"{place} has no key. Nothing was added.")
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise BadStudy(f"{place} needs texts of two different systems at least. Nothing was added.")
    if entry.kind not in get_args(Kind):
        known = ", ".join(get_args(Kind))
        raise BadStudy(f"{place} is of no kind {entry.kind!r}: {known}. Nothing was added.")
    if entry.kind in ("gold", "attention") and entry.expected not in (*names, *EXPECTED_CHOICES):
        raise BadStudy(f"{place} must say what is expected: a system of it, or "
                       f"{', '.join(EXPECTED_CHOICES)}. Nothing was added.")  # fmt: skip
    for what, text in (("prompt", entry.prompt), ("source", entry.source), *entry.texts):
        _check_text(text, f"{place}: {what}")


def _check_text(text: str, place: str) -> None:
    bad = re.search("[\x00\ud800-\udfff]", text)
    if bad:
        name = "a NUL character" if bad.group() == "\0" else "half of a surrogate pair"
        raise BadStudy(f"{place} has {name} at character {bad.start() + 1}. Nothing was added.")
    if len(text) > MAX_CHARACTERS:
        raise BadStudy(f"{place} has {len(text):,} characters; {MAX_CHARACTERS:,} is the most. "
                       "Nothing was added.")  # fmt: skip


def pairs_of(names: Sequence[str], wanted: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs to be asked of these systems, each in the order of the names; without `wanted` all."""
    chosen = {frozenset(pair) for pair in wanted}
    pairs = combinations(sorted(names), 2)
    return tuple(pair for pair in pairs if not wanted or frozenset(pair) in chosen)
