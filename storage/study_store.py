"""The StudyStore on SQLAlchemy. Knows no rule of a study: it gives out transactions (core.studies.desks).

Transactions on one study that write never overlap. On SQLite there is one writer for the whole database;
inside this process one thread does the writing, in the order of asking. SQLite's own way of waiting is to try
again now and then, by which among hundreds some would be unlucky until their time is up, and a lock would be
passed from thread to thread at the price of a switch each time. Elsewhere the study's row is locked at the
start. Should the database still refuse (PostgreSQL ends one of two transactions that wait for each other),
the work is done again from its start.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import Connection, Engine, func, insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from core.sessions import StoreBusy
from core.studies.desks import Desk
from core.studies.protocol import StudyProtocol, canonical
from core.studies.records import Study, UnknownStudy
from storage.database import for_writing
from storage.study_owner_desk import SqlDesk
from storage.study_rows import study_of
from storage.study_tables import EventRow, LinkRow, StudyRow

T = TypeVar("T")
TRIES = 5
KNOWN_LINKS = 50_000
MOST_OUTSIDE = 1_000


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


class SqlStudyStore:
    """core.studies.desks.StudyStore on one database."""

    def __init__(self, engine: Engine, clock: Callable[[], datetime] = now) -> None:
        self._read, self._write, self._clock = engine, for_writing(engine), clock
        self._writer = ThreadPoolExecutor(1, "study-writer")
        self._links: dict[str, tuple[str, int]] = {}
        self._one_writer = engine.dialect.name == "sqlite"

    def create(self, name: str, protocol: StudyProtocol, by: str) -> str:
        """Keep a new draft and give its id (128 random bits)."""
        study_id, moment = secrets.token_hex(16), self._clock()
        row = {"id": study_id, "created_at": moment, "name": name, "status": "draft"}
        made = {"study_id": study_id, "at": moment, "actor": by, "kind": "made", "detail": "{}"}

        def work(connection: Connection) -> str:
            connection.execute(insert(StudyRow), {**row, "protocol": canonical(protocol)})
            connection.execute(insert(EventRow), made)
            return study_id

        return self._written(work)

    def studies(self) -> list[Study]:
        """All studies, newest first."""
        order = (StudyRow.created_at.desc(), StudyRow.id)
        with self._read.connect() as connection:
            return [study_of(row) for row in connection.execute(select(StudyRow.__table__).order_by(*order))]

    def run(self, study_id: str, work: Callable[[Desk], T]) -> T:
        """Do the work in one transaction that no other on this study overlaps. Raises StoreBusy."""
        return self._written(lambda connection: work(self._desk(connection, study_id, lock=True)))

    def look(self, study_id: str, work: Callable[[Desk], T]) -> T:
        """Do work that only reads, on one state of the study."""
        with self._read.connect() as connection:
            if not self._one_writer:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                return work(self._desk(connection, study_id, lock=False))

    def link(self, token_hash: str) -> tuple[str, int | None] | None:
        """Where a link leads; to a rater it leads for good, so that this is looked up once."""
        if token_hash in self._links:
            return self._links[token_hash]
        query = select(LinkRow.study_id, LinkRow.rater_id).where(LinkRow.token_hash == token_hash)
        with self._read.connect() as connection:
            row = connection.execute(query).first()
        if row is None or row[1] is None:
            return (row[0], None) if row else None
        if len(self._links) >= KNOWN_LINKS:
            self._links.clear()
        self._links[token_hash] = (row[0], row[1])
        return self._links[token_hash]

    def log(self, kind: str, detail: Mapping[str, object]) -> None:
        """Keep an event that belongs to no known study, up to MOST_OUTSIDE of each kind."""
        row = {"at": self._clock(), "actor": "", "kind": kind, "detail": json.dumps(detail)}
        there = select(func.count()).where(EventRow.study_id.is_(None), EventRow.kind == kind)

        def work(connection: Connection) -> None:
            if (connection.scalar(there) or 0) < MOST_OUTSIDE:
                connection.execute(insert(EventRow), row)

        self._written(work)

    def _desk(self, connection: Connection, study_id: str, *, lock: bool) -> Desk:
        query = select(StudyRow.__table__).where(StudyRow.id == study_id)
        row = connection.execute(query.with_for_update() if lock else query).first()
        if row is None:
            raise UnknownStudy(study_id)
        return SqlDesk(connection, study_of(row), self._clock())

    def _written(self, work: Callable[[Connection], T]) -> T:
        for left in reversed(range(TRIES)):
            try:
                return self._once(work)
            except DBAPIError as error:
                if not left or not _worth_another_try(error):
                    raise _said(error) from error
        raise AssertionError("the last try either gave a result or raised")

    def _once(self, work: Callable[[Connection], T]) -> T:
        if not self._one_writer:
            return self._in_one(work)
        return self._writer.submit(self._in_one, work).result()

    def _in_one(self, work: Callable[[Connection], T]) -> T:
        """The work in a transaction of its own."""
        with self._write.begin() as connection:
            return work(connection)


def _worth_another_try(error: DBAPIError) -> bool:
    """Two that met at a unique row, or that waited for each other; SQLite has waited its time already."""
    state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
    return isinstance(error, IntegrityError) or state in ("40001", "40P01")


def _said(error: DBAPIError) -> Exception:
    return StoreBusy() if isinstance(error, OperationalError) else error
