"""Faults of an endpoint as a person meets them on the page; stops, pasted text, and a key that is nowhere.

One page, one server, one endpoint that plays what a test queues and behaves otherwise.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

from tests.browser.conftest import ROOT, Server, by_rule, free_port
from tests.browser.pages import RefinePage
from tests.fake_chat import Chat
from tests.fault_server import DONE, Ask, FaultServer, Play, body, event, refusal, says, stream

KEY = "sk-CANARY-123/and+more="
MODEL = "faulty:tiny-chat"
HOSTILE = "<img src=x onerror=\"document.title='x'\"> ${document.title='x'} {{7*7}} \\u0041 C:\\users\\new"
MACHINERY = re.compile(
    r"Traceback|NoneType|\bFile \"|\b[A-Z]\w*(?:Error|Exception)\b|\bundefined\b|\[object "
)
WORD = "art.\u00a05º … “yes” — it’s zero\u200bwidth soft\u00adhyphen e\u0301 \u202eabc"
PASTED = "\ufeffstart " + WORD
Make = Play | Callable[[Ask], Play]


@dataclass
class Faulty:
    """Plays what is queued, then an ordinary chat."""

    queue: list[Make] = field(default_factory=list)
    answer: Callable[[Sequence[Any]], str] = by_rule
    logprobs: bool = True

    def __call__(self, ask: Ask) -> Play:
        if self.queue and ask.method == "POST":
            made = self.queue.pop(0)
            return made if isinstance(made, Play) else made(ask)
        return Chat(answer=self.answer, logprobs=self.logprobs)(ask)


@dataclass
class House:
    """The page with all that a test needs around it, and all that the browser was told."""

    page: Page
    server: Server
    faulty: Faulty
    endpoint: FaultServer
    dead: int
    told: list[bytes] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    def start(self, *faults: Make, text: str = "One text.", model: str = MODEL) -> RefinePage:
        """A session whose first calls meet these faults."""
        self.faulty.queue = list(faults)
        tab = RefinePage(self.page, self.server.url).open()
        tab.fill(text, model=model)
        self.sessions.append(tab.start())
        return tab

    def export(self, form: str) -> bytes:
        """The newest session as a file."""
        return self.get(f"api/sessions/{self.sessions[-1]}/export?form={form}")

    def get(self, path: str) -> bytes:
        return self.page.context.request.get(f"{self.server.url}{path}").body()

    def asked(self, words: str) -> int:
        """How often the endpoint was asked with these words at the end."""
        return sum(words in ask.body["messages"][-1]["content"] for ask in self.endpoint.asks if ask.body)


def configure(home: Path, url: str, dead: int) -> None:
    """Two endpoints and a preset, with hostile names."""
    names = json.dumps(["tiny-chat", HOSTILE])
    (home / "config.toml").write_text(
        f'[endpoints.faulty]\nbase_url = "{url}"\nkey_env = "FAULTY_KEY"\nmodels = {names}\n'
        f'[endpoints.dead]\nbase_url = "http://127.0.0.1:{dead}/v1"\n'
    )
    (home / "presets").mkdir()
    preset = (ROOT / "assets" / "presets" / "rewrite.yaml").read_text()
    hostile = preset.replace("name: rewrite", "name: zeal", 1)
    hostile = hostile.replace("title: Rewrite a text", f"title: {json.dumps(HOSTILE)}", 1)
    (home / "presets" / "zeal.yaml").write_text(hostile)


LISTEN = """window.EventSource = class extends EventSource {
    addEventListener(kind, act) {
        super.addEventListener(kind, (e) => { if (e.data) heard(e.data); act(e); });
    }
};"""


@pytest.fixture(scope="module")
def one(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home, faulty, dead = tmp_path_factory.mktemp("home"), Faulty(), free_port()
    with FaultServer(faulty) as endpoint:
        configure(home, endpoint.url, dead)
        server = Server(home, {"FAULTY_KEY": KEY}).start()
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(20_000)
        house = House(context.new_page(), server, faulty, endpoint, dead)
        context.expose_function("heard", lambda data: house.told.append(data.encode()))
        context.add_init_script(LISTEN)
        context.route(lambda url: not url.startswith(f"{server.url}"), lambda route: block(house, route))
        context.on("requestfinished", lambda request: record(house, request))
        yield house
        context.close()
        server.stop()


def block(house: House, route: Route) -> None:
    if not route.request.url.startswith(("data:", "blob:")):
        house.foreign.append(route.request.url)
        route.abort()


def record(house: House, request: Request) -> None:
    """Keep a finished answer's body; the event stream is heard while it comes, static files hold no news."""
    if "/assets/" in request.url or "/events" in request.url or "/static/" in request.url:
        return
    response = request.response()
    if response is not None and response.status == 200:
        house.told.append(response.body())


@pytest.fixture
def house(one: House) -> Iterator[House]:
    """The house in good order; a test may leave neither complaints nor machinery on the page."""
    complaints: list[str] = []
    one.faulty.answer, one.faulty.logprobs, one.faulty.queue = by_rule, True, []
    failed = one.page.on("pageerror", lambda error: complaints.append(str(error)))
    assert failed is None
    yield one
    one.told.append(one.page.content().encode())
    assert complaints == []
    assert not MACHINERY.findall(one.page.locator("body").inner_text())


def at_rest(tab: RefinePage) -> None:
    """Nothing turns, streams, counts or waits any more."""
    expect(tab.board).not_to_have_attribute("data-state", "running")
    expect(tab.board.locator(".rd-stream")).to_have_count(0)
    expect(tab.board.locator(".rd-clock")).to_have_text("")
    expect(tab.board.locator(".rd-notice")).to_have_text("")
    expect(tab.page.locator(".progress-text:visible, .generating:visible, .loader:visible")).to_have_count(0)


def echoing(ask: Ask) -> Play:
    """A refusal that repeats the key in every way."""
    key = ask.headers.get("Authorization") or ask.headers["authorization"]
    coded = base64.b64encode(key.encode()).decode()
    return refusal(f"Incorrect API key provided: {key} {quote(key, safe='')} {coded}", 401)


def again(play: Play, times: int = 6) -> list[Make]:
    """A fault for as often as it is tried, without a wait."""
    return [Play(play.parts, play.status, {**play.headers, "Retry-After": "0"})] * times


LONG = "This model's maximum context length is 512 tokens, your messages have 900"
LASTING: dict[str, tuple[Sequence[Make], str, str]] = {
    "too many": (again(refusal("Slow down", 429)), "Too many requests were made", "Slow down"),
    "500": (again(refusal("It broke here", 500)), "failed on the server's side", "It broke here"),
    "key": ([echoing], "The key was refused", "Incorrect API key"),
    "no model": (
        [refusal("No model 'tiny-chat' here", 404)],
        "tiny-chat was not found",
        "Check the model's name",
    ),
    "context": (
        [refusal(LONG, 400, code="context_length_exceeded")],
        "does not fit into the context",
        "Shorten",
    ),
    "200 error": (
        [body({"id": "g1", "error": {"message": "Not for your plan", "code": 403}})],
        "Access was refused",
        "Not for your plan",
    ),
    "no API": ([Play([b"<title>Router login</title>"])], "something unreadable", "base URL"),
}


@pytest.mark.parametrize("name", LASTING)
def test_a_lasting_fault_is_said_in_words_and_continue_goes_on(house: House, name: str) -> None:
    faults, *words = LASTING[name]
    tab = house.start(*faults)
    problem = tab.board.locator(".rd-problem")
    for each in words:
        expect(problem).to_contain_text(each)
    assert not house.faulty.queue
    at_rest(tab)
    expect(tab.board.locator(".rd-doing")).to_contain_text("Retry goes on at this step")
    tab.press("Retry")
    row = tab.at_critique()
    expect(row.locator(".rd-base .rd-text")).to_contain_text("This is text number")
    expect(problem).to_have_text("")
    at_rest(tab)


PASSING: dict[str, tuple[Play, str]] = {
    "cut": (Play([says("Half an "), says("answer ")], cut=True), "broke off"),
    "malformed": (Play([b'data: {"choices": [{"ind\n\n', b"data: }}\n\n"]), "unreadable"),
    "empty choices": (Play([event({"choices": []}), DONE]), "no text at all"),
    "no choices": (
        body({"choices": None, "error": {"message": "Overloaded", "code": 502}}),
        "Overloaded (502)",
    ),
    "mid-stream": (
        Play([says("Half an "), event({"error": {"code": 429, "message": "daily limit"}})]),
        "daily limit (429)",
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_told_while_it_is_tried_again(house: House, name: str) -> None:
    fault, words = PASSING[name]
    tab = house.start(fault)
    notice = tab.board.locator(".rd-notice")
    expect(notice).to_contain_text("retrying in 1 s, 1 of 5")
    expect(notice).to_contain_text(words)
    row = tab.at_critique()
    text = row.locator(".rd-base .rd-text").text_content() or ""
    assert text.startswith("This is text number") and "Half" not in text
    expect(tab.board.locator(".rd-notes")).to_contain_text(words)
    at_rest(tab)


def test_a_wait_that_was_asked_for_is_shown_and_can_be_stopped(house: House) -> None:
    tab = house.start(body({"error": {"message": "Slow down"}}, 429, Retry_After="30"))
    expect(tab.board.locator(".rd-notice")).to_contain_text("retrying in 30 s, 1 of 5: Slow down (429)")
    tab.press("Stop")
    tab.ended()
    at_rest(tab)


def test_a_refused_connection_is_told_at_once_and_retry_goes_on(house: House) -> None:
    tab = house.start(model="dead:tiny-chat")
    problem = tab.board.locator(".rd-problem")
    expect(problem).to_contain_text("could not be reached: nothing listens there", timeout=5_000)
    at_rest(tab)
    with FaultServer(Chat(answer=by_rule), port=house.dead):
        tab.press("Retry")
        tab.at_critique()
    expect(problem).to_have_text("")


def test_a_fault_at_the_revision_costs_nothing_that_was_done(house: House) -> None:
    tab = house.start()
    tab.at_critique()
    drafts, critiques = drafted(house), house.asked("Now be the critic")
    house.faulty.queue = list(again(refusal("It broke here", 500)))
    tab.press("Revise with the ticked points")
    expect(tab.board.locator(".rd-problem")).to_contain_text("It broke here")
    at_rest(tab)
    tab.page.reload()
    tab.press("Retry")
    tab.at_revision()
    assert (drafted(house), house.asked("Now be the critic")) == (drafts, critiques)


def drafted(house: House) -> int:
    """How often a draft was asked for; a judge is told the instruction too."""
    return house.asked("Instruction:") - house.asked("This is the text to rate")


SHOWN = {
    "length": (Play([says("A text that "), says(None, finish="length"), DONE]), "A text that", "cut off"),
    "filter": (
        Play([says("A text "), says(None, finish="content_filter"), DONE]),
        "A text",
        "stopped by a filter",
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_answer_that_is_no_whole_answer_is_flagged(house: House, name: str) -> None:
    play, text, flag = SHOWN[name]
    row = house.start(play).at_critique()
    expect(row.locator(".rd-base .rd-text")).to_have_text(text)
    expect(row.locator(".rd-base .rd-flag")).to_contain_text([flag])


def test_an_empty_draft_is_asked_for_once_more_and_then_shown_as_empty(house: House) -> None:
    tab = house.start(stream(""))
    text = tab.at_critique().locator(".rd-base .rd-text")
    expect(text).to_contain_text("This is text number")
    expect(tab.board.locator(".rd-figures")).to_contain_text("4 calls")
    tab = house.start(stream(""), stream(""))
    expect(tab.row(1).locator(".rd-base .rd-flag")).to_have_text("empty")
    expect(tab.row(1).locator(".rd-base .rd-text")).to_have_text("(empty)")
    expect(tab.board).not_to_have_attribute("data-state", "running")
    at_rest(tab)


@pytest.mark.parametrize(
    "play",
    [
        stream("<think>Let me", " add.</th", "ink>\n\nThe sum is 8."),
        Play([event({"choices": [{"index": 0, "delta": {"reasoning_content": "Let me add."}}]}),
              says("The sum is 8."), says(None, finish="stop"), DONE]),
    ],
)  # fmt: skip
def test_thinking_is_no_part_of_the_text(house: House, play: Play) -> None:
    row = house.start(play).at_critique()
    assert row.locator(".rd-base .rd-text").text_content() == "The sum is 8."


def test_no_logprobs_is_said_and_there_is_no_heat_map(house: House) -> None:
    house.faulty.logprobs = False
    row = house.start().at_critique()
    chip = row.locator(".rd-base .rd-chip", has_text="logprob as generated")
    expect(chip.locator("summary")).to_have_text("logprob as generated: not scored")
    expect(row.locator(".rd-heat-choices")).to_have_count(0)


def test_stopped_before_the_first_token_and_started_again_at_once(house: House) -> None:
    hold = threading.Event()
    gone = house.endpoint.disconnects
    tab = house.start(Play([hold, says("Too late.")]))
    expect(tab.board).to_have_attribute("data-state", "running")
    assert house.endpoint.wait_for(asks=len(house.endpoint.asks))
    tab.page.evaluate("() => { const b = document.querySelector('.rd-stop'); b.click(); b.click(); }")
    tab.press("Show the task")
    tab.page.locator("#start").click()
    tab.page.wait_for_function("old => !location.search.includes(old)", arg=house.sessions[-1])
    first, second = house.sessions[-1], tab.session
    assert house.endpoint.wait_for(disconnects=gone + 1, seconds=2)
    row = tab.at_critique()
    expect(row.locator(".rd-base .rd-text")).to_contain_text("This is text number")
    house.sessions.append(second)
    stopped = json.loads(house.get(f"api/sessions/{first}/export?form=json"))
    assert stopped["outcome"]["reason"] == "stopped by person"
    assert [step["request"].get("role") for step in stopped["steps"]] == ["draft"]


def test_stop_when_nothing_runs_is_answered_in_words(house: House) -> None:
    tab = house.start()
    tab.at_critique()
    tab.page.evaluate("() => document.querySelector('.rd-stop').click()")
    expect(tab.message).to_have_text("Nothing is running here any more.")


def option(page: Page, name: str) -> Locator:
    """The choice of that name in the list that is open."""
    return page.locator("li").and_(page.get_by_role("option", name=name, exact=True))


def test_hostile_names_are_shown_as_text(house: House) -> None:
    tab = RefinePage(house.page, house.server.url).open()
    title = tab.page.title()
    tab.page.get_by_label("Kind of task").click()
    option(tab.page, HOSTILE).click()
    tab.page.locator("#model input").click()
    option(tab.page, f"faulty:{HOSTILE}").click()
    expect(tab.page.locator("#model input")).to_have_value(f"faulty:{HOSTILE}")
    house.faulty.queue = [Play([says("Late.", finish="stop"), 1.0, DONE])]
    tab.page.locator("#text textarea").fill("A text.")
    house.sessions.append(tab.start())
    expect(tab.board.locator(".rd-doing")).to_contain_text(f"Drafting with faulty:{HOSTILE}")
    tab.at_critique()
    assert tab.page.title() == title
    assert tab.page.locator("#refine img").count() == 0


def test_text_from_word_is_kept_to_the_byte_and_its_invisible_parts_are_shown(house: House) -> None:
    revised = WORD.replace("\u200b", "").replace("\u00a0", " ").replace("\u00ad", "").replace("\u202e", "")
    house.faulty.answer = lambda messages: (
        by_rule(messages)
        if "critic" in messages[-1]["content"]
        else revised if "Rewrite the text so" in messages[-1]["content"] else WORD
    )  # fmt: skip
    tab = RefinePage(house.page, house.server.url).open()
    tab.fill("", model=MODEL)
    tab.page.locator("#text textarea").focus()
    tab.page.keyboard.insert_text(PASTED)
    house.sessions.append(tab.start())
    row = tab.at_critique()
    assert row.locator(".rd-base .rd-text").text_content() == WORD
    tab.press("Revise with the ticked points")
    removed = tab.at_revision().locator(".rd-revision del .rd-mark")
    symbols = removed.evaluate_all("marks => marks.map(mark => mark.dataset.symbol)")
    assert set(symbols) == {"[ZWSP]", "⍽", "[SHY]", "[RLO]"}
    tab.press("Edit")
    tab.board.get_by_label("Your text").fill(PASTED)
    tab.press("Save as my text")
    tab.at_critique(2)
    kept = json.loads(house.export("json"))
    assert kept["task"]["input"] == PASTED
    (gate,) = (step for step in kept["steps"] if step["request"]["kind"] == "revision gate")
    assert gate["answer"]["decision"]["text"] == PASTED
    assert PASTED.encode() in house.export("md")
    assert house.asked(PASTED) >= 1


def test_nothing_was_asked_of_another_host(house: House) -> None:
    assert house.sessions and house.foreign == []


def test_the_key_is_nowhere(house: House) -> None:
    """In no answer, page, export, log or file, in no spelling."""
    assert any(KEY in str(ask.headers) for ask in house.endpoint.asks)
    forms = {KEY.encode(), quote(KEY).encode(), quote(KEY, safe="").encode(), b"CANARY"}
    forms |= {base64.b64encode(b" " * pad + KEY.encode())[4:-4] for pad in range(3)}
    exports = [
        house.get(f"api/sessions/{session}/export?form={form}")
        for session in house.sessions
        for form in ("json", "md", "html")
    ]
    files = [path.read_bytes() for path in house.server.home.rglob("*") if path.is_file()]
    assert sum(b"The key was refused" in text for text in house.told) and len(files) >= 3
    for text in (*house.told, *exports, *files):
        assert not [form for form in forms if form in text]
