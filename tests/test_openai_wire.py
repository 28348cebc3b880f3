"""How the OpenAI-compatible backend reaches an endpoint: connections, cancelling, addresses, secrets."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from core.domain import Message, Sampling
from core.models.openai_compatible import OpenAICompatible
from core.models.protocol import ModelError
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, refusal, says, stream
from tests.openai_harness import HELLO, ask


def test_cancelling_closes_the_connection_before_and_after_the_first_token() -> None:
    async def cancelled(server: FaultServer) -> None:
        model = OpenAICompatible("x", base_url=server.url, model="m")
        shown = asyncio.Event()
        task = asyncio.create_task(model.complete(HELLO, sampling=Sampling(), listen=lambda _: shown.set()))
        await asyncio.to_thread(server.wait_for, asks=1)
        if started:
            await shown.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_for, disconnects=1, seconds=2)

    for started in (False, True):
        with FaultServer([Play([*([says("a")] if started else []), 30.0])]) as server:
            asyncio.run(cancelled(server))
            assert server.completed == 0


def test_one_connection_serves_several_calls_and_the_object_several_loops() -> None:
    async def twice() -> None:
        await model.complete(HELLO, sampling=Sampling())
        await model.complete(HELLO, sampling=Sampling())

    with FaultServer(Chat()) as server:
        model = OpenAICompatible("x", base_url=server.url, model="m")
        asyncio.run(twice())
        asyncio.run(twice())
        assert (server.completed, server.connections) == (4, 2)


def test_models_are_listed() -> None:
    with FaultServer(Chat(model="tiny")) as server:
        model = OpenAICompatible("x", base_url=server.url, model="m")
        assert asyncio.run(model.list_models()) == ["tiny"]


KEY, PASSWORD, QUERY = "sk-CANARY-123", "pw-CANARY-9", "CANARY2"


def test_no_secret_is_told_logged_or_lost_on_the_way(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: 1")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ambient")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    caplog.set_level(logging.DEBUG)

    def echo(asked: Ask) -> Play:
        seen.append(asked)
        return refusal(f"refused {json.dumps(dict(asked.headers))} {asked.path} {KEY}", 401)

    seen: list[Ask] = []
    with FaultServer(echo) as server:
        host = server.url.removeprefix("http://")
        for url in (server.url, f"http://anna:{PASSWORD}@{host}?api_key={QUERY}"):
            model = OpenAICompatible("x", base_url=url, model="m", api_key=KEY + "\n")
            with pytest.raises(ModelError) as caught:
                asyncio.run(model.complete(HELLO, sampling=Sampling()))
            told = f"{caught.value} {model._endpoint!r} {caplog.text}"
            for secret in ("CANARY", "YW5uYTpwdy1DQU5BUlk", "anna"):
                assert secret not in told
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert seen[1].headers["authorization"].startswith("Basic ")
    assert seen[1].path == f"/v1/chat/completions?api_key={QUERY}"
    assert "ambient" not in json.dumps([dict(asked.headers) for asked in seen]).lower()


def test_no_key_sends_no_authorization(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    with FaultServer(Chat()) as server:
        asyncio.run(
            OpenAICompatible("x", base_url=server.url, model="m").complete(HELLO, sampling=Sampling())
        )
        assert "authorization" not in {name.lower() for name in server.asks[0].headers}


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "http://", "ftp://host/v1", "http://host:port/v1"])
def test_an_impossible_address_is_refused_in_words(url: str) -> None:
    with pytest.raises(ModelError, match="must start with http"):
        OpenAICompatible("x", base_url=url, model="m")


def test_a_key_that_no_header_can_hold_is_refused_in_words() -> None:
    with pytest.raises(ModelError, match="characters that no key has"):
        OpenAICompatible("x", base_url="http://host/v1", model="m", api_key="sk-ключ")


def test_half_a_pair_in_the_prompt_does_not_reach_the_wire() -> None:
    run = ask([stream("Hi")], messages=[Message("user", "a\ud83cb")])
    assert run.bodies[0]["messages"][0]["content"] == "a\ufffdb"
