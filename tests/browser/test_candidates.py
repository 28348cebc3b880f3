"""Candidates in a real Chromium: they stream side by side, are compared, put together, picked, refined."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import Rule, Server, Watched
from tests.browser.pages import RefinePage
from tests.browser.test_refine import overflow
from tests.browser.test_steering import violations

SEED = 40
TEXTS = {
    SEED: "The food was good and the staff was slow today.",
    SEED + 1: "The food was splendid and the staff was slow today.",
    SEED + 2: "The food was good and the staff was kind today.",
    SEED + 3: "The food was good and the staff was slow, today!",
}
NEW = "Quite another text that was written from all."


def answers(seed: int) -> str:
    return TEXTS.get(seed, NEW)


class CandidatesPage(RefinePage):
    """The same page with candidates."""

    def begin(
        self,
        strategy: str = "Several drafts, the best by score",
        text: str = "A text.",
        theme: str = "light",
    ) -> None:
        self.open(f"candidates/?__theme={theme}")
        self.fill(text)
        self.page.locator("#strategy input").click()
        self.page.get_by_role("option", name=strategy, exact=True).click()
        self.page.locator("#task").get_by_role("button", name="More").click()
        seed = self.page.get_by_label("Seed")
        seed.fill(str(SEED))
        seed.press("Tab")  # as a person leaves a field before a click elsewhere
        expect(seed).to_have_value(str(SEED))
        self.start()

    def card(self, number: int) -> Locator:
        return self.board.locator(".rd-pools .rd-slot").and_(
            self.page.locator(f"[data-number='{number - 1}']")
        )

    def tick(self, *numbers: int) -> None:
        for number in numbers:
            self.board.get_by_label(f"Tick candidate {number}", exact=True).check()


def begun(
    watched: Watched, server: Server, rule: Rule, by_seed: Callable[[int], str] = answers
) -> CandidatesPage:
    rule.by_seed = by_seed
    page = CandidatesPage(watched.page(), server.url)
    page.begin()
    return page


def test_candidates_stream_side_by_side_and_a_reload_loses_nothing(
    server: Server, watched: Watched, rule: Rule
) -> None:
    rule.rate = 8.0
    page = begun(watched, server, rule, lambda seed: f"Begin {seed} " + "word " * 40)
    for number in range(1, 5):
        expect(page.card(number).locator(".rd-stream")).to_contain_text(f"Begin {SEED + number - 1}")
    expect(page.board.locator(".rd-stream")).to_have_count(4)  # all four are under way at the same moment
    page.page.reload()
    for number in range(1, 5):
        expect(page.card(number).locator(".rd-stream")).to_contain_text(f"Begin {SEED + number - 1} word")
    page.press("Stop")
    expect(page.board.locator(".rd-outcome")).to_contain_text("stopped by person")


def test_changes_of_two_candidates_are_put_together(server: Server, watched: Watched, rule: Rule) -> None:
    page = begun(watched, server, rule)
    expect(page.button("Compare the ticked")).to_be_disabled()
    page.tick(1, 2, 3)
    page.press("Compare the ticked")
    panel = page.board.locator(".rd-compare")
    for candidate in (2, 3):
        box = panel.locator(".rd-slot", has_text=f"Candidate {candidate}")
        box.get_by_role("checkbox", name="Take over change 1").click()
    result = panel.locator(".rd-result .rd-text")
    expect(result).to_have_text("The food was splendid and the staff was kind today.")
    panel.get_by_role("button", name="Go on with this text").click()
    outcome = page.board.locator(".rd-outcome")
    expect(outcome.locator(".rd-text")).to_have_text("The food was splendid and the staff was kind today.")
    expect(outcome).to_contain_text("It is the text that person put together.")


def test_two_changes_of_one_place_are_refused_in_words(server: Server, watched: Watched, rule: Rule) -> None:
    page = begun(watched, server, rule, lambda seed: f"The food was number{seed}.")
    page.tick(1, 2, 3)
    page.press("Compare the ticked")
    panel = page.board.locator(".rd-compare")
    changes = panel.get_by_role("checkbox", name="Take over change 1")
    expect(changes).to_have_count(2)
    changes.first.click()
    changes.last.click()
    expect(panel.get_by_role("alert")).to_contain_text("Take one of the two")


def test_one_text_is_written_from_the_ticked_and_joins_them(
    server: Server, watched: Watched, rule: Rule
) -> None:
    page = begun(watched, server, rule)
    page.tick(2, 3)
    page.press("Write one from the ticked")
    expect(page.card(5)).to_contain_text(NEW)
    expect(page.card(5)).to_contain_text("written from the others")
    page.board.get_by_role("button", name="Pick candidate 5").click()
    expect(page.board.locator(".rd-outcome .rd-text")).to_have_text(NEW)


def test_a_candidate_is_refined_in_a_copy(server: Server, watched: Watched, rule: Rule) -> None:
    page = begun(watched, server, rule)
    first = page.session
    page.board.get_by_role("button", name="Refine from candidate 2").click()
    page.page.wait_for_url(lambda url: first not in url)
    expect(page.row(1).locator(".rd-base")).to_contain_text(TEXTS[SEED + 1])
    page.board.locator(".rd-versions > summary").click()
    expect(page.board.locator(".rd-tree li")).to_have_count(2)


def test_votes_are_bars_with_their_members(server: Server, watched: Watched, rule: Rule) -> None:
    votes_of = dict(enumerate(["0.5", "3", "1/2", "3.0"], SEED))
    rule.by_seed = lambda seed: votes_of.get(seed, "no more")
    page = CandidatesPage(watched.page(), server.url)
    page.begin("Several drafts, the answer that most give", text="How many halves make 3 sixths?")
    votes = page.board.locator(".rd-votes li")
    expect(votes).to_have_count(2)
    expect(votes.first).to_contain_text("2 of 4: candidates 1, 3")
    expect(page.board.locator(".rd-pool-reason")).to_contain_text("Tie: 0.5, 3 have 2 votes each")


def test_alike_candidates_are_told_and_can_be_shown_once(
    server: Server, watched: Watched, rule: Rule
) -> None:
    page = begun(watched, server, rule, lambda seed: "One and the same text." if seed < SEED + 3 else NEW)
    expect(page.card(1)).to_contain_text("much like 2, 3")
    page.board.get_by_label("Show one of those that are much alike").check()
    expect(page.card(1)).to_be_visible()
    expect(page.card(2)).to_be_hidden()
    expect(page.card(4)).to_be_visible()


def test_candidates_are_ordered_by_a_score_and_picked_by_key(
    server: Server, watched: Watched, rule: Rule
) -> None:
    page = begun(watched, server, rule, lambda seed: "word " * (SEED + 6 - seed))
    cards = page.board.locator(".rd-pools .rd-slot")
    page.board.get_by_label("Order").select_option("shortest first")
    expect(cards.first).to_contain_text("Candidate 4")
    expect(page.board.get_by_role("button", name="Pick the advised one")).to_be_visible()
    cards.first.focus()  # single keys are not for one who is in a list of choices
    page.page.keyboard.press("a")
    expect(page.board.locator(".rd-outcome")).to_be_visible()


def test_a_star_on_a_candidate_stays(server: Server, watched: Watched, rule: Rule) -> None:
    page = begun(watched, server, rule)
    star = page.board.get_by_role("button", name="Star candidate 2")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    page.page.reload()
    expect(star).to_have_attribute("aria-pressed", "true")
    other = page.board.get_by_role("button", name="Star candidate 1")
    expect(other).to_have_attribute("aria-pressed", "false")


def test_a_star_is_shown_on_candidates_that_were_drawn_anew_since_the_click(
    server: Server, watched: Watched, rule: Rule
) -> None:
    page = begun(watched, server, rule)
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            held.append(route)
        else:
            route.continue_()

    page.page.route("**/stars", hold)
    star = page.board.get_by_role("button", name="Star candidate 2")
    star.evaluate("(star) => { window.clicked = star; }")
    star.click()
    page.card(1).get_by_role("button", name="Pick").click()
    expect(page.board.locator(".rd-outcome")).to_be_visible()
    assert star.evaluate("(star) => star !== window.clicked"), "the candidates were not drawn anew"
    (waiting,) = held
    waiting.continue_()
    expect(star).to_have_attribute("aria-pressed", "true")


def test_script_in_a_candidate_is_shown_as_text(server: Server, watched: Watched, rule: Rule) -> None:
    evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>${1} {{1}} \\u0041'
    page = begun(watched, server, rule, lambda seed: f"{evil} {seed}")
    expect(page.card(1).locator(".rd-text").first).to_have_text(f"{evil} {SEED}")
    page.tick(1, 2)
    page.press("Compare the ticked")
    expect(page.board.locator(".rd-compare .rd-diff")).to_contain_text(evil)
    assert page.page.title() == "Redraft"


@pytest.mark.parametrize(("width", "theme"), [(380, "dark"), (1440, "light")])
def test_nothing_is_cut_off_and_anybody_can_read_it(
    server: Server, watched: Watched, rule: Rule, width: int, theme: str
) -> None:
    rule.by_seed = lambda seed: f"{'W' * 200} {answers(seed)}"
    page = CandidatesPage(watched.page(), server.url)
    page.page.set_viewport_size({"width": width, "height": 800})
    page.begin(theme=theme)
    page.tick(1, 2, 3)
    page.press("Compare the ticked")
    expect(page.board.locator(".rd-compare .rd-diff").first).to_be_visible()
    assert overflow(page.page) <= 0
    violations(page.page)
    page.board.get_by_role("button", name="Pick candidate 2").click()
    expect(page.board.locator(".rd-outcome")).to_be_visible()
    assert overflow(page.page) <= 0
    violations(page.page)
