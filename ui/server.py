"""The web server: one FastAPI app, the session routes, and a Gradio mount for each audience.

Sets what every answer carries (content security policy) and refuses posts from other sites.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

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
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.models.catalog import Models
from core.presets import Preset
from core.runs import Runs
from core.workbench import Workbench
from ui import events, refine

WEB = Path(__file__).parent.parent / "assets" / "web"
HEAD = '<link rel="stylesheet" href="/static/style.css"><script src="/static/board.js"></script>'
# 'unsafe-eval' is Gradio's: its HTML widgets are built with it. Inline scripts, foreign hosts, frames
# and forms are not.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'self'",
        "object-src 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def theme() -> gr.themes.Base:
    """System fonts (no font is fetched), one accent."""
    return gr.themes.Default(
        primary_hue="teal",
        neutral_hue="stone",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def make_app(bench: Workbench, models: Models, presets: dict[str, Preset], person: str) -> fastapi.FastAPI:
    """The whole web app."""
    runs = Runs(bench)

    @asynccontextmanager
    async def lifespan(_: fastapi.FastAPI) -> AsyncIterator[None]:
        yield
        await runs.close()

    app = fastapi.FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_middleware(Guard)
    app.include_router(events.routes(bench, runs, person))
    app.mount("/static", StaticFiles(directory=WEB))
    _mount(app, refine.build(bench, runs, models, presets), "/")
    return app


def _mount(app: fastapi.FastAPI, page: gr.Blocks, path: str) -> None:
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
        head=HEAD,
    )


class Guard:
    """Refuses what another site's page sends; tells browsers what pages of this app may do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI call; streams pass through untouched."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _foreign(Headers(scope=scope)):
            refusal = JSONResponse({"error": "This was sent by a page of another site."}, status_code=403)
            await refusal(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _foreign(headers: Headers) -> bool:
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")
