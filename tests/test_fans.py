"""Fans: asks side by side, each recorded as it completes, whatever happens to the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import Decision, Message, Recipe
from core.engine import Finished, Pending
from core.models.protocol import Delta, Listener, ModelError, Reply, unheard
from core.running import Event, Stop
from core.runs import Runs
from core.sessions import Session
from core.steps import Ask, PickGate, Replied, Step
from tests.benches import Bench, recipe
from tests.values import reply

N = 4


class Parallel:
    """A model whose calls are answered by hand: each waits until its seed is let go."""

    name = "scripted"

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[str | ModelError]] = {}
        self.arrived = asyncio.Event()
        self.asked: list[int] = []

    async def capabilities(self) -> Any:
        raise AssertionError

    async def score(self, messages: Any, texts: Any) -> Any:
        raise AssertionError

    async def complete(
        self, messages: Any, *, n: int = 1, sampling: Any, listen: Listener = unheard
    ) -> Reply:
        seed = sampling.seed
        self.asked.append(seed)
        self.waiting[seed] = asyncio.get_running_loop().create_future()
        listen(Delta(0, f"text {seed} begins"))
        self.arrived.set()
        outcome = await self.waiting[seed]
        if isinstance(outcome, ModelError):
            raise outcome
        return reply(outcome)

    async def until(self, count: int) -> None:
        while len(self.waiting) < count:
            self.arrived.clear()
            await self.arrived.wait()


def made(**changes: Any) -> Recipe:
    plain = recipe(scorer=None, strategy="best_of_n")
    sampling = replace(plain.settings.sampling, seed=0)
    return replace(plain, settings=replace(plain.settings, candidates=N, sampling=sampling, **changes))


def bench_with(folder: Path, model: Parallel) -> tuple[Bench, str]:
    bench = Bench(folder, [])
    bench.open_model = lambda _: model
    return bench, bench.new(mode="auto", made_by=made())


def parts(session: Session) -> list[int]:
    return [step.request.part for step in session.steps if isinstance(step.request, Ask)]


def written(step: Step) -> str:
    assert isinstance(step.answer, Replied)
    return step.answer.reply.completions[0].text


def test_all_are_asked_at_once_and_each_is_kept_as_it_completes(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Parallel()
        bench, session_id = bench_with(tmp_path, model)
        heard: list[Event] = []
        run = asyncio.ensure_future(bench.advance(session_id, heard.append, Stop()))
        await model.until(N)
        model.waiting[2].set_result("third")
        while not parts(bench.store.load(session_id)):
            await asyncio.sleep(0)
        assert parts(bench.store.load(session_id)) == [2]
        place = bench.place(bench.store.load(session_id))
        assert isinstance(place, Pending) and [a.part for a in place.open if isinstance(a, Ask)] == [0, 1, 3]
        for seed in (3, 0, 1):
            model.waiting[seed].set_result(f"text {seed}")
        assert isinstance(await run, Finished)
        deltas = [(e.index, e.text) for e in heard if isinstance(e, Delta)]
        assert sorted(deltas) == [(i, f"text {i} begins") for i in range(N)]

    asyncio.run(scene())


def test_one_failure_costs_only_its_own_part(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Parallel()
        bench, session_id = bench_with(tmp_path, model)
        run = asyncio.ensure_future(bench.advance(session_id, lambda _: None, Stop()))
        await model.until(N)
        model.waiting[1].set_result(ModelError("busy", retryable=True))
        for seed in (0, 2, 3):
            model.waiting[seed].set_result(f"text {seed}")
        with pytest.raises(ModelError, match="busy"):
            await run
        assert sorted(parts(bench.store.load(session_id))) == [0, 2, 3]
        assert bench.store.load(session_id).problem == "busy"
        again = asyncio.ensure_future(bench.advance(session_id, lambda _: None, Stop()))
        model.waiting.clear()
        await model.until(1)
        model.waiting[1].set_result("text 1")
        assert isinstance(await again, Finished)
        assert model.asked == [0, 1, 2, 3, 1]

    asyncio.run(scene())


def test_stop_keeps_what_had_streamed_of_every_part(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Parallel()
        bench, session_id = bench_with(tmp_path, model)
        stop = Stop()
        run = asyncio.ensure_future(bench.advance(session_id, lambda _: None, stop))
        await model.until(N)
        model.waiting[0].set_result("whole")
        while not parts(bench.store.load(session_id)):
            await asyncio.sleep(0)
        stop.ask("Ben")
        place = await run
        assert isinstance(place, Finished) and place.outcome.reason == "stopped by Ben"
        assert place.outcome.draft is not None and place.outcome.draft.text == "whole"
        session = bench.store.load(session_id)
        texts = dict(zip(parts(session), map(written, session.steps), strict=True))
        assert texts == {0: "whole", **{i: f"text {i} begins" for i in (1, 2, 3)}}

    asyncio.run(scene())


def test_settings_changed_in_the_middle_of_a_fan_lose_no_reply(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Parallel()
        bench, session_id = bench_with(tmp_path, model)
        run = asyncio.ensure_future(bench.advance(session_id, lambda _: None, Stop()))
        await model.until(N)
        bench.change(session_id, lambda old: replace(old, settings=replace(old.settings, rounds=5)))
        for seed in range(N):
            model.waiting[seed].set_result(f"text {seed}")
        assert isinstance(await run, Finished)
        assert sorted(model.asked) == [0, 1, 2, 3] and len(parts(bench.store.load(session_id))) == N

    asyncio.run(scene())


def test_pages_see_every_part_as_it_streams(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Parallel()
        bench, session_id = bench_with(tmp_path, model)
        runs = Runs(bench)
        live = runs.live(session_id)
        runs.start(session_id)
        await model.until(N)
        assert {part: p.text for part, p in live.texts.items()} == {i: f"text {i} begins" for i in range(N)}
        assert len({p.number for p in live.texts.values()}) == N
        model.waiting[1].set_result("done")
        while 1 in live.texts:
            await live.next_change().wait()
        assert sorted(live.texts) == [0, 2, 3]
        await runs.close()

    asyncio.run(scene())


def test_a_picked_candidate_is_refined_in_a_copy(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["one", "two", "critique VERDICT: revise", "three"])
    two = made()
    session_id = bench.new(mode="ask", made_by=replace(two, settings=replace(two.settings, candidates=2)))
    asyncio.run(bench.advance(session_id, lambda _: None, Stop()))
    place = bench.place(bench.store.load(session_id))
    assert isinstance(place, Pending) and isinstance(place.request, PickGate)
    copy = bench.refine(session_id, place.position, Decision("pick", "Anna", picks=(1,)))
    assert bench.store.load(copy).recipe.strategy == "best_of_n+self_refine"
    asyncio.run(bench.advance(copy, lambda _: None, Stop()))
    critique = bench.model.asks[-1]
    assert Message("assistant", "two") in critique.messages
    assert bench.place(bench.store.load(session_id)) == place  # the original still waits
