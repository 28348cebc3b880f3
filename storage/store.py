"""The Store on SQLAlchemy: rows to values and back. Knows no strategy and no page."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from sqlalchemy import Engine, Select, func, select, tuple_, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session as Database
from sqlalchemy.orm import defer

from core.domain import Mode, Recipe, Task
from core.sessions import RecipeChanged, Session, StaleStep, StoreBusy, Summary, UnknownSession
from core.steps import Step
from core.words import plain, searchable
from storage import codec
from storage.database import for_writing
from storage.tables import SessionRow, StepRow


class SqlStore:
    """core.workbench.Store on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read, self._write = engine, for_writing(engine)

    def create(self, task: Task, recipe: Recipe, mode: Mode, *, title: str) -> str:
        """Keep a new session without steps and give its id (128 random bits)."""
        row = SessionRow(
            id=secrets.token_hex(16),
            created_at=datetime.now(UTC),
            title=title,
            task=codec.dump(task, codec.TASK),
            recipe=codec.dump(recipe, codec.RECIPE),
            mode=mode,
            search=searchable(title, task),
        )
        with Database(self._write) as database, database.begin():
            database.add(row)
            return row.id

    def fork(self, session_id: str, position: int) -> str:
        """A new session on the first `position` steps of another."""
        with Database(self._write) as database, database.begin():
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
                search=source.search,
                ending=source.ending if len(steps) == len(recorded) else "",
                parent_id=session_id,
                parent_steps=len(steps),
            )
            database.add(new)
            database.flush()
            database.add_all(_copy(step, new.id) for step in steps)
            return new.id

    def load(self, session_id: str) -> Session:
        """The session with all its steps."""
        with Database(self._read) as database:
            row = _row(database, session_id)
            steps = tuple(_step(step) for step in _steps(database, session_id))
            return _session(row, steps)

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
            with Database(self._write) as database, database.begin():
                row_now = _row(database, session_id)
                if recipe is not None and row_now.recipe != codec.dump(recipe, codec.RECIPE):
                    raise RecipeChanged
                _refuse_gap(database, session_id, position)
                database.add(row)
        except IntegrityError as error:
            raise StaleStep from error
        except OperationalError as error:
            raise StoreBusy from error

    def set_recipe(self, session_id: str, recipe: Recipe, steps: int) -> None:
        """Put another recipe in the place of the session's, unless it has moved on from `steps` steps."""
        with Database(self._write) as database, database.begin():
            row = _row(database, session_id)
            _refuse_gap(database, session_id, steps)
            row.recipe = codec.dump(recipe, codec.RECIPE)

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
            return [_session(row, tuple(_step(s) for s in _steps(database, row.id))) for row in rows]

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
        self._set(session_id, deleted_at=datetime.now(UTC))

    def restore(self, session_id: str) -> None:
        """Undo `delete`."""
        self._set(session_id, deleted_at=None)

    def recent(self, limit: int, before: str | None = None, *, query: str = "") -> list[Summary]:
        """The newest sessions that aren't deleted, paged by the last one seen."""
        sought = plain(query)
        rows = _listed().limit(limit)
        if sought:
            rows = rows.where(SessionRow.search.contains(sought, autoescape=True))
        with Database(self._read) as database:
            if before is not None:
                last = _row(database, before)
                rows = rows.where(
                    tuple_(SessionRow.created_at, SessionRow.id) < tuple_(last.created_at, last.id)
                )
            return [_summary(row, steps, changed) for row, steps, changed in database.execute(rows)]

    def _set(self, session_id: str, **values: str | datetime | None) -> None:
        with Database(self._write) as database, database.begin():
            _row(database, session_id)
            database.execute(update(SessionRow).where(SessionRow.id == session_id).values(**values))


def _listed() -> Select[SessionRow, int, datetime | None]:
    """The rows of lists, newest first, each with the number of its steps and the moment of the last."""
    own = StepRow.session_id == SessionRow.id
    count = select(func.count()).where(own).scalar_subquery()
    last = select(StepRow.created_at).where(own).order_by(StepRow.position.desc()).limit(1)
    # Tasks may be a megabyte each, and a list shows none.
    rows = select(SessionRow, count, last.scalar_subquery()).options(defer(SessionRow.task))
    return rows.where(SessionRow.deleted_at.is_(None)).order_by(
        SessionRow.created_at.desc(), SessionRow.id.desc()
    )


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
    return Step(codec.load(row.request, codec.REQUEST), codec.load(row.answer, codec.ANSWER))


def _session(row: SessionRow, steps: tuple[Step, ...]) -> Session:
    return Session(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        task=codec.load(row.task, codec.TASK),
        recipe=codec.load(row.recipe, codec.RECIPE),
        mode=row.mode,  # type: ignore[arg-type]  # CHECK mode_known
        steps=steps,
        problem=row.problem,
        parent=_parent(row),
    )


def _parent(row: SessionRow) -> tuple[str, int] | None:
    return (row.parent_id, row.parent_steps) if row.parent_id and row.parent_steps is not None else None


def _summary(row: SessionRow, steps: int, changed: datetime | None) -> Summary:
    recipe: Recipe = codec.load(row.recipe, codec.RECIPE)
    return Summary(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        strategy=recipe.strategy,
        model=recipe.model,
        steps=steps,
        ending=row.ending,
        problem=row.problem,
        # A fork's steps are as old as those they were copied from.
        changed_at=max(row.created_at, changed or row.created_at),
        parent=_parent(row),
    )
