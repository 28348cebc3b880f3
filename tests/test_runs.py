"""Runs belong to the server: pages come and go, decisions meet a run that is still ending."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any, cast

from core.domain import Decision
from core.models.protocol import ModelError
from core.runs import BUG, Runs
from tests.benches import CRITIQUE, Bench, recipe
from ui.events import Views
from ui.sharing import HELD

TEXTS = ["A good meal.", CRITIQUE, "A splendid meal."]
SCORES = {"A good meal.": -2.0, "A splendid meal.": -1.0}


async def until(runs: Runs, session_id: str) -> None:
    """Wait for the session's run to end."""
    live = runs.live(session_id)
    while live.task is not None:
        change = live.next_change()
        if live.task is not None:
            await asyncio.wait_for(change.wait(), 10)


def test_starting_twice_runs_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new()

    async def scene() -> None:
        runs = Runs(bench)
        for _ in range(3):
            runs.start(session_id)
        await until(runs, session_id)

    asyncio.run(scene())
    assert len(bench.model.asks) == 2


def test_a_decision_that_comes_while_the_run_is_ending_is_acted_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new(made_by=recipe(rounds=1))

    async def scene() -> None:
        runs = Runs(bench)
        live = runs.live(session_id)
        runs.start(session_id)
        # The gate is seen while the task that opened it has not returned yet.
        while not (live.doing is not None and live.doing.kind == "critique gate"):
            await live.next_change().wait()
        assert live.running
        bench.decide(session_id, 3, Decision("accept", "Anna"))
        runs.start(session_id)
        await until(runs, session_id)

    asyncio.run(scene())
    assert len(bench.model.asks) == 3


def test_failures_are_said_and_bugs_are_logged_but_not_shown(tmp_path: Path, caplog: Any) -> None:
    async def problem(bench: Bench) -> str:
        session_id = bench.new()
        runs = Runs(bench)
        runs.start(session_id)
        await until(runs, session_id)
        return runs.live(session_id).problem

    assert asyncio.run(problem(Bench(tmp_path, [ModelError("no reach")]))) == "no reach"
    assert asyncio.run(problem(Bench(tmp_path, []))) == BUG
    assert "ScriptRanOut" in caplog.text


def parsed(message: str) -> tuple[str, Any]:
    """An event's name ("" for a text) and data."""
    name, _, data = message.rpartition("data: ")
    return name.removeprefix("event: ").strip(), json.loads(data)


async def read(stream: AsyncIterator[str], until_kind: str) -> list[tuple[str, Any]]:
    """Events up to the first of that kind."""
    events = []
    async for message in stream:
        kind, data = parsed(message)
        events.append((kind, data))
        if kind == until_kind:
            break
    return events


def test_a_page_that_joins_in_mid_stream_gets_the_text_so_far_once(tmp_path: Path) -> None:
    words = " ".join(f"word{i}" for i in range(40))
    bench = Bench(tmp_path, [words, CRITIQUE], pace=0.01, scores={words: -1.0})
    session_id = bench.new()

    async def scene() -> list[str]:
        runs = Runs(bench)
        views = Views(bench, runs)
        runs.start(session_id)
        live = runs.live(session_id)
        while "word9" not in live.text:
            await live.next_change().wait()
        texts = ["", ""]

        async def follow(page: int) -> None:
            async for message in views.stream(session_id):
                kind, event = parsed(message)
                if not kind and event[0] == 1:
                    assert event[1] == len(texts[page])
                    texts[page] += event[2]
                if kind == "view" and event["head"]["round"] == 1:
                    texts.append(event[HELD + event["row 0"]["base"]["text"]["held"]])
                    return

        await asyncio.gather(follow(0), follow(1))
        await runs.close()
        return texts

    one, two, whole, again = asyncio.run(scene())
    # What had not been sent when the text was recorded comes with the view instead.
    assert words.startswith(one) and words.startswith(two) and min(len(one), len(two)) > 60
    assert whole == again == words


def test_a_session_that_is_not_there_is_said_to_be_gone(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    events = asyncio.run(read(Views(bench, Runs(bench)).stream("nowhere"), "gone"))
    assert [kind for kind, _ in events] == ["gone"] and "nowhere" in events[0][1]["text"]


def test_what_nobody_watches_and_nothing_runs_in_is_forgotten(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new()

    async def scene() -> tuple[bool, bool]:
        runs = Runs(bench)
        stream = cast(AsyncGenerator[str], Views(bench, runs).stream(session_id))
        before = runs.live(session_id)
        async for _ in stream:
            break
        same = runs.live(session_id) is before
        await stream.aclose()
        return same, runs.live(session_id) is before

    assert asyncio.run(scene()) == (True, False)


def test_closing_the_server_ends_runs_and_leaves_them_resumable(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, pace=30.0)
    session_id = bench.new()

    async def scene() -> None:
        runs = Runs(bench)
        runs.start(session_id)
        while not runs.live(session_id).text:
            await runs.live(session_id).next_change().wait()
        await runs.close()

    asyncio.run(scene())
    session = bench.store.load(session_id)
    assert session.steps == () and session.problem == ""


def test_a_run_that_ends_unwatched_is_forgotten_and_a_problem_is_not(tmp_path: Path) -> None:
    async def known(bench: Bench) -> bool:
        session_id = bench.new(mode="auto", made_by=recipe(rounds=1, scorer=None))
        runs = Runs(bench)
        live = runs.live(session_id)
        runs.start(session_id)
        while live.running:
            await live.next_change().wait()
        return runs.live(session_id) is live

    assert not asyncio.run(known(Bench(tmp_path, ["A text.", CRITIQUE, "Another text."])))
    (tmp_path / "other").mkdir()
    assert asyncio.run(known(Bench(tmp_path / "other", [ModelError("no reach")])))
