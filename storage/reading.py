"""Sessions and steps out of their rows, and rows by their keys. Writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from core.interchange import Kept
from core.sessions import Session, UnknownSession
from core.steps import Step
from storage import codec
from storage.tables import SessionRow, StepRow


def step_of(request: str, answer: str) -> Step:
    """The step that was kept as these two texts."""
    return Step(codec.load(request, codec.REQUEST), codec.load(answer, codec.ANSWER))


def session_of(row: SessionRow | Row[Any], steps: Sequence[Step]) -> Session:
    """The session of this row with these steps."""
    return Session(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        task=codec.load(row.task, codec.TASK),
        recipe=codec.load(row.recipe, codec.RECIPE),
        mode=row.mode,  # type: ignore[arg-type]  # CHECK mode_known
        steps=tuple(steps),
        problem=row.problem,
        parent=parent_of(row),
    )


def parent_of(row: SessionRow | Row[Any]) -> tuple[str, int] | None:
    """What the session was forked from, and after how many steps."""
    return (row.parent_id, row.parent_steps) if row.parent_id and row.parent_steps is not None else None


def kept_session(connection: Connection, session_id: str) -> tuple[Kept, bool] | None:
    """The session with its moments and its ending, without marks, and whether it is deleted; or None."""
    row = connection.execute(select(SessionRow.__table__).where(SessionRow.id == session_id)).one_or_none()
    if row is None:
        return None
    own = select(StepRow.created_at, StepRow.request, StepRow.answer).where(StepRow.session_id == session_id)
    found = connection.execute(own.order_by(StepRow.position)).all()
    steps = [step_of(each.request, each.answer) for each in found]
    kept = Kept(session_of(row, steps), tuple(each.created_at for each in found), row.ending)
    return kept, row.deleted_at is not None


def whole_session(connection: Connection, session_id: str) -> tuple[Session, str]:
    """The session with all its steps, and its ending. Raises UnknownSession."""
    from sqlalchemy.orm import Session as Database

    with Database(connection) as database:
        row = database.get(SessionRow, session_id)
        if row is None:
            raise UnknownSession(session_id)
        query = select(StepRow.request, StepRow.answer).where(StepRow.session_id == session_id)
        steps = [step_of(*each) for each in database.execute(query.order_by(StepRow.position))]
        return session_of(row, steps), row.ending
