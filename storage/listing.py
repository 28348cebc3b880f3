"""Lists of sessions and the marks on them, on SQLAlchemy: core.listing.Listing.

A bulk action goes through its sessions some at a time, so that others can write meanwhile; all that it does
carries one moment, by which it is undone as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from core.listing import (
    KINDS,
    MOST_COUNTED,
    Chosen,
    Deletion,
    Done,
    Filter,
    Kind,
    NotAllowed,
    Order,
    name_of,
    tag_of,
)
from core.sessions import Summary
from storage.database import for_writing, told_when_busy
from storage.facts import WHOLE, number_of, set_marks
from storage.finding import Finding
from storage.marking import AT_A_TIME, check_step, put_on, restore, tags_of, take_off, undo_tags
from storage.tables import FacetRow, FactsRow, SavedFilterRow, SessionRow, StarRow

MOST_CHOICES = 500
"""Values of one kind that are offered to filter by."""


class SqlListing:
    """core.listing.Listing on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read, self._write = engine, for_writing(engine)

    def find(self, wanted: Filter, order: Order, limit: int, after: str | None = None) -> list[Summary]:
        """Sessions that aren't deleted, in that order."""
        with self._read.connect() as connection:
            last = None if after is None else number_of(connection, after)
            return _summaries(connection, Finding(connection, wanted, order).numbers(limit, last))

    def count(self, wanted: Filter, most: int = MOST_COUNTED) -> int:
        """How many there are, up to one more than `most`."""
        with self._read.connect() as connection:
            return len(Finding(connection, wanted, Order()).numbers(most + 1))

    def ids(self, chosen: Chosen, limit: int, after: str | None = None) -> list[str]:
        """Ids of what is chosen, from the one after `after` on."""
        if chosen.ids is not None:
            begin = chosen.ids.index(after) + 1 if after is not None else 0
            return list(chosen.ids[begin : begin + limit])
        with self._read.connect() as connection:
            last = None if after is None else number_of(connection, after)
            numbers = Finding(connection, chosen.filter, Order()).numbers(limit, last)
            found = select(FactsRow.number, FactsRow.session_id).where(FactsRow.number.in_(numbers))
            names = {number: session_id for number, session_id in connection.execute(found)}
            return [names[number] for number in numbers]

    def choices(self) -> dict[Kind, list[str]]:
        """The values there are to filter by; one step from each to the next, however many have it."""
        with self._read.connect() as connection:
            return {kind: list(_values(connection, kind)) for kind in KINDS}

    # -- bulk actions ---------------------------------------------------------------------------

    def delete(self, chosen: Chosen) -> Done:
        """Leave them out of lists."""
        moment = datetime.now(UTC)
        count = 0
        for ids in self._in_parts(chosen):
            with self._writing() as connection:
                there = update(SessionRow).where(SessionRow.id.in_(ids), SessionRow.deleted_at.is_(None))
                count += connection.execute(there.values(deleted_at=moment)).rowcount
                rows = update(FactsRow).where(FactsRow.session_id.in_(ids))
                connection.execute(rows.values(deleted=1))
        return Done(count, f"delete {moment.isoformat()}")

    def tag(self, chosen: Chosen, tag: str, *, on: bool) -> Done:
        """Put a tag on them, or take it off."""
        name, moment = tag_of(tag), datetime.now(UTC)
        change = put_on if on else take_off
        count = 0
        for ids in self._in_parts(chosen):
            with self._writing() as connection:
                rows = select(FactsRow.number).where(FactsRow.session_id.in_(ids))
                changed = change(connection, list(connection.scalars(rows)), name, moment)
                for number in changed:
                    set_marks(connection, number)
                count += len(changed)
        return Done(count, f"{'tag' if on else 'untag'} {moment.isoformat()}")

    def undo(self, name: str) -> int:
        """Undo a bulk action."""
        kind, _, when = name.partition(" ")
        try:
            moment = datetime.fromisoformat(when)
        except ValueError as error:
            raise NotAllowed("There is no such action to undo.") from error
        if moment.tzinfo is None or kind not in ("delete", "tag", "untag"):
            raise NotAllowed("There is no such action to undo.")
        count = 0
        while part := self._undo_part(kind, moment):
            count += part
        return count

    def deletions(self, limit: int) -> list[Deletion]:
        """The latest deletions that were not undone."""
        moment, count = SessionRow.deleted_at, func.count()
        rows = select(moment, count, func.min(SessionRow.title)).where(moment.is_not(None)).group_by(moment)
        with self._read.connect() as connection:
            found = connection.execute(rows.order_by(moment.desc()).limit(limit))
            return [
                Deletion(at, sessions, title, f"delete {at.isoformat()}")
                for at, sessions, title in found
                if at is not None
            ]

    def _undo_part(self, kind: str, moment: datetime) -> int:
        with self._writing() as connection:
            if kind == "delete":
                return restore(connection, moment)
            return undo_tags(connection, kind, moment)

    def _in_parts(self, chosen: Chosen) -> Iterator[list[str]]:
        last = None
        while ids := self.ids(chosen, AT_A_TIME, last):
            last = ids[-1]
            kept = [each for each in ids if each not in chosen.but]
            with self._read.connect() as connection:
                there = select(FactsRow.session_id).where(FactsRow.session_id.in_(kept))
                known = set(connection.scalars(there))
            if known:
                yield [each for each in kept if each in known]

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction that writes. Raises StoreBusy where others write for too long."""
        with told_when_busy(), self._write.begin() as connection:
            yield connection

    # -- stars and saved filters ------------------------------------------------------------------

    def star(self, session_id: str, step: int | None, *, on: bool) -> None:
        """Put a star on the session or a candidate of it, or take it off."""
        place = WHOLE if step is None else step
        with self._writing() as connection:
            number = number_of(connection, session_id)
            own = StarRow.number == number, StarRow.step == place
            there = connection.scalar(select(StarRow.step).where(*own)) is not None
            if on and not there:
                check_step(connection, session_id, step)
                connection.execute(insert(StarRow), {"number": number, "step": place})
            elif there and not on:
                connection.execute(delete(StarRow).where(*own))
            set_marks(connection, number)

    def stars(self, session_id: str) -> list[int]:
        """The steps whose candidates have a star."""
        with self._read.connect() as connection:
            number = number_of(connection, session_id)
            rows = select(StarRow.step).where(StarRow.number == number, StarRow.step != WHOLE)
            return list(connection.scalars(rows.order_by(StarRow.step)))

    def saved(self) -> list[tuple[str, str]]:
        """The saved filters in the order of their names."""
        with self._read.connect() as connection:
            rows = select(SavedFilterRow.name, SavedFilterRow.query).order_by(SavedFilterRow.name)
            return [(name, query) for name, query in connection.execute(rows)]

    def save(self, name: str, query: str) -> None:
        """Keep a filter under a name."""
        kept = name_of(name)
        with self._writing() as connection:
            connection.execute(delete(SavedFilterRow).where(SavedFilterRow.name == kept))
            connection.execute(insert(SavedFilterRow), {"name": kept, "query": query})

    def forget(self, name: str) -> None:
        """Drop a saved filter."""
        with self._writing() as connection:
            connection.execute(delete(SavedFilterRow).where(SavedFilterRow.name == name))


# -- summaries ----------------------------------------------------------------------------------


def _summaries(connection: Connection, numbers: list[int]) -> list[Summary]:
    """The summaries of these sessions, in their order; tasks and recipes stay where they are."""
    columns = (
        SessionRow.title,
        SessionRow.created_at,
        SessionRow.ending,
        SessionRow.problem,
        SessionRow.parent_id,
        SessionRow.parent_steps,
    )
    rows = select(FactsRow.__table__, *columns).join(SessionRow, SessionRow.id == FactsRow.session_id)
    found = {row.number: row for row in connection.execute(rows.where(FactsRow.number.in_(numbers)))}
    tags, stars = tags_of(connection, numbers), _starred(connection, numbers)
    return [_summary(found[n], tags.get(n, ()), n in stars) for n in numbers]


def _starred(connection: Connection, numbers: list[int]) -> set[int]:
    """Those that have a star themselves; one on a candidate of theirs is another."""
    rows = select(StarRow.number).where(StarRow.number.in_(numbers), StarRow.step == WHOLE)
    return set(connection.scalars(rows))


def _summary(row: Any, tags: tuple[str, ...], starred: bool) -> Summary:
    parent = (row.parent_id, row.parent_steps) if row.parent_id else None
    same = {name: getattr(row, name) for name in _SAME}
    return Summary(id=row.session_id, parent=parent, starred=starred, tags=tags, **same)


_SAME = (
    "title",
    "created_at",
    "strategy",
    "model",
    "steps",
    "ending",
    "problem",
    "changed_at",
    "preset",
    "outcome",
    "rounds",
    "first_score",
    "last_score",
    "best_score",
    "change",
    "money",
    "tokens",
    "seconds",
)


def _values(connection: Connection, kind: Kind) -> Iterator[str]:
    last = f"{kind}:"
    for _ in range(MOST_CHOICES):
        following = select(func.min(FacetRow.facet)).where(FacetRow.facet > last)
        found = cast("str | None", connection.scalar(following))
        if found is None or not found.startswith(f"{kind}:"):
            return
        last = found
        yield found.partition(":")[2]
