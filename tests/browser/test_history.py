"""The History page in a real browser, on sessions put into the server's own database."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from core.domain import Task
from storage.database import open_database
from storage.store import SqlStore
from tests.benches import recipe
from tests.browser.conftest import Server, Watched
from tests.browser.test_refine import HOSTILE, overflow
from tests.values import step
from ui.history_routes import PAGE

pytestmark = pytest.mark.browser

WORDS = "\u202eabc art.\u00a05º"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with an empty home of its own: these tests look at all the sessions there are."""
    running = Server(tmp_path_factory.mktemp("history")).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def store(home: Server) -> SqlStore:
    return SqlStore(open_database(f"sqlite:///{home.home}/redraft.db"))


@pytest.fixture
def empty(store: SqlStore) -> SqlStore:
    """The store with an empty list."""
    for summary in store.recent(1000):
        store.delete(summary.id)
    return store


def new(store: SqlStore, title: str, text: str = "a text") -> str:
    session_id = store.create(Task(text), recipe(), "ask", title=title)
    store.append(session_id, 0, step())
    return session_id


class HistoryPage:
    """The History page in a browser tab, in a person's words."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, query: str = "") -> HistoryPage:
        self.page.goto(f"{self.url}history{query}")
        expect(self.page.locator(".rd-list-status")).not_to_be_empty()
        return self

    @property
    def status(self) -> Locator:
        return self.page.locator(".rd-list-status")

    def expect_titles(self, *titles: str) -> None:
        expect(self.page.locator(".rd-sessions h2")).to_have_text(list(titles))

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def type(self, text: str) -> None:
        self.page.get_by_label("Search in texts, instructions and titles").fill(text)


def test_a_person_searches_deletes_undoes_forks_and_opens(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    red, blue = new(empty, "Red", WORDS), new(empty, "Blue")
    tab = HistoryPage(watched.page(), home.url).open()
    tab.expect_titles("Blue", "Red")
    tab.type("ART. 5")
    tab.expect_titles("Red")
    expect(tab.page).to_have_url(re.compile(r"/history/\?q=ART\.\+5$"))
    tab.page.reload()
    tab.expect_titles("Red")
    tab.type("")
    tab.expect_titles("Blue", "Red")
    tab.button("Delete: Blue").click()
    tab.expect_titles("Red")
    assert [s.id for s in empty.recent(9)] == [red]
    tab.button("Undo: delete Blue").click()
    tab.expect_titles("Blue", "Red")
    assert [s.id for s in empty.recent(9)] == [blue, red]
    tab.button("Fork: Red").click()
    expect(tab.page.locator(".rd-board .rd-title")).to_have_text("Red")
    fork = empty.recent(1)[0]
    assert fork.parent == (red, 1) and tab.page.url.endswith(f"/?session={fork.id}")
    tab.open("?q=red")
    tab.expect_titles("Red", "Red")
    expect(tab.page.locator(".rd-sessions a", has_text="step 1 of another")).to_have_attribute(
        "href", f"/?session={red}"
    )
    tab.type("blue")
    tab.page.get_by_role("link", name="Open: Blue").click()
    expect(tab.page.locator(".rd-board .rd-title")).to_have_text("Blue")


def test_it_works_by_keyboard_and_says_what_happened(home: Server, watched: Watched, empty: SqlStore) -> None:
    for title in ("One", "Two", "Three"):
        new(empty, title)
    tab = HistoryPage(watched.page(), home.url).open()
    keys = tab.page.keyboard
    expect(tab.status).to_have_text("3 sessions.")
    tab.page.get_by_role("searchbox").focus()
    keys.type("Two")
    keys.press("Enter")
    expect(tab.status).to_have_text("1 session with “Two”.")
    for _ in range(5):  # Search, title, Open, Fork, Delete
        keys.press("Tab")
    expect(tab.button("Delete: Two")).to_be_focused()
    keys.press("Enter")
    expect(tab.button("Undo: delete Two")).to_be_focused()
    expect(tab.status).to_have_text("Deleted: Two")
    keys.press("Enter")
    expect(tab.button("Delete: Two")).to_be_focused()
    expect(tab.status).to_have_text("Restored: Two")
    assert len(empty.recent(9)) == 3


def test_the_notice_stays_until_something_else_is_done(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    for title in ("One", "Two"):
        new(empty, title)
    tab = HistoryPage(watched.page(), home.url).open()
    tab.button("Delete: One").click()
    tab.button("Delete: Two").click()
    expect(tab.button("Undo: delete Two")).to_be_visible()
    expect(tab.button("Undo: delete One")).to_have_count(0)
    tab.type("one")
    expect(tab.status).to_have_text("No session has “one” in it.")
    expect(tab.button("Undo: delete Two")).to_have_count(0)
    tab.button("Show all sessions").click()
    expect(tab.status).to_have_text("There are no sessions yet.")
    expect(tab.page.get_by_role("link", name="Start the first on the Refine page.")).to_be_visible()


def test_hostile_titles_are_text_and_long_lists_page_on(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    for number in range(PAGE + 2):
        new(empty, f"{number} {HOSTILE}")
    tab = HistoryPage(watched.page(), home.url).open()
    rows = tab.page.locator(".rd-sessions h2")
    expect(rows).to_have_count(PAGE)
    assert rows.first.text_content() == f"{PAGE + 1} {HOSTILE}"
    tab.button(f"Delete: {PAGE + 1} {HOSTILE}").click()
    expect(tab.page.locator(".rd-deleted p")).to_contain_text(HOSTILE)
    tab.button("Show more").click()
    expect(rows).to_have_count(PAGE + 1)
    expect(rows.nth(PAGE - 1).locator("a")).to_be_focused()
    expect(tab.button("Show more")).to_be_hidden()
    tab.type(HOSTILE)
    expect(tab.status).to_contain_text(HOSTILE)
    expect(tab.page).to_have_title("Redraft: history")


def test_what_the_server_did_not_hear_is_said_and_the_row_stays(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    new(empty, "One")
    tab = HistoryPage(watched.page(), home.url).open()
    tab.page.route("**/api/history/*/delete", lambda route: route.abort())
    watched.outage = True
    tab.button("Delete: One").click()
    expect(tab.page.get_by_role("alert").filter(has_text="could not be reached")).to_be_visible()
    tab.expect_titles("One")


@pytest.mark.parametrize(("width", "theme"), [(380, "light"), (380, "dark"), (1440, "dark")])
def test_nothing_overflows_in_light_and_dark(
    home: Server, watched: Watched, empty: SqlStore, width: int, theme: str
) -> None:
    new(empty, "W" * 90)
    empty.set_problem(new(empty, "A title of some words", "x"), "The server did not answer: " + "W" * 200)
    page = watched.page()
    page.set_viewport_size({"width": width, "height": 800})
    tab = HistoryPage(page, home.url).open(f"?__theme={theme}")
    assert overflow(page) <= 0
    ground = "getComputedStyle(document.querySelector('#rd-query')).backgroundColor"
    assert page.evaluate(ground) == {"light": "rgb(255, 255, 255)", "dark": "rgb(28, 25, 23)"}[theme]
    tab.button("Delete: " + "W" * 90).click()
    expect(page.locator(".rd-deleted")).to_be_visible()
    assert overflow(page) <= 0
