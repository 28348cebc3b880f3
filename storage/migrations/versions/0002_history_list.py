"""What the list of sessions needs: a copy of each task's text to search in, and a mark for the deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from core.domain import Task
from core.words import searchable

revision = "0002"
down_revision = "0001"

BATCH = 200
# Not the model's tables: a migration meets the table as it was at its own time.
SESSION = sa.table("session", sa.column("id"), sa.column("title"), sa.column("task"), sa.column("search"))


def upgrade() -> None:
    with op.batch_alter_table("session") as session:
        session.add_column(sa.Column("deleted_at", sa.DateTime(timezone=True)))
        session.add_column(sa.Column("search", sa.Text(), server_default="", nullable=False))
    for rows in _batches(op.get_bind()):
        for row in rows:
            copy = searchable(row.title, _task(row.task))
            op.execute(SESSION.update().where(SESSION.c.id == row.id).values(search=copy))


def _batches(connection: sa.Connection) -> Iterator[Sequence[sa.Row[Any, Any, Any]]]:
    """The sessions, some at a time, in the order of their ids: texts may be a megabyte each."""
    query = sa.select(SESSION.c.id, SESSION.c.title, SESSION.c.task).order_by(SESSION.c.id).limit(BATCH)
    rows = connection.execute(query).all()
    while rows:
        yield rows
        rows = connection.execute(query.where(SESSION.c.id > rows[-1].id)).all()


def _task(text: str) -> Task:
    kept = json.loads(text)
    names = ("input", "instruction", "reference", "target")
    return Task(**{name: kept.get(name, "") for name in names})
