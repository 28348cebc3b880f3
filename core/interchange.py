"""Sessions on their way between databases: what a file holds, row by row, and what is refused of it.

The form: one JSON object a session, ASCII only. Many of them stand one a line, after a head line that
says how many there are, so that a file that was cut is told from a whole one. Reading is by line feeds alone:
JSON strings may hold every other character at which some readers break lines. Knows no SQL and no page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Protocol

from core.listing import Chosen
from core.sessions import Session
from core.strict_json import each_name_once

SESSION, HEAD, VERSION = "redraft session", "redraft sessions", 2
DERIVED = ("spent", "notes", "outcome")
"""What a document may hold besides: computed from the rest, so nothing of it is read."""
MAX_TEXT = 10_000_000
"""Characters of one text. A task has a tenth of it at most; a prompt may repeat several drafts."""
MAX_ROW = 256 * 1024 * 1024
"""Bytes of one session."""

LARGEST_NUMBER = 1e12
"""Of tokens, seconds, scores: sums and squares of many of these can still be told."""

_UNFIT = re.compile("[\x00\ud800-\udfff]")


class ImportProblem(ValueError):
    """A file that is refused whole; `place` is the row at fault."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why} Nothing was imported.")
        self.place, self.why = place, why


@dataclass(frozen=True)
class Marks:
    """What people put on a session: tags, a star on the whole, and the steps whose texts have stars."""

    tags: tuple[str, ...] = ()
    starred: bool = False
    stars: tuple[int, ...] = ()


@dataclass(frozen=True)
class Kept:
    """A session with all that is kept of it: when steps were recorded, why it ended ("" if open), marks."""

    session: Session
    times: tuple[datetime, ...]
    ending: str = ""
    marks: Marks = Marks()


@dataclass(frozen=True)
class Row:
    """One session of a file as JSON text, and where it stands in the file."""

    place: str
    text: str


@dataclass(frozen=True)
class Received:
    """What an import did, as numbers of sessions.

    `known` were here already, `deleted` of them are marked as deleted; `alone` are forks whose link to what
    they were forked from is left out, since that session is neither here nor in the file.
    """

    new: int = 0
    known: int = 0
    deleted: int = 0
    alone: int = 0


class Archive(Protocol):
    """All sessions as a stream. Memory does not grow with their number but for eight bytes each."""

    def count(self, chosen: Chosen) -> int:
        """How many sessions are chosen. Raises UnknownSession for an id that there is not."""
        ...

    def one(self, session_id: str) -> Kept:
        """One session, deleted or not. Raises UnknownSession."""
        ...

    def kept(self, chosen: Chosen) -> Iterator[Kept]:
        """The chosen sessions, oldest first. Raises UnknownSession, at once, for an id that there is not.

        Which ones is settled by the call; each is read when its turn comes.
        """
        ...

    def file(self, chosen: Chosen) -> Iterator[str]:
        """The same as the lines of a file that can be imported, the head first.

        A link to a session that isn't chosen is left out.
        """
        ...

    def receive_documents(self, rows: Iterable[Row]) -> Received:
        """Keep the sessions of a file: all or none; marks are added to those that are here already.

        Raises ImportProblem, StoreBusy.
        """
        ...

    def receive(self, incoming: Iterable[tuple[str, Kept]]) -> Received:
        """Keep sessions that were made of a file's rows, each with its place there: all or none.

        Those that are here already count as known, whenever they came. Raises ImportProblem, StoreBusy.
        """
        ...


def head(count: int) -> str:
    """The first line of a file of `count` sessions."""
    return json.dumps({"format": HEAD, "version": VERSION, "sessions": count})


# -- lines of files --------------------------------------------------------------------------------


def rows_of(stream: BinaryIO) -> Iterator[Row]:
    """The sessions of a file: one document, or lines of them with or without a head. Raises ImportProblem."""
    first = _line(stream, 1).removeprefix(b"\xef\xbb\xbf")
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ImportProblem("The file", "it is UTF-16. Save it as UTF-8 and try again.")
    begins = _whole_object(first)
    if begins is None:
        yield Row("The document", _decoded(first + stream.read(MAX_ROW), "The document"))
        return
    expected = _expected(begins)
    found = 0
    for number, line in _lines(stream, first if expected is None else b""):
        found += 1
        yield Row(f"Row {found} (line {number})", _decoded(line, f"Row {found} (line {number})"))
    if expected is not None and found != expected:
        raise ImportProblem(
            f"After row {found}",
            f"there should be {expected} sessions: the file was cut, or lines are missing.",
        )


def _lines(stream: BinaryIO, first: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, with their numbers."""
    number, line = 1, first
    while line or number == 1:
        if line.strip():
            yield number, line
        number += 1
        line = _line(stream, number)


def _line(stream: BinaryIO, number: int) -> bytes:
    line = stream.readline(MAX_ROW + 1)
    if len(line) > MAX_ROW:
        raise ImportProblem(f"Line {number}", f"it is longer than {MAX_ROW:,} bytes.")
    return line


def _whole_object(line: bytes) -> dict[str, Any] | None:
    """The object that the first line is, or None where it is the beginning of a longer one."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _expected(begins: dict[str, Any]) -> int | None:
    """How many sessions the head promises; None where the first line is a session."""
    if begins.get("format") != HEAD:
        return None
    check_version("Line 1", begins)
    count = begins.get("sessions")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ImportProblem("Line 1", "it does not say how many sessions there are.")
    return count


def _decoded(line: bytes, place: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ImportProblem(place, f"byte {error.start + 1} of it is not UTF-8.") from None


# -- one row ---------------------------------------------------------------------------------------


def opened(row: Row) -> dict[str, Any]:
    """The row as JSON values, with every text fit to be kept. Raises ImportProblem."""
    if "\x00" in row.text:
        raise ImportProblem(row.place, f"it has a NUL byte at character {row.text.index(chr(0)) + 1}.")
    try:
        found = json.loads(row.text, parse_constant=_no_number, object_pairs_hook=each_name_once)
    except RecursionError:
        raise ImportProblem(row.place, "it is nested too deeply.") from None
    except ValueError as error:
        cut = " Perhaps it was cut." if isinstance(error, json.JSONDecodeError) else ""
        raise ImportProblem(row.place, f"it can't be read as JSON ({error}).{cut}") from None
    if not isinstance(found, dict):
        raise ImportProblem(row.place, "it is not an object.")
    check_version(row.place, found)
    check_texts(row.place, found)
    _check_numbers(row.place, found)
    return found


def _check_numbers(place: str, value: object, path: str = "") -> None:
    """Raises ImportProblem, with the path, for a number that can't be kept or added up."""
    if isinstance(value, dict):
        for name, part in value.items():
            _check_numbers(place, part, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            _check_numbers(place, part, f"{path}[{number}]")
    elif isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
        raise ImportProblem(place, f"{path} is too large a number.")


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def check_version(place: str, found: dict[str, Any]) -> None:
    """Raises ImportProblem for what is no document of ours, or one of a later version."""
    form, version = found.get("format"), found.get("version")
    if form not in (SESSION, HEAD):
        raise ImportProblem(place, f"it is not a session as Redraft exports it (no format {SESSION!r}).")
    if version not in range(1, VERSION + 1) or isinstance(version, bool):
        raise ImportProblem(
            place, f"its version is {version!r}; this Redraft reads versions up to {VERSION}. Update Redraft."
        )


def check_texts(place: str, value: object, path: str = "") -> None:
    """Raises ImportProblem, with the path, for a text that can't be kept or is too long."""
    if isinstance(value, str):
        _check_text(place, value, path)
    elif isinstance(value, dict):
        for name, part in value.items():
            _check_text(place, name, path)
            check_texts(place, part, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            check_texts(place, part, f"{path}[{number}]")


def _check_text(place: str, text: str, path: str) -> None:
    if len(text) > MAX_TEXT:
        raise ImportProblem(place, f"{path} has {len(text):,} characters; {MAX_TEXT:,} is the most.")
    if bad := _UNFIT.search(text):
        name = "a NUL character" if bad.group() == "\0" else "half of a surrogate pair"
        raise ImportProblem(place, f"{path} has {name} at character {bad.start() + 1}.")
