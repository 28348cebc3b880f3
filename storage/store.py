"""The Store on SQLAlchemy: rows to values and back. Knows no strategy and no page."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Engine, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Database

from core.domain import Mode, Recipe, Task
from core.listing import Filter, Order
from core.sessions import RecipeChanged, Session, StaleStep, Summary, UnknownSession
from core.steps import Step
from storage import codec, facts
from storage.archive import SqlArchive
from storage.database import for_writing, told_when_busy
from storage.listing import SqlListing
from storage.reading import session_of, step_of
from storage.tables import FactsRow, SessionRow, StepRow


class SqlStore:
    """core.workbench.Store on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read, self._write = engine, for_writing(engine)
        self.listing, self.archive = SqlListing(engine), SqlArchive(engine)

    def create(self, task: Task, recipe: Recipe, mode: Mode, *, title: str) -> str:
        """Keep a new session without steps and give its id (128 random bits)."""
        row = SessionRow(
            id=secrets.token_hex(16),
            created_at=datetime.now(UTC),
            title=title,
            task=codec.dump(task, codec.TASK),
            recipe=codec.dump(recipe, codec.RECIPE),
            mode=mode,
        )
        with self._writing() as database:
            database.add(row)
            database.flush()
            facts.begin(database.connection(), row.id)
            return row.id

    def fork(self, session_id: str, position: int) -> str:
        """A new session on the first `position` steps of another."""
        with self._writing() as database:
            source = _row(database, session_id)
            recorded = _steps(database, session_id)
            steps = recorded[:position]
            new = SessionRow(
                id=secrets.token_hex(16),
                created_at=datetime.now(UTC),
                title=source.title,
                task=source.task,
                recipe=source.recipe,
                mode=source.mode,
                ending=source.ending if len(steps) == len(recorded) else "",
                parent_id=session_id,
                parent_steps=len(steps),
            )
            database.add(new)
            database.flush()
            database.add_all(_copy(step, new.id) for step in steps)
            database.flush()
            facts.begin(database.connection(), new.id)
            return new.id

    def load(self, session_id: str) -> Session:
        """The session with all its steps."""
        with Database(self._read) as database:
            row = _row(database, session_id)
            return session_of(row, [_step(step) for step in _steps(database, session_id)])

    def append(self, session_id: str, position: int, step: Step, recipe: Recipe | None = None) -> None:
        """Keep step `position`; the primary key refuses the second to come."""
        row = StepRow(
            session_id=session_id,
            position=position,
            created_at=datetime.now(UTC),
            kind=step.request.kind,
            request=codec.dump(step.request, codec.REQUEST),
            answer=codec.dump(step.answer, codec.ANSWER),
        )
        try:
            with self._writing() as database:
                row_now = _row(database, session_id)
                if recipe is not None and row_now.recipe != codec.dump(recipe, codec.RECIPE):
                    raise RecipeChanged
                _refuse_gap(database, session_id, position)
                database.add(row)
                facts.grown(database.connection(), session_id, position + 1, row.created_at)
        except IntegrityError as error:
            raise StaleStep from error

    def set_recipe(self, session_id: str, recipe: Recipe, steps: int) -> None:
        """Put another recipe in the place of the session's, unless it has moved on from `steps` steps."""
        with self._writing() as database:
            row = _row(database, session_id)
            _refuse_gap(database, session_id, steps)
            row.recipe = codec.dump(recipe, codec.RECIPE)
            facts.fall_behind(database.connection(), session_id)

    def family(self, session_id: str) -> list[Session]:
        """The session with all it was forked from and all forks of those, oldest first."""
        with Database(self._read) as database:
            known = {session_id: _row(database, session_id)}
            new = set(known)
            while new:
                near = SessionRow.parent_id.in_(new) | SessionRow.id.in_(
                    [row.parent_id for row in known.values() if row.parent_id]
                )
                found = {row.id: row for row in database.scalars(select(SessionRow).where(near))}
                new = set(found) - set(known)
                known.update(found)
            rows = sorted(known.values(), key=lambda row: (row.created_at, row.id))
            return [session_of(row, [_step(s) for s in _steps(database, row.id)]) for row in rows]

    def mode(self, session_id: str) -> Mode:
        """Who answers the gates now."""
        with Database(self._read) as database:
            return _row(database, session_id).mode  # type: ignore[return-value]  # CHECK mode_known

    def set_mode(self, session_id: str, mode: Mode) -> None:
        """Who answers the gates from now on."""
        self._set(session_id, mode=mode)

    def set_problem(self, session_id: str, problem: str) -> None:
        """Why the session can't go on at the moment, or ""."""
        self._set(session_id, problem=problem)

    def set_ending(self, session_id: str, ending: str) -> None:
        """Why the session has ended, for lists."""
        self._set(session_id, ending=ending)

    def delete(self, session_id: str) -> None:
        """Leave the session out of lists."""
        self._mark(session_id, datetime.now(UTC))

    def restore(self, session_id: str) -> None:
        """Undo `delete`."""
        self._mark(session_id, None)

    def recent(self, limit: int, before: str | None = None, *, query: str = "") -> list[Summary]:
        """The newest sessions that aren't deleted, paged by the last one seen."""
        return self.listing.find(Filter(query), Order(), limit, before)

    def fold(self, session_id: str) -> None:
        """Bring what lists know of the session up to its last step."""
        with told_when_busy(), self._write.begin() as connection:
            facts.fold(connection, session_id)

    def fold_behind(self, most: int) -> int:
        """Do so for sessions that lists are behind of, each in a transaction of its own."""
        with self._read.connect() as connection:
            found = facts.behind(connection, most)
        for session_id in found:
            try:
                self.fold(session_id)
            except ValueError:  # of a row that no version can read: it is listed as it is
                with told_when_busy(), self._write.begin() as connection:
                    facts.leave(connection, session_id)
        return len(found)

    @contextmanager
    def _writing(self) -> Iterator[Database]:
        """One transaction that writes. Raises StoreBusy where others write for too long."""
        with told_when_busy(), Database(self._write) as database, database.begin():
            yield database

    def _set(self, session_id: str, **values: str) -> None:
        with self._writing() as database:
            _row(database, session_id)
            database.execute(update(SessionRow).where(SessionRow.id == session_id).values(**values))
            facts.fall_behind(database.connection(), session_id)

    def _mark(self, session_id: str, deleted_at: datetime | None) -> None:
        with self._writing() as database:
            _row(database, session_id).deleted_at = deleted_at
            listed = update(FactsRow).where(FactsRow.session_id == session_id)
            database.execute(listed.values(deleted=int(deleted_at is not None)))


def _row(database: Database, session_id: str) -> SessionRow:
    row = database.get(SessionRow, session_id)
    if row is None:
        raise UnknownSession(session_id)
    return row


def _steps(database: Database, session_id: str) -> list[StepRow]:
    query = select(StepRow).where(StepRow.session_id == session_id).order_by(StepRow.position)
    return list(database.scalars(query))


def _refuse_gap(database: Database, session_id: str, position: int) -> None:
    """A step that is not the next was computed from a history that is no longer the one here."""
    count = database.scalar(select(func.count()).where(StepRow.session_id == session_id))
    if position != count:
        raise StaleStep


def _copy(step: StepRow, session_id: str) -> StepRow:
    return StepRow(
        session_id=session_id,
        position=step.position,
        created_at=step.created_at,
        kind=step.kind,
        request=step.request,
        answer=step.answer,
    )


def _step(row: StepRow) -> Step:
    return step_of(row.request, row.answer)
