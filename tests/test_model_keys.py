"""A key that was typed in is found nowhere: no answer, no log, no file, no database; nor in refusals."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from core.models.protocol import ModelError
from core.running import Stop
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import open_database
from storage.store import SqlStore
from tests.benches import recipe
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, body
from tests.model_house import (
    KEY,
    House,
    Json,
    authorization,
    chat_fixture,
    house_fixture,
    html,
    leaks,
    telling,
)
from tests.values import TASK

__all__ = ["chat_fixture", "house_fixture"]

REFUSED = [
    ({"base_url": "ftp://host/v1"}, "An address begins with http"),
    ({"base_url": "http://"}, "An address begins with http"),
    ({"base_url": "http://[half/v1"}, "An address begins with http"),
    ({"base_url": "http://host/v 1"}, "An address begins with http"),
    ({"base_url": f"http://user:{KEY}@host/v1"}, "user name or password"),
    ({"base_url": f"http://host/v1?api_key={KEY}"}, "looks like a key"),
    ({"base_url": f"http://host/v1?x={KEY}"}, "looks like a key"),
    ({"base_url": f"http://host/{KEY}/v1"}, "looks like a key"),
    ({"base_url": "http://host/hush-hush-hush/v1", "key": "hush-hush-hush"}, "The key stands in"),
    ({"name": KEY}, "looks like a key"),
    ({"name": "hush-hush-hush", "key": "hush-hush-hush"}, "The key stands in"),
    ({"name": "openai"}, "none of starter, openai, hf, gguf"),
    ({"name": "a:b"}, "letters, digits"),
    ({"name": ""}, "letters, digits"),
    ({"key": f"{KEY} {KEY}"}, "holds blanks"),
    ({"key": [KEY]}, "key: "),
    ({"base_url": None}, "base_url: "),
    ({"context_tokens": 0}, "whole number"),
    ({"price": {"prompt": -1, "completion": 1}}, "price takes"),
    ({"price": {"prompt": 1}}, "price.completion: "),
]


@pytest.mark.parametrize(("wrong", "words"), REFUSED)
def test_what_cannot_be_kept_is_refused_in_words_that_repeat_no_key(
    here: House, wrong: Json, words: str
) -> None:
    good = {"name": "mine", "base_url": "http://127.0.0.1:9/v1", "key": KEY}
    refused = here.ask("/endpoints", {**good, **wrong})
    assert words in refused["error"]
    assert leaks(here, "") == [] and b"hush-hush" not in b"".join(here.said)
    assert not (here.home / "endpoints.json").exists()


@pytest.mark.parametrize("raw", [b"", b"{", f'{{"key": "{KEY}"'.encode(), f'["{KEY}"]'.encode(), b"\xff"])
def test_a_body_that_is_none_is_refused_in_words(here: House, raw: bytes) -> None:
    for path in ("/endpoints", "/endpoints/openai/key", "/check"):
        assert here.ask(path, raw=raw or b" ")["error"]
    assert leaks(here, "") == []


@pytest.mark.parametrize("answer", [telling, Chat(), html, lambda ask: body({"error": authorization(ask)})])
def test_a_key_is_in_no_answer_no_log_and_no_file(
    here: House, answer: Callable[[Ask], Play], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with FaultServer(answer) as server:
        here.add(server.url)
        for path, sent in (
            ("/endpoints/mine/list", {}),
            ("/check", {"name": "mine:tiny-chat"}),
            ("/endpoints/mine/key", {"key": KEY}),
            ("/check", {"name": "mine:another"}),
            ("", None),
        ):
            here.ask(path, sent)
        assert f"Bearer {KEY}" in {authorization(ask) for ask in server.asks}
    assert (here.home / "endpoints.json").is_file() and caplog.text
    assert leaks(here, caplog.text + repr(vars(here.models)["_endpoints"])) == []
    assert leaks(here, f"...{base64.b64encode(b'user:' + KEY.encode()).decode()}...") != []


@pytest.mark.parametrize("answer", [telling, Chat()])
def test_a_key_is_not_in_the_database_of_sessions_that_ran_on_it(
    here: House, answer: Callable[[Ask], Play], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = SqlStore(open_database(f"sqlite:///{here.home}/redraft.db"))
    bench = Workbench(store, here.models.open, open_scorer)
    with FaultServer(answer) as server:
        here.add(server.url)
        session = bench.start(TASK, replace(recipe(), model="mine:tiny-chat"), "auto")
        with contextlib.suppress(ModelError):  # the one that refuses
            asyncio.run(bench.advance(session, lambda _: None, Stop()))
        assert f"Bearer {KEY}" in {authorization(ask) for ask in server.asks}
    kept = store.load(session)
    assert kept.steps or "Wrong key" in kept.problem
    assert leaks(here, f"{caplog.text}{kept}") == []
