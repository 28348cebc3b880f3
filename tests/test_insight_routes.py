"""The route of Insight, asked over HTTP in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.insight import By, RoundCell, Scope
from storage.database import open_database
from storage.insight_store import SqlInsightStore
from tests.benches import Bench
from tests.played import bench_in, played
from ui.insight_routes import insight_routes


class Watched(SqlInsightStore):
    """Counts how often it is asked to count."""

    times = 0

    def rounds(self, scope: Scope, by: By, scorer: str) -> list[RoundCell]:
        self.times += 1
        return super().rounds(scope, by, scorer)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_in(tmp_path, 2)


def ask(bench: Bench, store: SqlInsightStore, *queries: str) -> list[Any]:
    """The answers to these queries, one after the other."""

    async def get() -> list[Any]:
        app = FastAPI()
        app.include_router(insight_routes(bench, store))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
            return [(await web.get(f"/api/insight{query}")).json() for query in queries]

    return asyncio.run(get())


def test_every_question_comes_with_its_figures_and_the_choices(bench: Bench, tmp_path: Path) -> None:
    played(bench)
    (view,) = ask(bench, SqlInsightStore(open_database(f"sqlite:///{tmp_path}/redraft.db")), "")
    assert (view["sessions"], view["rounds"], view["scorers"]) == (1, 2, [["logprob", "logprob", 1]])
    assert view["choices"]["strategy"] == [["self_refine", "Draft, critique, revise"]]
    gain = view["charts"][0]
    assert gain["question"] == "Does another round still raise the score?"
    assert gain["lines"][0]["figures"][0] == {
        "n": 1, "value": 1.0, "low": None, "high": None, "method": "", "why": "one value has no interval",
    }  # fmt: skip
    assert len({chart["key"] for chart in view["charts"]}) == len(view["charts"]) > 8


def test_answers_are_remembered_until_something_changes(bench: Bench, tmp_path: Path) -> None:
    session_id = played(bench)
    store = Watched(open_database(f"sqlite:///{tmp_path}/redraft.db"))
    first, again, other = ask(bench, store, "", "", "?by=model")
    assert first == again and store.times == 2
    assert other["charts"][-1]["lines"][1]["name"] == "scripted"
    bench.store.delete(session_id)
    assert ask(bench, store, "")[0]["sessions"] == 0


def test_days_are_counted_from_their_beginning_to_their_end(bench: Bench, tmp_path: Path) -> None:
    day = bench.store.load(played(bench)).created_at.date().isoformat()
    store = SqlInsightStore(open_database(f"sqlite:///{tmp_path}/redraft.db"))
    queries = (f"?since={day}&until={day}", f"?until={day}", "?until=2020-01-01", "?since=2999-01-01")
    assert [view["sessions"] for view in ask(bench, store, *queries)] == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "query",
    ["?since=yesterday", "?until=2026-13-01", "?until=9999-12-31", "?by=colour", f"?model={'x' * 501}"],
)
def test_what_cannot_be_asked_is_said(bench: Bench, tmp_path: Path, query: str) -> None:
    store = SqlInsightStore(open_database(f"sqlite:///{tmp_path}/redraft.db"))
    assert set(ask(bench, store, query)[0]) == {"error"}
