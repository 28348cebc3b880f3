"""The raters' page: three static files, and what goes with every answer to a rater's browser.

No Gradio here. A Gradio page answers /config and an info route to anybody, keeps a queue, and weighs a
megabyte; this one is a page, a style and a script of 30 kB together that ask for one value at a time. So what
a rater can receive is what core.studies.blinding lets through, and these files, which are the same for all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers

WEB = Path(__file__).parent.parent / "assets" / "web"
FILES = {"": ("rate.html", "text/html"), "rate.css": ("rate.css", "text/css")} | {
    name: (name, "text/javascript") for name in ("rate.js", "rate_post.js")
}
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def file(asked: Headers, name: str = "", status: int = 200) -> Response:
    """One of the page's files, "" the page itself; without its bytes where the browser has the same ones."""
    path, media = FILES[name]
    content = (WEB / path).read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    # A phone asks again whenever the page is opened: after an update no half of it is of yesterday.
    headers = {**HEADERS, "Cache-Control": "no-cache", "ETag": tag}
    if status == 200 and asked.get("if-none-match") == tag:
        return Response(None, 304, headers)
    return Response(content, status, headers, media)


def answer(value: Mapping[str, Any], status: int = 200) -> JSONResponse:
    """A value for the page's script."""
    return JSONResponse(value, status, HEADERS)
