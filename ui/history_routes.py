"""The routes of the list of sessions: a page of it, and deleting, restoring and forking one.

Knows no widget. Errors come back as {"error": words} for the place where the person is looking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from core.runs import Runs
from core.sessions import Store, Summary, UnknownSession
from core.workbench import Workbench
from ui.naming import strategy_name

PAGE = 50
LONGEST_QUERY = 500
TOO_LONG = f"Search for {LONGEST_QUERY} characters at most."
RUNNING = "This session is running. Open it and stop it, then delete it."

View = dict[str, Any]


def history_routes(bench: Workbench, runs: Runs) -> APIRouter:
    """The routes of the list."""
    router = APIRouter(prefix="/api/history")
    store = bench.store

    @router.get("")
    async def sessions(q: str = "", before: str = "") -> JSONResponse:
        if len(q) > LONGEST_QUERY:
            return JSONResponse({"error": TOO_LONG})
        answer = await _answer(lambda: _page(store, q, before or None))
        for view in answer.get("sessions", ()):
            if _running(runs, view["id"]):
                view.update(state="running", why="")
        return JSONResponse(answer)

    @router.post("/{session_id}/delete")
    async def delete(session_id: str) -> JSONResponse:
        # A run that nobody sees would go on spending.
        if _running(runs, session_id):
            return JSONResponse({"error": RUNNING})
        return JSONResponse(await _answer(lambda: store.delete(session_id)))

    @router.post("/{session_id}/restore")
    async def restore(session_id: str) -> JSONResponse:
        return JSONResponse(await _answer(lambda: store.restore(session_id)))

    @router.post("/{session_id}/fork")
    async def fork(session_id: str) -> JSONResponse:
        def whole() -> View:
            return {"session": bench.branch(session_id)}

        return JSONResponse(await _answer(whole))

    return router


async def _answer(work: Callable[[], View | None]) -> View:
    """What the work gives, or the words of its refusal."""
    try:
        return await asyncio.to_thread(work) or {}
    except UnknownSession as refusal:
        return {"error": str(refusal)}


def _running(runs: Runs, session_id: str) -> bool:
    """Whether the server works on it now; looks in and leaves again, so that nothing stays behind."""
    live = runs.live(session_id)
    live.watchers += 1
    running = live.running
    runs.left(session_id)
    return running


def _page(store: Store, query: str, before: str | None) -> View:
    found = store.recent(PAGE + 1, before, query=query)
    return {"sessions": [_view(summary) for summary in found[:PAGE]], "more": len(found) > PAGE}


def _view(summary: Summary) -> View:
    return {
        "id": summary.id,
        "title": summary.title,
        "created_at": summary.created_at.isoformat(),
        "changed_at": summary.changed_at.isoformat(),
        "model": summary.model,
        "strategy": strategy_name(summary.strategy),
        "steps": summary.steps,
        "state": _state(summary),
        "why": summary.ending or summary.problem,
        "parent": summary.parent[0] if summary.parent else None,
        "forked_at": summary.parent[1] if summary.parent else None,
    }


def _state(summary: Summary) -> str:
    if summary.ending:
        return "ended"
    return "has a problem" if summary.problem else "open"
