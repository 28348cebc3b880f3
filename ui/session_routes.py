"""What a person does with a session, and what a page asks of it besides its stream.

Plain routes rather than Gradio events: a decision then works from any page, after a restart of the
server and without a Gradio session. Errors come back as {"error": words} for where the person looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from core.checks import BadDecision, BadTask
from core.domain import Budget, Decision, Mode, Point, Recipe, Role, Ruling, Severity
from core.engine import HistoryMismatch
from core.export import Form, export
from core.history import tokens_at
from core.models.catalog import Models, UnknownModel
from core.preset_schema import PresetError
from core.runs import Runs
from core.sessions import StaleStep, UnknownSession
from core.workbench import CannotChange, GateClosed, Workbench
from ui.events import Views
from ui.family import family_view

REFUSALS = (
    BadDecision,
    BadTask,
    CannotChange,
    GateClosed,
    HistoryMismatch,
    PresetError,
    StaleStep,
    UnknownModel,
    UnknownSession,
)
LONGEST_POINT = 20_000
EXPORT_TYPES = {
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "html": "application/octet-stream",
}


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


class ModeBody(BaseModel):
    """Who answers the gates from now on."""

    mode: Mode


class ForkBody(BaseModel):
    """How many steps the new session begins with."""

    position: int = Field(ge=0)


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
    router = APIRouter(prefix="/api/sessions/{session_id}")
    views = Views(bench, runs)

    @router.get("/events")
    async def events(session_id: str) -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(views.stream(session_id), media_type="text/event-stream", headers=headers)

    @router.post("/decisions")
    async def decide(session_id: str, body: DecisionBody) -> JSONResponse:
        decision = _decision(body, person)
        return await _then_run(runs, session_id, lambda: bench.decide(session_id, body.position, decision))

    @router.post("/mode")
    async def mode(session_id: str, body: ModeBody) -> JSONResponse:
        return await _then_run(runs, session_id, lambda: bench.store.set_mode(session_id, body.mode))

    @router.post("/run")
    async def run(session_id: str) -> JSONResponse:
        return await _then_run(runs, session_id, lambda: bench.store.mode(session_id))

    @router.post("/stop")
    async def stop(session_id: str) -> JSONResponse:
        stopped = runs.stop(session_id, person)
        return JSONResponse({} if stopped else {"error": "Nothing is running here any more."})

    @router.post("/settings")
    async def settings(session_id: str, body: SettingsBody) -> JSONResponse:
        def change() -> None:
            for name in filter(None, (body.model, *(body.models or {}).values())):
                models.open(name)
            bench.change(session_id, lambda recipe: _altered(recipe, body))

        answer = await _answer(change)
        runs.refresh(session_id)
        return JSONResponse(answer)

    @router.post("/fork")
    async def fork(session_id: str, body: ForkBody) -> JSONResponse:
        return JSONResponse(await _answer(lambda: {"session": bench.store.fork(session_id, body.position)}))

    @router.post("/again")
    async def again(session_id: str) -> JSONResponse:
        answer = await _answer(lambda: {"session": bench.again(session_id)})
        if "session" in answer:
            runs.start(answer["session"])
        return JSONResponse(answer)

    @router.post("/undo")
    async def undo(session_id: str) -> JSONResponse:
        return JSONResponse(await _answer(lambda: {"session": bench.undo(session_id)}))

    @router.get("/export")
    async def export(session_id: str, form: Form) -> Response:
        try:
            text = await asyncio.to_thread(_exported, bench, session_id, form)
        except UnknownSession as refusal:
            return JSONResponse({"error": str(refusal)}, status_code=404)
        name = f"attachment; filename=session-{session_id[:8]}.{form}"
        return Response(text, media_type=EXPORT_TYPES[form], headers={"Content-Disposition": name})

    @router.get("/family")
    async def family(session_id: str) -> JSONResponse:
        return JSONResponse(await _answer(lambda: {"sessions": family_view(bench, session_id)}))

    @router.get("/tokens")
    async def tokens(session_id: str, step: int) -> JSONResponse:
        def read() -> dict[str, Any]:
            found = _tokens(bench, session_id, step)
            return {"texts": [t.text for t in found], "logprobs": [t.logprob for t in found]}

        return JSONResponse(await _answer(read))

    @router.get("/tokens/{index}")
    async def alternatives(session_id: str, step: int, index: int) -> JSONResponse:
        def read() -> dict[str, Any]:
            found = _tokens(bench, session_id, step)
            wanted = found[index].alternatives if 0 <= index < len(found) else ()
            return {"alternatives": [[a.text, a.logprob] for a in wanted]}

        return JSONResponse(await _answer(read))

    return router


def _exported(bench: Workbench, session_id: str, form: Form) -> str:
    session = bench.store.load(session_id)
    return export(session, bench.readable_place(session)[0], form)


def _tokens(bench: Workbench, session_id: str, step: int) -> Any:
    session = bench.store.load(session_id)
    return tokens_at(session.steps, step, session.task.input) if 0 <= step < len(session.steps) else ()


async def _answer(work: Callable[[], Any]) -> dict[str, Any]:
    """What the work gives, or the words of its refusal."""
    try:
        return await asyncio.to_thread(work) or {}
    except REFUSALS as refusal:
        return {"error": str(refusal)}


async def _then_run(runs: Runs, session_id: str, work: Callable[[], object]) -> JSONResponse:
    """Do the work, then let the session run on; a refusal shows every page the truth again."""

    def done() -> None:
        work()

    answer = await _answer(done)
    if "error" in answer:
        runs.refresh(session_id)
    else:
        runs.start(session_id)
    return JSONResponse(answer)


def _decision(body: DecisionBody, person: str) -> Decision:
    points = None if body.points is None else tuple(_point(point, person) for point in body.points)
    note = body.note.strip()
    return Decision(body.ruling, person, text=body.text, points=points, note=note, hunks=tuple(body.hunks))


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
