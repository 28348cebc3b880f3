"""The routes of the models drawer: what there is, endpoints to add and remove, and a test of one model.

A key comes in by two of these routes and goes out by none. Bodies are read here and not by FastAPI,
whose refusals repeat what was sent. Errors come back as {"error": words}.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field, SecretStr, ValidationError

from core.config import ConfigError, Endpoint, new_endpoint, shown_address
from core.models.catalog import Models, UnknownModel
from core.models.check import check_model, hub_trouble
from core.models.protocol import Happening, ModelError, Notice

REFUSALS = (ConfigError, UnknownModel, ModelError)
QUIET = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
Body = TypeVar("Body", bound=BaseModel)
Json = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """How long things may take, in seconds; for a local model without any news from it."""

    listing: float = 30.0
    check: float = 60.0
    local: float = 300.0


class PriceBody(BaseModel):
    """Money per million tokens."""

    prompt: float
    completion: float
    cached: float | None = None


class KeyBody(BaseModel):
    """A key for an endpoint that there is."""

    key: SecretStr


class EndpointBody(BaseModel):
    """An endpoint to add."""

    name: str
    base_url: str
    key: SecretStr = SecretStr("")
    context_tokens: int | None = None
    price: PriceBody | None = None


class NameBody(BaseModel):
    """A model to test."""

    name: str = Field(max_length=1000)


def model_routes(models: Models, limits: Limits | None = None) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/api/models")
    limits = limits or Limits()
    checks = Checks(models, limits)

    @router.get("")
    async def listed() -> JSONResponse:
        return JSONResponse(_listing(models), headers=QUIET)

    @router.get("/hub")
    async def hub() -> JSONResponse:
        return JSONResponse({"trouble": await asyncio.to_thread(hub_trouble)}, headers=QUIET)

    @router.post("/endpoints")
    async def add(request: Request) -> JSONResponse:
        async def work() -> None:
            body = await _read(request, EndpointBody)
            await asyncio.to_thread(_add, models, body)

        return await _changed(models, work())

    @router.post("/endpoints/{name}/key")
    async def key(name: str, request: Request) -> JSONResponse:
        async def work() -> None:
            body = await _read(request, KeyBody)
            await asyncio.to_thread(models.set_key, name, body.key.get_secret_value())

        return await _changed(models, work())

    @router.post("/endpoints/{name}/remove")
    async def remove(name: str) -> JSONResponse:
        return await _changed(models, asyncio.to_thread(models.remove_endpoint, name))

    @router.post("/endpoints/{name}/list")
    async def fetch(name: str) -> JSONResponse:
        return await _changed(models, _fetch(models, name, limits.listing))

    @router.post("/check")
    async def check(request: Request) -> Response:
        try:
            # Now: once the answer streams, the server listens on this line for the page's going away.
            name = (await _read(request, NameBody)).name.strip()
        except ConfigError as error:
            return JSONResponse({"error": str(error)}, headers=QUIET)
        return StreamingResponse(checks.lines(name), media_type="application/x-ndjson", headers=QUIET)

    return router


def _listing(models: Models) -> Json:
    return {"names": models.names(), "endpoints": [_shown(models, e) for e in models.endpoints()]}


def _shown(models: Models, endpoint: Endpoint) -> Json:
    return {
        "name": endpoint.name,
        "base_url": shown_address(endpoint.base_url),
        "models": endpoint.models,
        "context_tokens": endpoint.context_tokens,
        "price": endpoint.price and asdict(endpoint.price),
        "key": models.key_state(endpoint.name),
        "key_env": endpoint.key_env,
        "added": endpoint.added,
    }


async def _changed(models: Models, work: Awaitable[object]) -> JSONResponse:
    """Do the work; what there is afterwards, or why it was not done."""
    try:
        await work
    except REFUSALS as refusal:
        return JSONResponse({"error": str(refusal)}, headers=QUIET)
    return JSONResponse(_listing(models), headers=QUIET)


async def _read(request: Request, shape: type[Body]) -> Body:
    """The body of a request. Raises ConfigError, which repeats nothing of it."""
    try:
        return shape.model_validate_json(await request.body())
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise ConfigError(
            "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
        ) from None


def _add(models: Models, body: EndpointBody) -> None:
    key = body.key.get_secret_value().strip()
    price = body.price and body.price.model_dump(exclude_none=True)
    endpoint = new_endpoint(
        body.name.strip(), body.base_url, key=key, context_tokens=body.context_tokens, price=price
    )
    models.add_endpoint(endpoint, key)


async def _fetch(models: Models, name: str, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            found = await models.fetch_models(name)
    except TimeoutError:
        raise ModelError(f"{name} did not list its models within {seconds:.0f} seconds. Try again.") from None
    if not found:
        raise ModelError(f"{name} answers, and lists no models. Type the name of one.")


class Checks:
    """The tests that run now, one at a time for each model. A test ends when its page goes away."""

    def __init__(self, models: Models, limits: Limits) -> None:
        self._models, self._limits = models, limits
        self._running: set[str] = set()

    async def lines(self, name: str) -> AsyncIterator[str]:
        """A line of JSON for each notice, then one with the report or an error."""
        if name in self._running:
            yield _line(error=f"{name} is being tested already, here or on another page.")
            return
        self._running.add(name)
        try:
            async for line in self._follow(name):
                yield line
        finally:
            self._running.discard(name)

    async def _follow(self, name: str) -> AsyncIterator[str]:
        news: asyncio.Queue[str | None] = asyncio.Queue()
        work = asyncio.create_task(self._check(name, news.put_nowait))
        work.add_done_callback(lambda _: news.put_nowait(None))
        try:
            while (notice := await news.get()) is not None:
                yield _line(notice=notice)
            yield _line(**await work)
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def _check(self, name: str, tell: Callable[[str], None]) -> Json:
        try:
            return {"report": await self._in_time(name, tell)}
        except REFUSALS as refusal:
            return {"error": str(refusal)}

    async def _in_time(self, name: str, tell: Callable[[str], None]) -> Json:
        model, first = self._models.open(name), self._models.impatient(name)
        seconds = self._limits.check if first else self._limits.local
        now = asyncio.get_running_loop().time

        def listen(happening: Happening) -> None:
            if isinstance(happening, Notice):
                tell(happening.text)
                if first is None:  # a download that goes on is no reason to give up
                    clock.reschedule(now() + seconds)

        try:
            async with asyncio.timeout(seconds) as clock:
                return (await check_model(model, first=first, listen=listen)).as_json()
        except TimeoutError:
            raise ModelError(_too_late(name, seconds, first is None)) from None


def _too_late(name: str, seconds: float, local: bool) -> str:
    if local:
        return f"{name} was not ready after {seconds:.0f} seconds. Test it again, or take a smaller one."
    return f"{name} gave no answer within {seconds:.0f} seconds. Is its server busy, or still loading?"


def _line(**values: object) -> str:
    return json.dumps(values, ensure_ascii=True, allow_nan=False) + "\n"
