"""Alembic's entry: runs on the connection that storage.database passes in."""

from __future__ import annotations

from alembic import context

import storage.study_tables  # noqa: F401  # puts its tables into Base
from storage.database import connect
from storage.tables import Base


def _run(connection: object) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)  # type: ignore[arg-type]
    with context.begin_transaction():
        context.run_migrations()


passed = context.config.attributes.get("connection")
if passed is not None:
    _run(passed)
else:  # `alembic revision --autogenerate -x url=sqlite:///some.db`
    with connect(context.get_x_argument(as_dictionary=True)["url"]).begin() as opened:
        _run(opened)
