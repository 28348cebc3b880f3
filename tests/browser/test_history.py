"""The History page in a real browser, on sessions put into the server's own database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import is_zipfile

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from core.domain import Task
from core.listing import Chosen
from storage.database import open_database
from storage.store import SqlStore
from tests.benches import recipe
from tests.browser.conftest import Server, Watched
from tests.browser.test_refine import HOSTILE, overflow
from tests.test_importing import attempt, lines
from tests.values import step
from ui.history_routes import PAGE

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
        self.page.get_by_label("Search in titles, tasks and drafts").fill(text)


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
    keys.press("ArrowDown")
    expect(tab.page.locator("h2 a", has_text="Two")).to_be_focused()
    for _ in range(4):  # Open, Steps, Fork, Delete
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


def many(store: SqlStore, count: int, strategy: str = "self_refine") -> None:
    for number in range(count):
        store.create(Task("a text"), recipe(strategy=strategy), "ask", title=f"{strategy} {number}")


def test_filters_stand_in_the_address_and_can_be_kept(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    many(empty, 2)
    many(empty, 1, "direct")
    tab = HistoryPage(watched.page(), home.url).open()
    box = tab.page.get_by_role("combobox", name="Strategy")
    box.select_option("direct")
    tab.expect_titles("direct 0")
    expect(tab.status).to_have_text("1 session by these filters.")
    expect(tab.page).to_have_url(re.compile(r"/history/\?strategy=direct$"))
    tab.page.reload()
    tab.expect_titles("direct 0")
    expect(box).to_have_value("direct")
    tab.page.get_by_label("Name of the filter").fill("Baselines")
    tab.page.keyboard.press("Enter")
    expect(tab.status).to_have_text("Saved: Baselines")
    tab.button("Clear filters").click()
    expect(tab.page.locator(".rd-sessions h2")).to_have_count(3)
    tab.page.get_by_role("combobox", name="Order").select_option(label="Oldest first")
    tab.expect_titles("self_refine 0", "self_refine 1", "direct 0")
    tab.button("Filter: Baselines").click()
    tab.expect_titles("direct 0")
    tab.button("Drop the filter Baselines").click()
    expect(tab.status).to_have_text("Dropped: Baselines")
    tab.open("?outcome=stopped&cost_least=1")
    expect(tab.status).to_have_text("No session matches these filters.")
    expect(tab.page.get_by_label("Cost at least")).to_have_value("1")
    tab.button("Show all sessions").click()
    expect(tab.status).to_have_text("3 sessions.")
    tab.page.goto(f"{home.url}history?sort=size")
    expect(tab.page.get_by_role("alert").filter(has_text="can be sorted by")).to_be_visible()


def test_several_are_tagged_and_all_that_match_are_deleted_and_come_back(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    many(empty, 1, "direct")
    many(empty, PAGE + 2)
    tab = HistoryPage(watched.page(), home.url).open("?strategy=self_refine")
    expect(tab.status).to_have_text(f"{PAGE} of {PAGE + 2} sessions by these filters shown.")
    chosen = tab.page.get_by_role("group", name="Chosen sessions")
    expect(chosen).to_be_hidden()
    for number in (40, 41):
        tab.page.get_by_role("checkbox", name=f"Choose: self_refine {number}", exact=True).first.check()
    expect(chosen).to_contain_text("2 sessions chosen")
    compare = chosen.get_by_role("link", name="Compare")
    assert (compare.get_attribute("href") or "").count("%2C") == 1
    chosen.get_by_label("Tag").fill("look again")
    tab.page.keyboard.press("Enter")
    expect(tab.status).to_contain_text("Tagged “look again”: 2 sessions.")
    expect(tab.page.locator(".rd-tag")).to_have_text(["look again"] * 2)
    expect(chosen).to_contain_text("2 sessions chosen")
    tab.page.get_by_role("checkbox", name="Choose: self_refine 9", exact=True).check()
    tab.button(f"Choose all {PAGE + 2} that match").click()
    chosen.get_by_role("button", name="Delete", exact=True).click()
    expect(tab.status).to_contain_text(f"Deleted: {PAGE + 2} sessions.")
    assert [s.title for s in empty.recent(99)] == ["direct 0"]
    expect(tab.button("Undo")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(tab.status).to_contain_text(f"Undone: {PAGE + 2} sessions as before.")
    assert len(empty.recent(99)) == PAGE + 3
    expect(tab.page.locator(".rd-sessions h2")).to_have_count(PAGE)


def test_a_double_click_does_it_once_and_a_deletion_can_be_undone_after_a_reload(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    for title in ("One", "Two", "Three"):
        new(empty, title)
    tab = HistoryPage(watched.page(), home.url).open()
    for title in ("One", "Two"):
        tab.page.get_by_role("checkbox", name=f"Choose: {title}").check()
    chosen = tab.page.get_by_role("group", name="Chosen sessions")
    chosen.get_by_role("button", name="Delete", exact=True).dblclick()
    expect(tab.status).to_contain_text("Deleted: 2 sessions.")
    tab.expect_titles("Three")
    tab.page.reload()
    tab.page.get_by_text("Recently deleted").click()
    deletions = tab.page.locator(".rd-deletions li")
    expect(deletions.first).to_contain_text("2 sessions")
    deletions.first.get_by_role("button").click()
    expect(tab.status).to_have_text("Undone: 2 sessions as before.")
    tab.expect_titles("Three", "Two", "One")
    tab.button("Delete: Two").dblclick()
    expect(tab.button("Undo: delete Two")).to_be_visible()
    tab.expect_titles("Three", "One")
    tab.button("Undo: delete Two").click()
    tab.expect_titles("Three", "Two", "One")


def test_what_is_chosen_is_saved_as_a_file_and_stars_filter(
    home: Server, watched: Watched, empty: SqlStore
) -> None:
    ids = [new(empty, title) for title in ("One", "Two")]
    tab = HistoryPage(watched.page(), home.url).open()
    tab.page.get_by_role("checkbox", name="Choose: One").check()
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name="Export").click()
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 2 and ids[0] in lines[1]
    tab.button("Star: Two").click()
    expect(tab.button("Star: Two")).to_have_attribute("aria-pressed", "true")
    tab.button("Starred").click()
    tab.expect_titles("Two")
    tab.button("Star: Two").click()
    tab.page.reload()
    expect(tab.status).to_have_text("No session matches these filters.")


def test_a_file_is_imported_compared_tabled_and_made_training_data(
    home: Server, watched: Watched, empty: SqlStore, tmp_path: Path
) -> None:
    rows = [attempt(0, "bad soup", "Negative"), attempt(1, "good soup", "Very positive")]
    more = [
        attempt(0, "So so.", "Neutral", 4, review="Soup?"),
        attempt(1, "Great!", "Neutral", 4, review="Soup?"),
    ]
    runs, broken = tmp_path / "runs.jsonl", tmp_path / "broken.csv"
    runs.write_bytes(lines(*rows, *more))
    broken.write_text('draft,revision\na,b\n"c', "utf-8")
    tab = HistoryPage(watched.page(), home.url).open()
    page = tab.page
    page.get_by_text("Import a file", exact=True).click()
    page.get_by_label("File", exact=True).set_input_files(broken)
    tab.button("Import").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was imported")
    assert empty.recent(9) == []
    page.get_by_label("File", exact=True).set_input_files(runs)
    page.get_by_label("Model that wrote the texts").fill("davinci")
    tab.button("Import").click()
    expect(tab.status).to_have_text("runs.jsonl: 2 sessions imported.")
    expect(page.locator(".rd-list-error")).to_be_empty()
    expect(page.locator(".rd-model")).to_have_text(["davinci"] * 2)
    for box in page.locator(".rd-choose").all():
        box.check()
    with page.expect_download() as table:
        page.get_by_role("link", name="As CSV").click()
    assert "good soup" in table.value.path().read_text("utf-8")
    tab.button("Training data").click()
    page.get_by_label("Kind").select_option("dpo")
    page.get_by_label("Share of tasks held out").fill("0")
    with page.expect_download() as packed:
        tab.button("Make the files").click()
    expect(tab.status).to_contain_text("1 row to train on and 0 held out.")
    assert packed.value.suggested_filename == "redraft-dpo.zip" and is_zipfile(packed.value.path())
    box = page.get_by_role("checkbox", name="Choose: ").first
    box.uncheck()
    expect(page.get_by_label("Kind")).to_have_value("dpo")  # the form stays while others are chosen
    page.get_by_label("passed a verifier").uncheck()
    page.get_by_label("were accepted").uncheck()
    tab.button("Make the files").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing to learn from here")
    page.goto(f"{home.url}compare/?model=davinci")
    expect(page.locator(".rd-cmp-status")).to_contain_text("2 sessions.")
    page.goto(f"{home.url}compare/?model=nobody")
    expect(page.locator(".rd-cmp-status")).to_contain_text("No session matches this filter")
    page.goto(f"{home.url}compare/?x=1&ids=")
    expect(page.locator(".rd-cmp-status")).to_contain_text("No session is chosen")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_no_barriers_that_axe_finds(
    home: Server, watched: Watched, empty: SqlStore, theme: str
) -> None:
    for number in range(3):
        session_id = new(empty, f"A title {number}")
        empty.listing.tag(Chosen((session_id,)), "a tag", on=True)
    empty.set_problem(session_id, "no reach")
    page = watched.page()
    page.set_viewport_size({"width": 380, "height": 800})
    tab = HistoryPage(page, home.url).open(f"?__theme={theme}&tag=a+tag")
    page.get_by_role("checkbox", name="Choose: A title 1").check()
    page.locator(".rd-narrow summary").click()
    expect(page.get_by_label("Score change at least")).to_be_visible()
    page.get_by_text("Import a file", exact=True).click()
    tab.button("Training data").click()
    expect(page.get_by_label("Kind")).to_be_focused()
    found = Axe().run(page, context=".rd-list").response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert overflow(page) <= 0
    tab.button("Clear filters").click()
    tab.expect_titles("A title 2", "A title 1", "A title 0")
