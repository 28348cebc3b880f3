"""The routes of a session: its event stream, and what a person decides about it.

Plain routes rather than Gradio events: a decision then works from any page, after a restart of the
server and without a Gradio session, and the stream costs one line per batch of tokens. Errors come
back as {"error": words} for the place where the person is looking.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from core.checks import BadDecision, BadTask
from core.domain import Decision, Mode, Point, Ruling, Severity
from core.engine import HistoryMismatch
from core.preset_schema import PresetError
from core.runs import Live, Runs
from core.sessions import StaleStep, UnknownSession
from core.workbench import GateClosed, Workbench
from ui.views import session_view

BATCH_SECONDS = 0.05
PING_SECONDS = 15.0
REFUSALS = (StaleStep, UnknownSession, GateClosed, BadDecision, BadTask, HistoryMismatch, PresetError)


class PointBody(BaseModel):
    """A critique point as the page sends it."""

    problem: str = Field(max_length=20_000)
    action: str = Field("", max_length=20_000)
    quote: str = Field("", max_length=20_000)
    severity: Severity = "unstated"
    by: Literal["model", "person"] = "model"


class DecisionBody(BaseModel):
    """A ruling as the page sends it; `position` is the step that the person saw open."""

    position: int = Field(ge=0)
    ruling: Ruling
    text: str | None = None
    note: str = ""
    points: list[PointBody] | None = Field(None, max_length=200)


class ModeBody(BaseModel):
    """Who answers the gates from now on."""

    mode: Mode


def routes(bench: Workbench, runs: Runs, person: str) -> APIRouter:
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
        return await _answer(
            runs, session_id, asyncio.to_thread(bench.decide, session_id, body.position, decision)
        )

    @router.post("/mode")
    async def mode(session_id: str, body: ModeBody) -> JSONResponse:
        change = asyncio.to_thread(bench.store.set_mode, session_id, body.mode)
        return await _answer(runs, session_id, change)

    @router.post("/run")
    async def run(session_id: str) -> JSONResponse:
        return await _answer(runs, session_id, asyncio.to_thread(bench.store.mode, session_id))

    @router.post("/stop")
    async def stop(session_id: str) -> JSONResponse:
        stopped = runs.stop(session_id, person)
        return JSONResponse({} if stopped else {"error": "Nothing is running here any more."})

    return router


async def _answer(runs: Runs, session_id: str, work: Any) -> JSONResponse:
    """Do the work, then let the session run on; a refusal shows every page the truth again."""
    try:
        await work
    except REFUSALS as refusal:
        if not isinstance(refusal, UnknownSession):
            runs.live(session_id).changed()
        return JSONResponse({"error": str(refusal)})
    runs.start(session_id)
    return JSONResponse({})


def _decision(body: DecisionBody, person: str) -> Decision:
    points = None
    if body.points is not None:
        points = tuple(_point(point, person) for point in body.points)
    return Decision(body.ruling, person, text=body.text, points=points, note=body.note.strip())


def _point(body: PointBody, person: str) -> Point:
    by = person if body.by == "person" else "model"
    return Point(body.problem, body.action, body.quote, body.severity, by)


class Views:
    """Streams of session views; one view is made per change, however many pages watch."""

    def __init__(self, bench: Workbench, runs: Runs) -> None:
        self._bench, self._runs = bench, runs
        self._made: dict[str, tuple[int, str]] = {}

    async def stream(self, session_id: str) -> AsyncIterator[str]:
        """Server-sent events: `view` (the whole), `text` (what streams), `notice`, `gone`."""
        try:
            await asyncio.to_thread(self._bench.store.mode, session_id)
        except UnknownSession as error:
            yield _event("gone", text=str(error))
            return
        live = self._runs.live(session_id)
        live.watchers += 1
        try:
            async for event in self._follow(session_id, live):
                yield event
        finally:
            self._runs.left(session_id)
            if not live.watchers:
                self._made.pop(session_id, None)

    async def _follow(self, session_id: str, live: Live) -> AsyncIterator[str]:
        seen = _Seen()
        while True:
            change = live.next_change()
            if seen.version != live.version:
                seen.version = live.version
                yield f"event: view\ndata: {await self._view(session_id, live)}\n\n"
            for event in seen.news(live):
                yield event
            try:
                await asyncio.wait_for(change.wait(), PING_SECONDS)
                await asyncio.sleep(BATCH_SECONDS)
            except TimeoutError:
                yield ": still here\n\n"

    async def _view(self, session_id: str, live: Live) -> str:
        version, made = live.version, self._made.get(session_id)
        if made is not None and made[0] == version:
            return made[1]
        text = await asyncio.to_thread(self._make, session_id, live)
        self._made[session_id] = (version, text)
        return text

    def _make(self, session_id: str, live: Live) -> str:
        session = self._bench.store.load(session_id)
        return json.dumps(session_view(self._bench, session, live), ensure_ascii=True, allow_nan=False)


class _Seen:
    """What one page has been sent."""

    def __init__(self) -> None:
        self.version, self.passage, self.sent, self.notice = -1, -1, 0, ""

    def news(self, live: Live) -> list[str]:
        """Events for the text and notice that are new since the last call."""
        news = []
        if live.passage != self.passage:
            self.passage, self.sent, self.notice = live.passage, 0, ""
        if len(live.text) > self.sent:
            news.append(
                _event("text", passage=live.passage, **{"from": self.sent}, text=live.text[self.sent :])
            )
            self.sent = len(live.text)
        if live.notice != self.notice:
            self.notice = live.notice
            news.append(_event("notice", text=live.notice))
        return news


def _event(kind: str, **data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=True)}\n\n"
