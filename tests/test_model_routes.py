"""The model routes against endpoints that behave and that don't."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from starlette.types import Message

from core.config import ConfigError
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, body, refusal
from tests.model_house import (
    KEY,
    House,
    authorization,
    chat_fixture,
    house,
    house_fixture,
    html,
    leaks,
    telling,
)
from ui.model_routes import Limits

__all__ = ["chat_fixture", "house_fixture"]

ENVIRONMENT_KEY = "sk-CANARY-456"


# -- endpoints ------------------------------------------------------------------------------


def test_an_endpoint_is_added_listed_tested_and_removed(here: House, chat: FaultServer) -> None:
    added = here.add(chat.url, context_tokens=8192, price={"prompt": 0.1, "completion": 0.4})
    assert [each["name"] for each in added["endpoints"]] == ["openai", "mine"]
    found = here.endpoint()
    assert (found["base_url"], found["key"], found["context_tokens"]) == (chat.url, "known", 8192)
    listed = here.ask("/endpoints/mine/list", {})
    assert listed["names"] == ["starter", "mine:tiny-chat"]
    report = here.ask("/check", {"name": "mine:tiny-chat"})["report"]
    assert (report["reached_as"], report["capabilities"]["logprobs"]) == ("tiny-chat", True)
    assert report["capabilities"]["scoring"] is False and report["condition"] == "as it was written"
    assert "".join(text for text, _ in report["tokens"]) == report["reply"] != ""
    assert {authorization(ask) for ask in chat.asks} == {f"Bearer {KEY}"}
    removed = here.ask("/endpoints/mine/remove", {})
    assert removed["names"] == ["starter"]
    assert "There is no model 'mine:tiny-chat'" in here.ask("/check", {"name": "mine:tiny-chat"})["error"]


def test_after_a_restart_there_is_all_but_the_key(here: House, chat: FaultServer) -> None:
    here.add(chat.url, context_tokens=8192)
    here.ask("/endpoints/mine/list", {})
    asked = len(chat.asks)
    again = house(here.home)
    found = again.endpoint()
    assert (found["models"], found["context_tokens"], found["key"]) == (["tiny-chat"], 8192, "missing")
    for path, sent in (("/check", {"name": "mine:tiny-chat"}), ("/endpoints/mine/list", {})):
        assert "enter its key again" in again.ask(path, sent)["error"]
    assert len(chat.asks) == asked, "nothing is asked without the key"
    again.ask("/endpoints/mine/key", {"key": KEY})
    assert again.endpoint()["key"] == "known"
    assert "report" in again.ask("/check", {"name": "mine:tiny-chat"})


def test_an_endpoint_without_a_key_works_after_a_restart(here: House, chat: FaultServer) -> None:
    here.add(chat.url, key="")
    again = house(here.home)
    assert again.endpoint()["key"] == "none"
    assert "report" in again.ask("/check", {"name": "mine:tiny-chat"})
    assert {authorization(ask) for ask in chat.asks} == {""}


def test_another_address_is_not_sent_the_key_of_the_first(here: House, chat: FaultServer) -> None:
    here.add(chat.url)
    here.add(chat.url, key="", context_tokens=99)
    assert here.endpoint()["key"] == "known"
    with FaultServer(Chat()) as other:
        here.add(other.url, key="")
        assert here.endpoint()["key"] == "none"
        here.ask("/check", {"name": "mine:tiny-chat"})
        assert {authorization(ask) for ask in other.asks} == {""}


def test_a_model_opened_before_uses_the_new_key(here: House, chat: FaultServer) -> None:
    here.add(chat.url)
    before = here.models.open("mine:m")
    here.ask("/endpoints/mine/key", {"key": "another-key"})
    assert here.models.open("mine:m") is not before
    here.ask("/check", {"name": "mine:m"})
    assert {authorization(ask) for ask in chat.asks} == {"Bearer another-key"}


def test_keys_in_the_environment_work_and_one_typed_in_outranks_them(
    tmp_path: Path, chat: FaultServer
) -> None:
    here = house(tmp_path, OPENAI_API_KEY=ENVIRONMENT_KEY, OPENAI_BASE_URL=chat.url)
    assert here.endpoint("openai")["key"] == "known"
    here.ask("/check", {"name": "openai:m"})
    here.ask("/endpoints/openai/key", {"key": KEY})
    count = len(chat.asks)
    here.ask("/check", {"name": "openai:m"})
    assert {authorization(ask) for ask in chat.asks[:count]} == {f"Bearer {ENVIRONMENT_KEY}"}
    assert {authorization(ask) for ask in chat.asks[count:]} == {f"Bearer {KEY}"}
    assert not (tmp_path / "endpoints.json").exists(), "what the configuration says is not written again"


def test_an_endpoint_of_the_configuration_is_neither_replaced_nor_removed(
    tmp_path: Path, chat: FaultServer
) -> None:
    (tmp_path / "config.toml").write_text(f'[endpoints.mine]\nbase_url = "{chat.url}?api_key=hush"\n')
    here = house(tmp_path)
    assert here.endpoint()["base_url"] == chat.url
    for refused in (here.add("http://127.0.0.1:9/v1"), here.ask("/endpoints/mine/remove", {})):
        assert "set in the configuration" in refused["error"]
    assert b"hush" not in b"".join(here.said)


def test_a_data_folder_that_cannot_be_written_changes_nothing(here: House) -> None:
    (here.home / "endpoints.json").mkdir()
    assert "could not be kept" in here.add("http://127.0.0.1:9/v1")["error"]
    assert [each["name"] for each in here.ask()["endpoints"]] == ["openai"]
    assert [path.name for path in here.home.iterdir()] == ["endpoints.json"]


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"endpoints": []}', '{"endpoints": {"a": {}}}', '{"endpoints": {"a": {"base_url": "x"}}}',
     '{"endpoints": {"a": {"base_url": "http://h/v1", "key": "sk-CANARY-123"}}}'],
)  # fmt: skip
def test_a_file_of_endpoints_that_is_none_is_named(here: House, text: str) -> None:
    (here.home / "endpoints.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"endpoints\.json") as caught:
        house(here.home)
    assert KEY not in str(caught.value)


# -- endpoints that don't behave ------------------------------------------------------------


def without_list(ask: Ask) -> Play:
    return refusal("no such route", 404) if ask.method == "GET" else Chat()(ask)


BAD: list[tuple[Callable[[Ask], Play], str, str]] = [
    (telling, "The key was refused (401)", "The key was refused (401)"),
    (html, "something unreadable", "something unreadable"),
    (lambda _: refusal("nothing here", 404), "Check the model's name and the base URL", "ends in /v1"),
    (lambda _: refusal("warming up", 503), "failed on the server's side (503)", "(503)"),
    (lambda _: body({"data": []}), "", "lists no models"),
]


@pytest.mark.parametrize(("answer", "tested", "listed"), BAD)
def test_what_an_endpoint_does_wrong_is_said_at_the_first_time(
    here: House, answer: Callable[[Ask], Play], tested: str, listed: str
) -> None:
    with FaultServer(answer) as server:
        here.add(server.url)
        before = len(server.asks)
        assert tested in here.ask("/check", {"name": "mine:m"})["error"]
        assert len(server.asks) == before + 1, "a test does not try again"
        assert listed in here.ask("/endpoints/mine/list", {})["error"]
    assert leaks(here, "") == []


def test_a_dead_port_is_said_at_once(here: House) -> None:
    with FaultServer([]) as dead:
        url = dead.url
    here.add(url)
    assert "could not be reached" in here.ask("/check", {"name": "mine:m"})["error"]
    assert "could not be reached" in here.ask("/endpoints/mine/list", {})["error"]


def test_an_endpoint_without_a_list_can_be_used_all_the_same(here: House) -> None:
    with FaultServer(without_list) as server:
        here.add(server.url)
        assert "list of models was not found (404)" in here.ask("/endpoints/mine/list", {})["error"]
        assert here.ask("/check", {"name": "mine:m"})["report"]["reached_as"] == "tiny-chat"


def test_names_that_cannot_be_shown_or_repeat_the_key_are_left_out(here: House) -> None:
    names = ["<img src=x>", f"m-{KEY}", "a\0b", "\ud800", "x" * 300, "<img src=x>", "好"]
    with FaultServer(lambda _: body({"data": [{"id": name} for name in names]})) as server:
        here.add(server.url)
        here.ask("/endpoints/mine/list", {})
    assert house(here.home).endpoint()["models"] == ["<img src=x>", "好"]


def test_a_silent_endpoint_is_given_up_and_left(tmp_path: Path) -> None:
    here = house(tmp_path, Limits(listing=0.2, check=0.2))
    with FaultServer(lambda _: Play([threading.Event()])) as server:
        here.add(server.url)
        assert "gave no answer within" in here.ask("/check", {"name": "mine:m"})["error"]
        assert "did not list its models within" in here.ask("/endpoints/mine/list", {})["error"]
        assert server.wait_for(disconnects=2)


# -- tests and their pages ------------------------------------------------------------------


def page(here: House, gone: asyncio.Event) -> Callable[[], Awaitable[list[bytes]]]:
    """A page that tests mine:m and goes away when the event is set; gives what it heard."""
    sent = [{"type": "http.request", "body": b'{"name": "mine:m"}', "more_body": False}]
    heard: list[bytes] = []

    async def receive() -> Message:
        if not sent:
            await gone.wait()
        return sent.pop() if sent else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        heard.append(message.get("body", b""))

    async def call() -> list[bytes]:
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
            "method": "POST", "path": "/api/models/check", "raw_path": b"",
            "query_string": b"", "headers": [],
            "scheme": "http", "server": ("here", 80), "client": ("here", 1), "root_path": "",
        }  # fmt: skip
        await here.app(scope, receive, send)
        return heard

    return call


def test_a_test_ends_when_its_page_goes_and_only_one_runs_at_a_time(here: House) -> None:
    never = threading.Event()
    with FaultServer(lambda _: Play([never])) as server:
        here.add(server.url)

        async def scene() -> list[bytes]:
            gone = asyncio.Event()
            first = asyncio.ensure_future(page(here, gone)())
            assert await asyncio.to_thread(server.wait_for, asks=1)
            second = await page(here, asyncio.Event())()
            gone.set()
            await first
            # While the loop still runs: its end would end anything.
            assert await asyncio.to_thread(server.wait_for, disconnects=1)
            return second

        second = asyncio.run(scene())
        assert b"is being tested already" in b"".join(second)
        assert len(server.asks) == 1
        # The place is free again.
        never.set()
        assert "already" not in here.ask("/check", {"name": "mine:m"})["error"]


def test_what_a_test_waits_for_is_told_meanwhile(tmp_path: Path, chat: FaultServer) -> None:
    here = house(tmp_path)
    plays = iter([None, refusal("busy", 429, retry_after=0)])

    def answer(ask: Ask) -> Play:
        return next(plays, None) or Chat()(ask)

    with FaultServer(answer) as server:
        here.add(server.url)
        assert "report" in here.ask("/check", {"name": "mine:m"})
    lines = [json.loads(line) for line in here.said[-1].splitlines()]
    assert any("retrying in" in line.get("notice", "") and "busy" in line["notice"] for line in lines)


def test_a_model_that_is_none_is_said_in_words(here: House) -> None:
    assert "There is no model 'nonsense'" in here.ask("/check", {"name": "nonsense"})["error"]
    assert "there is no file /no/such.gguf" in here.ask("/check", {"name": "gguf:/no/such.gguf"})["error"]
    assert "There is no endpoint 'x'" in here.ask("/endpoints/x/list", {})["error"]
    assert "There is no endpoint 'x'" in here.ask("/endpoints/x/remove", {})["error"]


def test_the_hub_that_is_switched_off_is_said_to_be(here: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE" in here.ask("/hub")["trouble"]
