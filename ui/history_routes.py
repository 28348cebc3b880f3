"""The routes of the list of sessions: a page of it, bulk actions with undo, marks, and single sessions.

Knows no widget. Errors come back as {"error": words} for the place where the person is looking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from core.listing import MOST_COUNTED, Chosen, Done, Filter, Listing, NotAllowed
from core.runs import Runs
from core.sessions import StoreBusy, Summary, UnknownSession
from core.workbench import Workbench
from ui.file_routes import SCORES, file_routes
from ui.history_filter import LONGEST_QUERY, BadFilter, filter_alone, filter_of, order_of
from ui.naming import strategy_name
from ui.rows import LABELS

__all__ = ["LONGEST_QUERY", "PAGE", "history_routes"]

PAGE = 50
MOST_CHOSEN = 2000
"""Sessions that can be named one by one; more are chosen by their filter."""
MOST_DELETIONS = 10
RUNNING = "This session is running. Open it and stop it, then delete it."

View = dict[str, Any]


class Bulk(BaseModel):
    """A bulk action: on `ids`, or (none given) on all that the filter lets through."""

    action: Literal["delete", "tag", "untag"]
    ids: list[str] | None = None
    filter: dict[str, str] = {}
    tag: str = ""


class Named(BaseModel):
    """A bulk action to undo, or a saved filter."""

    name: str
    query: str = ""


class Star(BaseModel):
    """A star on a session, or on the candidate that its step wrote."""

    on: bool
    step: int | None = None


def history_routes(bench: Workbench, runs: Runs) -> APIRouter:
    """The routes of the list."""
    router = APIRouter()
    router.include_router(file_routes(bench.store.archive))
    _list_routes(router, bench, runs)
    _bulk_routes(router, bench.store.listing, runs)
    _mark_routes(router, bench.store.listing)
    _session_routes(router, bench, runs)
    return router


def _list_routes(router: APIRouter, bench: Workbench, runs: Runs) -> None:
    listing = bench.store.listing

    @router.get("/api/history")
    async def sessions(request: Request) -> JSONResponse:
        answer = await _answer(lambda: _page(listing, dict(request.query_params)))
        for view in answer.get("sessions", ()):
            if view["id"] in runs.running():
                view.update(state="running", why="")
        return JSONResponse(answer)

    @router.get("/api/history/count")
    async def count(request: Request) -> JSONResponse:
        def counted() -> View:
            found = listing.count(filter_of(request.query_params))
            return {"count": min(found, MOST_COUNTED), "more": found > MOST_COUNTED}

        return JSONResponse(await _answer(counted))

    @router.get("/api/history/choices")
    async def choices() -> JSONResponse:
        return JSONResponse(await _answer(lambda: _choices(listing)))


def _bulk_routes(router: APIRouter, listing: Listing, runs: Runs) -> None:
    @router.post("/api/history/bulk")
    async def bulk(asked: Bulk) -> JSONResponse:
        return JSONResponse(await _answer(lambda: _bulk(listing, asked, runs.running())))

    @router.get("/api/history/deletions")
    async def deletions() -> JSONResponse:
        def latest() -> View:
            found = listing.deletions(MOST_DELETIONS)
            return {"deletions": [{**asdict(each), "at": each.at.isoformat()} for each in found]}

        return JSONResponse(await _answer(latest))

    @router.post("/api/history/undo")
    async def undo(asked: Named) -> JSONResponse:
        return JSONResponse(await _answer(lambda: {"sessions": listing.undo(asked.name)}))


def _mark_routes(router: APIRouter, listing: Listing) -> None:
    @router.post("/api/history/saved")
    async def save(asked: Named) -> JSONResponse:
        if len(asked.query) > 10 * LONGEST_QUERY:
            return JSONResponse({"error": "This filter is too long to be kept."})
        return JSONResponse(await _answer(lambda: listing.save(asked.name, asked.query)))

    @router.post("/api/history/saved/forget")
    async def forget(asked: Named) -> JSONResponse:
        return JSONResponse(await _answer(lambda: listing.forget(asked.name)))

    @router.post("/api/sessions/{session_id}/stars")
    async def star(session_id: str, asked: Star) -> JSONResponse:
        return JSONResponse(await _answer(lambda: listing.star(session_id, asked.step, on=asked.on)))

    @router.get("/api/sessions/{session_id}/stars")
    async def stars(session_id: str) -> JSONResponse:
        return JSONResponse(await _answer(lambda: {"stars": listing.stars(session_id)}))


def _session_routes(router: APIRouter, bench: Workbench, runs: Runs) -> None:
    @router.post("/api/history/{session_id}/delete")
    async def delete(session_id: str) -> JSONResponse:
        # A run that nobody sees would go on spending.
        if session_id in runs.running():
            return JSONResponse({"error": RUNNING})
        return JSONResponse(await _answer(lambda: bench.store.delete(session_id)))

    @router.post("/api/history/{session_id}/restore")
    async def restore(session_id: str) -> JSONResponse:
        return JSONResponse(await _answer(lambda: bench.store.restore(session_id)))

    @router.post("/api/history/{session_id}/fork")
    async def fork(session_id: str) -> JSONResponse:
        def whole() -> View:
            return {"session": bench.branch(session_id)}

        return JSONResponse(await _answer(whole))


async def _answer(work: Callable[[], View | None]) -> View:
    """What the work gives, or the words of its refusal."""
    try:
        return await asyncio.to_thread(work) or {}
    except (UnknownSession, StoreBusy, BadFilter, NotAllowed) as refusal:
        return {"error": str(refusal)}


# -- what is asked for ----------------------------------------------------------------------------


def _page(listing: Listing, query: dict[str, str]) -> View:
    before = query.get("before") or None
    found = listing.find(filter_of(query), order_of(query), PAGE + 1, before)
    return {"sessions": [_view(summary) for summary in found[:PAGE]], "more": len(found) > PAGE}


def _choices(listing: Listing) -> View:
    values = {kind: [[each, each] for each in found] for kind, found in listing.choices().items()}
    values["strategy"] = [[each, strategy_name(each)] for each, _ in values.get("strategy", ())]
    scores = [[name, LABELS.get(name, name.replace("_", " "))] for name in SCORES]
    return {
        "values": values,
        "scores": scores,
        "saved": [{"name": name, "query": query} for name, query in listing.saved()],
    }


def _bulk(listing: Listing, asked: Bulk, running: frozenset[str]) -> View:
    if asked.ids is not None and len(asked.ids) > MOST_CHOSEN:
        raise NotAllowed(f"At most {MOST_CHOSEN} sessions can be chosen one by one.")
    ids = None if asked.ids is None else tuple(dict.fromkeys(asked.ids))
    wanted = filter_alone(asked.filter) if ids is None else Filter()
    # A run that nobody sees would go on spending.
    chosen = Chosen(ids, wanted, running if asked.action == "delete" else frozenset())
    done = _done(listing, chosen, asked)
    return {"sessions": done.sessions, "undo": done.undo}


def _done(listing: Listing, chosen: Chosen, asked: Bulk) -> Done:
    if asked.action == "delete":
        return listing.delete(chosen)
    return listing.tag(chosen, asked.tag, on=asked.action == "tag")


# -- what is shown --------------------------------------------------------------------------------


def _view(summary: Summary) -> View:
    return {
        "id": summary.id,
        "title": summary.title,
        "created_at": summary.created_at.isoformat(),
        "changed_at": summary.changed_at.isoformat(),
        "model": summary.model,
        "strategy": strategy_name(summary.strategy),
        "preset": summary.preset,
        "steps": summary.steps,
        "rounds": summary.rounds,
        "first": summary.first_score,
        "last": summary.last_score,
        "change": summary.change,
        "money": summary.money,
        "tokens": summary.tokens,
        "starred": summary.starred,
        "tags": list(summary.tags),
        "state": _state(summary),
        "why": summary.ending or summary.problem,
        "parent": summary.parent[0] if summary.parent else None,
        "forked_at": summary.parent[1] if summary.parent else None,
    }


def _state(summary: Summary) -> str:
    if summary.ending:
        return "ended"
    return "has a problem" if summary.problem else "open"
