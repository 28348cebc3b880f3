"""Opens a database and brings its schema up to date. Knows no row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from core.sessions import StoreBusy

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_SECONDS = 10.0


class DatabaseTooNew(ValueError):
    """The database was written by a later version."""

    def __init__(self) -> None:
        super().__init__("it was written by a newer version of Redraft: update, or name another database")


def open_database(url: str) -> Engine:
    """An engine on `url` with the newest schema; SQLite files and folders are made. Raises DatabaseTooNew."""
    engine = connect(url)
    revision = _revision(engine)
    if revision != newest_revision():
        if revision is not None and revision > newest_revision():
            raise DatabaseTooNew
        upgrade(engine)
    return engine


def newest_revision() -> str:
    """The revision that the migrations lead to; their files begin with it and are numbered."""
    return max(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def _revision(engine: Engine) -> str | None:
    """The revision that a database is at; looking is quick, where Alembic takes a while to import."""
    if not inspect(engine).has_table("alembic_version"):
        return None
    with engine.connect() as connection:
        found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
        return found


def connect(url: str) -> Engine:
    """An engine on `url`; for SQLite with foreign keys, WAL and a busy time-out on every connection."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True)
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver's own transactions start late and leave DDL out; _begin_sqlite starts real ones.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA journal_mode=WAL")
    # In WAL mode a commit outlives the process in any case; only a power cut may take the last moments.
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later fails at once when another one wrote in
    # between, whatever the busy time-out; one that takes the write lock at its start waits.
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def for_writing(engine: Engine) -> Engine:
    """The same engine, for transactions that will write."""
    return engine.execution_options(write=True)


@contextmanager
def told_when_busy() -> Iterator[None]:
    """A write that the database does not take now is a StoreBusy, with the driver's word if it is known."""
    try:
        yield
    except OperationalError as error:
        reason = str(error.orig)
        raise StoreBusy("" if "locked" in reason or "busy" in reason else reason) from error


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Run the migrations that this database lacks, all in one transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with for_writing(engine).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
