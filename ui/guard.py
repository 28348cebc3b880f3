"""What stands before every answer: a content security policy, and plain refusals of what can't be let in."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# 'unsafe-eval' is Gradio's: its HTML widgets are built with it. Gradio's own inline scripts run by a
# nonce that is new with every answer; other inline scripts, foreign hosts, frames and forms do not.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-eval' 'nonce-{nonce}'",
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


MOST_WRONG = 5
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def refuse_plainly(app: FastAPI) -> None:
    """Have the app say what is wrong with a request without repeating it.

    FastAPI's own answer holds what was sent, and can't be written where that was no text or number.
    """

    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        detail = "; ".join(wrong[:MOST_WRONG]).encode("utf-8", "replace").decode()
        return JSONResponse({"detail": detail}, status_code=422)

    app.add_exception_handler(RequestValidationError, refused)


class Guard:
    """Refuses what another site's page sends; tells browsers what pages of this app may do.

    `hosts` are the names under which the app may be asked for, None is any. Without them a page of
    another site could have its own name point to this machine, and would then be of this site.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None = None) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI call. Streams pass through as they come; a page is held until it is whole."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope["path"], Headers(scope=scope)):
            await JSONResponse({"error": refusal}, status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, _Sender(send))

    def _refusal(self, path: str, headers: Headers) -> str:
        host = headers.get("host", "")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "This was sent by a page of another site."
        # A browser says so of every request that another site's page makes, pictures and links among them.
        if path.startswith("/api/") and headers.get("sec-fetch-site") == "cross-site":
            return "This was asked for by a page of another site."
        name = urlsplit(f"//{host}").hostname or ""
        if self._hosts is not None and name not in self._hosts:
            return (
                f"This server does not go by the name {name}. Start it with --allow-host {name} if it shall."
            )
        return ""


class _Sender:
    """Sends one answer with its policy, and its inline scripts with the policy's nonce."""

    def __init__(self, send: Send) -> None:
        self._send, self._nonce = send, secrets.token_urlsafe(16)
        self._start: Message | None = None
        self._page = b""

    async def __call__(self, message: Message) -> None:
        """Pass on one message of the answer, or keep it while the page is not whole."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Referrer-Policy"] = "no-referrer"
            headers["X-Content-Type-Options"] = "nosniff"
            if "content-security-policy" in headers:  # a page that is content with less
                await self._send(message)
                return
            headers["Content-Security-Policy"] = POLICY.format(nonce=self._nonce)
            if headers.get("content-type", "").startswith("text/html"):
                self._start = message
                return
        elif self._start is not None:
            self._page += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._start)
            return
        await self._send(message)

    async def _send_page(self, start: Message) -> None:
        page = self._page.replace(b"<script", b'<script nonce="' + self._nonce.encode() + b'"')
        MutableHeaders(scope=start)["content-length"] = str(len(page))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": page})
