"""The store on SQLite files: exact round trips, refusals, migrations, many writers."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from core.domain import (
    Alternative,
    Critique,
    Decision,
    Draft,
    Message,
    Point,
    Score,
    Token,
    Verdict,
)
from core.sessions import StaleStep, UnknownSession
from core.steps import CritiqueGate, Measure, Measured, Replied, RevisionGate, Ruled, Step
from storage.database import MIGRATIONS, connect, newest_revision, open_database, upgrade
from storage.store import SqlStore
from storage.tables import Base
from tests.values import TASK, ask, recipe, reply, step

NASTY = "tab\t nul-free \u2028 \u202eabc \ufeff é e\u0301 🌍 </script> ${x} {{y}} \\u0041 C:\\users"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_database(f"sqlite:///{tmp_path}/deep/redraft.db")


@pytest.fixture
def store(engine: Engine) -> SqlStore:
    return SqlStore(engine)


def new_session(store: SqlStore) -> str:
    return store.create(TASK, recipe(), "ask", title="A title")


def every_kind_of_step() -> list[Step]:
    draft = Draft(NASTY, scores=(Score("logprob", -1.25, details=(("tokens", 3),)),), flags=("refusal",))
    critique = Critique((Point("weak", "strengthen", NASTY, "major"),), None, NASTY, structured=False)
    token = Token(NASTY, -0.1234567890123456789, (Alternative("é", None),))
    measure = Measure(("logprob",), 1, TASK, (Message("user", NASTY),), (NASTY,))
    score = Score("logprob", None, "no token", tokens=(token,))
    return [
        Step(ask(NASTY), Replied(reply(NASTY, (token,)), stopped_by="Anna")),
        Step(measure, Measured(((score,),))),
        Step(CritiqueGate(1, draft, critique), Ruled(Decision("accept", "Anna", points=critique.points))),
        Step(
            RevisionGate(1, draft, replace(draft, text="b"), Verdict(None, "unknown")),
            Ruled(Decision("edit", "Anna", text=NASTY)),
        ),
    ]


def test_every_kind_of_step_comes_back_exactly(store: SqlStore) -> None:
    session_id = new_session(store)
    steps = every_kind_of_step()
    for position, each in enumerate(steps):
        store.append(session_id, position, each)
    session = store.load(session_id)
    assert list(session.steps) == steps
    assert (session.task, session.recipe, session.mode) == (TASK, recipe(), "ask")
    assert session.created_at.tzinfo is not None


def test_a_second_answer_to_the_same_step_is_refused(store: SqlStore) -> None:
    session_id = new_session(store)
    store.append(session_id, 0, step(answer="first"))
    with pytest.raises(StaleStep, match="already decided"):
        store.append(session_id, 0, step(answer="second"))
    answers = [s.answer for s in store.load(session_id).steps]
    assert answers == [Replied(reply("first"))]


def test_a_step_with_a_gap_before_it_is_refused(store: SqlStore) -> None:
    session_id = new_session(store)
    with pytest.raises(StaleStep):
        store.append(session_id, 1, step())
    assert store.load(session_id).steps == ()


def test_of_many_simultaneous_writers_one_wins(store: SqlStore) -> None:
    session_id = new_session(store)
    results: list[str] = []
    start = threading.Barrier(8)

    def write(name: str) -> None:
        start.wait()
        try:
            store.append(session_id, 0, step(answer=name))
            results.append(name)
        except StaleStep:
            results.append("refused")

    threads = [threading.Thread(target=write, args=(f"writer {i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [r for r in results if r != "refused"]
    assert len(winners) == 1 and results.count("refused") == 7
    assert store.load(session_id).steps == (step(answer=winners[0]),)


def test_writers_of_different_sessions_all_succeed_while_others_write(store: SqlStore) -> None:
    ids = [new_session(store) for _ in range(6)]
    failed: list[BaseException] = []

    def write(session_id: str) -> None:
        try:
            for position in range(15):
                store.append(session_id, position, step(str(position)))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=write, args=(i,)) for i in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [len(store.load(i).steps) for i in ids] == [15] * 6


def test_a_fork_has_the_prefix_and_knows_its_parent(store: SqlStore) -> None:
    session_id = new_session(store)
    for position in range(3):
        store.append(session_id, position, step(str(position)))
    fork = store.load(store.fork(session_id, 2))
    assert fork.steps == store.load(session_id).steps[:2]
    assert fork.parent == (session_id, 2)
    store.append(fork.id, 2, step("other"))
    assert len(store.load(session_id).steps) == 3


def test_unknown_sessions_are_named(store: SqlStore) -> None:
    for call in (store.load, store.mode, lambda i: store.append(i, 0, step()), lambda i: store.fork(i, 0)):
        with pytest.raises(UnknownSession, match="nowhere"):
            call("nowhere")


def test_lists_are_newest_first_and_page_on(store: SqlStore) -> None:
    ids = [new_session(store) for _ in range(5)]
    store.append(ids[4], 0, step())
    store.set_problem(ids[4], "no reach")
    store.set_ending(ids[3], "the rounds are used up")
    first = store.recent(2)
    assert [s.id for s in first] == [ids[4], ids[3]]
    assert (first[0].steps, first[0].problem, first[1].ending) == (1, "no reach", "the rounds are used up")
    assert [s.id for s in store.recent(10, before=ids[3])] == [ids[2], ids[1], ids[0]]


def test_the_mode_can_change_and_only_to_a_known_one(store: SqlStore) -> None:
    session_id = new_session(store)
    store.set_mode(session_id, "auto")
    assert store.mode(session_id) == "auto"
    with pytest.raises(IntegrityError, match="mode_known"):
        store.set_mode(session_id, "sometimes")  # type: ignore[arg-type]


def test_the_pragmas_are_on_for_every_connection(engine: Engine) -> None:
    with engine.connect() as one, engine.connect() as two:
        for connection in (one, two):
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert connection.execute(text("PRAGMA foreign_keys")).scalar() == 1
            assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 10_000


def test_foreign_keys_and_checks_really_refuse(engine: Engine) -> None:
    insert = "INSERT INTO step VALUES (:id, :position, '2026-01-01', 'ask', '{}', '{}')"
    with pytest.raises(IntegrityError, match="FOREIGN KEY"), engine.begin() as connection:
        connection.execute(text(insert), {"id": "nowhere", "position": 0})
    session_id = new_session(SqlStore(engine))
    with pytest.raises(IntegrityError, match="position_natural"), engine.begin() as connection:
        connection.execute(text(insert), {"id": session_id, "position": -1})


def not_of_the_search(name: str | None, kind: str, _: object) -> bool:
    """SQLite's full-text index is made of tables that no model knows."""
    return not (kind == "table" and str(name).startswith(("session_fts", "session_terms")))


def test_the_migrations_make_what_the_tables_say(engine: Engine) -> None:
    with engine.connect() as connection:
        opts = {"compare_type": True, "include_name": not_of_the_search}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, Base.metadata) == []


def test_upgrading_again_changes_nothing(engine: Engine) -> None:
    session_id = new_session(SqlStore(engine))
    upgrade(engine)
    assert SqlStore(engine).load(session_id).title == "A title"


def test_a_failing_migration_leaves_the_database_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = connect(f"sqlite:///{tmp_path}/half.db")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr("alembic.op.create_index", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        upgrade(engine)
    names = sqlite3.connect(f"{tmp_path}/half.db").execute("SELECT name FROM sqlite_master").fetchall()
    assert names == []
    monkeypatch.undo()
    upgrade(engine)
    assert new_session(SqlStore(engine))


def test_many_processes_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def start() -> None:
        try:
            open_database(f"sqlite:///{tmp_path}/new.db")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_database_that_is_up_to_date_is_opened_without_migrations(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.database.upgrade", lambda _: pytest.fail("migrated again"))
    again = open_database(engine.url.render_as_string(hide_password=False))
    assert new_session(SqlStore(again))


def test_the_newest_revision_is_the_one_that_alembic_knows() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == newest_revision()
