"""The routes of the comparison: a few sessions beside each other, or many as rows of a table.

Knows no widget. Errors come back as {"error": words} for the place where the person is looking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from core.insight import InsightStore, Listed
from core.listing import Chosen, Listing
from core.sessions import UnknownSession
from core.workbench import Workbench
from ui.compare_views import compared, difference, side_of
from ui.history_filter import BadFilter, filter_of
from ui.naming import strategy_name
from ui.rows import LABELS

View = dict[str, Any]
MOST_BESIDE = 4
MOST_ROWS = 500


class WrongNumber(Exception):
    """More or fewer sessions were asked for than can be shown."""


def compare_routes(bench: Workbench, insight: InsightStore) -> APIRouter:
    """The routes of the comparison."""
    router = APIRouter(prefix="/api/compare")
    load = bench.store.load

    @router.get("")
    async def beside(ids: str) -> JSONResponse:
        return await _answer(lambda: compared([side_of(bench, load(i)) for i in _few(ids)]))

    @router.get("/difference")
    async def results(old: str, new: str) -> JSONResponse:
        return await _answer(lambda: difference(side_of(bench, load(old)), side_of(bench, load(new))))

    @router.get("/table")
    async def table(request: Request) -> JSONResponse:
        return await _answer(lambda: table_view(bench.store.listing, insight, request.query_params))

    return router


async def _answer(work: Callable[[], View]) -> JSONResponse:
    """What the work gives, or the words of its refusal."""
    try:
        return JSONResponse(await asyncio.to_thread(work))
    except UnknownSession as refusal:
        return JSONResponse({"error": str(refusal)}, status_code=404)
    except (BadFilter, WrongNumber) as refusal:
        return JSONResponse({"error": str(refusal)})


def _ids(text: str) -> list[str]:
    """The ids of an address, each once."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _few(text: str) -> list[str]:
    ids = _ids(text)
    if not 2 <= len(ids) <= MOST_BESIDE:
        raise WrongNumber(f"2 to {MOST_BESIDE} sessions stand beside each other, not {len(ids)}.")
    return ids


def table_view(listing: Listing, insight: InsightStore, query: Mapping[str, str]) -> View:
    """A row a session: of those in `ids`, or else the newest that a list's filter finds.

    Those that there are not, or that were deleted, are counted; `more` says whether the filter finds others.
    """
    if "ids" not in query:
        ids = listing.ids(Chosen(None, filter_of(query)), MOST_ROWS + 1)
    elif not 1 <= len(ids := _ids(query["ids"])) <= MOST_ROWS:
        raise WrongNumber(f"The table has 1 to {MOST_ROWS} sessions, not {len(ids)}.")
    found = insight.listed(ids[:MOST_ROWS])
    missing = len(ids[:MOST_ROWS]) - len(found)
    return {"rows": [_row(each) for each in found], "missing": missing, "more": len(ids) > MOST_ROWS}


def _row(each: Listed) -> View:
    return {
        "id": each.session_id,
        "title": each.title,
        "preset": each.preset,
        "strategy": strategy_name(each.strategy),
        "model": each.model,
        "outcome": each.outcome,
        "scorer": LABELS.get(each.scorer, each.scorer.replace("_", " ")),
        "rounds": each.rounds,
        "first": each.first_score,
        "last": each.last_score,
        "best": each.best_score,
        "change": each.change,
        "money": each.money,
        "tokens": each.tokens,
        "seconds": round(each.seconds, 1),
    }
