"""All sessions as a stream out of a database, and the way in: core.interchange.Archive. Knows no file.

What is chosen is settled at the first moment; each session is read in a transaction of its own, so that a
slow reader holds neither a connection nor a snapshot.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, Engine, select

from core.interchange import Kept, Received, Row, head
from core.listing import Chosen, Order
from core.sessions import UnknownSession
from storage import arrival
from storage.database import for_writing
from storage.documents import document, read_document
from storage.finding import Finding
from storage.marking import marks_of
from storage.reading import kept_session
from storage.tables import FactsRow

PAGE = 100
"""Sessions looked up at a time."""
FOUND = 1000
"""Sessions found at a time."""


class SqlArchive:
    """core.interchange.Archive on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read, self._write = engine, for_writing(engine)

    def count(self, chosen: Chosen) -> int:
        """How many sessions are chosen. Raises UnknownSession for an id that there is not."""
        return len(self._numbers(chosen))

    def one(self, session_id: str) -> Kept:
        """One session, deleted or not. Raises UnknownSession."""
        return next(self.kept(Chosen((session_id,))))

    def kept(self, chosen: Chosen) -> Iterator[Kept]:
        """The chosen sessions, oldest first. Raises UnknownSession for an id that there is not."""
        return self._read_all(self._numbers(chosen))

    def file(self, chosen: Chosen) -> Iterator[str]:
        """The same as the lines of a file; a link to a session that is not among them is left out."""
        numbers = self._numbers(chosen)
        return self._lines(numbers)

    def _lines(self, numbers: array[int]) -> Iterator[str]:
        yield f"{head(len(numbers))}\n"
        for kept in self._read_all(numbers):
            yield f"{document(kept if self._parent_among(kept, numbers) else _alone(kept))}\n"

    def receive_documents(self, rows: Iterable[Row]) -> Received:
        """Keep the sessions of a file, all or none."""
        coming = ((row.place, read_document(row)) for row in rows)
        return arrival.receive(self._read, self._write, coming, timeless=False)

    def receive(self, incoming: Iterable[tuple[str, Kept]]) -> Received:
        """Keep sessions made of a file's rows, all or none; when they were made does not tell them apart."""
        return arrival.receive(self._read, self._write, incoming, timeless=True)

    def _numbers(self, chosen: Chosen) -> array[int]:
        with self._read.connect() as database:
            return _numbers(database, chosen)

    def _read_all(self, numbers: array[int]) -> Iterator[Kept]:
        """The sessions of these numbers, in that order."""
        for begin in range(0, len(numbers), PAGE):
            part = numbers[begin : begin + PAGE]
            with self._read.connect() as database:
                rows = select(FactsRow.number, FactsRow.session_id).where(FactsRow.number.in_(part))
                ids = {number: session_id for number, session_id in database.execute(rows)}
                marks = marks_of(database, part)
            for number in part:
                with self._read.connect() as database:
                    found = kept_session(database, ids[number])
                if found is not None:
                    yield replace(found[0], marks=marks[number])

    def _parent_among(self, kept: Kept, numbers: array[int]) -> bool:
        if kept.session.parent is None:
            return False
        parent, _ = kept.session.parent
        with self._read.connect() as database:
            number = _known(database, [parent]).get(parent)
        place = bisect_left(numbers, number) if number is not None else len(numbers)
        return place < len(numbers) and numbers[place] == number


def _numbers(database: Connection, chosen: Chosen) -> array[int]:
    """The numbers of what is chosen, which is the order they began in. Raises UnknownSession."""
    if chosen.ids is None:
        found = array("q", _found(Finding(database, chosen.filter, Order())))
        found.reverse()
    else:
        found = array("q", sorted(_numbers_of(database, chosen.ids)))
    left_out = set(_known(database, tuple(chosen.but)).values())
    return array("q", (number for number in found if number not in left_out)) if left_out else found


def _found(finding: Finding) -> Iterator[int]:
    """All that is found, newest first."""
    last: int | None = None
    while numbers := finding.numbers(FOUND, last):
        yield from numbers
        last = numbers[-1]


def _numbers_of(database: Connection, ids: Sequence[str]) -> list[int]:
    known = _known(database, ids)
    if lacking := [each for each in ids if each not in known]:
        raise UnknownSession(lacking[0])
    return list(known.values())


def _known(database: Connection, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of those of these sessions that there are."""
    found: dict[str, int] = {}
    for begin in range(0, len(ids), PAGE):
        rows = select(FactsRow.session_id, FactsRow.number)
        part = rows.where(FactsRow.session_id.in_(ids[begin : begin + PAGE]))
        found |= {session_id: number for session_id, number in database.execute(part)}
    return found


def _alone(kept: Kept) -> Kept:
    return replace(kept, session=replace(kept.session, parent=None))
