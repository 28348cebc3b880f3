"""The route of Insight: every question with its figures, as plain JSON values.

Knows no widget. Errors come back as {"error": words} for the place where the person is looking.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from core.insight import BYS, By, Figure, InsightStore, Scope
from core.listing import Kind
from core.questions import Chart, Insight, insight
from core.workbench import Workbench
from ui.history_filter import BadFilter, filter_of
from ui.naming import strategy_name
from ui.rows import LABELS

View = dict[str, Any]
LONGEST = 500
TAG: Kind = "tag"
MOST_KEPT = 32
"""Answers that are remembered until something changes."""
Kept = dict[tuple[str, Scope, By], Insight]


def insight_routes(bench: Workbench, store: InsightStore) -> APIRouter:
    """The route of Insight; `since` and `until` are days, both of them counted."""
    router = APIRouter(prefix="/api/insight")
    kept: Kept = {}

    @router.get("")
    async def answers(
        preset: str = "",
        strategy: str = "",
        model: str = "",
        scorer: str = "",
        tag: str = "",
        since: str = "",
        until: str = "",
        by: str = "strategy",
    ) -> JSONResponse:
        try:
            days = filter_of({"since": since, "until": until})
        except BadFilter as refusal:
            return JSONResponse({"error": str(refusal)})
        if by not in BYS or max(map(len, (preset, strategy, model, scorer, tag))) > LONGEST:
            return JSONResponse({"error": "The address of this page asks for something that there is not."})
        scope = Scope(preset, strategy, model, scorer, days.since, days.until, tag)
        return JSONResponse(await asyncio.to_thread(_view, bench, store, scope, by, kept))

    return router


def _answers(store: InsightStore, scope: Scope, by: By, kept: Kept) -> Insight:
    """The answers, counted anew only where something has changed since."""
    asked = (store.stamp(), scope, by)
    if asked not in kept:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[asked] = insight(store, scope, by)
    return kept[asked]


def _view(bench: Workbench, store: InsightStore, scope: Scope, by: By, kept: Kept) -> View:
    found, choices = _answers(store, scope, by, kept), bench.store.listing.choices()
    named = {kind: [[each, _named(kind, each)] for each in choices.get(kind, [])] for kind in (*BYS, TAG)}
    charts = [_chart(chart, by) for chart in found.charts]
    return {**_about(found), "choices": named, "charts": charts}


def _about(found: Insight) -> View:
    return {
        "sessions": found.sessions,
        "forks": found.forks,
        "rounds": found.rounds,
        "behind": found.behind,
        "scorer": found.scorer,
        "scorers": [[name, _label(name), count] for name, count in found.scorers if name],
    }


def _label(scorer: str) -> str:
    return LABELS.get(scorer, scorer.replace("_", " "))


def _named(kind: str, value: str) -> str:
    return strategy_name(value) if kind == "strategy" else value


def _chart(chart: Chart, by: By) -> View:
    return {
        "key": chart.key,
        "question": chart.question,
        "unit": chart.unit,
        "scorer": _label(chart.scorer) if chart.scorer else "",
        "series": list(chart.series),
        "notes": list(chart.notes),
        "lines": [
            {"name": _named(by, line.name), "figures": [_figure(figure) for figure in line.figures]}
            for line in chart.lines
        ],
    }


def _figure(figure: Figure) -> View:
    interval = figure.interval
    return {
        "n": figure.n,
        "value": figure.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "method": interval.method if interval else "",
        "why": figure.why,
    }
