"""The store and its lists on a PostgreSQL server, where one is given.

REDRAFT_TEST_POSTGRESQL is the address of an empty database, such as postgresql+psycopg://user@127.0.0.1/name;
psycopg is not among the dependencies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from core.domain import Task
from core.listing import SORTS, Chosen, Filter, Order
from storage.database import open_database
from storage.store import SqlStore
from tests.values import recipe, step

URL = os.environ.get("REDRAFT_TEST_POSTGRESQL", "")
pytestmark = pytest.mark.skipif(not URL, reason="REDRAFT_TEST_POSTGRESQL names no database")


@pytest.fixture(scope="module")
def store() -> Iterator[SqlStore]:
    engine = open_database(URL)
    store = SqlStore(engine)
    for number in range(30):
        animal = "zebra" if number % 7 == 0 else "lion"
        task = Task(f"海洋の温度 hello {animal}, 100% of a_b, café")
        session_id = store.create(task, recipe("name: rewrite"), "ask", title=f"T{number}")
        store.append(session_id, 0, step(answer="harbour"))
    assert store.fold_behind(99) == 30
    yield store
    engine.dispose()


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("zebra", 5),
        ("ZEB", 5),
        ("harb zebra", 5),
        ("温度", 30),
        ("100% a_b", 30),
        ("CAFÉ", 30),
        ('"hello lion"', 25),
        ('" OR :* &|!', 0),
        ("'; --", 0),
    ],
)
def test_words_are_found_by_their_beginnings_and_other_texts_by_their_parts(
    store: SqlStore, query: str, count: int
) -> None:
    assert len(store.recent(99, query=query)) == store.listing.count(Filter(query)) == count


def test_pages_join_to_the_whole_in_every_order(store: SqlStore) -> None:
    for sort in SORTS:
        for ascending in (False, True):
            ids: list[str] = []
            while page := store.listing.find(Filter(), Order(sort, ascending), 7, ids[-1] if ids else None):
                ids += [summary.id for summary in page]
            assert len(set(ids)) == len(ids) == 30


def test_marks_and_bulk_actions_and_their_undo(store: SqlStore) -> None:
    listing, zebras = store.listing, Chosen(None, Filter("zebra"))
    done = listing.tag(zebras, "striped", on=True)
    assert len(listing.find(Filter(tag="striped", strategy="self_refine"), Order(), 99)) == 5
    assert listing.undo(done.undo) == 5 and listing.choices()["tag"] == []
    gone = listing.delete(zebras)
    assert (gone.sessions, listing.count(Filter())) == (5, 25)
    assert (listing.undo(gone.undo), listing.count(Filter())) == (5, 30)
    assert sum(1 for _ in store.archive.file(zebras)) == 6
