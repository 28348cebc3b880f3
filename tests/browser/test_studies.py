"""A whole study in a real browser: the owner makes it, three raters vote, the owner reads the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, Watched
from tests.browser.pages import RefinePage
from tests.browser.raters import DESK, PHONE, RaterPage, visitor
from tests.browser.test_refine import overflow
from tests.browser.test_steering import violations

ITEMS = 6
ROWS = "".join(
    f"{n},Describe place {n}.,The river of place {n}.,The meadow of place {n}.,{'wet' if n % 2 else 'dry'}\n"
    for n in range(ITEMS)
)
CSV = f"id,prompt,zeta-q4,omega-f16,stratum\n{ROWS}"
RIVER, MEADOW = "river", "meadow"


class StudiesPage:
    """The owner's tab."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, query: str = "") -> StudiesPage:
        self.page.goto(f"{self.url}studies/{query}")
        expect(self.page.locator(".rd-studies")).to_have_attribute("data-state", "ready")
        return self

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def says(self, words: str) -> None:
        expect(self.page.locator(".rd-studies > .rd-status")).to_contain_text(words)

    def make(self, name: str, folder: Path) -> None:
        """A draft with the items, saved with consent asked for."""
        (folder / "texts.csv").write_text(CSV, encoding="utf-8")
        self.page.get_by_label("Name of a new study").fill(name)
        self.press("Make a study")
        self.page.locator("#rd-study-file").set_input_files(folder / "texts.csv")
        self.page.get_by_label("Consent").fill("You may stop at any time.")
        self.press("Bring the file in")
        self.says(f"{ITEMS} new items")
        # What was typed into the protocol is still there, although the page was drawn anew.
        expect(self.page.get_by_label("Consent")).to_have_value("You may stop at any time.")
        self.press("Save the protocol")
        self.says("The protocol is saved.")

    def links(self, names: str) -> list[str]:
        self.page.get_by_label("Raters: names").fill(names)
        self.press("Make a link for each")
        links = self.page.locator(".rd-made a")
        expect(links.first).to_be_visible()
        return [link.get_attribute("href") or "" for link in links.all()]

    def rows(self, title: str) -> list[list[str]]:
        region = self.page.get_by_role("region", name=title, exact=True)
        return [row.locator("th, td").all_text_contents() for row in region.locator("tbody tr").all()]


def by_mouse(chromium: Browser, link: str) -> None:
    """At a desk: undo, and a reload in the middle."""
    with visitor(chromium, DESK) as watched:
        rater = RaterPage(watched.page()).open(link)
        assert link.rsplit("/", 1)[-1] not in rater.page.url
        rater.going_on(lambda: rater.page.get_by_role("button", name="I agree, begin").click())
        rater.vote(MEADOW)
        rater.going_on(lambda: rater.page.get_by_role("button", name="Undo the last answer").click())
        rater.vote(RIVER)
        before = rater.texts
        rater.choose("Left")
        rater.page.reload()
        expect(rater.title).to_have_text(re.compile("Pair 2 "))
        assert rater.texts == before
        expect(rater.page.locator("#choices input:checked")).to_have_value("left")
        rater.vote_to_the_end(RIVER)
        assert rater.state == "done"


def on_a_phone(chromium: Browser, link: str) -> None:
    """At 380 px: in two tabs, then on another device."""
    with visitor(chromium, PHONE, "dark") as watched:
        watched.outage = True  # a stale tab's post is refused, which the console notes
        first = RaterPage(watched.page()).open(link)
        first.going_on(lambda: first.page.get_by_role("button", name="I agree, begin").click())
        second = RaterPage(watched.page()).open(link)
        assert first.texts == second.texts and overflow(first.page) <= 0
        first.page.get_by_role("button", name="Right", exact=True).click()
        expect(first.page.locator("#left")).to_be_hidden()
        first.page.get_by_role("button", name="Both", exact=True).click()
        second.choose("Tie")
        first.vote(RIVER)
        second.send()
        expect(second.page.get_by_role("alert")).to_contain_text("answered already")
        assert second.texts == first.texts
        first.vote(RIVER)
        waiting = first.texts
    with visitor(chromium, PHONE) as watched:
        elsewhere = RaterPage(watched.page()).open(link)
        assert elsewhere.texts == waiting
        elsewhere.vote_to_the_end(RIVER)


def by_keyboard(chromium: Browser, link: str) -> None:
    with visitor(chromium, DESK) as watched:
        rater = RaterPage(watched.page()).open(link)
        keys = rater.page.keyboard
        for _ in range(5):
            keys.press("Tab")
            if rater.page.evaluate("document.activeElement.id") == "agree":
                break
        rater.going_on(lambda: keys.press("Enter"))
        keys.press("0")
        rater.going_on(lambda: keys.press("Enter"))
        rater.going_on(lambda: keys.press("u"))
        while rater.state == "pair":
            keys.press({"left": "1", "right": "ArrowRight"}[rater.side_of(MEADOW)])
            rater.going_on(lambda: keys.press("Enter"))


def test_three_raters_vote_and_the_report_is_what_was_counted_by_hand(
    server: Server, watched: Watched, chromium: Browser, tmp_path: Path
) -> None:
    page = watched.page()
    page.on("dialog", lambda dialog: dialog.accept())
    owner = StudiesPage(page, server.url).open()
    owner.make("River against meadow <b>", tmp_path)
    owner.press("Open")
    owner.says("The study is open.")
    links = owner.links("Ann\nBen\nCai")
    by_mouse(chromium, links[0])
    on_a_phone(chromium, links[1])
    by_keyboard(chromium, links[2])
    expect(page.locator(".rd-facts-list")).to_contain_text("18 of 18, 0 under way")
    owner.press("Lock")
    summary = page.locator(".rd-summary")
    expect(summary).to_contain_text("3 raters gave 18 votes on 6 items: 18 for one side")
    expect(summary).to_contain_text("still masked")
    assert "zeta" not in page.locator(".rd-studies").inner_text()
    page.get_by_label("Why it is unblinded").fill("every pair has its three votes")
    owner.press("Unblind")
    owner.says("The study is unblinded.")
    # Two raters were for the river on all six, one for the meadow.
    expect(summary).to_contain_text("12 of 18 non-tied votes preferred zeta-q4 to omega-f16 (66.7 %")
    (pair,) = owner.rows("Votes of each pair")
    # Which of the two is named first goes by the masks, which are drawn.
    turned = pair[0] == "omega-f16 over zeta-q4"
    assert pair[1:] == (["6", "12"] if turned else ["12", "6"]) + ["0", "0", "0"]
    share = "33.3 %" if turned else "66.7 %"
    strata = owner.rows("Preferences by stratum")
    assert [(row[0], row[2], row[3]) for row in strata] == [("dry", "9", share), ("wet", "9", share)]
    assert [row[1] for row in owner.rows("Raters")] == ["6", "6", "6"]
    for name, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as download:
            page.get_by_label(f"Votes over time: {name}").click()
        assert download.value.path().read_bytes().startswith(start)
    with page.expect_download() as download:
        page.get_by_role("link", name="Votes (CSV)").click()
    assert download.value.suggested_filename == "votes.csv"
    # It stands in every vote on one side, and in 12 as the winner too.
    assert download.value.path().read_text(encoding="utf-8").count("zeta-q4") == 18 + 12


def test_a_session_is_studied_with_one_press(server: Server, watched: Watched) -> None:
    board = RefinePage(watched.page(), server.url).open()
    board.fill("A long text.")
    board.start()
    board.at_critique()
    board.press("Stop")
    board.ended()
    board.press("Study this")
    expect(board.page.get_by_text("1 items of 2 systems: first draft, outcome.")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["380", "1440"])
def test_the_pages_fit_and_axe_finds_no_serious_violation(
    server: Server, watched: Watched, tmp_path: Path, theme: str, size: dict[str, int]
) -> None:
    page = watched.page()
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.on("dialog", lambda dialog: dialog.accept())
    owner = StudiesPage(page, server.url).open(f"?__theme={theme}")
    owner.make(f"W{'w' * 80}", tmp_path)
    page.locator(".rd-studies details").evaluate_all("parts => parts.forEach((part) => (part.open = true))")
    owner.press("Work it out")
    expect(page.locator(".rd-plan")).to_contain_text("210 votes")
    _fits(page)
    owner.press("Open")
    owner.links("2")
    expect(page.get_by_role("region", name="Raters")).to_be_visible()
    _fits(page)
    owner.press("Lock")
    expect(page.locator(".rd-summary")).to_contain_text("There are no votes.")
    expect(page.locator(".rd-plots img").first).to_be_visible()
    _fits(page)


def _fits(page: Page) -> None:
    assert overflow(page) <= 0
    violations(page)
