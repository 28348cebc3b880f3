"""The routes of the list of sessions, asked over HTTP in this process."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.domain import Task
from core.interchange import rows_of
from core.runs import Runs
from storage.archive import SqlArchive
from storage.database import open_database
from storage.store import SqlStore
from tests.benches import CRITIQUE, Bench, recipe
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


# -- filters, marks, bulk actions ---------------------------------------------------------------------


def three(bench: Bench) -> list[str]:
    """Three sessions, newest first: one of another strategy, one that ended, one that is open."""
    ids = [bench.new(), bench.new(), bench.new(made_by=recipe(strategy="direct"))]
    bench.store.set_ending(ids[1], "the rounds are used up")
    bench.store.fold(ids[1])
    return ids[::-1]


def test_the_list_is_filtered_and_sorted_as_its_address_says(bench: Bench) -> None:
    direct, ended, first = three(bench)

    async def scene(client: Client) -> None:
        assert await client.ids(outcome="rounds") == [ended]
        assert await client.ids(strategy="self_refine", preset="rewrite") == [ended, first]
        assert await client.ids(strategy="direct", model="scripted") == [direct]
        assert await client.ids(sort="newest", ascending="1") == [first, ended, direct]
        assert await client.ids(since="2999-01-01") == await client.ids(until="2000-01-01") == []
        assert await client.ids(change_least="0") == await client.ids(cost_most="1e9") == []
        count = (await client.web.get("/api/history/count", params={"strategy": "self_refine"})).json()
        assert count == {"count": 2, "more": False}

    play(bench, scene)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"sort": "size"}, "sorted by newest"),
        ({"since": "yesterday"}, "A day looks like"),
        ({"until": "9999-12-31"}, "A day looks like"),
        ({"change_least": "much"}, "change least is a number"),
        ({"cost_most": "nan"}, "cost most is a number"),
        ({"preset": "x" * (LONGEST_QUERY + 1)}, "at most"),
    ],
)
def test_a_filter_that_cannot_be_read_is_told_in_words(
    bench: Bench, query: dict[str, str], words: str
) -> None:
    async def scene(client: Client) -> None:
        assert words in (await client.listed(**query))["error"]

    play(bench, scene)


def test_the_choices_name_what_there_is(bench: Bench) -> None:
    three(bench)

    async def scene(client: Client) -> None:
        values = (await client.web.get("/api/history/choices")).json()["values"]
        assert values["strategy"] == [
            ["direct", "One draft only (the baseline)"], ["self_refine", "Draft, critique, revise"]
        ]  # fmt: skip
        assert values["outcome"] == [["open", "open"], ["rounds", "rounds"]]
        assert values["preset"] == [["rewrite", "rewrite"]] and values["tag"] == []

    play(bench, scene)


async def bulk(client: Client, **asked: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await client.web.post("/api/history/bulk", json=asked)).json()
    return found


async def undo(client: Client, done: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (await client.web.post("/api/history/undo", json={"name": done["undo"]})).json()
    return found


def test_the_chosen_or_all_that_match_are_deleted_and_come_back(bench: Bench) -> None:
    direct, ended, first = three(bench)

    async def scene(client: Client) -> None:
        one = await bulk(client, action="delete", ids=[ended, ended])
        assert one["sessions"] == 1 and await client.ids() == [direct, first]
        rest = await bulk(client, action="delete", filter={"strategy": "self_refine"})
        assert rest["sessions"] == 1 and await client.ids() == [direct]
        assert await undo(client, rest) == {"sessions": 1} and await client.ids() == [direct, first]
        assert await undo(client, one) == {"sessions": 1} and await client.ids() == [direct, ended, first]
        for name in ("", "delete", "delete yesterday", "drop 2026-01-01T00:00:00+00:00"):
            assert "no such action" in (await undo(client, {"undo": name}))["error"]

    play(bench, scene)


def test_all_that_match_leaves_what_runs_alone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["A good meal."], pace=60)
    running, idle = bench.new(), bench.new()

    async def scene(client: Client) -> None:
        client.runs.start(running)
        assert (await bulk(client, action="delete"))["sessions"] == 1
        assert await client.ids() == [running]
        assert (await bulk(client, action="tag", tag="x"))["sessions"] == 1
        assert idle not in await client.ids(tag="x")

    play(bench, scene)


def test_tags_and_stars_are_put_on_shown_and_filtered_by(bench: Bench) -> None:
    direct, ended, first = three(bench)
    bench.store.append(first, 0, step())

    async def scene(client: Client) -> None:
        done = await bulk(client, action="tag", tag=" for the  paper ", ids=[direct, first])
        assert done["sessions"] == 2 and await client.ids(tag="for the paper") == [direct, first]
        assert (await client.listed())["sessions"][0]["tags"] == ["for the paper"]
        assert (await bulk(client, action="untag", tag="for the paper", ids=[first]))["sessions"] == 1
        assert await client.ids(tag="for the paper") == [direct]
        for tag in ("", " ", "x" * 61, "a\u202eb"):
            assert "A tag has" in (await bulk(client, action="tag", tag=tag, ids=[first]))["error"]
        stars = f"/api/sessions/{first}/stars"
        assert (await client.web.post(stars, json={"step": 0, "on": True})).json() == {}
        assert (await client.web.get(stars)).json() == {"stars": [0]}
        assert await client.ids(starred="1") == [first]
        assert "no candidate" in (await client.web.post(stars, json={"step": 5, "on": True})).json()["error"]
        await client.web.post(stars, json={"step": 0, "on": False})
        assert await client.ids(starred="1") == []
        assert (await client.web.post(f"/api/sessions/{ended}/stars", json={"on": True})).json() == {}
        assert (await client.listed())["sessions"][1]["starred"] is True
        nowhere = (await client.web.get("/api/sessions/nowhere/stars")).json()
        assert "There is no session 'nowhere'" in nowhere["error"]

    play(bench, scene)


def test_filters_are_saved_replaced_and_dropped(bench: Bench) -> None:
    async def scene(client: Client) -> None:
        async def saved() -> list[dict[str, str]]:
            found: list[dict[str, str]] = (await client.web.get("/api/history/choices")).json()["saved"]
            return found

        for query in ("q=a", "tag=b"):
            asked = {"name": " Mine ", "query": query}
            assert (await client.web.post("/api/history/saved", json=asked)).json() == {}
        assert await saved() == [{"name": "Mine", "query": "tag=b"}]
        refused = (await client.web.post("/api/history/saved", json={"name": " ", "query": ""})).json()
        assert "A name has" in refused["error"]
        await client.web.post("/api/history/saved/forget", json={"name": "Mine"})
        assert await saved() == []

    play(bench, scene)


def test_the_latest_deletions_are_told_until_they_are_undone(bench: Bench) -> None:
    ids = [bench.new(task=Task(text)) for text in ("one", "two", "three")]

    async def scene(client: Client) -> None:
        async def told() -> list[Any]:
            found: list[Any] = (await client.web.get("/api/history/deletions")).json()["deletions"]
            return found

        assert await told() == []
        await client.web.post("/api/history/bulk", json={"action": "delete", "ids": ids[:2]})
        await client.post(ids[2], "delete")
        latest, before = await told()
        assert (latest["sessions"], before["sessions"]) == (1, 2) and latest["at"] > before["at"]
        assert (await client.web.post("/api/history/undo", json={"name": before["undo"]})).json() == {
            "sessions": 2
        }
        assert [each["undo"] for each in await told()] == [latest["undo"]]
        assert await client.ids() == [ids[1], ids[0]]

    play(bench, scene)


def test_a_bulk_action_by_a_filter_that_is_not_known_is_refused(bench: Bench) -> None:
    bench.new()

    async def scene(client: Client) -> None:
        for wanted in ({"zzz": "x"}, {"q": "\u200b"}):
            body = {"action": "delete", "ids": None, "filter": wanted}
            assert "error" in (await client.web.post("/api/history/bulk", json=body)).json()
        assert len(await client.ids()) == 1

    play(bench, scene)


def test_what_is_exported_can_be_imported(bench: Bench, tmp_path: Path) -> None:
    direct, ended, first = three(bench)
    bench.store.append(first, 0, step())

    async def scene(client: Client) -> None:
        answer = await client.web.get("/api/history/export", params={"strategy": "self_refine"})
        assert "attachment" in answer.headers["Content-Disposition"]
        archive = SqlArchive(open_database(f"sqlite:///{tmp_path}/other.db"))
        assert archive.receive_documents(rows_of(io.BytesIO(answer.content))).new == 2
        picked = await client.web.get("/api/history/export", params={"ids": f"{ended},{direct}"})
        assert archive.receive_documents(rows_of(io.BytesIO(picked.content))).new == 1
        assert len(picked.content.splitlines()) == 3
        nothing = await client.web.get("/api/history/export", params={"ids": "nowhere"})
        assert nothing.status_code == 400 and "no session 'nowhere'" in nothing.json()["error"]
        cells = await client.web.get("/api/history/export", params={"ids": first, "form": "csv"})
        assert "redraft-sessions.csv" in cells.headers["Content-Disposition"]
        header, row = csv.DictReader(io.StringIO(cells.text)).fieldnames, cells.text.splitlines()[1]
        assert header and header[0] == "session" and row.startswith(f"{first},")
        assert "number" in (await client.web.get("/api/history/export?cost_least=x")).json()["error"]

    play(bench, scene)
    other = SqlStore(open_database(f"sqlite:///{tmp_path}/other.db"))
    assert {s.id for s in other.recent(9)} == {direct, ended, first}
    assert other.load(first).steps == (step(),)
