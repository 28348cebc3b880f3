"""Databases that earlier versions of the schema wrote, as those versions' own code left them: data intact."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core.catching_up import catch_up
from core.engine import Finished
from core.listing import Filter, Order
from core.workbench import Workbench
from storage.database import MIGRATIONS, connect, newest_revision, open_database, upgrade
from storage.store import SqlStore
from tests.benches import Bench
from tests.values import TASK, recipe, step

DUMPS = sorted((Path(__file__).parent / "data" / "schemas").glob("*.sql"))
DRAFT = "A splendid meal, 海洋の温度."
KEPT = {
    "session": "id, created_at, title, task, recipe, mode, problem, ending, parent_id, parent_steps",
    "step": "session_id, position, created_at, kind, request, answer",
}


def rows(path: Path) -> dict[str, list[Any]]:
    database = sqlite3.connect(path)
    found = {
        table: database.execute(f"SELECT {names} FROM {table} ORDER BY 1, 2").fetchall()
        for table, names in KEPT.items()
    }
    database.close()
    return found


@pytest.fixture(params=DUMPS, ids=[path.stem for path in DUMPS])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A database of an earlier version."""
    path = tmp_path / "redraft.db"
    database = sqlite3.connect(path)
    database.executescript(request.param.read_text(encoding="utf-8"))
    database.close()
    return path


def deleted(path: Path) -> int:
    """How many sessions its version had deleted."""
    database = sqlite3.connect(path)
    names = [row[1] for row in database.execute("PRAGMA table_info(session)")]
    query = "SELECT count(*) FROM session WHERE deleted_at IS NOT NULL"
    count = database.execute(query).fetchone()[0] if "deleted_at" in names else 0
    database.close()
    return int(count)


def test_there_is_a_database_of_every_earlier_schema() -> None:
    versions = {path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    assert {path.stem[-4:] for path in DUMPS} == versions - {newest_revision()}


def test_every_row_is_as_it_was(old: Path) -> None:
    before = rows(old)
    assert len(before["session"]) == 4 and len(before["step"]) == 18
    open_database(f"sqlite:///{old}")
    assert rows(old) == before


def test_all_sessions_can_be_opened_and_go_on(old: Path) -> None:
    store = SqlStore(open_database(f"sqlite:///{old}"))
    bench: Workbench = Bench(old.parent / "other", ["x"])
    ended = [isinstance(bench.place(store.load(row[0])), Finished) for row in rows(old)["session"] if row[7]]
    assert ended == [True, True]


def test_lists_know_them_at_once_and_all_of_them_when_they_have_caught_up(old: Path) -> None:
    gone = deleted(old)
    store = SqlStore(open_database(f"sqlite:///{old}"))
    listed = store.recent(10)
    assert len(listed) == 4 - gone and [s.steps for s in listed][-1] == 12
    assert len(store.recent(10, query="CAFÉ")) == 2 and store.recent(10, query="splendid meal") == []
    assert (store.fold_behind(3), store.fold_behind(3), store.fold_behind(3)) == (3, 1, 0)
    found = store.recent(10, query='"splendid meal"')
    first = found[-1]
    assert len(found) == 2 - gone
    assert (first.outcome, first.rounds, first.preset) == ("rounds", 2, "rewrite")
    assert (first.first_score, first.last_score) == (-2.0, -1.0) and first.changed_at > first.created_at
    assert [s.outcome for s in store.listing.find(Filter(outcome="failed"), Order(), 9)] == ["failed"]
    assert len(store.recent(10, query="温度")) == 3 - gone


def test_folding_again_changes_nothing(old: Path) -> None:
    store = SqlStore(open_database(f"sqlite:///{old}"))
    store.fold_behind(10)
    before = store.recent(10)
    for summary in before:
        store.fold(summary.id)
    assert store.recent(10) == before


def test_a_fork_and_its_source_of_one_moment_both_have_a_place(tmp_path: Path) -> None:
    path = tmp_path / "same.db"
    engine = connect(f"sqlite:///{path}")
    upgrade(engine, "0003")
    engine.dispose()
    database = sqlite3.connect(path)
    insert = "INSERT INTO session (id, created_at, title, task, recipe, mode) VALUES (?, ?, ?, ?, ?, 'ask')"
    task = '{"input": "x"}'
    for number in range(2500):
        moment = f"2026-01-01 00:00:00.{number // 100:06}"
        database.execute(insert, (f"{number:04}", moment, str(number), task, '{"strategy": "direct"}'))
    database.commit()
    database.close()
    store = SqlStore(open_database(f"sqlite:///{path}"))
    found = [summary.title for summary in store.recent(5000)]
    assert found == [str(number) for number in reversed(range(2500))]


def test_lists_catch_up_in_the_background_and_a_row_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/redraft.db")
    store = SqlStore(engine)
    ids = [store.create(TASK, recipe(), "ask", title=str(number)) for number in range(5)]
    for each in ids:
        store.append(each, 0, step(answer="a zebra"))
    with engine.begin() as connection:
        broken = text("UPDATE step SET answer = '{}' WHERE session_id = :id")
        connection.execute(broken, {"id": ids[2]})
    asyncio.run(catch_up(store))
    assert [s.id for s in store.recent(9, query="zebra")] == [ids[4], ids[3], ids[1], ids[0]]
    assert [s.id for s in store.recent(9)] == ids[::-1] and store.fold_behind(9) == 0


def test_a_session_that_went_on_is_behind_until_it_is_folded(tmp_path: Path) -> None:
    store = SqlStore(open_database(f"sqlite:///{tmp_path}/redraft.db"))
    session_id = store.create(TASK, recipe(), "ask", title="x")
    assert store.fold_behind(9) == 0
    changes: list[Callable[[], None]] = [
        lambda: store.append(session_id, 0, step()),
        lambda: store.set_ending(session_id, "stopped by Anna"),
        lambda: store.set_problem(session_id, "no reach"),
        lambda: store.set_recipe(session_id, recipe("name: other"), 1),
    ]
    for change in changes:
        change()
        assert (store.fold_behind(9), store.fold_behind(9)) == (1, 0)
    [summary] = store.recent(1)
    assert (summary.preset, summary.outcome, summary.steps) == ("other", "stopped", 1)
