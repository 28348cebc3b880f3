"""Answers the requests of one session that is being advanced, as far as they need no person.

Knows no page: what happens is told to a watcher.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from core.domain import Completion, Cost, Message, Mode, Price, Recipe, Sampling, Score, Usage
from core.gates import ruling
from core.models.protocol import Delta, Happening, Listener, Model, Reply, Restart, unheard
from core.scoring.protocol import Scorer
from core.scoring.votes import group_answers
from core.sessions import Session, StoreBusy
from core.spending import price_of
from core.steps import Answer, Ask, Group, Measure, Measured, Replied, Request, Ruled, Step

T = TypeVar("T")
OpenModel = Callable[[str], Model]
OpenScorer = Callable[[str, Recipe, OpenModel], Scorer]
PriceOf = Callable[[str], Price | None]
BUSY_TRIES, BUSY_SECONDS = 5, 1.0
"""How often and how long to wait where the store is busy: the reply to be kept was paid for."""


@dataclass(frozen=True)
class Began:
    """The session now waits for the answer to this request."""

    position: int
    request: Request


@dataclass(frozen=True)
class Recorded:
    """Step `position`, the answer to this request, is kept."""

    position: int
    request: Request


Event = Began | Recorded | Happening
Watcher = Callable[[Event], None]


class Stop:
    """A person's wish to stop a run; local to one event loop."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self.by = ""

    def ask(self, by: str) -> None:
        """Stop as soon as possible, in this person's name."""
        self.by = self.by or by
        self._asked.set()

    async def race(self, call: Coroutine[Any, Any, T]) -> T | None:
        """The call's result, or None (the call cancelled) when the stop came first."""
        task = asyncio.ensure_future(call)
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            asked.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


@dataclass
class Collector:
    """Passes what happens on in the name of one part of a fan, and keeps the text so far.

    The text is what is left of a call that is cut short. Of several texts in one call the first is kept.
    """

    listen: Listener
    part: int = 0
    text: str = ""

    def __call__(self, happening: Happening) -> None:
        if isinstance(happening, Delta):
            self.text += happening.text if happening.index == 0 else ""
            happening = replace(happening, index=happening.index + self.part)
        elif isinstance(happening, Restart):
            self.text = ""
            happening = Restart(self.part)
        self.listen(happening)


class Kept(Protocol):
    """What a run needs of the workbench that it belongs to."""

    open_model: OpenModel
    open_scorer: OpenScorer
    price: PriceOf

    def mode(self, session_id: str) -> Mode:
        """Who answers the gates now."""
        ...

    def keep(self, session: Session, position: int, step: Step) -> None:
        """Keep a step. Raises StaleStep, RecipeChanged, StoreBusy."""
        ...


@dataclass(frozen=True)
class Run:
    """One advance of one session, by the recipe that it had when it was loaded."""

    bench: Kept
    session: Session
    watch: Watcher
    stop: Stop

    async def answer(self, position: int, request: Request) -> Answer | None:
        """The answer, or None for a gate that is a person's. Raises ModelError."""
        self.watch(Began(position, request))
        if isinstance(request, Ask):
            return await self._ask(request)
        if isinstance(request, Measure):
            return await self._measure(request)
        if isinstance(request, Group):
            return await group_answers(request.task, request.texts)
        decision = ruling(request, await asyncio.to_thread(self.bench.mode, self.session.id))
        return Ruled(decision) if decision else None

    async def record(self, position: int, step: Step) -> None:
        """Keep the step and tell. Raises what keeping it raises."""
        for tries_left in reversed(range(BUSY_TRIES)):
            try:
                await asyncio.to_thread(self.bench.keep, self.session, position, step)
                break
            except StoreBusy:
                if not tries_left:
                    raise
                await asyncio.sleep(BUSY_SECONDS)
        self.watch(Recorded(position, step.request))

    async def _ask(self, ask: Ask) -> Replied:
        name = self.session.recipe.model_for(ask.role)
        model = self.bench.open_model(name)
        heard = Collector(self.watch, ask.part)
        started = time.monotonic()
        reply = await self.stop.race(
            model.complete(ask.messages, n=ask.n, sampling=ask.sampling, listen=heard)
        )
        if reply is not None:
            return Replied(reply, money=self._money(name, reply.usage))
        partial = Completion(heard.text, "stopped")
        spent = time.monotonic() - started
        return Replied(Reply((partial,), Usage(), spent, model.name), stopped_by=self.stop.by)

    def _money(self, name: str, usage: Usage) -> float | None:
        price = self.bench.price(name)
        return price_of(usage, price) if price else None

    async def _measure(self, measure: Measure) -> Measured:
        costs: list[Cost] = []
        columns = await self.stop.race(self._columns(measure, costs))
        if columns is not None:
            return Measured(tuple(zip(*columns, strict=True)), costs=tuple(costs))
        stopped = tuple(Score(name, None, "stopped before it was measured") for name in measure.scorers)
        return Measured((stopped,) * len(measure.texts), self.stop.by, tuple(costs))

    async def _columns(self, measure: Measure, costs: list[Cost]) -> list[tuple[Score, ...]]:
        """One column of scores a scorer, in the order of the texts."""

        def open_counted(name: str) -> Model:
            return _Counted(self.bench.open_model(name), costs, lambda usage: self._money(name, usage))

        recipe = self.session.recipe
        scorers = [self.bench.open_scorer(name, recipe, open_counted) for name in measure.scorers]
        return [await scorer.measure(measure.task, measure.prompt, measure.texts) for scorer in scorers]


class _Counted:
    """A model whose completions are added to a bill."""

    def __init__(self, model: Model, bill: list[Cost], money: Callable[[Usage], float | None]) -> None:
        self._model, self._bill, self._money = model, bill, money
        self.name, self.capabilities, self.score = model.name, model.capabilities, model.score

    async def complete(
        self, messages: Sequence[Message], *, n: int = 1, sampling: Sampling, listen: Listener = unheard
    ) -> Reply:
        reply = await self._model.complete(messages, n=n, sampling=sampling, listen=listen)
        self._bill.append(Cost(reply.usage, reply.seconds, self._money(reply.usage)))
        return reply
