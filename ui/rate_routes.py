"""What a rater's browser may ask for: enter by a link, look, agree, answer, undo, close.

Plain routes under /r and /rate. Who asks is known by the cookie alone, which holds the token of the rater's
link, is out of reach of scripts, and is sent to /rate by pages of this site only. A post of another form than
the page's is refused and logged like one with a wrong value. `rate_app` is these routes and nothing else, for
an address that is open to the world.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.sessions import StoreBusy
from core.studies.blinding import RaterView
from core.studies.desks import StudyStore
from core.studies.rating import MAX_LOGGED, Rating, Refusal, Refused, token_hash
from core.studies.records import Ballot
from ui.rate import FILES, HEADERS, answer, file

COOKIE = "rater"
DAYS = 90
LARGEST = 100_000
"""Bytes of the largest post; the longest reason in the widest characters has some 60,000."""
THREADS = 8
STATUS: Mapping[Refusal, int] = {"link": 404, "join": 401, "foreign": 403, "form": 422}
BUSY = "Too many answers come in at this moment. Yours is kept here and sent again."
Body = TypeVar("Body", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class EnterBody(_Strict):
    """The token of a link, and a crowd platform's parameters."""

    token: str = Field(max_length=200)
    crowd: dict[str, str] = Field({}, max_length=50)


class AgreeBody(_Strict):
    """Consent has nothing to say but that it is given."""


class AnswerBody(_Strict):
    """A vote on a pair; `id` is made by the browser, once for each answer."""

    pair: str = Field(max_length=100)
    id: str = Field(max_length=64)
    choice: str = Field(max_length=20)
    strength: int = 0
    criteria: dict[str, str] = Field({}, max_length=100)
    reason: str = ""
    active_ms: int | None = None


class UndoBody(_Strict):
    """The last answer is withdrawn."""

    id: str = Field(max_length=64)


class CloseBody(_Strict):
    """The answer to the closing question."""

    guess: str = Field(max_length=20)
    recognised: str = ""


def rate_app(store: StudyStore) -> FastAPI:
    """The raters' routes alone; whatever else is asked for is refused and logged."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    routes = _Routes(store)
    app.include_router(_router(routes))
    for method in ("GET", "POST"):
        app.add_api_route("/{path:path}", routes.elsewhere, methods=[method], response_model=None)
    return app


def rate_routes(store: StudyStore) -> APIRouter:
    """The same routes for an app that has others too."""
    return _router(_Routes(store))


def _router(routes: _Routes) -> APIRouter:
    router = APIRouter()
    for path, read in (
        ("/r/{token}", routes.link),
        ("/rate", routes.page),
        ("/rate/now", routes.now),
        ("/rate/{name}", routes.file),
    ):
        router.add_api_route(path, read, methods=["GET"], response_model=None)
    router.add_api_route("/rate/", routes.page, methods=["GET"], response_model=None)
    for path, act in (
        ("/rate/enter", routes.enter),
        ("/rate/agree", routes.agree),
        ("/rate/answer", routes.answer),
        ("/rate/undo", routes.undo),
        ("/rate/close", routes.close),
        ("/rate/{path:path}", routes.elsewhere),
    ):
        router.add_api_route(path, act, methods=["POST"], response_model=None)
    return router


class _Routes:
    """The routes. Work on the store waits in a queue of its own: runs of the workbench don't slow it."""

    def __init__(self, store: StudyStore) -> None:
        self.store, self.rating = store, Rating(store)
        self.threads = ThreadPoolExecutor(THREADS, "rate")
        self.strayed = 0

    # -- the page -------------------------------------------------------------------------------

    async def link(self, request: Request, token: str) -> Response:
        """A rater's own link leads in at once. By a link for everybody the page asks to be let in itself,
        with the cookie that its browser may have: looking at a link, as previews do, makes no rater."""
        found = await self._work(lambda: self.store.link(token_hash(token)))
        if found is None or found[1] is None:
            return file(request.headers, status=404 if found is None else 200)
        return self._with_cookie(RedirectResponse("/rate/", 303, HEADERS), request, token)

    async def page(self, request: Request) -> Response:
        if not request.url.path.endswith("/"):
            return RedirectResponse("/rate/", 307, HEADERS)
        return file(request.headers)

    async def file(self, request: Request, name: str) -> Response:
        return file(request.headers, name) if name in FILES else await self.elsewhere(request)

    async def elsewhere(self, request: Request) -> Response:
        """There is nothing there; one who tries is logged, up to a number."""
        self.strayed += 1
        if self.strayed <= MAX_LOGGED:
            detail = {"why": "path", "path": request.url.path[:200], "method": request.method}
            await self._work(lambda: self.store.log("refused", detail))
        return answer({"error": "There is nothing here.", "kind": "path"}, 404)

    # -- what the page's script asks --------------------------------------------------------------

    async def now(self, request: Request) -> Response:
        return await self._view(lambda: self.rating.view(_token(request)))

    async def enter(self, request: Request) -> Response:
        async def work(body: EnterBody) -> Response:
            try:
                mine = await self._work(lambda: self._mine(_token(request), body))
            except Refused as refused:
                return _refusal(refused)
            return self._with_cookie(await self._view(lambda: self.rating.view(mine)), request, mine)

        return await self._posted(request, EnterBody, work)

    async def agree(self, request: Request) -> Response:
        async def work(_: AgreeBody) -> Response:
            return await self._view(lambda: self.rating.consent(_token(request)))

        return await self._posted(request, AgreeBody, work)

    async def answer(self, request: Request) -> Response:
        async def work(body: AnswerBody) -> Response:
            return await self._view(lambda: self.rating.vote(_token(request), body.pair, _ballot(body)))

        return await self._posted(request, AnswerBody, work)

    async def undo(self, request: Request) -> Response:
        async def work(body: UndoBody) -> Response:
            return await self._view(lambda: self.rating.undo(_token(request), body.id))

        return await self._posted(request, UndoBody, work)

    async def close(self, request: Request) -> Response:
        async def work(body: CloseBody) -> Response:
            return await self._view(lambda: self.rating.close(_token(request), body.guess, body.recognised))

        return await self._posted(request, CloseBody, work)

    # -- how -------------------------------------------------------------------------------------

    def _mine(self, cookie: str, body: EnterBody) -> str:
        """The rater's token: that of the cookie for one who comes to the same study again.

        A platform's parameters outrank the cookie: they tell apart two people at one device.
        """
        before = self.store.link(token_hash(cookie)) if cookie else None
        asked = self.store.link(token_hash(body.token))
        if not body.crowd and before and asked and before[1] is not None and asked == (before[0], None):
            return cookie
        return self.rating.join(body.token, body.crowd)

    async def _posted(
        self, request: Request, form: type[Body], work: Callable[[Body], Awaitable[Response]]
    ) -> Response:
        try:
            if not _from_here(request):
                raise ValueError("sent by a page of another site")
            body = form.model_validate(json.loads(await _content(request)))
        except (ValueError, RecursionError, ValidationError):
            return _refusal(await self._work(lambda: self.rating.malformed(_token(request))))
        return await work(body)

    async def _view(self, look: Callable[[], RaterView]) -> Response:
        try:
            return answer(asdict(await self._work(look)))
        except Refused as refused:
            return _refusal(refused)
        except StoreBusy:
            return answer({"error": BUSY, "kind": "busy"}, 503)

    async def _work(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    def _with_cookie(self, response: Response, request: Request, token: str) -> Response:
        response.set_cookie(
            COOKIE,
            token,
            max_age=DAYS * 24 * 3600,
            path="/rate",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response


def _token(request: Request) -> str:
    return request.cookies.get(COOKIE, "")


def _from_here(request: Request) -> bool:
    """Whether a page of this site sent it, as far as the browser says; a proxy may change the host's name."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")


async def _content(request: Request) -> bytes:
    """The body. Raises ValueError for one that is no JSON by its name, or too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise ValueError("no JSON")
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > LARGEST:
            raise ValueError("too large")
    return content


def _ballot(body: AnswerBody) -> Ballot:
    criteria = tuple(body.criteria.items())
    choice: Any = body.choice  # whether it is one is core.studies.rating's to say
    return Ballot(body.id, choice, body.strength, criteria, body.reason, body.active_ms)  # type: ignore[arg-type]


def _refusal(refused: Refused) -> Response:
    return answer({"error": str(refused), "kind": refused.kind}, STATUS.get(refused.kind, 409))
