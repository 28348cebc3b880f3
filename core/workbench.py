"""The use cases that pages and the command line call, on top of a Store, models and scorers.

Knows no web and no SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from core import engine
from core.checks import BadTask, check_decision, check_task, merged_text, title_of
from core.diff import apply_hunks
from core.domain import Decision, Mode, Recipe, Task
from core.engine import Finished, HistoryMismatch, Moves, Pending, Place
from core.gates import POLICY
from core.models.protocol import ModelError
from core.preset_schema import PresetError
from core.presets import Prompts, load_preset
from core.recipes import reseeded
from core.running import OpenModel, OpenScorer, PriceOf, Run, Stop, Watcher
from core.sessions import RecipeChanged, Session, StaleStep, Store
from core.steps import PickGate, Request, RevisionGate, Ruled, Step, same_question, stopped_by
from core.strategies import STRATEGIES, refining


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


def _no_price(_: str) -> None:
    return None


class Workbench:
    """Sessions on a store, advanced with models and scorers that are opened by name."""

    def __init__(
        self,
        store: Store,
        open_model: OpenModel,
        open_scorer: OpenScorer,
        price: PriceOf = _no_price,
    ) -> None:
        self.store, self.open_model, self.open_scorer, self.price = store, open_model, open_scorer, price

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
        step = Step(place.request, Ruled(_with_text(place.request, decision)))
        try:
            self.store.append(session_id, position, step, session.recipe)
        except RecipeChanged:  # by a setting that was changed at this moment: look again
            self.decide(session_id, position, decision)

    def again(self, session_id: str, position: int = 0) -> str:
        """A new session on the first `position` steps with another seed for what comes after them; its id.

        Asked what was asked there, a model writes another text (where it draws by seed or chance).
        """
        copy = self.store.fork(session_id, position)
        kept = self.store.load(copy)
        self.store.set_recipe(copy, reseeded(kept.recipe), len(kept.steps))
        return copy

    def refine(self, session_id: str, position: int, decision: Decision) -> str:
        """A new session that goes on with rounds of refinement from what is picked at this gate; its id.

        Raises CannotChange where the strategy has no such going on, and what `decide` raises.
        """
        old = self.store.load(session_id)
        strategy = old.recipe.strategy
        further = strategy if strategy.endswith("+self_refine") else refining(strategy)
        if further is None:
            raise CannotChange(f"The strategy {strategy} has no candidates that could be refined further.")
        recipe = replace(old.recipe, strategy=further)
        place = self.place(replace(old, recipe=recipe, steps=old.steps[:position]))
        check_decision(place.request if isinstance(place, Pending) else None, decision)
        copy = self.store.fork(session_id, position)
        self.store.set_recipe(copy, recipe, position)
        self.decide(copy, position, decision)
        return copy

    def branch(self, session_id: str) -> str:
        """A new session on all that this one has, to go on with; before the stop where it was stopped."""
        steps = self.store.load(session_id).steps
        return self.store.fork(session_id, len(steps) - was_stopped(steps))

    def undo(self, session_id: str) -> str:
        """A new session that stands before the last ruling or stop of a person, else of the policy; its id.

        Nothing is deleted: the old session stays. Raises CannotChange when nothing was ruled on yet.
        """
        steps = self.store.load(session_id).steps
        ruled = [i for i, step in enumerate(steps) if isinstance(step.answer, Ruled)]
        by_person = [i for i, step in enumerate(steps) if _by_person(step)]
        if not ruled and not by_person:
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
        try:
            self.store.set_recipe(session_id, changed.recipe, len(session.steps))
        except StaleStep:  # a run recorded a step at this moment: look again
            self.change(session_id, alter)
            return
        self.store.set_ending(session_id, place.outcome.reason if isinstance(place, Finished) else "")
        self.store.fold(session_id)

    def mode(self, session_id: str) -> Mode:
        """Who answers the gates now."""
        return self.store.mode(session_id)

    def keep(self, session: Session, position: int, step: Step) -> None:
        """Keep a step that was asked by the session's recipe, or by one that asks the same.

        Raises StaleStep; RecipeChanged where the recipe is another by now, whether or not the step
        could be kept: what comes next is to be asked by the new one.
        """
        try:
            self.store.append(session.id, position, step, session.recipe)
        except RecipeChanged:
            now = self.store.load(session.id)
            place = self.place(now)
            if isinstance(place, Pending) and any(same_question(ask, step.request) for ask in place.open):
                self.store.append(session.id, place.position, step, now.recipe)
            raise

    async def advance(self, session_id: str, watch: Watcher, stop: Stop) -> Place:
        """Run the session until a gate that is left to a person, or its end.

        Raises ModelError (the session stays resumable at the same step), StaleStep, HistoryMismatch.
        """
        while True:
            session = await asyncio.to_thread(self.store.load, session_id)
            try:
                return await self._advance(session, watch, stop)
            except RecipeChanged:
                continue

    async def _advance(self, session: Session, watch: Watcher, stop: Stop) -> Place:
        run = Run(self, session, watch, stop)
        try:
            place = await engine.play(self.moves(session), session.steps, run.answer, run.record)
        except ModelError as error:
            await asyncio.to_thread(self.store.set_problem, session.id, str(error))
            await asyncio.to_thread(self.store.fold, session.id)
            raise
        if session.problem:
            await asyncio.to_thread(self.store.set_problem, session.id, "")
        if isinstance(place, Finished):
            await asyncio.to_thread(self.store.set_ending, session.id, place.outcome.reason)
        await asyncio.to_thread(self.store.fold, session.id)
        return place


def was_stopped(steps: Sequence[Step]) -> bool:
    """Whether a person's stop was the last that happened: one may want to go on from there."""
    if not steps:
        return False
    answer = steps[-1].answer
    return answer.decision.ruling == "stop" if isinstance(answer, Ruled) else bool(stopped_by(answer))


def _by_person(step: Step) -> bool:
    answer = step.answer
    return answer.decision.by != POLICY if isinstance(answer, Ruled) else bool(stopped_by(answer))


def _with_text(request: Request, decision: Decision) -> Decision:
    """The decision with the text that the chosen changes make: a later diff may number them otherwise."""
    if decision.ruling == "merge" and isinstance(request, PickGate):
        return replace(decision, text=merged_text(request, decision))
    if decision.ruling != "hunks" or not isinstance(request, RevisionGate):
        return decision
    text = apply_hunks(request.current.text, request.proposed.text, set(decision.hunks))
    return replace(decision, text=text)
