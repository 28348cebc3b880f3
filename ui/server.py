"""The web server: one FastAPI app, the session routes, and a Gradio mount for each audience.

What every answer carries, and what is refused, is in ui/guard.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

# Before gradio is imported: no telemetry, no statistics of events that nobody reads.
os.environ.update(
    GRADIO_ANALYTICS_ENABLED="False",
    GRADIO_RUN_HISTORY="False",
    GRADIO_ANALYTICS_MAX_EVENTS="100",
    GRADIO_ANALYTICS_CACHE_FREQUENCY="1000000",
    HF_HUB_DISABLE_TELEMETRY="1",
)

import fastapi
import gradio as gr
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles

from core.catching_up import catch_up
from core.insight import InsightStore
from core.models.catalog import Models
from core.preset_library import PresetLibrary
from core.runs import Runs
from core.studies.desks import StudyStore
from core.workbench import Workbench
from ui import compare, history, insight, refine, session_view
from ui import presets as preset_page
from ui import studies as study_page
from ui.candidate_routes import candidate_routes
from ui.compare_routes import compare_routes
from ui.guard import Guard, refuse_plainly
from ui.history_routes import history_routes
from ui.insight_routes import insight_routes
from ui.model_routes import model_routes
from ui.preset_routes import preset_routes
from ui.rate_routes import rate_routes
from ui.session_routes import session_routes
from ui.session_view_routes import session_view_routes
from ui.study_routes import study_routes

WEB = Path(__file__).parent.parent / "assets" / "web"
STYLES = "".join(
    f'<link rel="stylesheet" href="/web/{name}.css">' for name in ("style", "history", "difference")
)
THEME = '<script type="module" src="/web/theme.js"></script>'
MODELS = '<link rel="stylesheet" href="/web/models.css"><script type="module" src="/web/models.js"></script>'
POOLS = '<link rel="stylesheet" href="/web/pools.css">'
REFINE = STYLES + THEME + POOLS + MODELS + '<script type="module" src="/web/board.js"></script>'
HISTORY = STYLES + THEME + '<script type="module" src="/web/history.js"></script>'
PRESETS = (
    STYLES
    + '<link rel="stylesheet" href="/web/presets.css">'
    + THEME
    + '<script type="module" src="/web/presets.js"></script>'
)
SESSION, COMPARE, INSIGHT = (
    f'{STYLES}<link rel="stylesheet" href="/web/{name}.css">{THEME}'
    f'<script type="module" src="/web/{name}.js"></script>'
    for name in ("session_view", "compare", "insight")
)


STUDIES = (
    STYLES
    + '<link rel="stylesheet" href="/web/studies.css">'
    + THEME
    + '<script type="module" src="/web/studies.js"></script>'
)


def theme() -> gr.themes.Base:
    """System fonts (no font is fetched), one accent."""
    return gr.themes.Default(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700",
        button_primary_background_fill_hover_dark="*primary_800",
        block_info_text_color="*neutral_500",
        block_info_text_color_dark="*neutral_300",
    )


def make_app(
    bench: Workbench,
    models: Models,
    presets: PresetLibrary,
    person: str,
    studies: StudyStore,
    counts: InsightStore,
    hosts: frozenset[str] | None = None,
    rate_address: str = "",
) -> fastapi.FastAPI:
    """The whole web app; `hosts` are the names it goes by (ui.guard.Guard), `rate_address` where raters have
    an address of their own."""
    runs = Runs(bench)

    @asynccontextmanager
    async def lifespan(_: fastapi.FastAPI) -> AsyncIterator[None]:
        # Kept in a name: a task that nobody holds may be collected.
        catching_up = asyncio.create_task(catch_up(bench.store))
        yield
        catching_up.cancel()
        await runs.close()

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_middleware(Guard, hosts=hosts)
    refuse_plainly(app)
    app.include_router(session_routes(bench, runs, models, person))
    app.include_router(session_view_routes(bench))
    app.include_router(candidate_routes(bench, runs, person))
    app.include_router(history_routes(bench, runs))
    app.include_router(compare_routes(bench, counts))
    app.include_router(insight_routes(bench, counts))
    app.include_router(model_routes(models))
    app.include_router(preset_routes(bench, presets))
    app.include_router(rate_routes(studies))
    app.include_router(study_routes(bench, studies, person, rate_address))
    app.mount("/web", StaticFiles(directory=WEB))
    app.add_api_route("/history", _with_slash)
    _mount(app, history.build(), "/history", HISTORY)
    app.add_api_route("/session", _with_slash)
    _mount(app, session_view.build(), "/session", SESSION)
    app.add_api_route("/compare", _with_slash)
    _mount(app, compare.build(), "/compare", COMPARE)
    app.add_api_route("/insight", _with_slash)
    _mount(app, insight.build(), "/insight", INSIGHT)
    app.add_api_route("/presets", _with_slash)
    _mount(app, preset_page.build(), "/presets", PRESETS)
    app.add_api_route("/studies", _with_slash)
    _mount(app, study_page.build(), "/studies", STUDIES)
    app.add_api_route("/candidates", _with_slash)
    many = refine.build(bench, runs, models, presets, name="Candidates", strategy="best_of_n")
    _mount(app, many, "/candidates", REFINE)
    _mount(app, refine.build(bench, runs, models, presets), "/", REFINE)
    return app


def _with_slash(request: fastapi.Request) -> RedirectResponse:
    """A page's parts have relative addresses, so its own must end with a slash."""
    name = request.url.path.rsplit("/", 1)[-1]
    return RedirectResponse(f"{name}/?{request.url.query}" if request.url.query else f"{name}/")


def _mount(app: fastapi.FastAPI, page: gr.Blocks, path: str, head: str) -> None:
    page.state_session_capacity = 500  # mounting has no parameter for it
    gr.mount_gradio_app(
        app,
        page,
        path,
        run_history=False,
        enable_monitoring=False,
        show_error=False,
        footer_links=[],
        max_file_size="1mb",
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        theme=theme(),
        head=head,
    )
