"""The routes of the list of sessions, asked over HTTP in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.domain import Task
from core.runs import Runs
from tests.benches import CRITIQUE, Bench
from tests.values import TASK, step
from ui.guard import Guard
from ui.history_routes import LONGEST_QUERY, PAGE, history_routes

HOSTILE = "<script>alert(1)</script> ${x} {{y}} \u202eabc"


@dataclass
class Client:
    """Asks the routes; every answer is JSON."""

    bench: Bench
    runs: Runs
    web: httpx.AsyncClient

    async def listed(self, **query: str) -> dict[str, Any]:
        answer = await self.web.get("/api/history", params=query)
        found: dict[str, Any] = answer.json()
        return found

    async def ids(self, **query: str) -> list[str]:
        return [session["id"] for session in (await self.listed(**query))["sessions"]]

    async def post(self, session_id: str, what: str) -> dict[str, Any]:
        answer = await self.web.post(f"/api/history/{session_id}/{what}")
        found: dict[str, Any] = answer.json()
        return found


def play(bench: Bench, scene: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        runs = Runs(bench)
        app = FastAPI()
        app.add_middleware(Guard)
        app.include_router(history_routes(bench, runs))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
            await scene(Client(bench, runs, web))
        await runs.close()

    asyncio.run(run())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, ["A good meal.", CRITIQUE])


def test_a_row_tells_what_a_list_wants(bench: Bench) -> None:
    session_id = bench.store.create(TASK, bench.store.load(bench.new()).recipe, "ask", title=HOSTILE)
    bench.store.append(session_id, 0, step())

    async def scene(client: Client) -> None:
        answer = await client.listed()
        row = answer["sessions"][0]
        assert answer["more"] is False and row.pop("created_at") < row.pop("changed_at")
        assert row == {
            "id": session_id, "title": HOSTILE, "model": "scripted", "steps": 1,
            "strategy": "Draft, critique, revise", "state": "open", "why": "",
            "parent": None, "forked_at": None, "preset": "rewrite", "rounds": 0, "first": None, "last": None,
            "change": None, "money": None, "tokens": 0, "starred": False, "tags": [],
        }  # fmt: skip

    play(bench, scene)


def test_states_are_told_with_their_reason(bench: Bench) -> None:
    ended, stuck, _ = bench.new(), bench.new(), bench.new()
    bench.store.set_ending(ended, "the rounds are used up")
    bench.store.set_problem(ended, "an old one")
    bench.store.set_problem(stuck, "no reach")

    async def scene(client: Client) -> None:
        rows = (await client.listed())["sessions"]
        said = [(row["state"], row["why"]) for row in rows]
        assert said == [("open", ""), ("has a problem", "no reach"), ("ended", "the rounds are used up")]

    play(bench, scene)


def test_the_list_is_searched_and_paged(bench: Bench) -> None:
    ids = [bench.new(task=Task(f"{'red' if n % 2 else 'blue'} {n}")) for n in range(2 * PAGE + 3)]
    red = ids[1::2][::-1]

    async def scene(client: Client) -> None:
        first = await client.listed(q="RED")
        assert [row["id"] for row in first["sessions"]] == red[:PAGE] and first["more"] is True
        rest = await client.listed(q="red", before=red[PAGE - 1])
        assert [row["id"] for row in rest["sessions"]] == red[PAGE:] and rest["more"] is False
        assert await client.ids(q="red 101") == [ids[101]]
        assert await client.ids(q="green") == []

    play(bench, scene)


def test_exactly_one_page_says_that_there_is_no_more(bench: Bench) -> None:
    for _ in range(PAGE):
        bench.new()

    async def scene(client: Client) -> None:
        answer = await client.listed()
        assert len(answer["sessions"]) == PAGE and answer["more"] is False

    play(bench, scene)


def test_what_was_deleted_is_gone_from_the_list_until_it_is_restored(bench: Bench) -> None:
    session_id, other = bench.new(), bench.new()

    async def scene(client: Client) -> None:
        assert await client.post(session_id, "delete") == {}
        assert await client.post(session_id, "delete") == {}
        assert await client.ids() == [other]
        assert bench.store.load(session_id).task == TASK
        assert await client.post(session_id, "restore") == {}
        assert await client.ids() == [other, session_id]

    play(bench, scene)


def test_a_fork_has_the_whole_history(bench: Bench) -> None:
    session_id = bench.new()
    for position in range(3):
        bench.store.append(session_id, position, step(str(position)))

    async def scene(client: Client) -> None:
        fork = (await client.post(session_id, "fork"))["session"]
        assert bench.store.load(fork).steps == bench.store.load(session_id).steps
        row = (await client.listed())["sessions"][0]
        assert (row["id"], row["parent"], row["forked_at"]) == (fork, session_id, 3)

    play(bench, scene)


def test_a_running_session_is_marked_and_not_deleted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["A good meal."], pace=60)
    session_id, idle = bench.new(), bench.new()
    bench.store.set_problem(session_id, "an old one")

    async def scene(client: Client) -> None:
        client.runs.start(session_id)
        rows = (await client.listed())["sessions"]
        assert [(row["id"], row["state"], row["why"]) for row in rows] == [
            (idle, "open", ""),
            (session_id, "running", ""),
        ]
        assert "is running" in (await client.post(session_id, "delete"))["error"]
        assert client.runs.live(session_id).running
        assert await client.ids() == [idle, session_id]

    play(bench, scene)


def test_refusals_come_in_words(bench: Bench) -> None:
    async def scene(client: Client) -> None:
        for what in ("delete", "restore", "fork"):
            assert "There is no session 'nowhere'" in (await client.post("nowhere", what))["error"]
        assert "There is no session 'nowhere'" in (await client.listed(before="nowhere"))["error"]
        assert "at most" in (await client.listed(q="x" * (LONGEST_QUERY + 1)))["error"]
        assert await client.listed(q="%\0\\'" * (LONGEST_QUERY // 4)) == {"sessions": [], "more": False}

    play(bench, scene)


def test_another_sites_page_can_delete_nothing(bench: Bench) -> None:
    session_id = bench.new()

    async def scene(client: Client) -> None:
        evil = {"Origin": "http://evil.example"}
        answer = await client.web.post(f"/api/history/{session_id}/delete", headers=evil)
        assert answer.status_code == 403
        assert await client.ids() == [session_id]

    play(bench, scene)
