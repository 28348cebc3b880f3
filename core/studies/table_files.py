"""Rows out of a file's bytes: CSV as spreadsheets write it, JSON, JSON lines. Knows no study.

All or nothing: a file that can't be read whole raises BadStudy with the place. Cells of a CSV stay the text
that they are, 007 too.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.strict_json import each_name_once
from core.studies.protocol import BadStudy

MAX_BYTES = 200_000_000
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class TableRow:
    """One row: where it stands, for messages, and its values by column."""

    place: str
    values: dict[str, Any]

    def text(self, *names: str) -> str:
        """The first of these columns that holds something, as text; "" where none does.

        Raises BadStudy for a list or an object.
        """
        for name in names:
            value = self.values.get(name)
            if value is None or value == "":
                continue
            if isinstance(value, dict | list | bool):
                raise BadStudy(f"{self.place}: {name} must be a text. Nothing was added.")
            return value if isinstance(value, str) else json.dumps(value)
        return ""


def read_rows(data: bytes) -> tuple[TableRow, ...]:
    """The rows of a CSV, a JSON array or JSON lines, told apart by how the file begins. Raises BadStudy."""
    if len(data) > MAX_BYTES:
        raise BadStudy(f"The file has {len(data):,} bytes; {MAX_BYTES:,} is the most. Split it.")
    text = _decoded(data)
    if not text.strip():
        raise BadStudy("The file is empty.")
    start = text.lstrip()[0]
    rows = tuple(_json_array(text) if start == "[" else _json_lines(text) if start == "{" else _csv(text))
    if not rows:
        raise BadStudy("The file has a header but no rows.")
    return rows


def _decoded(data: bytes) -> str:
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadStudy(
            f"The file is not UTF-8: byte {error.start + 1}, in line {line}, belongs to another encoding, "
            "perhaps Windows-1252. Save it as UTF-8 (in Excel: CSV UTF-8) and try again."
        ) from error


def _json_array(text: str) -> Iterator[TableRow]:
    try:
        found = json.loads(text, object_pairs_hook=each_name_once)
    except (ValueError, RecursionError) as error:
        raise BadStudy(f"The file begins like JSON, but can't be read: {error}.") from error
    for number, value in enumerate(found, 1):
        yield _object(value, f"row {number}")


def _json_lines(text: str) -> Iterator[TableRow]:
    # Not splitlines: it breaks lines at characters that JSON strings may hold.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=each_name_once)
        except (ValueError, RecursionError) as error:
            raise BadStudy(f"Line {number} is no JSON: {error}. Nothing was added.") from error
        yield _object(value, f"line {number}")


def _object(value: object, place: str) -> TableRow:
    if not isinstance(value, dict):
        raise BadStudy(f"{place} must be an object with columns. Nothing was added.")
    return TableRow(place, value)


def _csv(text: str) -> Iterator[TableRow]:
    told = re.match(r"sep=(.)\r?\n", text)
    body = text[told.end() :] if told else text
    csv.field_size_limit(MAX_BYTES)
    reader = csv.reader(
        io.StringIO(body, newline=""), delimiter=told[1] if told else _delimiter(body), strict=True
    )
    try:
        header = [name.strip() for name in next(reader, [])]
        while header and not header[-1]:  # what spreadsheets leave behind at the end of lines
            header.pop()
        if len(set(header)) < len(header):
            raise BadStudy(f"The header names a column twice: {', '.join(header)}.")
        for row in reader:
            place = f"line {reader.line_num}"
            if not any(row):
                continue
            while len(row) > len(header) and not row[-1]:
                row.pop()
            if len(row) != len(header):
                raise BadStudy(f"{place} has {len(row)} cells, the header {len(header)}. Nothing was added.")
            yield TableRow(place, dict(zip(header, row, strict=True)))
    except csv.Error as error:
        raise BadStudy(f"line {reader.line_num} can't be read: {error}. Nothing was added.") from error


def _delimiter(text: str) -> str:
    """The one that splits the header into the most columns."""

    def columns(delimiter: str) -> int:
        return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), []))

    return max(DELIMITERS, key=columns)
