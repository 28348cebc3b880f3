"""What a person does with a session, and what a page asks of it besides its stream.

Plain routes rather than Gradio events: a decision then works from any page, after a restart of the
server and without a Gradio session. Errors come back as {"error": words} for where the person looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from core.checks import BadDecision, BadTask
from core.domain import Budget, Decision, Mode, Point, Recipe, Role, Ruling, Severity
from core.engine import Finished, HistoryMismatch, Place
from core.export import Form, export
from core.history import tokens_at
from core.models.catalog import Models, UnknownModel
from core.models.protocol import ModelError
from core.preset_schema import PresetError
from core.runs import Runs
from core.sessions import StaleStep, StoreBusy, UnknownSession
from core.step_table import step_table
from core.workbench import CannotChange, GateClosed, Workbench
from ui.events import Views
from ui.family import family_view

REFUSALS = (
    BadDecision,
    BadTask,
    CannotChange,
    GateClosed,
    HistoryMismatch,
    ModelError,
    PresetError,
    StaleStep,
    StoreBusy,
    UnknownModel,
    UnknownSession,
)
Answer = dict[str, Any]
FileForm = Form | Literal["csv", "txt"]
LONGEST_POINT = 20_000
SHOWN_DIGITS = 3
EXPORT_TYPES = {
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "html": "application/octet-stream",
    "csv": "text/csv; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}


class NoResult(Exception):
    """A result was asked for where there is none."""


class PointBody(BaseModel):
    """A critique point as the page sends it."""

    problem: str = Field(max_length=LONGEST_POINT)
    action: str = Field("", max_length=LONGEST_POINT)
    quote: str = Field("", max_length=LONGEST_POINT)
    severity: Severity = "unstated"
    by: str = Field("model", max_length=200)


class DecisionBody(BaseModel):
    """A ruling as the page sends it; `position` is the step that the person saw open."""

    position: int = Field(ge=0)
    ruling: Ruling
    text: str | None = None
    note: str = ""
    points: list[PointBody] | None = Field(None, max_length=200)
    hunks: list[int] = Field([], max_length=100_000)
    picks: list[int] = Field([], max_length=64)
    merged: list[tuple[int, int]] = Field([], max_length=10_000)


class ModeBody(BaseModel):
    """Who answers the gates from now on."""

    mode: Mode


class ForkBody(BaseModel):
    """How many steps the new session begins with."""

    position: int = Field(ge=0)


class AgainBody(BaseModel):
    """The step whose reply the model shall write again: the new session begins with all before it."""

    position: int = Field(0, ge=0)


class SettingsBody(BaseModel):
    """Settings for the steps to come; what is not named stays as it is, a budget of null has no limit."""

    model: str | None = Field(None, max_length=500)
    models: dict[Role, str] | None = None
    rounds: int | None = Field(None, ge=1, le=50)
    calls: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    seconds: float | None = Field(None, gt=0)
    money: float | None = Field(None, gt=0)


def session_routes(bench: Workbench, runs: Runs, models: Models, person: str) -> APIRouter:
    """The session routes; `person` is who rules on this server."""
    routes = _Routes(bench, runs, models, person, Views(bench, runs))
    router = APIRouter(prefix="/api/sessions/{session_id}")
    for path, read in (
        ("/events", routes.events),
        ("/export", routes.export),
        ("/family", routes.family),
        ("/tokens", routes.tokens),
        ("/tokens/{index}", routes.alternatives),
    ):
        router.add_api_route(path, read, methods=["GET"], response_model=None)
    for path, act in (
        ("/decisions", routes.decide),
        ("/mode", routes.mode),
        ("/run", routes.run),
        ("/stop", routes.stop),
        ("/settings", routes.settings),
        ("/fork", routes.fork),
        ("/again", routes.again),
        ("/undo", routes.undo),
    ):
        router.add_api_route(path, act, methods=["POST"], response_model=None)
    return router


@dataclass(frozen=True)
class _Routes:
    bench: Workbench
    runs: Runs
    models: Models
    person: str
    views: Views

    # -- reading ----------------------------------------------------------------------------

    async def events(self, session_id: str) -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self.views.stream(session_id)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def export(self, session_id: str, form: FileForm) -> Response:
        try:
            text = await asyncio.to_thread(_exported, self.bench, session_id, form)
        except (UnknownSession, NoResult) as refusal:
            return JSONResponse({"error": str(refusal)}, status_code=404)
        name = f"attachment; filename=session-{session_id[:8]}.{form}"
        return Response(text, media_type=EXPORT_TYPES[form], headers={"Content-Disposition": name})

    async def family(self, session_id: str) -> Answer:
        return await answered(lambda: {"sessions": family_view(self.bench, session_id)})

    async def tokens(self, session_id: str, step: int, which: int = 0) -> Answer:
        def read() -> Answer:
            found = _tokens(self.bench, session_id, step, which)
            return {"lengths": [len(t.text) for t in found], "logprobs": [_rounded(t.logprob) for t in found]}

        return await answered(read)

    async def alternatives(self, session_id: str, step: int, index: int, which: int = 0) -> Answer:
        def read() -> Answer:
            found = _tokens(self.bench, session_id, step, which)
            wanted = found[index].alternatives if 0 <= index < len(found) else ()
            return {"alternatives": [[a.text, a.logprob] for a in wanted]}

        return await answered(read)

    # -- deciding ---------------------------------------------------------------------------

    async def decide(self, session_id: str, body: DecisionBody) -> Answer:
        decision = _decision(body, self.person)
        return await self._then_run(
            session_id, lambda: self.bench.decide(session_id, body.position, decision)
        )

    async def mode(self, session_id: str, body: ModeBody) -> Answer:
        return await self._then_run(session_id, lambda: self.bench.store.set_mode(session_id, body.mode))

    async def run(self, session_id: str) -> Answer:
        return await self._then_run(session_id, lambda: self.bench.store.mode(session_id))

    async def stop(self, session_id: str) -> Answer:
        stopped = self.runs.stop(session_id, self.person)
        return {} if stopped else {"error": "Nothing is running here any more."}

    async def settings(self, session_id: str, body: SettingsBody) -> Answer:
        def change() -> None:
            for name in filter(None, (body.model, *(body.models or {}).values())):
                self.models.open(name)
            self.bench.change(session_id, lambda recipe: _altered(recipe, body))

        answer = await answered(change)
        self.runs.refresh(session_id)
        return answer

    async def fork(self, session_id: str, body: ForkBody) -> Answer:
        return await answered(lambda: {"session": self.bench.store.fork(session_id, body.position)})

    async def again(self, session_id: str, body: AgainBody) -> Answer:
        answer = await answered(lambda: {"session": self.bench.again(session_id, body.position)})
        if "session" in answer:
            self.runs.start(answer["session"])
        return answer

    async def undo(self, session_id: str) -> Answer:
        return await answered(lambda: {"session": self.bench.undo(session_id)})

    async def _then_run(self, session_id: str, work: Callable[[], object]) -> Answer:
        """Do the work, then let the session run on; a refusal shows every page the truth again."""

        def done() -> None:
            work()

        answer = await answered(done)
        if "error" in answer:
            self.runs.refresh(session_id)
        else:
            self.runs.start(session_id)
        return answer


def _exported(bench: Workbench, session_id: str, form: FileForm) -> str:
    kept = bench.store.archive.one(session_id)
    if form == "csv":
        return "".join(step_table([kept]))
    place, _ = bench.readable_place(kept.session)
    return _result(place) if form == "txt" else export(kept.session, place, form, kept)


def _result(place: Place | None) -> str:
    """The text that the session has come to, and nothing else. Raises NoResult."""
    draft = place.outcome.draft if isinstance(place, Finished) else None
    if draft is None:
        raise NoResult("This session has no result yet: it has not ended, or ended without a draft.")
    return draft.text


def _rounded(logprob: float | None) -> float | None:
    """As much of the number as a heat map shows."""
    return None if logprob is None else round(logprob, SHOWN_DIGITS)


def _tokens(bench: Workbench, session_id: str, step: int, which: int) -> Any:
    session = bench.store.load(session_id)
    known = 0 <= step < len(session.steps)
    return tokens_at(session.steps, step, session.task.input, which) if known else ()


async def answered(work: Callable[[], Any]) -> dict[str, Any]:
    """What the work gives, or the words of its refusal."""
    try:
        return await asyncio.to_thread(work) or {}
    except REFUSALS as refusal:
        return {"error": str(refusal)}


def _decision(body: DecisionBody, person: str) -> Decision:
    points = None if body.points is None else tuple(_point(point, person) for point in body.points)
    note = body.note.strip()
    return Decision(
        body.ruling,
        person,
        text=body.text,
        points=points,
        note=note,
        hunks=tuple(body.hunks),
        picks=tuple(body.picks),
        merged=tuple(body.merged),
    )


def _point(body: PointBody, person: str) -> Point:
    by = "model" if body.by == "model" else person
    return Point(body.problem, body.action, body.quote, body.severity, by)


def _altered(recipe: Recipe, body: SettingsBody) -> Recipe:
    """The recipe with what the body names."""
    named = body.model_fields_set
    old = recipe.settings.budget
    budget = Budget(
        calls=body.calls if "calls" in named else old.calls,
        tokens=body.tokens if "tokens" in named else old.tokens,
        seconds=body.seconds if "seconds" in named else old.seconds,
        money=body.money if "money" in named else old.money,
    )
    settings = replace(recipe.settings, rounds=body.rounds or recipe.settings.rounds, budget=budget)
    roles = recipe.models if body.models is None else tuple((r, m) for r, m in body.models.items() if m)
    return replace(recipe, model=body.model or recipe.model, models=roles, settings=settings)
