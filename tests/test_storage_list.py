"""The store's list: searched by plain spelling, deleted and restored, and made of older databases."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from core.domain import Task
from core.sessions import UnknownSession
from storage import codec
from storage.database import connect, open_database, upgrade
from storage.store import SqlStore
from tests.values import TASK, ask, recipe, step

PASTED = (
    "art.\u00a05º … \u201cyes\u201d – it\u2019s zero\u200bwidth \ufeffsoft\u00adhyphen cafe\u0301 \u202eabc"
)
NASTY = "tab\t \u2028 \u202eabc \ufeff é e\u0301 🌍 </script> ${x} {{y}} \\u0041 C:\\users"


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    return SqlStore(open_database(f"sqlite:///{tmp_path}/redraft.db"))


def new_session(store: SqlStore, task: Task = TASK, title: str = "A title") -> str:
    return store.create(task, recipe(), "ask", title=title)


def found(store: SqlStore, query: str) -> list[str]:
    return [summary.id for summary in store.recent(10, query=query)]


@pytest.mark.parametrize(
    "query",
    [
        "art. 5",
        "ART. 5º",
        '"yes" - it\'s',
        "zerowidth",
        "width soft",
        "softhyphen",
        "cafe",
        "CAFÉ ab",
        "ar\u00adt.",
    ],
)
def test_plain_spelling_finds_what_was_pasted_and_leaves_it_as_it_was(store: SqlStore, query: str) -> None:
    new_session(store)
    session_id = new_session(store, Task(PASTED))
    assert found(store, query) == [session_id]
    assert store.load(session_id).task.input == PASTED


def test_a_search_looks_at_text_instruction_target_reference_and_title(store: SqlStore) -> None:
    task = Task("alpha", instruction="beta", target="gamma", reference="zeta")
    session_id = new_session(store, task, "delta")
    for word in ("alpha", "beta", "gamma", "delta", "zeta"):
        assert found(store, word) == [session_id]
    assert found(store, "beta alpha") == [session_id]
    assert found(store, '"alpha beta"') == found(store, "alpha epsilon") == []


def test_a_fork_is_found_as_its_source_is(store: SqlStore) -> None:
    session_id = new_session(store, Task("alpha"))
    fork = store.fork(session_id, 0)
    assert found(store, "alpha") == [fork, session_id]


def test_wildcards_and_escapes_are_ordinary_characters(store: SqlStore) -> None:
    session_id = new_session(store, Task("100% of a_b / c\\d"))
    new_session(store, Task("100 or axb"))
    for query in ("100%", "a_b", "b / c", "c\\d"):
        assert found(store, query) == [session_id]
    assert found(store, "%b") == found(store, "'; --") == []


def test_a_query_of_nothing_visible_lists_all(store: SqlStore) -> None:
    session_id = new_session(store)
    assert found(store, " \u200b\0 ") == found(store, "") == [session_id]


def test_a_search_pages_on(store: SqlStore) -> None:
    ids = [new_session(store, Task(f"{word} text")) for word in ("red", "blue") * 3]
    first = store.recent(2, query="red")
    assert [s.id for s in first] == [ids[4], ids[2]]
    assert [s.id for s in store.recent(2, before=first[-1].id, query="red")] == [ids[0]]


def test_the_deleted_are_out_of_lists_but_kept_and_come_back_whole(store: SqlStore) -> None:
    first, second, third = (new_session(store) for _ in range(3))
    store.append(second, 0, step())
    before = store.recent(10)
    store.delete(second)
    assert [s.id for s in store.recent(10)] == [third, first] == found(store, TASK.input)
    assert store.load(second).steps == (step(),)
    assert [s.id for s in store.recent(10, before=second)] == [first]
    store.restore(second)
    assert store.recent(10) == before


def test_only_what_there_is_can_be_deleted_or_restored(store: SqlStore) -> None:
    for call in (store.delete, store.restore, lambda i: store.recent(1, before=i)):
        with pytest.raises(UnknownSession, match="nowhere"):
            call("nowhere")


def test_a_summary_tells_of_changes_and_forks(store: SqlStore) -> None:
    session_id = new_session(store)
    [made] = store.recent(1)
    assert (made.changed_at, made.parent) == (made.created_at, None)
    store.append(session_id, 0, step())
    store.append(session_id, 1, step())
    [changed] = store.recent(1)
    assert changed.changed_at > changed.created_at == made.created_at
    store.fork(session_id, 1)
    [fork] = store.recent(1)
    assert (fork.parent, fork.steps) == ((session_id, 1), 1)
    assert fork.changed_at == fork.created_at > changed.changed_at


def test_a_fork_of_the_whole_has_ended_as_its_source_has(store: SqlStore) -> None:
    session_id = new_session(store)
    for position in range(2):
        store.append(session_id, position, step())
    store.set_ending(session_id, "the rounds are used up")
    part, whole = store.fork(session_id, 1), store.fork(session_id, 2)
    endings = {summary.id: summary.ending for summary in store.recent(10)}
    assert (endings[part], endings[whole]) == ("", "the rounds are used up")


def test_sessions_of_the_first_schema_are_kept_exactly_and_found(tmp_path: Path) -> None:
    engine = connect(f"sqlite:///{tmp_path}/old.db")
    upgrade(engine, "0001")
    task, made = Task(PASTED, instruction=NASTY), "2026-01-01 10:00:00.000000"
    session = (
        "INSERT INTO session VALUES (:id, :made, 'Old', :task, :recipe, 'ask', 'p', 'e', :parent, :steps)"
    )
    values = {
        "made": made,
        "task": codec.dump(task, codec.TASK),
        "recipe": codec.dump(recipe(), codec.RECIPE),
    }
    with engine.begin() as connection:
        for number in range(450):
            link = {"parent": f"{number - 1:03}", "steps": 0} if number else {"parent": None, "steps": None}
            connection.execute(text(session), {**values, **link, "id": f"{number:03}"})
        asked, answer = codec.dump(ask(), codec.REQUEST), codec.dump(step().answer, codec.ANSWER)
        insert = text("INSERT INTO step VALUES ('007', 0, :made, 'ask', :asked, :answer)")
        connection.execute(insert, {"made": made, "asked": asked, "answer": answer})
    upgrade(engine)
    store = SqlStore(engine)
    assert len(store.recent(1000, query="art. 5")) == len(store.recent(1000)) == 450
    old = store.load("007")
    assert (old.task, old.steps, old.parent) == (task, (step(),), ("006", 0))
    assert (old.title, old.problem, old.recipe) == ("Old", "p", recipe())
    with pytest.raises(IntegrityError, match="parent_whole"), engine.begin() as connection:
        connection.execute(text("UPDATE session SET parent_steps = NULL WHERE id = '007'"))
