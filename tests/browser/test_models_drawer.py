"""The models drawer on the page: endpoints added, listed, tested, chosen, removed; keys seen by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Watched, by_rule
from tests.browser.pages import RefinePage
from tests.browser.test_refine import HOSTILE, overflow
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, body, refusal

KEY = "sk-CANARY-123"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose endpoints are these tests' to change, without a hub."""
    running = Server(tmp_path_factory.mktemp("drawer"), {"HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": ""}).start()
    yield running
    running.stop()


@dataclass
class Drawer:
    """What a person does in the drawer."""

    page: Page
    root: Locator

    def press(self, name: str) -> None:
        self.root.get_by_role("button", name=name, exact=True).click()

    def add(self, name: str, url: str, key: str = KEY) -> None:
        self.root.get_by_text("Add an endpoint", exact=True).click()
        self.root.get_by_label("Address").fill(url)
        self.root.get_by_label("Name", exact=True).fill(name)
        self.root.get_by_label("Key, where it wants one").fill(key)
        self.press("Add and list its models")

    def endpoint(self, name: str) -> Locator:
        return self.root.locator(f'[data-endpoint="{name}"]')

    @property
    def said(self) -> Locator:
        return self.root.locator(".rd-models-said")

    @property
    def problem(self) -> Locator:
        return self.root.locator(".rd-models-problem")


def opened(page: Page, url: str) -> Drawer:
    """The Refine page with the drawer open."""
    RefinePage(page, url).open()
    root = page.locator(".rd-models")
    page.wait_for_function("document.querySelector('.rd-models')?.dataset.ready === '1'")
    root.locator("> summary").click()
    return Drawer(page, root)


@pytest.fixture
def drawer(own: Server, watched: Watched) -> Drawer:
    return opened(watched.page(), own.url)


def test_an_endpoint_is_added_tested_used_and_removed(own: Server, watched: Watched, drawer: Drawer) -> None:
    traffic: list[str] = []
    drawer.page.on(
        "response", lambda answer: traffic.append(answer.text()) if "/api/" in answer.url else None
    )
    with FaultServer(Chat(by_rule)) as server:
        drawer.add("fake", server.url)
        expect(drawer.said).to_have_text("fake has 1 model.")
        expect(drawer.root.get_by_label("Key, where it wants one")).to_have_value("")
        expect(drawer.endpoint("fake")).to_contain_text("Its key is known.")
        drawer.press("Test fake:tiny-chat")
        tested = drawer.endpoint("fake").locator(".rd-test")
        expect(tested).to_contain_text("Reached: tiny-chat answered in")
        expect(tested.locator("dl > div", has_text="Scores any given text").locator("dd")).to_have_text("no")
        expect(tested.locator("dl > div", has_text="as it writes").locator("dd")).to_have_text("yes")
        assert "".join(tested.locator(".rd-token").all_text_contents()).startswith("This is text number")
        drawer.press("Use fake:tiny-chat")
        expect(drawer.page.locator("#model input")).to_have_value("fake:tiny-chat")
        expect(drawer.root.locator(".rd-models-now")).to_have_text("fake:tiny-chat")
        refine_once(RefinePage(drawer.page, own.url))
        assert KEY not in drawer.page.content() and traffic and KEY not in "".join(traffic)
        again = opened(watched.page(), own.url)
        expect(again.page.locator("#model input")).to_have_value("fake:tiny-chat")
        again.press("Remove fake")
        expect(again.endpoint("fake")).to_have_count(0)
        expect(again.page.locator("#model input")).to_have_value("starter")
    kept = [path for path in own.home.rglob("*") if path.is_file()]
    assert {"redraft.db", "server.log", "endpoints.json"} <= {path.name for path in kept}
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


def refine_once(tab: RefinePage) -> None:
    """A session on the model that the drawer chose."""
    tab.page.locator("#text textarea").fill("A text for the endpoint.")
    tab.page.locator("#instruction textarea").fill("Make it shorter.")
    tab.start()
    tab.at_critique()


def test_a_model_plays_one_role_and_a_reload_remembers_it(
    own: Server, watched: Watched, drawer: Drawer
) -> None:
    with FaultServer(Chat(by_rule)) as server:
        drawer.add("roles", server.url, key="")
        expect(drawer.said).to_have_text("roles has 1 model.")
        drawer.root.get_by_text("A model for each role").click()
        drawer.root.get_by_label("Criticises").select_option("roles:tiny-chat")
        assert drawer.page.evaluate("redraftRoles()") == {"critique": "roles:tiny-chat"}
        again = opened(watched.page(), own.url)
        assert again.page.evaluate("redraftRoles()") == {"critique": "roles:tiny-chat"}
        expect(again.root.get_by_label("Criticises")).to_have_value("roles:tiny-chat")
        again.press("Remove roles")
        expect(again.endpoint("roles")).to_have_count(0)
        assert again.page.evaluate("redraftRoles()") == {}


def hostile(ask: Ask) -> Play:
    """An endpoint that puts markup wherever it can."""
    if ask.method == "GET":
        return body({"data": [{"id": HOSTILE}]})
    return refusal(HOSTILE, 400)


def test_hostile_names_and_words_are_shown_as_text(drawer: Drawer) -> None:
    title = drawer.page.title()
    with FaultServer(hostile) as server:
        drawer.add("hostile", server.url)
        expect(drawer.said).to_have_text("hostile has 1 model.")
        row = drawer.endpoint("hostile").locator(".rd-model")
        assert row.locator(".rd-model-name").text_content() == f"hostile:{HOSTILE}"
        row.get_by_role("button", name=re.compile("^Test")).click()
        expect(row.locator(".rd-failed")).to_contain_text("<img src=x onerror=")
        row.get_by_role("button", name=re.compile("^Use")).click()
        expect(drawer.page.locator("#model input")).to_have_value(f"hostile:{HOSTILE}")
        drawer.press("Remove hostile")
        expect(drawer.endpoint("hostile")).to_have_count(0)
    assert drawer.page.title() == title
    assert drawer.root.locator("img, script, iframe").count() == 0


def test_what_is_refused_is_said_and_only_the_key_is_gone(drawer: Drawer) -> None:
    drawer.add("bad", f"http://user:{KEY}@127.0.0.1:9/v1")
    expect(drawer.problem).to_contain_text("user name or password")
    expect(drawer.root.get_by_label("Name", exact=True)).to_have_value("bad")
    expect(drawer.root.get_by_label("Key, where it wants one")).to_have_value("")
    drawer.root.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    drawer.press("Add and list its models")
    failed = drawer.endpoint("bad").locator(".rd-failed")
    expect(failed).to_contain_text("could not be reached")
    drawer.endpoint("bad").get_by_label("Another model of bad").fill("typed")
    drawer.press("Add to the list: a model of bad")
    drawer.press("Test bad:typed")
    expect(drawer.endpoint("bad").locator(".rd-test .rd-failed")).to_contain_text("could not be reached")
    drawer.press("Remove bad")
    expect(drawer.endpoint("bad")).to_have_count(0)


def test_after_a_restart_the_key_is_asked_for(watched: Watched, tmp_path: Path) -> None:
    running = Server(tmp_path, {"HF_HUB_OFFLINE": "1"}).start()
    watched.outage = True
    try:
        with FaultServer(Chat(by_rule)) as server:
            drawer = opened(watched.page(), running.url)
            drawer.add("fake", server.url)
            expect(drawer.said).to_have_text("fake has 1 model.")
            running.stop()
            running.start()
            again = opened(watched.page(), running.url)
            expect(again.endpoint("fake")).to_contain_text("enter its key again")
            again.press("Test fake:tiny-chat")
            expect(again.endpoint("fake").locator(".rd-test")).to_contain_text("enter its key again")
            again.endpoint("fake").get_by_label("Key of fake").fill(KEY)
            again.page.keyboard.press("Enter")
            expect(again.endpoint("fake")).to_contain_text("Its key is known.")
            again.press("Test fake:tiny-chat")
            expect(again.endpoint("fake").locator(".rd-test")).to_contain_text("Reached: tiny-chat")
    finally:
        running.stop()


def test_a_test_is_stopped_and_leaves_the_endpoint(drawer: Drawer) -> None:
    def slow(ask: Ask) -> Play:
        return Chat(by_rule)(ask) if ask.method == "GET" else Play([600.0])

    with FaultServer(slow) as server:
        drawer.add("slow", server.url)
        drawer.press("Test slow:tiny-chat")
        assert server.wait_for(asks=2)
        drawer.press("Stop the test")
        expect(drawer.endpoint("slow").locator(".rd-test")).to_have_text("Stopped.")
        assert server.wait_for(disconnects=1)
        drawer.press("Remove slow")
        expect(drawer.endpoint("slow")).to_have_count(0)


def test_a_local_model_is_added_by_keyboard_and_a_hub_out_of_reach_is_said(drawer: Drawer) -> None:
    page = drawer.page
    drawer.root.get_by_text("Add a model on this machine", exact=True).focus()
    page.keyboard.press("Enter")
    expect(drawer.root.locator(".rd-models-hub")).to_contain_text("can't be reached from this server")
    expect(drawer.root.get_by_label("Where it is")).to_have_value("gguf")
    drawer.root.get_by_label("Name or path").focus()
    page.keyboard.type("/no/such.gguf")
    page.keyboard.press("Enter")
    name = "gguf:/no/such.gguf"
    expect(drawer.root.get_by_role("button", name=f"Use {name}")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    row = drawer.root.locator(f'[data-model="{name}"]')
    expect(row.locator(".rd-failed")).to_contain_text("there is no file /no/such.gguf")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1440])
def test_nothing_overflows_and_axe_finds_nothing_serious(
    own: Server, watched: Watched, width: int, theme: str
) -> None:
    page = watched.page()
    page.set_viewport_size({"width": width, "height": 800})
    with FaultServer(Chat(by_rule, model="m" * 150)) as server:
        drawer = opened(page, f"{own.url}?__theme={theme}")
        drawer.add("wide", server.url)
        expect(drawer.said).to_have_text("wide has 1 model.")
        drawer.press("Test wide:" + "m" * 150)
        expect(drawer.endpoint("wide").locator(".rd-reached")).to_be_visible()
        for part in drawer.root.locator("details > summary").all():
            part.click()
        assert overflow(page) <= 0
        found = Axe().run(page, context="#models").response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
        drawer.press("Remove wide")
        expect(drawer.endpoint("wide")).to_have_count(0)
