"""Pages that are made when they are first visited. Knows nothing of any page but how to make it.

A Gradio page takes 0.15 s to make (Gradio builds its routes three times for each), and eight of them made
before the first answer took as long as half of everything else. Once made, a page stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack

from fastapi import FastAPI
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger(__name__)
FAILED = "This page could not be made. The server's log says why; loading the page again tries it again."


class LatePages:
    """Makes pages one at a time, and ends with them what they began."""

    def __init__(self) -> None:
        # Gradio notes in globals which page is being made, so two at once would mix their parts.
        self._turn = asyncio.Lock()
        self._begun = AsyncExitStack()
        self._makings: set[asyncio.Task[FastAPI]] = set()

    def page(self, make: Callable[[], FastAPI]) -> ASGIApp:
        """An app that answers as the made one does; `make` may block, and is called in a thread."""

        async def made() -> FastAPI:
            async with self._turn:
                app = await asyncio.to_thread(asyncio.run, _within_a_loop(make))
                # What is mounted after the server's start never hears of that start: it is told here.
                await self._begun.enter_async_context(app.router.lifespan_context(app))
                return app

        def begun() -> asyncio.Task[FastAPI]:
            making = asyncio.create_task(made())
            self._makings.add(making)
            making.add_done_callback(self._makings.discard)
            return making

        return _LatePage(begun)

    async def close(self) -> None:
        """End the pages that were made, and those that are in the making when they are made."""
        await asyncio.gather(*self._makings, return_exceptions=True)
        await self._begun.aclose()


async def _within_a_loop(make: Callable[[], FastAPI]) -> FastAPI:
    """Gradio makes locks in the making, and where no loop runs it makes loops for them and closes none."""
    return make()


class _LatePage:
    def __init__(self, begin: Callable[[], asyncio.Task[FastAPI]]) -> None:
        self._begin = begin
        self._making: asyncio.Task[FastAPI] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI call. A failure is told to all who waited for that making; the next visit tries again."""
        making = self._making = self._making or self._begin()
        # Waited for from aside: a visitor who leaves does not end what others wait for too.
        await asyncio.wait([making])
        if making.cancelled() or making.exception():
            self._failed(making)
            await PlainTextResponse(FAILED, status_code=500)(scope, receive, send)
        else:
            await making.result()(scope, receive, send)

    def _failed(self, making: asyncio.Task[FastAPI]) -> None:
        if self._making is making:  # the first of those who waited
            self._making = None
            log.error("a page could not be made", exc_info=None if making.cancelled() else making.exception())
