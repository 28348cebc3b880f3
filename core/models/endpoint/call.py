"""One call to an endpoint: request out, chunks in. Knows no retry rule and no adaptation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from core.models.endpoint.chunks import Gathering, Piece
from core.models.endpoint.faults import Failed, Fault, reported
from core.models.endpoint.request import Body
from core.models.endpoint.sse import Frame, Frames
from core.models.endpoint.wire import Wire, faults

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from openai import AsyncAPIResponse

Hear = Callable[[Piece], None]
Json = Mapping[str, object]
DRAIN_SECONDS = 0.2
"""A connection can be used again only once the body has ended; a server may never end it."""


async def gather_answer(wire: Wire, body: Body, gathering: Gathering, hear: Hear) -> None:
    """Takes an answer as it comes. Raises Failed, also where a stream ends without having ended."""
    frames = Frames()
    try:
        with faults():
            done = await _stream(wire, body, frames, gathering, hear)
    except Failed as failed:
        if failed.fault.kind == "status" or not gathering.finished:
            raise
        done = True  # everything had been said before the line broke
    if not done and frames.other and not gathering.candidates:
        _take(_whole(frames.other), gathering, hear)
    elif not done and not gathering.finished:
        raise Failed(Fault("cut"))
    for piece in gathering.close():
        hear(piece)


async def _stream(wire: Wire, body: Body, frames: Frames, gathering: Gathering, hear: Hear) -> bool:
    """Whether the server said that it was done."""
    async with await _asked(wire, body) as response:
        pieces = response.iter_bytes()
        async for piece in pieces:
            if _take_all(frames.feed(piece), gathering, hear):
                await _drained(pieces)
                return True
    return _take_all(frames.close(), gathering, hear)


async def _asked(wire: Wire, body: Body) -> AbstractAsyncContextManager[AsyncAPIResponse[Any]]:
    client = await wire.client()
    rest = {key: value for key, value in body.items() if key not in ("model", "messages")}
    return client.chat.completions.with_streaming_response.create(
        model=str(body["model"]), messages=cast(Any, body["messages"]), extra_body=rest
    )


async def _drained(pieces: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, Failed), faults():
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                pass


def _take_all(frames: Iterable[Frame], gathering: Gathering, hear: Hear) -> bool:
    for frame in frames:
        for chunk in _chunks(frame):
            if chunk is None:
                return True
            _take(chunk, gathering, hear)
    return False


def _take(chunk: Json, gathering: Gathering, hear: Hear) -> None:
    if chunk.get("error") or chunk.get("object") == "error":
        raise Failed(reported(chunk, None, {}))
    for piece in gathering.take(chunk):
        hear(piece)


def _chunks(frame: Frame) -> list[Json | None]:
    """The payloads of a frame, None for the end mark; a line each where they were not kept apart."""
    if frame.event == "error":
        raise Failed(reported(_parsed(frame.data) or frame.data, None, {}))
    whole = _payload(frame.data)
    return [whole] if whole != {} else [_strictly(line) for line in frame.lines if line.strip()]


def _payload(data: str) -> Json | None:
    """The payload, None for the end mark, {} for what is neither."""
    return None if data.strip().startswith("[DONE]") else _parsed(data)


def _strictly(line: str) -> Json | None:
    payload = _payload(line)
    if payload == {} and line.strip() != "{}":
        raise Failed(Fault("malformed"))
    return payload


def _parsed(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _whole(text: str) -> Json:
    """A body that is no event stream. Raises Failed where it is an error or no answer at all."""
    body = _parsed(text)
    if not body:
        raise Failed(Fault("foreign", "it was neither an event stream nor JSON"))
    if body.get("error") or body.get("object") == "error" or not {"choices", "data", "models"} & body.keys():
        raise Failed(reported(body, None, {}))
    return body


async def post(wire: Wire, body: Body) -> Json:
    """The whole answer to a chat request that is not streamed. Raises Failed."""
    with faults():
        async with await _asked(wire, body) as response:
            text = await response.text()
    return _whole(text)


async def model_names(wire: Wire) -> list[str]:
    """The names of the models on offer. Raises Failed."""
    client = await wire.client()
    with faults():
        async with client.models.with_streaming_response.list() as response:
            text = await response.text()
    body = _whole(text)
    rows = body.get("data") or body.get("models")
    found = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    names = (row.get("id") or row.get("name") or row.get("model") for row in found)
    return [str(name) for name in names if name]
