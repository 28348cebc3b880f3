"""Which sessions hold some words: the one place that knows how a database searches texts.

On SQLite every run of three characters of every session's text (session_search) is in a full-text index, so
that parts of words and texts without spaces are found; a found text is then looked at itself. Terms of two
characters that are not ASCII, as Chinese and Japanese words mostly are, go through the index by their
continuations; shorter and plainer ones are looked for in the texts, newest first.

On PostgreSQL words are found by their beginnings with to_tsvector, and other terms in the texts themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    column,
    func,
    literal_column,
    select,
    table,
    text,
)

from storage.tables import SearchRow

_WORD = re.compile(r"[a-z0-9]+")
MOST_RUNS = 60
NOWHERE = "\x01"
"""A character that no folded text has."""
END = "\n\n"
"""Ends every indexed text, so that its last characters begin runs of three as well."""


def create_index(connection: Connection) -> None:
    """Make the index of a database that has session_search, and fill it from there."""
    if connection.dialect.name == "sqlite":
        for statement in (_SQLITE_INDEX, _SQLITE_TERMS, *_SQLITE_TRIGGERS, FILL):
            connection.exec_driver_sql(statement)
    elif connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_POSTGRESQL_INDEX)


def holding(connection: Connection, terms: Sequence[str]) -> Select[int] | None:
    """The numbers of sessions whose text may hold every term: others may be among them (`holds`).

    None where no index knows any of the terms: the texts themselves must be looked through.
    """
    if connection.dialect.name == "postgresql":
        return _from_postgresql(found) if (found := _in_postgresql(terms)) else None
    return _from_sqlite(found) if (found := _in_sqlite(connection, terms)) else None


def holding_each(connection: Connection, terms: Sequence[str]) -> list[Select[int]]:
    """For each of several terms the sessions whose text may hold it, where the database must be told.

    SQLite goes through the lists of all terms side by side, however short one of them is; PostgreSQL
    begins with the shortest.
    """
    if len(terms) < 2 or connection.dialect.name == "postgresql":
        return []
    found = (holding(connection, (term,)) for term in terms)
    return [each for each in found if each is not None]


def holds(connection: Connection, terms: Sequence[str], text_column: Any) -> list[ColumnElement[bool]]:
    """That the text in the column holds every term."""
    place = func.strpos if connection.dialect.name == "postgresql" else func.instr
    return [place(text_column, term) > 0 for term in terms]


# -- SQLite -------------------------------------------------------------------------------------

_SQLITE_INDEX = """
    CREATE VIRTUAL TABLE session_fts USING fts5(
        text, content='session_search', content_rowid='number', detail=none,
        tokenize='trigram case_sensitive 1'
    )"""
_SQLITE_TERMS = "CREATE VIRTUAL TABLE session_terms USING fts5vocab('session_fts', 'row')"
ADDED = """CREATE TRIGGER search_added AFTER INSERT ON session_search BEGIN
        INSERT INTO session_fts (rowid, text) VALUES (new.number, new.text);
    END"""
_SQLITE_TRIGGERS = (
    ADDED,
    """CREATE TRIGGER search_changed AFTER UPDATE ON session_search WHEN old.text <> new.text BEGIN
        INSERT INTO session_fts (session_fts, rowid, text) VALUES ('delete', old.number, old.text);
        INSERT INTO session_fts (rowid, text) VALUES (new.number, new.text);
    END""",
    """CREATE TRIGGER search_removed AFTER DELETE ON session_search BEGIN
        INSERT INTO session_fts (session_fts, rowid, text) VALUES ('delete', old.number, old.text);
    END""",
)
FILL = "INSERT INTO session_fts (session_fts) VALUES ('rebuild')"
_CONTINUED = "SELECT term FROM session_terms WHERE term >= :least AND term < :most LIMIT 500"


def _from_sqlite(sought: str) -> Select[int]:
    index = table("session_fts", column("rowid", Integer))
    whole: ColumnElement[str] = literal_column("session_fts")
    return select(index.c.rowid).where(whole.op("MATCH", is_comparison=True)(sought))


def _in_sqlite(connection: Connection, terms: Sequence[str]) -> str | None:
    """What to look for in the index: runs of three characters, each of which must be there."""
    runs = [f'"{_doubled(run)}"' for term in terms for run in dict.fromkeys(_runs(term))]
    runs += [_continuations(connection, term) for term in terms if len(term) == 2 and not term.isascii()]
    return " AND ".join(runs[:MOST_RUNS]) or None


def _runs(term: str) -> list[str]:
    """Runs that cover the term; more of them would cost more than they would rule out."""
    if len(term) < 3:
        return []
    return [term[i : i + 3] for i in range(0, len(term) - 3, 3)] + [term[-3:]]


def _doubled(run: str) -> str:
    return run.replace('"', '""')


def _continuations(connection: Connection, pair: str) -> str:
    """The indexed runs that begin with two characters, any of which will do."""
    values = {"least": pair, "most": pair[0] + chr(ord(pair[1]) + 1)}
    found = connection.scalars(text(_CONTINUED), values)
    return "(" + (" OR ".join(f'"{_doubled(run)}"' for run in found) or f'"{NOWHERE * 3}"') + ")"


# -- PostgreSQL ---------------------------------------------------------------------------------

_POSTGRESQL_INDEX = (
    "CREATE INDEX session_words ON session_search USING gin (to_tsvector('simple', left(text, 250000)))"
)


def _from_postgresql(sought: str) -> Select[int]:
    # Written as the index was made, which is not used otherwise.
    simple: ColumnElement[str] = literal_column("'simple'")
    words = func.to_tsvector(simple, func.left(SearchRow.text, literal_column("250000")))
    found = words.op("@@", is_comparison=True)(func.to_tsquery(simple, sought))
    return select(SearchRow.number).where(found)


def _in_postgresql(terms: Sequence[str]) -> str | None:
    """The words of the terms, each by its beginning; None where there are none of plain letters."""
    words = [word for term in terms for word in _WORD.findall(term)] if all(map(_plain_word, terms)) else []
    return " & ".join(f"{word}:*" for word in dict.fromkeys(words)) or None


def _plain_word(term: str) -> bool:
    return bool(_WORD.fullmatch(term))
