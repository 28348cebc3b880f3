"""Items of a study out of a file's rows: a column or a row for each system, or Self-Refine trajectories.

Knows no store: gives entries, or raises BadStudy with the row that is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from core.studies.material import Entry
from core.studies.protocol import BadStudy, fingerprint
from core.studies.table_files import TableRow, read_rows
from core.studies.votes import Kind

KEY, PROMPT, STRATUM = ("id", "key", "item"), ("prompt", "question", "input"), ("stratum", "category")
TEXT, SYSTEM = ("text", "output", "response", "transferred_review"), ("system", "model")
OTHER = ("kind", "expected", "source")
FIRST_ATTEMPT, LAST_ATTEMPT = "attempt 0", "last attempt"


@dataclass(frozen=True)
class Read:
    """The items of a file, and what its owner should know of the reading."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


def read_entries(data: bytes, systems: Sequence[str] = (), limit: int | None = None) -> Read:
    """The items in a file, the first `limit` of them; its form is seen from its columns.

    `systems` names the columns with texts, where not all that are left over are meant. Raises BadStudy.
    """
    rows = read_rows(data)
    columns = set().union(*(row.values for row in rows))
    notes: list[str] = []
    if {"record_id", "attempt"} <= columns:
        entries = _trajectories(rows, notes)
    elif not systems and columns & set(SYSTEM) and columns & set(TEXT):
        entries = _row_per_system(rows)
    else:
        entries = _column_per_system(rows, systems)
    found = tuple(entries)
    return Read(found if limit is None else found[:limit], tuple(notes))


def _column_per_system(rows: Sequence[TableRow], systems: Sequence[str]) -> Iterator[Entry]:
    names = tuple(systems) or _left_over(rows)
    if len(names) < 2:
        raise BadStudy(
            f"The file needs a column for each of two systems at least, beside {', '.join(PROMPT)}; it has "
            f"{', '.join(rows[0].values)}."
        )
    for row in rows:
        missing = [name for name in names if name not in row.values]
        if missing:
            raise BadStudy(f"{row.place} has no column {missing[0]!r}. Nothing was added.")
        texts = tuple((name, row.text(name)) for name in names)
        yield _entry(row, texts, _key(row) or fingerprint(repr((row.text(*PROMPT), texts)))[:16])


def _left_over(rows: Sequence[TableRow]) -> tuple[str, ...]:
    """The columns that are no others that are known, in their order."""
    known = {*KEY, *PROMPT, *STRATUM, *OTHER}
    return tuple(name for name in dict.fromkeys(n for row in rows for n in row.values) if name not in known)


def _row_per_system(rows: Sequence[TableRow]) -> Iterator[Entry]:
    items: dict[str, list[TableRow]] = defaultdict(list)
    for row in rows:
        items[_key(row) or fingerprint(row.text(*PROMPT))[:16]].append(row)
    for key, own in items.items():
        prompts = {row.text(*PROMPT) for row in own}
        if len(prompts) > 1:
            raise BadStudy(f"{own[-1].place} has another prompt for item {key!r} than {own[0].place}. "
                           "Nothing was added.")  # fmt: skip
        texts: dict[str, str] = {}
        for row in own:
            name = row.text(*SYSTEM)
            if texts.setdefault(name, row.text(*TEXT)) != row.text(*TEXT):
                raise BadStudy(f"{row.place} has another text of {name!r} for item {key!r} than one before. "
                               "Nothing was added.")  # fmt: skip
        yield _entry(own[0], tuple(texts.items()), key)


def _entry(row: TableRow, texts: tuple[tuple[str, str], ...], key: str) -> Entry:
    kind = row.text("kind") or "item"
    if kind not in get_args(Kind):
        raise BadStudy(f"{row.place} is of no kind {kind!r}: {', '.join(get_args(Kind))}. Nothing was added.")
    return Entry(
        key,
        row.text(*PROMPT),
        texts,
        stratum=row.text(*STRATUM),
        kind=kind,  # type: ignore[arg-type]  # one of Kind, as was just seen
        expected=row.text("expected"),
        source=row.text("source"),
    )


def _key(row: TableRow) -> str:
    return row.text(*KEY)


def _trajectories(rows: Sequence[TableRow], notes: list[str]) -> Iterator[Entry]:
    """Each record's first attempt against its last; a record with one attempt is the same text twice.

    Files of real runs lack a first attempt here and there: such a record is left out, and noted.
    """
    records: dict[str, dict[int, TableRow]] = defaultdict(dict)
    for row in rows:
        number = row.text("attempt")
        if not number.isdecimal() or not row.text("record_id"):
            raise BadStudy(f"{row.place} needs a record_id and an attempt counted from 0. Nothing was added.")
        if int(number) in records[row.text("record_id")]:
            raise BadStudy(f"{row.place} has attempt {number} of a record a second time. Nothing was added.")
        records[row.text("record_id")][int(number)] = row
    headless = [key for key, attempts in records.items() if 0 not in attempts]
    if headless:
        notes.append(f"Records without an attempt 0 are left out: {', '.join(headless)}.")
    for key, attempts in records.items():
        if 0 not in attempts:
            continue
        first, last = attempts[0], attempts[max(attempts)]
        texts = ((FIRST_ATTEMPT, _unescaped(first.text(*TEXT))), (LAST_ATTEMPT, _unescaped(last.text(*TEXT))))
        source = _unescaped(first.text("review", "source", "input"))
        yield Entry(
            key, _prompt(first, source), texts, first.text("target_sentiment", *STRATUM), source=source
        )


def _prompt(row: TableRow, source: str) -> str:
    target = row.text("target_sentiment")
    if row.text("prompt"):
        return row.text("prompt")
    return f"Rewrite this review so that it is {target.lower()}:\n\n{source}" if target else source


def _unescaped(text: str) -> str:
    """The trajectories write line ends as a backslash and an n."""
    return text.replace("\\n", "\n")
