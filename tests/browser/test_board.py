"""The board around its rounds: the mode in mid-run, copies of replies, the work in sight, the task folded."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import CRITIQUE, Rule, Server, Watched
from tests.browser.pages import RefinePage
from tests.browser.test_steering import to_revision

LONG = "\n\n".join(f"Paragraph {i} has some words that fill a line of the page." for i in range(40))


def long_texts(rule: Rule) -> None:
    """The endpoint writes texts that are longer than a window."""
    rule.answer = lambda messages: CRITIQUE if "critic" in messages[-1]["content"] else LONG


def started(watched: Watched, server: Server, text: str) -> RefinePage:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill(text)
    tab.start()
    return tab


def scrolled(page: Page) -> float:
    found: float = page.evaluate("scrollY")
    return found


# -- the mode in mid-run --------------------------------------------------------------------------


def test_a_mode_switched_while_a_draft_streams_holds_at_the_next_gate(
    server: Server, watched: Watched, rule: Rule
) -> None:
    rule.rate = 20.0
    tab = started(watched, server, "A text whose mode is switched.")
    mode = tab.board.get_by_label("From now on")
    expect(tab.board.locator(".rd-stream")).to_contain_text("This is")
    mode.select_option("auto")
    expect(tab.board.locator(".rd-doing")).to_contain_text("Revising")
    expect(tab.row(1).locator(".rd-critique .rd-ruling")).to_contain_text("by policy")
    mode.select_option("ask")
    tab.at_revision(1)
    expect(tab.row(1).locator(".rd-edit-points")).to_have_count(0)


# -- copies -----------------------------------------------------------------------------------------


def test_a_critique_and_a_revision_are_written_again_in_a_copy(
    server: Server, watched: Watched, rule: Rule
) -> None:
    tab = to_revision(watched, server)
    tab.press("Reject")
    tab.at_critique(2)
    first = tab.session
    again = "Write this again, in a copy"
    rule.answer = lambda _: "Another text altogether."
    tab.row(1).locator(".rd-revision").get_by_role("button", name=again).click()
    row = tab.at_revision(1)
    expect(row.locator(".rd-revision ins").last).to_have_text("altogether")
    assert tab.session != first
    expect(tab.board.locator(".rd-parent")).to_contain_text("A copy of another session from its step")
    expect(row.locator(".rd-critique .rd-ruling")).to_contain_text("by person")
    row.locator(".rd-critique").get_by_role("button", name=again).click()
    row = tab.at_critique(1)
    expect(row.get_by_label("What is wrong of point 1")).to_have_value("Another text altogether.")


def test_undo_says_what_it_will_undo(server: Server, watched: Watched) -> None:
    tab = started(watched, server, "A text to rule on.")
    tab.at_critique()
    undo = tab.button("Undo the last decision")
    expect(undo).to_be_disabled()
    tab.press("Revise with the ticked points")
    tab.at_revision()
    expect(undo).to_have_attribute("title", re.compile("the points of round 1 .*by person"))


# -- the work in sight ------------------------------------------------------------------------------


def test_the_page_goes_along_with_the_work_until_the_person_scrolls_away(
    server: Server, watched: Watched, rule: Rule
) -> None:
    long_texts(rule)
    tab = started(watched, server, "A text that becomes long.")
    tab.at_critique(1)
    tab.press("Revise with the ticked points")
    tab.at_revision(1)
    tab.press("Reject")
    row = tab.at_critique(2)
    expect(row.locator(".rd-critique")).to_be_in_viewport()
    jump = tab.button("Jump to what is happening")
    expect(jump).to_be_hidden()
    tab.page.mouse.move(700, 400)
    tab.page.mouse.wheel(0, -20_000)
    expect(jump).to_be_visible()
    before = scrolled(tab.page)
    other = RefinePage(watched.page(), server.url).open(f"?session={tab.session}")
    other.at_critique(2)
    other.press("Revise with the ticked points")
    other.at_revision(2)
    other.press("Reject")
    other.at_critique(3)
    tab.at_critique(3)
    assert scrolled(tab.page) == before
    jump.click()
    expect(tab.row(3).locator(".rd-critique")).to_be_in_viewport()
    expect(jump).to_be_hidden()


def test_nothing_moves_while_somebody_types_elsewhere(server: Server, watched: Watched, rule: Rule) -> None:
    long_texts(rule)
    tab = started(watched, server, "A text that becomes long.")
    tab.at_critique(1)
    tab.press("Show the task")
    box = tab.page.locator("#text textarea")
    box.fill("Something else")
    other = RefinePage(watched.page(), server.url).open(f"?session={tab.session}")
    other.at_critique(1)
    before = scrolled(tab.page)
    other.press("Revise with the ticked points")
    other.at_revision(1)
    other.press("Reject")
    tab.at_critique(2)
    assert scrolled(tab.page) == before
    expect(box).to_be_focused()
    expect(tab.button("Jump to what is happening")).to_be_visible()


def test_long_texts_of_earlier_rounds_show_their_beginning(
    server: Server, watched: Watched, rule: Rule
) -> None:
    long_texts(rule)
    tab = started(watched, server, "A text that becomes long.")
    tab.at_critique(1)
    whole = tab.row(1).locator(".rd-base .rd-text").bounding_box()
    assert whole and whole["height"] > 800
    tab.press("Revise with the ticked points")
    tab.at_revision(1)
    tab.press("Reject")
    tab.at_critique(2)
    text = tab.row(1).locator(".rd-base .rd-text").first
    clamped = text.bounding_box()
    assert clamped and clamped["height"] < 400
    more = tab.row(1).locator(".rd-base").get_by_role("button", name="Show all")
    more.click()
    box = text.bounding_box()
    assert box and box["height"] > 800
    expect(tab.row(2).get_by_role("button", name="Show all")).to_have_count(0)


# -- the task -----------------------------------------------------------------------------------------


def test_beside_an_open_session_the_task_is_folded_away(server: Server, watched: Watched) -> None:
    tab = started(watched, server, "A text to fold away.")
    tab.at_critique()
    form = tab.page.locator("#task")
    expect(form).to_be_hidden()
    board = tab.board.bounding_box()
    assert board and board["width"] > 1300
    tab.press("Show the task")
    expect(tab.page.locator("#text textarea")).to_have_value("A text to fold away.")
    tab.press("Hide the task")
    expect(form).to_be_hidden()
    tab.page.keyboard.press("t")
    expect(tab.page.locator("#text textarea")).to_be_focused()
    tab.fill("A second text.")
    first = tab.session
    tab.page.locator("#start").click()
    expect(tab.board.locator(".rd-title")).to_contain_text("A second text.")
    expect(form).to_be_hidden()
    assert tab.session != first
    tab.press("New task")
    expect(tab.board.locator(".rd-welcome")).to_be_visible()
    expect(tab.page.locator("#text textarea")).to_have_value("")


def test_the_models_drawer_and_the_form_agree_after_a_reload(server: Server, watched: Watched) -> None:
    tab = started(watched, server, "A text with a model.")
    tab.at_critique()
    tab.page.reload()
    tab.at_critique()
    tab.press("Show the task")
    expect(tab.page.locator("#model input")).to_have_value("fake:tiny-chat")
    expect(tab.page.locator(".rd-models-now")).to_have_text("fake:tiny-chat")
    tab.press("New task")
    expect(tab.page.locator(".rd-models-now")).to_have_text("fake:tiny-chat")
    expect(tab.page.locator("#model input")).to_have_value("fake:tiny-chat")


def test_examples_are_those_of_the_chosen_kind_of_task(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    examples = tab.board.locator(".rd-example:visible")
    expect(examples.first).to_contain_text("Make it shorter.")
    expect(tab.page.locator("#instruction textarea")).to_have_attribute("placeholder", "Make it clearer.")
    kind = tab.page.get_by_label("Kind of task")
    kind.click()
    tab.page.get_by_role("option", name=re.compile("sentiment", re.I)).first.click()
    expect(tab.board.locator('.rd-example:visible:not([data-preset="sentiment_reversal"])')).to_have_count(0)
    examples.first.click()
    expect(tab.page.locator("#text textarea")).not_to_have_value("")


# -- around -----------------------------------------------------------------------------------------------


def test_a_theme_of_the_address_goes_along_to_other_pages(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open("?__theme=dark")
    tab.fill("A text in the dark.")
    session = tab.start()
    tab.at_critique()
    tab.page.get_by_role("link", name="History").click()
    tab.page.locator(f'.rd-sessions a[href*="{session}"]').first.click()
    tab.at_critique()
    assert "__theme=dark" in tab.page.url and session in tab.page.url
    expect(tab.page.locator("body")).to_have_class(re.compile(r"\bdark\b"))
    tab.press("New task")
    expect(tab.page.locator("body")).to_have_class(re.compile(r"\bdark\b"))


def test_the_result_alone_is_saved_as_a_text(server: Server, watched: Watched) -> None:
    tab = to_revision(watched, server)
    tab.press("Stop")
    tab.ended()
    shown = tab.board.locator(".rd-outcome .rd-text").text_content()
    with tab.page.expect_download() as download:
        tab.board.get_by_role("link", name="the result only").click()
    found: Path = download.value.path()
    assert found.read_text() == shown


def test_what_a_page_is_sent_holds_each_text_once(server: Server, watched: Watched, rule: Rule) -> None:
    long_texts(rule)
    page = watched.page()
    page.add_init_script(
        """window.views = [];
        window.EventSource = class extends EventSource {
            addEventListener(kind, act) {
                super.addEventListener(kind, (e) => { if (kind === "view") views.push(e.data); act(e); });
            }
        };"""
    )
    tab = RefinePage(page, server.url).open()
    tab.fill("A text that is sent once.")
    tab.start()
    tab.at_critique(1)
    tab.press("Revise with the ticked points")
    tab.at_revision(1)
    sent = [json.loads(view) for view in page.evaluate("views")]
    assert len(sent) > 2
    assert sum(LONG in view.values() for view in sent) == 1
