"""Tables as CSV that a spreadsheet shows as they are meant. Knows no file and no session."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The header and the rows, each with its line end.

    A text gets an apostrophe before it where a spreadsheet would take it for a formula; numbers stay numbers.
    """
    yield _line(columns)
    for row in rows:
        yield _line([_inert(value) for value in row])


def _line(values: Sequence[Any]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(values)
    return out.getvalue()


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
