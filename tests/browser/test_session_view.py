"""The page of one session and the comparison in a real browser; an exported session opened from a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.domain import Decision, Task
from core.export import export
from tests.benches import Bench
from tests.browser.conftest import Server, Watched
from tests.browser.test_refine import HOSTILE, overflow
from tests.browser.test_steering import violations
from tests.played import FIRST, OWN, PARTLY, PERSON, SECOND, TEXTS, THIRD, bench_in, played

KEEP = (
    Decision("accept", PERSON),
    Decision("reject", PERSON),
    Decision("accept", PERSON),
    Decision("accept", PERSON),
)


def bench(server: Server) -> Bench:
    """A workbench on the server's own database."""
    return bench_in(server.home, 3)


class SessionPage:
    """The page of a session in a browser tab, in a person's words."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, session_id: str, more: str = "") -> SessionPage:
        self.page.goto(f"{self.url}session/?id={session_id}{more}")
        expect(self.page.locator(".rd-sv")).to_have_attribute("data-state", "ready")
        expect(self.page.locator(".rd-sv-play")).to_have_attribute("data-loaded", "1")
        return self

    def step(self, number: int) -> Locator:
        return self.page.locator(f'.rd-sv-list > li[data-step="{number}"]')

    def open_step(self, number: int) -> Locator:
        self.step(number).locator("summary").first.click()
        expect(self.step(number).get_by_role("button", name=re.compile("fork|Fork"))).to_be_visible()
        return self.step(number)

    @property
    def shown(self) -> Locator:
        return self.page.locator(".rd-sv-shown .rd-text")

    @property
    def written(self) -> Locator:
        return self.page.locator(".rd-sv-written")

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider")

    def choose(self, label: str, value: str) -> None:
        self.page.get_by_label(label, exact=True).select_option(value)


def test_every_step_opens_to_what_was_sent_and_texts_are_compared(server: Server, watched: Watched) -> None:
    house = bench(server)
    session_id = played(house)
    tab = SessionPage(watched.page(), server.url).open(session_id)
    expect(tab.page.locator(".rd-sv-list > li")).to_have_count(14)
    step = tab.open_step(4)
    expect(step.get_by_text(SECOND).first).to_be_visible()
    step.get_by_text("The prompt as it was sent").click()
    sent = house.store.load(session_id).steps[4].request
    turns = step.locator(".rd-sv-prompt li .rd-text")
    assert turns.all_text_contents() == [m.content for m in sent.messages]  # type: ignore[union-attr]
    step.get_by_role("button", name="Compare its text").click()
    expect(tab.shown).to_have_text(FIRST.replace("food", "foodmeal").replace("rude", "rudekind"))
    tab.choose("Text", "12")
    tab.choose("against", "6")
    expect(tab.shown.locator("ins")).to_have_text(["fine", "our waiter"])
    expect(tab.page).to_have_url(re.compile(r"step=12&against=6"))
    tab.page.get_by_role("button", name="Swap").click()
    expect(tab.shown.locator("ins")).to_have_text(["good", "the staff"])
    tab.page.reload()
    expect(tab.shown.locator("ins")).to_have_text(["good", "the staff"])
    tab.choose("Show", "decision")
    expect(tab.page.locator(".rd-sv-count")).to_have_text("4 of 14 steps")
    expect(tab.step(4)).to_be_hidden()


def test_the_slider_plays_the_text_with_its_authors(server: Server, watched: Watched) -> None:
    tab = SessionPage(watched.page(), server.url).open(played(bench(server)))
    expect(tab.written).to_have_text(OWN)
    expect(tab.written.locator("[data-person]")).to_have_text(["our waiter"])
    tab.slider.focus()
    tab.page.keyboard.press("ArrowLeft")
    expect(tab.written).to_have_text(PARTLY)
    expect(tab.page.locator(".rd-sv-frame")).to_have_text(
        "Text 2 of 3: accepted in part by Anna in round 1, step 6."
    )
    expect(tab.written.locator(".rd-sv-fresh")).to_have_text(["meal"])
    tab.page.keyboard.press("Home")
    expect(tab.written).to_have_text(FIRST)
    expect(tab.page.get_by_role("button", name="The text before")).to_be_disabled()
    tab.page.get_by_role("button", name="The next text").click()
    expect(tab.written).to_have_text(PARTLY)
    tab.page.keyboard.press("Tab")  # Play
    tab.page.keyboard.press("Enter")
    expect(tab.written).to_have_text(OWN)
    expect(tab.page.get_by_role("button", name="Play")).to_be_visible()  # it has stopped at the end
    tab.page.get_by_role("button", name="Anna, round 2: 20 %").click()
    expect(tab.written.locator(".rd-sv-dimmed").first).to_be_visible()
    expect(tab.written.locator("[data-person].rd-sv-dimmed")).to_have_count(0)


def test_a_fork_from_step_3_is_worked_on_and_stands_in_the_tree(server: Server, watched: Watched) -> None:
    house = bench(server)
    session_id = played(house)
    tab = SessionPage(watched.page(), server.url).open(session_id)
    tab.step(3).locator("summary").first.focus()
    tab.page.keyboard.press("Enter")
    tab.step(3).get_by_role("button", name="Decide this otherwise, in a fork").press("Enter")
    tab.page.wait_for_url(re.compile(r"/\?session="))
    expect(tab.page.locator(".rd-board .rd-edit-points")).to_be_visible()
    fork = house.store.recent(1)[0]
    assert fork.parent == (session_id, 3) and fork.id in tab.page.url
    tab.open(fork.id)
    expect(tab.page.locator(".rd-sv-facts a")).to_have_text("step 3 of another")
    tree = tab.page.locator(".rd-sv-tree")
    expect(tree.locator("b")).to_contain_text("This session: 3 steps")
    tree.get_by_role("link").first.click()
    expect(tab.page).to_have_url(re.compile(session_id))


def test_200_steps_open_fast_and_their_prompts_are_fetched_on_demand(
    server: Server, watched: Watched
) -> None:
    from tests.values import step

    house = bench(server)
    session_id = house.store.create(Task("a text"), house.store.load(house.new()).recipe, "ask", title="Long")
    for number in range(200):
        house.store.append(session_id, number, step("prompt " * 4000, f"Text number {number}."))
    page = watched.page()
    sizes: list[int] = []
    page.on("response", lambda r: sizes.append(len(r.body())) if "/timeline" in r.url else None)
    tab = SessionPage(page, server.url).open(session_id)
    expect(page.locator(".rd-sv-list > li")).to_have_count(200)
    assert sizes and sizes[0] < 120_000  # the prompts alone are 5.6 million characters
    last = tab.open_step(199)
    last.get_by_text("The prompt as it was sent").click()
    last.get_by_role("button", name="Show all 28,000 characters").click()
    assert last.locator(".rd-sv-prompt .rd-text").text_content() == "prompt " * 4000


def test_hostile_texts_are_text_and_what_is_not_there_is_said(server: Server, watched: Watched) -> None:
    texts = [HOSTILE if text == FIRST else text for text in TEXTS]
    house = Bench(server.home, texts, scores={HOSTILE: -1.0, SECOND: -1.0, THIRD: -1.0})
    session_id = played(house, KEEP, task=Task(HOSTILE, instruction=HOSTILE))
    tab = SessionPage(watched.page(), server.url).open(session_id, "&step=0")
    assert tab.shown.text_content() == HOSTILE
    assert HOSTILE in (tab.open_step(0).locator(".rd-sv-part .rd-text").text_content() or "")
    expect(tab.page).to_have_title(re.compile("^Redraft: <script>"))
    watched.outage = True
    tab.page.goto(f"{server.url}session/?id=nothing")
    expect(tab.page.get_by_role("alert")).to_have_text(re.compile("There is no session 'nothing'"))
    tab.page.goto(f"{server.url}session/")
    expect(tab.page.get_by_role("alert")).to_have_text(re.compile("names no session"))


@pytest.mark.parametrize(("width", "theme"), [(380, "dark"), (1440, "light")])
def test_anybody_can_read_the_session_and_the_comparison(
    server: Server, watched: Watched, width: int, theme: str
) -> None:
    house = bench(server)
    one, other = played(house, task=Task("W" * 90)), played(house, KEEP)
    page = watched.page()
    page.set_viewport_size({"width": width, "height": 900})
    tab = SessionPage(page, server.url).open(one, f"&__theme={theme}")
    tab.open_step(4)
    tab.open_step(5)
    assert overflow(page) <= 0
    violations(page)
    page.goto(f"{server.url}compare/?ids={one},{other}&__theme={theme}")
    expect(page.locator(".rd-cmp-difference .rd-text")).to_be_visible()
    assert overflow(page) <= 0
    violations(page)
    page.goto(f"{server.url}compare/?ids={one},{other}&view=table&__theme={theme}")
    expect(page.locator(".rd-cmp tbody tr").first).to_be_visible()
    assert overflow(page) <= 0
    violations(page)


def test_two_sessions_stand_beside_each_other_and_their_results_differ(
    server: Server, watched: Watched
) -> None:
    house = bench(server)
    ids = [played(house), played(house, KEEP), house.new(task=Task("Another task."))]
    page = watched.page()
    page.goto(f"{server.url}compare/?ids={','.join(ids[:2])}")
    expect(page.locator(".rd-cmp-row h2")).to_have_text(
        ["Sessions", "First drafts", "Round 1", "Round 2", "Result"]
    )
    expect(page.locator(".rd-cmp-difference ins")).to_have_text("the staff")
    page.get_by_label("From").select_option(ids[1])
    page.get_by_label("to", exact=True).select_option(ids[0])
    expect(page.locator(".rd-cmp-difference ins")).to_have_text("our waiter")
    page.goto(f"{server.url}compare/?view=table&ids={','.join(ids)}")
    rows = page.locator(".rd-cmp tbody tr")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Best score").click()
    expect(page.locator('[aria-sort="descending"]')).to_have_text("Best score")
    expect(rows.last.get_by_role("link")).to_have_text(re.compile("Another task"))
    beside = page.get_by_role("button", name="Compare the ticked ones side by side")
    expect(beside).to_be_disabled()
    for row in (rows.first, rows.last):
        row.get_by_role("checkbox").press("Space")
    beside.press("Enter")
    expect(page.locator(".rd-cmp-status")).to_contain_text("The tasks differ (text, instruction)")
    with page.expect_navigation():
        page.goto(f"{server.url}compare/?view=table&ids={','.join(ids)}")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("Session,Preset,Strategy") and len(lines) == 4


def test_an_exported_session_opens_offline_without_a_request(
    server: Server, watched: Watched, tmp_path: Path
) -> None:
    house = bench(server)
    session = house.store.load(played(house, task=Task(HOSTILE, instruction="Make it negative.")))
    place, _ = house.readable_place(session)
    file = tmp_path / "session.html"
    file.write_text(export(session, place, "html"), encoding="utf-8", newline="")
    asked: list[str] = []
    page = watched.context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: watched.complaints.append(message.text))
    watched.context.set_offline(True)
    page.goto(file.as_uri())
    assert page.locator("pre").all_text_contents()[:2] == [HOSTILE, FIRST]
    expect(page.locator("pre").last).to_have_text(OWN)
    assert asked == [file.as_uri()] and page.title() == json.loads(json.dumps(session.title))
    violations(page)
