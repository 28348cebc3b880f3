"""The Insight page in a real browser: its numbers, its files, and who can read it."""

from __future__ import annotations

import csv
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from core.domain import Decision, Ruling
from tests.benches import recipe
from tests.browser.conftest import Server, Watched
from tests.browser.test_refine import overflow
from tests.browser.test_steering import violations
from tests.played import PERSON, bench_in, played

PRESET = "counted-by-hand"


def by(*rulings: Ruling) -> tuple[Decision, ...]:
    """Critiques accepted, and these rulings on the revisions."""
    return tuple(d for ruling in rulings for d in (Decision("accept", PERSON), Decision(ruling, PERSON)))


@pytest.fixture(scope="module")
def counted(server: Server) -> str:
    """The query of three sessions of a preset of their own, one of them with a rejected first revision."""
    bench, made = bench_in(server.home, 3), recipe(rounds=2)
    made = replace(made, preset=made.preset.replace("name: rewrite", f"name: {PRESET}"))
    for rulings in (by("reject", "accept"), by("accept", "accept"), by("accept", "accept")):
        played(bench, rulings, made)
    return f"preset={PRESET}"


class InsightPage:
    """The Insight page in a browser tab."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, query: str, state: str = "ready") -> InsightPage:
        self.page.goto(f"{self.url}insight/?{query}")
        expect(self.page.locator(".rd-ins")).to_have_attribute("data-state", state)
        return self

    def chart(self, question: str) -> Locator:
        return self.page.get_by_role("region", name=question, exact=True)

    def figures(self, question: str) -> list[list[str]]:
        """The table of a chart, row by row."""
        box = self.chart(question)
        box.get_by_text("Figures", exact=True).click()
        rows = box.locator("tbody tr").all()
        return [row.locator("th, td").all_text_contents() for row in rows]


GAIN = "Does another round still raise the score?"
ACCEPTED = "How often is a revision accepted?"


def test_the_numbers_are_those_of_the_sessions(server: Server, watched: Watched, counted: str) -> None:
    tab = InsightPage(watched.page(), server.url).open(counted)
    expect(tab.page.locator(".rd-ins-about")).to_contain_text("3 sessions, 6 rounds with a revision")
    accepted = tab.figures(ACCEPTED)
    assert [row[:4] for row in accepted if row[1] == "by a person"] == [
        ["round 1", "by a person", "66.7 %", "20.8 % to 93.9 %"],
        ["round 2", "by a person", "100 %", "43.9 % to 100 %"],
    ]
    assert accepted[0] == ["round 1", "by the policy", "undefined: the policy ruled on none"]
    gain = tab.figures(GAIN)
    assert [row[2] for row in gain] == ["+1", "+0.667", "+1.33", "+1.33"]
    overruled = tab.chart("How often does a person rule otherwise than the policy?")
    expect(overruled.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile("undefined: no votes yet")
    )
    verified = tab.chart("Does refining turn wrong into right, or right into wrong?")
    expect(verified.get_by_text("Undefined: no session here has a verifier")).to_be_visible()


def test_it_is_narrowed_by_keyboard_and_the_address_keeps_it(
    server: Server, watched: Watched, counted: str
) -> None:
    tab = InsightPage(watched.page(), server.url).open("")
    tab.page.get_by_role("combobox", name="Preset", exact=True).focus()
    tab.page.keyboard.type(PRESET[:7])
    expect(tab.page).to_have_url(re.compile(counted))
    about = tab.page.locator(".rd-ins-about")
    expect(about).to_contain_text("3 sessions")
    tab.page.get_by_role("combobox", name="Compare by", exact=True).select_option("model")
    expect(tab.chart("With which model are revisions accepted?")).to_be_visible()
    tab.page.go_back()
    expect(tab.chart("With which strategy are revisions accepted?")).to_be_visible()
    tab.page.get_by_label("From", exact=True).fill("2999-01-01")
    tab.page.get_by_label("From", exact=True).press("Tab")
    expect(tab.page.locator(".rd-ins-none")).to_be_visible()
    tab.page.get_by_role("button", name="All sessions").click()
    expect(tab.page).to_have_url(re.compile(r"/insight/$"))
    expect(tab.page.locator(".rd-ins-none")).to_be_hidden()


def test_charts_are_saved_as_svg_png_and_csv(server: Server, watched: Watched, counted: str) -> None:
    tab = InsightPage(watched.page(), server.url).open(counted)
    saved = {}
    for form in ("SVG", "PNG", "CSV"):
        with tab.page.expect_download() as found:
            tab.page.get_by_role("button", name=f"Save as {form}: {ACCEPTED}").click()
        saved[found.value.suggested_filename] = found.value.path().read_bytes()
    drawing = saved["insight-accepted.svg"].decode()
    assert ACCEPTED in drawing and "var(" not in drawing and "class=" not in drawing
    assert saved["insight-accepted.png"].startswith(b"\x89PNG\r\n")
    rows = list(csv.DictReader(saved["insight-accepted.csv"].decode().splitlines()))
    assert [(row["group"], row["series"], row["n"]) for row in rows][1] == ("round 1", "by a person", "3")
    assert float(rows[1]["value"]) == pytest.approx(2 / 3)
    assert rows[0]["undefined because"] == "the policy ruled on none"


@pytest.mark.parametrize(("width", "theme"), [(380, "dark"), (1440, "light")])
def test_anybody_can_read_it(server: Server, watched: Watched, counted: str, width: int, theme: str) -> None:
    page = watched.page()
    page.set_viewport_size({"width": width, "height": 900})
    tab = InsightPage(page, server.url).open(f"{counted}&__theme={theme}")
    tab.figures(GAIN)
    assert overflow(page) <= 0
    name = tab.chart(ACCEPTED).get_by_role("img").get_attribute("aria-label") or ""
    assert "round 1: by the policy undefined: the policy ruled on none, by a person 66.7 %, n 3" in name
    violations(page)


def test_a_refusal_is_said(server: Server, watched: Watched) -> None:
    tab = InsightPage(watched.page(), server.url).open("since=yesterday", "failed")
    expect(tab.page.get_by_role("alert")).to_have_text("A day looks like 2026-11-30, not 'yesterday'.")
