"""A server's model routes on a data folder, and endpoints that tell too much, for tests of them."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import fastapi
import httpx
import pytest

from core.config import read_config
from core.models.catalog import Models
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, refusal
from ui.model_routes import Limits, model_routes

KEY = "sk-CANARY-123"
Json = dict[str, Any]


@dataclass
class House:
    """A server's model routes on a data folder; every answer is remembered as it went out."""

    home: Path
    models: Models
    app: fastapi.FastAPI
    said: list[bytes]

    def ask(self, path: str = "", sent: object = None, *, raw: bytes | None = None) -> Json:
        """The last line of the answer to a POST of `sent`, or to a GET."""

        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
                if sent is None and raw is None:
                    return await client.get(f"/api/models{path}")
                return await client.post(f"/api/models{path}", content=raw or json.dumps(sent))

        answer = asyncio.run(call())
        assert answer.status_code == 200
        self.said.append(answer.content)
        found: Json = json.loads(answer.content.splitlines()[-1], parse_constant=pytest.fail)
        return found

    def add(self, url: str, key: str = KEY, **more: object) -> Json:
        return self.ask("/endpoints", {"name": "mine", "base_url": url, "key": key, **more})

    def endpoint(self, name: str = "mine") -> Json:
        return next(each for each in self.ask()["endpoints"] if each["name"] == name)


def house(home: Path, limits: Limits | None = None, **environment: str) -> House:
    """The routes as after a start of the server."""
    environment = {"REDRAFT_HOME": str(home), **environment}
    models = Models(read_config(environment), environment)
    app = fastapi.FastAPI()
    app.include_router(model_routes(models, limits))
    return House(home, models, app, [])


@pytest.fixture(name="here")
def house_fixture(tmp_path: Path) -> House:
    return house(tmp_path)


@pytest.fixture(name="chat")
def chat_fixture() -> Iterator[FaultServer]:
    with FaultServer(Chat()) as server:
        yield server


def authorization(ask: Ask) -> str:
    return next((value for name, value in ask.headers.items() if name.lower() == "authorization"), "")


def telling(ask: Ask) -> Play:
    """Refuses, and repeats all that it was sent."""
    return refusal(f"Wrong key: {authorization(ask)} at {ask.path}", 401)


def encoded(secret: str) -> set[bytes]:
    """A secret as it is, URL-encoded, and in base64 (the part that no neighbour changes)."""
    raw = secret.encode()
    shifted = [base64.b64encode(b"x" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    return {raw, quote(secret, safe="").encode(), quote_plus(secret).encode(), *shifted}


def leaks(here: House, log: str) -> list[bytes]:
    files = [path for path in here.home.rglob("*") if path.is_file()]
    everything = b"\n".join([log.encode(), *here.said, *(path.read_bytes() for path in files)])
    return [form for form in encoded(KEY) if form in everything]


def html(_: Ask) -> Play:
    page = b"<html><title>Sign in</title><script>alert(1)</script></html>"
    return Play([page], headers={"Content-Type": "text/html"})
