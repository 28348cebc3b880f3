"""All sessions as a stream out of a database, and sessions of elsewhere into it: core.interchange.Archive.

An import is one transaction. While it runs nothing else can be written to an SQLite database. Knows no file.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import OperationalError

from core.domain import Mode, Recipe
from core.fitting import check_kept
from core.interchange import ImportProblem, Kept, Marks, Received, Row
from core.listing import Chosen, Order
from core.sessions import Session, StoreBusy, UnknownSession
from core.steps import Step
from storage import codec, facts
from storage.database import for_writing
from storage.documents import document, read_document
from storage.finding import Finding
from storage.marking import add_marks, marks_of
from storage.tables import FactsRow, SessionRow, StepRow

PAGE = 100
"""Sessions looked up at a time."""
FOUND = 1000
"""Sessions found at a time."""

_COLUMNS = (
    SessionRow.id,
    SessionRow.title,
    SessionRow.created_at,
    SessionRow.task,
    SessionRow.recipe,
    SessionRow.mode,
    SessionRow.problem,
    SessionRow.ending,
    SessionRow.parent_id,
    SessionRow.parent_steps,
)


class SqlArchive:
    """core.interchange.Archive on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read, self._write = engine, for_writing(engine)

    def count(self, chosen: Chosen) -> int:
        """How many sessions are chosen. Raises UnknownSession for an id that there is not."""
        with self._read.connect() as database:
            return len(_numbers(database, chosen))

    def kept(self, chosen: Chosen) -> Iterator[Kept]:
        """The chosen sessions, oldest first, all as they are at the first one's moment."""
        with self._read.connect() as database:
            yield from _read_all(database, _numbers(database, chosen))

    def documents(self, chosen: Chosen) -> Iterator[str]:
        """The chosen sessions as lines; a link to a session that is not among them is left out."""
        with self._read.connect() as database:
            numbers = _numbers(database, chosen)
            for kept in _read_all(database, numbers):
                yield document(kept if _parent_among(database, kept, numbers) else _alone(kept))

    def receive_documents(self, rows: Iterable[Row]) -> Received:
        """Keep the sessions of a file, all or none."""
        return self._receive(((row.place, read_document(row)) for row in rows), timeless=False)

    def receive(self, incoming: Iterable[tuple[str, Kept]]) -> Received:
        """Keep sessions made of a file's rows, all or none; when they were made does not tell them apart."""
        return self._receive(incoming, timeless=True)

    def _receive(self, incoming: Iterable[tuple[str, Kept]], *, timeless: bool) -> Received:
        try:
            with self._write.begin() as database:
                arrival = _Arrival(database, timeless)
                for place, kept in incoming:
                    check_kept(place, kept)
                    arrival.take(place, kept)
                return arrival.linked()
        except OperationalError as error:
            raise StoreBusy from error


# -- out ---------------------------------------------------------------------------------------------


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


def _read_all(database: Connection, numbers: array[int]) -> Iterator[Kept]:
    """The sessions of these numbers, in that order."""
    rows = select(FactsRow.number, *_COLUMNS).join(FactsRow, FactsRow.session_id == SessionRow.id)
    for begin in range(0, len(numbers), PAGE):
        part = numbers[begin : begin + PAGE]
        found = database.execute(rows.where(FactsRow.number.in_(part)).order_by(FactsRow.number)).all()
        marks = marks_of(database, part)
        for row in found:
            yield replace(_kept(database, row), marks=marks[row.number])


def _parent_among(database: Connection, kept: Kept, numbers: array[int]) -> bool:
    parent = kept.session.parent
    number = _known(database, [parent[0]]).get(parent[0]) if parent else None
    if number is None:
        return False
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _kept(database: Connection, row: Any) -> Kept:
    own = select(StepRow.created_at, StepRow.request, StepRow.answer).where(StepRow.session_id == row.id)
    found = database.execute(own.order_by(StepRow.position)).all()
    steps = tuple(
        Step(codec.load(each.request, codec.REQUEST), codec.load(each.answer, codec.ANSWER)) for each in found
    )
    mode: Mode = row.mode
    session = Session(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        task=codec.load(row.task, codec.TASK),
        recipe=codec.load(row.recipe, codec.RECIPE),
        mode=mode,
        steps=steps,
        problem=row.problem,
        parent=(row.parent_id, row.parent_steps) if row.parent_id else None,
    )
    return Kept(session, tuple(each.created_at for each in found), row.ending)


def _alone(kept: Kept) -> Kept:
    return replace(kept, session=replace(kept.session, parent=None))


# -- in ----------------------------------------------------------------------------------------------


@dataclass
class _Arrival:
    """One import under way. Links between sessions are made last: a fork may come before its parent."""

    database: Connection
    timeless: bool
    done: Received = field(default_factory=Received)
    links: list[tuple[str, str, int]] = field(default_factory=list)
    moment: datetime = field(default_factory=lambda: datetime.now(UTC))

    def take(self, place: str, kept: Kept) -> None:
        """One more session, unless it is here already."""
        here = self._here(kept.session.id)
        if here is None:
            self._insert(kept)
            self.done = replace(self.done, new=self.done.new + 1)
        else:
            there, deleted = here
            self._compare(place, there, kept)
            self.done = replace(
                self.done, known=self.done.known + 1, deleted=self.done.deleted + (1 if deleted else 0)
            )
        if kept.session.parent and (here is None or here[0].session.parent is None):
            self.links.append((kept.session.id, *kept.session.parent))
        if kept.marks != Marks():
            number = facts.number_of(self.database, kept.session.id)
            add_marks(self.database, number, kept.marks, self.moment)

    def _here(self, session_id: str) -> tuple[Kept, bool] | None:
        query = select(*_COLUMNS, SessionRow.deleted_at).where(SessionRow.id == session_id)
        row = self.database.execute(query).one_or_none()
        return None if row is None else (_kept(self.database, row), row.deleted_at is not None)

    def _compare(self, place: str, here: Kept, kept: Kept) -> None:
        """Raises ImportProblem unless all that comes is here already."""
        count, grown = len(kept.session.steps), len(here.session.steps) > len(kept.session.steps)
        begun = replace(here.session, steps=here.session.steps[:count])
        part = replace(here, session=begun, times=here.times[:count])
        if self._core(part, grown) != self._core(kept, grown):
            why = f"session {kept.session.id} is here already and is another: {_difference(part, kept)}."
            raise ImportProblem(place, why)

    def _core(self, kept: Kept, grown: bool) -> Kept:
        """What must be equal: all but links and marks; of one that went on, what going on does not change."""
        session = replace(kept.session, parent=None)
        if grown:
            session = replace(session, recipe=_ANY_RECIPE, mode="ask", problem="")
            kept = replace(kept, ending="")
        if self.timeless:
            session, kept = replace(session, created_at=_ANY_TIME), replace(kept, times=())
        return replace(kept, session=session, marks=Marks())

    def _insert(self, kept: Kept) -> None:
        session = kept.session
        row = {
            "id": session.id,
            "created_at": session.created_at,
            "title": session.title,
            "task": codec.dump(session.task, codec.TASK),
            "recipe": codec.dump(session.recipe, codec.RECIPE),
            "mode": session.mode,
            "problem": session.problem,
            "ending": kept.ending,
        }
        self.database.execute(insert(SessionRow), row)
        if session.steps:
            self.database.execute(insert(StepRow), [*_step_rows(kept)])
        last = max(kept.times, default=session.created_at)
        facts.begin_as(self.database, session, kept.ending, last)

    def linked(self) -> Received:
        """The links made, and what was done."""
        for child, parent, steps in self.links:
            there = self.database.scalar(select(SessionRow.id).where(SessionRow.id == parent))
            if there is None:
                self.done = replace(self.done, alone=self.done.alone + 1)
                continue
            own = update(SessionRow).where(SessionRow.id == child)
            self.database.execute(own.values(parent_id=parent, parent_steps=steps))
        return self.done


_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_ANY_RECIPE = Recipe("", "", "")


def _step_rows(kept: Kept) -> Iterator[dict[str, Any]]:
    for position, (step, at) in enumerate(zip(kept.session.steps, kept.times, strict=True)):
        yield {
            "session_id": kept.session.id,
            "position": position,
            "created_at": at,
            "kind": step.request.kind,
            "request": codec.dump(step.request, codec.REQUEST),
            "answer": codec.dump(step.answer, codec.ANSWER),
        }


def _difference(here: Kept, kept: Kept) -> str:
    """The first thing in which two sessions of one id differ, in words."""
    ours, theirs = here.session, kept.session
    if len(ours.steps) < len(theirs.steps):
        return f"it has {len(ours.steps)} steps here and {len(theirs.steps)} in the file"
    for position, (one, other) in enumerate(zip(ours.steps, theirs.steps, strict=True)):
        if one != other:
            return f"step {position} differs"
    names = ("title", "task", "recipe", "mode", "created_at", "problem")
    unlike = [name for name in names if getattr(ours, name) != getattr(theirs, name)]
    return f"its {unlike[0].replace('_at', '')} differs" if unlike else "its times or its end differ"
