"""The web server: one FastAPI app, the session routes, and the pages, each a Gradio mount of its own.

What every answer carries, and what is refused, is in ui/guard.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
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
from ui.late import LatePages
from ui.model_routes import model_routes
from ui.preset_routes import preset_routes
from ui.rate_routes import rate_routes
from ui.session_routes import session_routes
from ui.session_view_routes import session_view_routes
from ui.study_routes import study_routes

WEB = Path(__file__).parent.parent / "assets" / "web"
EVERYWHERE = ("style.css", "history.css", "difference.css", "theme.js")
BOARD = ("pools.css", "models.css", "models.js", "board.js")


@dataclass(frozen=True)
class Page:
    """Where a page is, what makes it, and which files of assets/web its head names besides EVERYWHERE."""

    path: str
    build: Callable[[], gr.Blocks]
    files: tuple[str, ...]

    @property
    def head(self) -> str:
        """What loads its styles and scripts: files, as inline ones are not let run (ui/guard.py)."""
        return "".join(
            f'<link rel="stylesheet" href="/web/{name}">'
            if name.endswith(".css")
            else f'<script type="module" src="/web/{name}"></script>'
            for name in (*EVERYWHERE, *self.files)
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
    runs, late = Runs(bench), LatePages()

    @asynccontextmanager
    async def lifespan(_: fastapi.FastAPI) -> AsyncIterator[None]:
        # Kept in a name: a task that nobody holds may be collected.
        catching_up = asyncio.create_task(catch_up(bench.store))
        try:
            yield
        finally:
            catching_up.cancel()
            try:
                await runs.close()
            finally:
                await late.close()

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
    for page in _pages(bench, runs, models, presets):
        if page.path != "/":
            app.add_api_route(page.path, _with_slash)
        app.mount(page.path, late.page(partial(_made, page)))
    return app


def _pages(bench: Workbench, runs: Runs, models: Models, presets: PresetLibrary) -> tuple[Page, ...]:
    """All pages; the one at / comes last, as every address is below it."""
    board = partial(refine.build, bench, runs, models, presets)
    many = partial(board, name="Candidates", strategy="best_of_n")
    return (
        Page("/history", history.build, ("history.js",)),
        Page("/session", session_view.build, ("session_view.css", "session_view.js")),
        Page("/compare", compare.build, ("compare.css", "compare.js")),
        Page("/insight", insight.build, ("insight.css", "insight.js")),
        Page("/presets", preset_page.build, ("presets.css", "presets.js")),
        Page("/studies", study_page.build, ("studies.css", "studies.js")),
        Page("/candidates", many, BOARD),
        Page("/", board, BOARD),
    )


def _with_slash(request: fastapi.Request) -> RedirectResponse:
    """A page's parts have relative addresses, so its own must end with a slash."""
    name = request.url.path.rsplit("/", 1)[-1]
    return RedirectResponse(f"{name}/?{request.url.query}" if request.url.query else f"{name}/")


def _made(page: Page) -> fastapi.FastAPI:
    """The page as an app of its own, which is told of its address by whoever mounts it."""
    blocks = page.build()
    blocks.state_session_capacity = 500  # mounting has no parameter for it
    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    gr.mount_gradio_app(
        app,
        blocks,
        "/",
        run_history=False,
        enable_monitoring=False,
        show_error=False,
        footer_links=[],
        max_file_size="1mb",
        ssr_mode=False,
        pwa=False,
        mcp_server=False,
        theme=theme(),
        head=page.head,
    )
    return app
