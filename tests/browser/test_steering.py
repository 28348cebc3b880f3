"""Steering a session on the page: parts of a revision, forks, settings, tokens, keys; and who can read it."""

from __future__ import annotations

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import CRITIQUE, Rule, Server, Watched
from tests.browser.pages import RefinePage
from tests.browser.test_refine import exported, overflow

OLD = "The food was good and the staff was rude."
NEW = "The meal was good and the staff was kind."
MIXED = "The meal was good and the staff was rude."


def two_texts(rule: Rule, old: str, new: str) -> None:
    """The endpoint answers with `old` as a draft and `new` as every revision."""

    def answer(messages):  # type: ignore[no-untyped-def]
        asked = messages[-1]["content"]
        if "critic" in asked:
            return CRITIQUE
        return new if "Rewrite the text so" in asked else old

    rule.answer = answer


def to_revision(watched: Watched, server: Server) -> RefinePage:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text to steer.")
    tab.start()
    tab.at_critique()
    tab.press("Revise with the ticked points")
    tab.at_revision()
    return tab


def test_parts_of_a_revision_are_taken_over_and_saved(
    server: Server, watched: Watched, rule: Rule, capsys: pytest.CaptureFixture[str]
) -> None:
    two_texts(rule, OLD, NEW)
    tab = to_revision(watched, server)
    changes = tab.row(1).get_by_role("checkbox", name=re.compile("Take over change"))
    expect(changes).to_have_count(2)
    changes.nth(1).click()
    expect(tab.board.locator(".rd-result .rd-text")).to_have_text(MIXED)
    tab.page.reload()
    tab.at_revision_with("Accept 1 of 2 changes")
    expect(tab.board.locator(".rd-result .rd-text")).to_have_text(MIXED)
    tab.press("Accept 1 of 2 changes")
    row = tab.at_critique(2)
    assert row.locator(".rd-base .rd-text").text_content() == MIXED
    expect(row.locator(".rd-by").first).to_have_text("by model, in part by person")
    steps = exported(server, tab.session, capsys)["steps"]
    assert isinstance(steps, list)
    decision = next(s["answer"]["decision"] for s in steps if s["request"]["kind"] == "revision gate")
    assert (decision["ruling"], decision["hunks"]) == ("hunks", [0])


@pytest.mark.parametrize(
    "text", ["海洋の温度は上昇している 🌍 家族 👩‍👩‍👧", "Zwei  Leerzeichen\n\tund <b>Tab</b> \\n"]
)
def test_the_heat_map_joins_to_exactly_the_text(
    server: Server, watched: Watched, rule: Rule, text: str
) -> None:
    two_texts(rule, text, text + " mehr")
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text to look at closely.")
    tab.start()
    row = tab.at_critique()
    row.locator(".rd-base .rd-heat-choices button").click()
    heat = row.locator(".rd-base .rd-heat")
    expect(heat.locator(".rd-token").first).to_be_visible()
    assert heat.text_content() == text
    assert heat.locator("b").count() == 0
    heat.locator(".rd-token").first.hover()
    expect(row.locator(".rd-base .rd-told")).to_contain_text("%")
    expect(row.locator(".rd-base .rd-others")).to_contain_text("instead of")
    row.locator(".rd-base .rd-heat-choices button").click()
    expect(row.locator(".rd-base .rd-body > .rd-text")).to_be_visible()


def test_a_fork_and_an_undo_leave_the_old_session_and_the_tree_shows_both(
    server: Server, watched: Watched
) -> None:
    tab = to_revision(watched, server)
    first = tab.session
    tab.press("Accept")
    tab.at_critique(2)
    tab.press("Undo the last decision")
    tab.at_revision(1)
    undone = tab.session
    assert undone != first
    tab.press("Reject")
    tab.at_critique(2)
    tab.row(1).locator(".rd-critique").get_by_role("button", name="Decide this otherwise").click()
    tab.at_critique(1)
    assert len({first, undone, tab.session}) == 3
    tab.page.get_by_text("Forks of this session").click()
    expect(tab.board.locator(".rd-tree li")).to_have_count(3)
    tab.page.locator(".rd-tree a").first.click()
    tab.at_critique(2)
    assert tab.session == first


def test_a_draft_is_written_by_hand_and_criticised_anew(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text to write.")
    tab.start()
    tab.at_critique()
    tab.press("Edit the draft")
    tab.board.get_by_label("The draft, as you write it").fill("My own words.")
    tab.press("Save as my draft")
    expect(tab.row(1).locator(".rd-base .rd-body > .rd-text")).to_have_text("My own words.")
    row = tab.at_critique(1)
    expect(row.locator(".rd-base .rd-by").first).to_have_text("by person")
    expect(row.locator(".rd-replaced")).to_contain_text("What stood here before")


def test_points_are_moved_and_weighed_before_the_revision(
    server: Server, watched: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text with an order.")
    tab.start()
    row = tab.at_critique()
    row.get_by_role("button", name="Move point 2 up").click()
    row.get_by_label("Weight of point 1").select_option("major")
    tab.press("Revise with the ticked points")
    tab.at_revision()
    steps = exported(server, tab.session, capsys)["steps"]
    assert isinstance(steps, list)
    points = next(s["answer"]["decision"]["points"] for s in steps if s["request"]["kind"] == "critique gate")
    assert [(p["problem"], p["severity"]) for p in points] == [("too loud", "major"), ("too plain", "major")]


def test_settings_for_the_steps_to_come(server: Server, watched: Watched) -> None:
    tab = to_revision(watched, server)
    tab.page.get_by_text("Settings for the steps to come").click()
    form = tab.board.locator(".rd-settings-form")
    form.get_by_label("For critique").fill("nonsense")
    form.get_by_role("button").click()
    expect(tab.message).to_contain_text("There is no model 'nonsense'")
    form.get_by_label("For critique").fill("fake:tiny-chat")
    form.get_by_label("Calls at most").fill("9")
    form.get_by_role("button").click()
    expect(tab.message).to_have_text("Set for the steps to come.")
    expect(tab.board.locator(".rd-warning")).to_have_text("")
    tab.press("Accept")
    tab.at_critique(2)
    tab.press("Revise with the ticked points")
    tab.at_revision(2)
    expect(tab.board.locator(".rd-warning")).to_contain_text("8 of 9 calls")
    tab.press("Reject")
    tab.at_critique(3)
    tab.press("Revise with the ticked points")
    tab.ended()
    expect(tab.board.locator(".rd-doing")).to_contain_text("9 of 9 calls")
    form.get_by_label("Calls at most").fill("20")
    form.get_by_role("button").click()
    tab.press("Continue")
    tab.at_revision(3)


def test_the_mode_is_switched_in_mid_run(server: Server, watched: Watched) -> None:
    tab = to_revision(watched, server)
    tab.board.get_by_label("From now on").select_option("auto")
    tab.ended()
    expect(tab.row(1).locator(".rd-revision .rd-ruling").last).to_contain_text("by policy")


def test_everything_by_keyboard_alone(server: Server, watched: Watched) -> None:
    page = watched.page()
    tab = RefinePage(page, server.url).open()
    page.keyboard.press("t")
    page.keyboard.type("A text typed by keyboard.")
    tab_to(page, "#instruction textarea")
    page.keyboard.type("Make it shorter.")
    tab_to(page, "#model input")
    page.keyboard.press("Control+a")
    page.keyboard.type("fake:tiny-chat")
    page.keyboard.press("Enter")
    tab_to(page, "#start")
    page.keyboard.press("Enter")
    tab.at_critique(1)
    page.keyboard.press("a")
    tab.at_revision(1)
    page.keyboard.press("r")
    tab.at_critique(2)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    tab.at_revision(2)
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("Written without a mouse.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    tab.at_critique(3)
    page.keyboard.press("s")
    tab.ended()
    expect(tab.board.locator(".rd-outcome .rd-text")).to_have_text("Written without a mouse.")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement?.matches(s)", selector):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


def test_what_is_typed_into_the_form_survives_a_reload(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.page.locator("#text textarea").fill("Typed and not yet sent.")
    tab.page.reload()
    tab.page.wait_for_function("document.querySelector('.rd-board')?.dataset.ready === '1'")
    expect(tab.page.locator("#text textarea")).to_have_value("Typed and not yet sent.")
    tab.choose_model("fake:tiny-chat")
    tab.start()
    row = tab.at_critique()
    expect(row.locator(".rd-base .rd-text")).not_to_be_empty()


def test_a_session_is_saved_as_a_file(server: Server, watched: Watched) -> None:
    tab = to_revision(watched, server)
    tab.press("Stop")
    tab.ended()
    with tab.page.expect_download() as download:
        tab.board.get_by_role("link", name="JSON").click()
    document = json.loads(download.value.path().read_text())
    assert document["session"] == tab.session and document["outcome"]["reason"] == "stopped by person"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1440])
def test_nothing_overflows_and_axe_finds_no_serious_violation(
    server: Server, watched: Watched, width: int, theme: str
) -> None:
    page = watched.page()
    page.set_viewport_size({"width": width, "height": 800})
    tab = RefinePage(page, server.url).open(f"?__theme={theme}")
    assert overflow(page) <= 0
    violations(page)
    tab.fill("W" * 300 + " and some words.")
    tab.start()
    tab.at_critique()
    assert overflow(page) <= 0
    violations(page)
    tab.press("Revise with the ticked points")
    row = tab.at_revision()
    row.locator(".rd-revision .rd-heat-choices button").first.click()
    expect(row.locator(".rd-token").first).to_be_visible()
    tab.page.get_by_text("Settings for the steps to come").click()
    assert overflow(page) <= 0
    violations(page)


def violations(page: Page) -> None:
    """No serious or critical finding of axe-core on the page as it stands."""
    found = Axe().run(page).response["violations"]
    serious = [
        f"{v['id']}: {v['help']}: {[node['html'][:160] for node in v['nodes'][:3]]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert not serious, "\n".join(serious)


def test_a_stopped_session_is_gone_on_with_in_a_copy(server: Server, watched: Watched, rule: Rule) -> None:
    rule.answer, rule.rate = (lambda _: "word " * 300), 20.0
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text to stop and go on with.")
    tab.start()
    stopped = tab.session
    expect(tab.board.locator(".rd-stream")).to_contain_text("word word")
    tab.press("Stop")
    tab.ended()
    rule.rate = 0.0
    tab.press("Go on from here, in a copy")
    tab.at_critique()
    assert tab.session != stopped
    expect(tab.board.locator(".rd-parent")).to_contain_text("A copy of another session from its step 0 on")
    tab.page.get_by_role("link", name="back to the original").click()
    tab.ended()
    assert tab.session == stopped


def test_the_drawer_of_further_settings_may_be_open_and_empty(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.page.locator("#task").get_by_role("button", name="More").click()
    expect(tab.page.get_by_label("Seed")).to_be_visible()
    tab.fill("A text with further settings.")
    tab.page.get_by_label("At most so many model calls").fill("many")
    tab.page.locator("#start").click()
    message = tab.page.locator("#message .rd-form-message")
    expect(message).to_contain_text("'many' is not a number")
    tab.page.get_by_label("At most so many model calls").fill("")
    tab.start()
    tab.at_critique()
    tab.page.get_by_text("Settings for the steps to come").click()
    expect(tab.board.get_by_label("Calls at most")).to_have_value("")


def test_a_persons_text_has_no_probabilities_of_its_writing(
    server: Server, watched: Watched, rule: Rule
) -> None:
    two_texts(rule, OLD, NEW)
    rule.answer = lambda messages: "My own words." if "critic" in messages[-1]["content"] else OLD
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text that the critic repeats.")
    tab.start()
    row = tab.at_critique()
    expect(row.locator(".rd-base .rd-heat-choices")).to_be_visible()
    tab.press("Edit the draft")
    tab.board.get_by_label("The draft, as you write it").fill("My own words.")
    tab.press("Save as my draft")
    expect(row.locator(".rd-base .rd-body > .rd-text")).to_have_text("My own words.")
    tab.at_critique()
    expect(row.locator(".rd-base .rd-body > .rd-heat-box")).to_have_count(0)


def test_what_was_typed_for_a_gate_that_another_tab_decided_is_offered(
    server: Server, watched: Watched
) -> None:
    tab = to_revision(watched, server)
    tab.press("Edit")
    tab.board.get_by_label("Your text", exact=True).fill("My unsent words.")
    other = RefinePage(watched.page(), server.url).open(f"?session={tab.session}")
    other.at_revision()
    other.press("Reject")
    other.at_critique(2)
    unsent = tab.board.locator(".rd-unsent")
    expect(unsent.locator("textarea")).to_have_value("My unsent words.")
    expect(other.board.locator(".rd-unsent")).to_be_empty()
    unsent.get_by_role("button", name="Forget it").click()
    expect(unsent).to_be_empty()
    tab.press("Revise with the ticked points")
    tab.at_revision(2)
    expect(unsent).to_be_empty()
