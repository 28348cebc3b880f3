"""Sessions of elsewhere into a database, all of a file or none.

Everything that takes long is done before the transaction, one session after the other, and spooled to a
file: reading, checking, comparing with what is here, working out what lists know. The transaction only
inserts, so that others wait for it as shortly as can be. Knows no file of the user's.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import IO, Any

from sqlalchemy import Connection, Engine, insert, select, update

from core.domain import Recipe
from core.fitting import check_kept
from core.interchange import ImportProblem, Kept, Marks, Received
from core.sessions import StoreBusy
from storage import codec, facts
from storage.database import told_when_busy
from storage.marking import add_marks
from storage.reading import kept_session
from storage.tables import SessionRow, StepRow

Rows = dict[str, Any]
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_ANY_RECIPE = Recipe("", "", "")


@dataclass(frozen=True)
class _Coming:
    """A session on its way: its id, its marks, the link to make, and its rows; none for one that is here."""

    session_id: str
    marks: Marks
    link: tuple[str, int] | None
    new: tuple[Rows, list[Rows], facts.Known] | None = None
    deleted: bool = False


def receive(read: Engine, write: Engine, incoming: Iterable[tuple[str, Kept]], *, timeless: bool) -> Received:
    """Keep the sessions, all or none; `timeless` ones are the same whenever they come.

    Raises ImportProblem, StoreBusy.
    """
    with tempfile.TemporaryFile() as spool:
        for coming in _Sorting(read, timeless).sorted(incoming):
            pickle.dump(coming, spool, pickle.HIGHEST_PROTOCOL)
        end = spool.tell()
        spool.seek(0)
        with told_when_busy(), write.begin() as database:
            arrival = _Arrival(database)
            while spool.tell() < end:
                arrival.take(_next(spool))
            return arrival.linked()


def _next(spool: IO[bytes]) -> _Coming:
    found: _Coming = pickle.load(spool)
    return found


# -- before the transaction ----------------------------------------------------------------------


@dataclass
class _Sorting:
    """Tells new sessions from those that are here, or came already. Memory grows by a hash a session."""

    read: Engine
    timeless: bool
    seen: dict[str, bytes] = field(default_factory=dict)

    def sorted(self, incoming: Iterable[tuple[str, Kept]]) -> Iterator[_Coming]:
        """Each session as it is to be kept. Raises ImportProblem."""
        for place, kept in incoming:
            check_kept(place, kept)
            with self.read.connect() as database:
                found = kept_session(database, kept.session.id)
            if found is None:
                yield self._new(place, kept)
                continue
            here, deleted = found
            self._compare(place, here, kept)
            link = kept.session.parent if here.session.parent is None else None
            yield _Coming(kept.session.id, kept.marks, link, deleted=deleted)

    def _new(self, place: str, kept: Kept) -> _Coming:
        session_id = kept.session.id
        row, steps = _session_row(kept), [*_step_rows(kept)]
        digest = self._digest(row, steps)
        if self.seen.setdefault(session_id, digest) != digest:
            raise ImportProblem(place, f"session {session_id} stands twice in the file, as two.")
        last = max(kept.times, default=kept.session.created_at)
        known = facts.known_of(kept.session, kept.ending, last)
        return _Coming(session_id, kept.marks, kept.session.parent, (row, steps, known))

    def _digest(self, row: Rows, steps: list[Rows]) -> bytes:
        times = ("created_at",) if self.timeless else ()
        told = [[value for name, value in each.items() if name not in times] for each in (row, *steps)]
        return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).digest()

    def _compare(self, place: str, here: Kept, kept: Kept) -> None:
        """Raises ImportProblem unless all that comes is here already."""
        count, grown = len(kept.session.steps), len(here.session.steps) > len(kept.session.steps)
        begun = replace(here.session, steps=here.session.steps[:count])
        part = replace(here, session=begun, times=here.times[:count])
        if self._core(part, grown) != self._core(kept, grown):
            why = f"session {kept.session.id} is here already and is another: {_difference(part, kept)}."
            hint = (
                " If this is another file, give it a source of its own (--source)." if self.timeless else ""
            )
            raise ImportProblem(place, why + hint)

    def _core(self, kept: Kept, grown: bool) -> Kept:
        """What must be equal: all but links and marks; of one that went on, what going on does not change."""
        session = replace(kept.session, parent=None)
        if grown:
            session = replace(session, recipe=_ANY_RECIPE, mode="ask", problem="")
            kept = replace(kept, ending="")
        if self.timeless:
            session, kept = replace(session, created_at=_ANY_TIME), replace(kept, times=())
        return replace(kept, session=session, marks=Marks())


def _session_row(kept: Kept) -> Rows:
    session = kept.session
    return {
        "id": session.id,
        "created_at": session.created_at,
        "title": session.title,
        "task": codec.dump(session.task, codec.TASK),
        "recipe": codec.dump(session.recipe, codec.RECIPE),
        "mode": session.mode,
        "problem": session.problem,
        "ending": kept.ending,
    }


def _step_rows(kept: Kept) -> Iterator[Rows]:
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


# -- the transaction -----------------------------------------------------------------------------


@dataclass
class _Arrival:
    """One import under way. Links between sessions are made last: a fork may come before its parent."""

    database: Connection
    done: Received = field(default_factory=Received)
    inserted: set[str] = field(default_factory=set)
    links: list[tuple[str, str, int]] = field(default_factory=list)
    moment: datetime = field(default_factory=lambda: datetime.now(UTC))

    def take(self, coming: _Coming) -> None:
        """One more session. Raises StoreBusy where somebody else has put it in since it was looked for."""
        if coming.new is None or coming.session_id in self.inserted:
            known, deleted = self.done.known + 1, self.done.deleted + coming.deleted
            self.done = replace(self.done, known=known, deleted=deleted)
        else:
            self._insert(*coming.new)
            self.inserted.add(coming.session_id)
            self.done = replace(self.done, new=self.done.new + 1)
        if coming.link:
            self.links.append((coming.session_id, *coming.link))
        if coming.marks != Marks():
            number = facts.number_of(self.database, coming.session_id)
            add_marks(self.database, number, coming.marks, self.moment)

    def _insert(self, row: Rows, steps: list[Rows], known: facts.Known) -> None:
        if self.database.scalar(select(SessionRow.id).where(SessionRow.id == row["id"])) is not None:
            raise StoreBusy
        self.database.execute(insert(SessionRow), row)
        if steps:
            self.database.execute(insert(StepRow), steps)
        facts.put_new(self.database, known)

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
