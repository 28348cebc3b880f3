"""The use cases that pages and the command line call, on top of a Store, models and scorers.

Knows no web and no SQL.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core import engine
from core.checks import BadTask, check_decision, check_task, title_of
from core.domain import Completion, Decision, Mode, Recipe, Score, Task, Usage
from core.engine import Finished, HistoryMismatch, Moves, Pending, Place
from core.gates import POLICY, ruling
from core.models.protocol import Delta, Happening, Listener, Model, ModelError, Reply, Restart
from core.preset_schema import PresetError
from core.presets import Prompts, load_preset
from core.recipes import reseeded
from core.scoring.protocol import Scorer
from core.sessions import Session, StaleStep, Store
from core.steps import (
    Answer,
    Ask,
    Measure,
    Measured,
    Replied,
    Request,
    Ruled,
    Step,
)
from core.strategies import STRATEGIES

T = TypeVar("T")


class CannotChange(Exception):
    """A setting can't take this value any more."""

    def __init__(self, message: str = "") -> None:
        super().__init__(
            message
            or "What was already done does not fit this setting. Fork the session at an earlier step, "
            "or begin anew."
        )


class GateClosed(Exception):
    """A decision came for a session that is not waiting for one of this kind."""


@dataclass(frozen=True)
class Began:
    """The session now waits for the answer to this request."""

    position: int
    request: Request


@dataclass(frozen=True)
class Recorded:
    """Step `position` is kept."""

    position: int


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
    """Passes what happens on, and keeps the text so far for a call that is cut short."""

    listen: Listener
    text: str = ""

    def __call__(self, happening: Happening) -> None:
        if isinstance(happening, Delta) and happening.index == 0:
            self.text += happening.text
        elif isinstance(happening, Restart):
            self.text = ""
        self.listen(happening)


class Workbench:
    """Sessions on a store, advanced with models and scorers that are opened by name."""

    def __init__(
        self,
        store: Store,
        open_model: Callable[[str], Model],
        open_scorer: Callable[[str, Recipe], Scorer],
    ) -> None:
        self.store, self.open_model, self.open_scorer = store, open_model, open_scorer

    def start(self, task: Task, recipe: Recipe, mode: Mode) -> str:
        """Keep a new session and give its id; nothing runs yet. Raises BadTask, PresetError."""
        check_task(task, recipe.settings.context_tokens)
        if recipe.strategy not in STRATEGIES:
            known = ", ".join(sorted(STRATEGIES))
            raise BadTask(f"There is no strategy {recipe.strategy!r}. There are: {known}.")
        load_preset(recipe.preset)
        return self.store.create(task, recipe, mode, title=title_of(task))

    def moves(self, session: Session) -> Moves:
        """The session's strategy, at its beginning. Raises PresetError."""
        prompting = Prompts(load_preset(session.recipe.preset))
        return STRATEGIES[session.recipe.strategy](session.task, prompting, session.recipe.settings)

    def place(self, session: Session) -> Place:
        """Where the session stands. Raises HistoryMismatch, PresetError."""
        return engine.replay(self.moves(session), session.steps)

    def readable_place(self, session: Session) -> tuple[Place | None, str]:
        """Where the session stands, or None and the reason why it can only be read any more."""
        try:
            return self.place(session), ""
        except (HistoryMismatch, PresetError) as error:
            return None, str(error)

    def decide(self, session_id: str, position: int, decision: Decision) -> None:
        """Record a person's ruling at the gate that is open at `position`.

        Raises StaleStep when it was ruled on already, GateClosed when no such gate is open.
        """
        session = self.store.load(session_id)
        if position < len(session.steps):
            raise StaleStep
        place = self.place(session)
        if not isinstance(place, Pending) or place.position != position:
            raise GateClosed("Nothing waits for a decision here.")
        check_decision(place.request, decision)
        self.store.append(session_id, position, Step(place.request, Ruled(decision)))

    def again(self, session_id: str) -> str:
        """A new session on the same task with another seed, so that its first draft is another; its id."""
        copy = self.store.fork(session_id, 0)
        sampled = reseeded(self.store.load(copy).recipe)
        self.store.set_recipe(copy, sampled, 0)
        return copy

    def undo(self, session_id: str) -> str:
        """A new session that stands before the last ruling of a person, else of the policy; its id.

        Nothing is deleted: the old session stays. Raises CannotChange when nothing was ruled on yet.
        """
        steps = self.store.load(session_id).steps
        ruled = [i for i, step in enumerate(steps) if isinstance(step.answer, Ruled)]
        by_person = [i for i in ruled if _by_person(steps[i])]
        if not ruled:
            raise CannotChange("There is no decision to undo yet.")
        return self.store.fork(session_id, (by_person or ruled)[-1])

    def change(self, session_id: str, alter: Callable[[Recipe], Recipe]) -> None:
        """Change what shapes the requests to come: models, rounds, budget, gate.

        Raises CannotChange where the recorded steps would not be those that the new recipe asks for.
        """
        session = self.store.load(session_id)
        changed = replace(session, recipe=alter(session.recipe))
        try:
            place = self.place(changed)
        except HistoryMismatch as error:
            raise CannotChange from error
        self.store.set_recipe(session_id, changed.recipe, len(session.steps))
        self.store.set_ending(session_id, place.outcome.reason if isinstance(place, Finished) else "")

    async def advance(self, session_id: str, watch: Watcher, stop: Stop) -> Place:
        """Run the session until a gate that is left to a person, or its end.

        Raises ModelError (the session stays resumable at the same step), StaleStep, HistoryMismatch.
        """
        session = await asyncio.to_thread(self.store.load, session_id)
        run = _Run(self, session, watch, stop)
        try:
            place = await engine.play(self.moves(session), session.steps, run.answer, run.record)
        except ModelError as error:
            await asyncio.to_thread(self.store.set_problem, session_id, str(error))
            raise
        if session.problem:
            await asyncio.to_thread(self.store.set_problem, session_id, "")
        if isinstance(place, Finished):
            await asyncio.to_thread(self.store.set_ending, session_id, place.outcome.reason)
        return place


def _by_person(step: Step) -> bool:
    return isinstance(step.answer, Ruled) and step.answer.decision.by != POLICY


@dataclass(frozen=True)
class _Run:
    """Answers the requests of one session, as far as they need no person."""

    bench: Workbench
    session: Session
    watch: Watcher
    stop: Stop

    async def answer(self, position: int, request: Request) -> Answer | None:
        self.watch(Began(position, request))
        if isinstance(request, Ask):
            return await self._ask(request)
        if isinstance(request, Measure):
            return await self._measure(request)
        mode = await asyncio.to_thread(self.bench.store.mode, self.session.id)
        decision = ruling(request, mode)
        return Ruled(decision) if decision else None

    async def record(self, position: int, step: Step) -> None:
        await asyncio.to_thread(self.bench.store.append, self.session.id, position, step)
        self.watch(Recorded(position))

    async def _ask(self, ask: Ask) -> Replied:
        model = self.bench.open_model(self.session.recipe.model_for(ask.role))
        heard = Collector(self.watch)
        started = time.monotonic()
        call = model.complete(ask.messages, n=ask.n, sampling=ask.sampling, listen=heard)
        reply = await self.stop.race(call)
        if reply is not None:
            return Replied(reply)
        partial = Completion(heard.text, "stopped")
        spent = time.monotonic() - started
        return Replied(Reply((partial,), Usage(), spent, model.name), stopped_by=self.stop.by)

    async def _measure(self, measure: Measure) -> Measured:
        columns = await self.stop.race(self._columns(measure))
        if columns is not None:
            return Measured(tuple(zip(*columns, strict=True)))
        stopped = tuple(Score(name, None, "stopped before it was measured") for name in measure.scorers)
        return Measured((stopped,) * len(measure.texts), stopped_by=self.stop.by)

    async def _columns(self, measure: Measure) -> list[tuple[Score, ...]]:
        """One column of scores a scorer, in the order of the texts."""
        scorers = [self.bench.open_scorer(name, self.session.recipe) for name in measure.scorers]
        return [await scorer.measure(measure.task, measure.prompt, measure.texts) for scorer in scorers]
