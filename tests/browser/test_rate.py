"""The raters' page in a real browser: what the network, other tabs and small screens do to it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from core.studies.monitor import monitor
from core.studies.protocol import StudyProtocol
from core.studies.service import Studies
from storage.database import open_database
from storage.study_store import SqlStudyStore
from tests.browser.conftest import Server
from tests.browser.raters import DESK, PHONE, RaterPage, visitor
from tests.browser.test_refine import overflow
from tests.browser.test_steering import violations
from tests.studies import OWNER, entries

FULL = StudyProtocol(
    instructions="Read both, then choose.",
    consent="You may stop at any time.",
    criteria=("Clear", "Friendly"),
    ask_strength=True,
    ask_reason=True,
    completion_code="CODE-1",
    closing_question="Which of the two is newer?",
    closing_system="zeta-q4",
)


class Study:
    """An open study on the server's database."""

    def __init__(self, server: Server, protocol: StudyProtocol, items: int = 3) -> None:
        self.server = server
        self.store = SqlStudyStore(open_database(f"sqlite:///{server.home}/redraft.db"))
        self.studies = Studies(self.store)
        self.id = self.studies.new("zeta against omega", protocol, OWNER)
        self.studies.add(self.id, entries(items), OWNER)
        self.studies.open(self.id, OWNER)

    def link(self) -> str:
        (link,) = self.studies.links(self.id, [""], OWNER)
        return f"{self.server.url}r/{link.token}"

    @property
    def votes(self) -> int:
        return monitor(self.store, self.id).votes


def test_a_vote_without_network_is_kept_sent_later_and_never_doubled(
    server: Server, chromium: Browser
) -> None:
    study = Study(server, StudyProtocol())
    with visitor(chromium, PHONE) as watched:
        watched.outage = True
        rater = RaterPage(watched.page()).open(study.link())
        # The vote arrives, its answer does not: the page can't know and has to send it again.
        lost: list[str] = []

        def lose(route: Route) -> None:
            if not lost:
                route.fetch()
            lost.append(route.request.post_data or "")
            route.abort()

        watched.context.route("**/rate/answer", lose)
        rater.choose("Left")
        rater.page.locator("form [type=submit]").click()
        expect(rater.page.locator("#unsent")).to_contain_text("Not sent yet, trying again.")
        assert study.votes == 1
        # The page is closed, and opened again when the network is back.
        rater.page.close()
        watched.context.unroute("**/rate/answer")
        again = RaterPage(watched.page()).open(f"{server.url}rate/")
        expect(again.title).to_have_text(re.compile("Pair 2 "))
        expect(again.page.locator("#unsent")).to_be_empty()
        assert study.votes == 1 and len(set(lost)) == 1


def test_back_and_forward_show_what_is_to_be_answered_now(server: Server, chromium: Browser) -> None:
    study = Study(server, StudyProtocol())
    with visitor(chromium, DESK) as watched:
        rater = RaterPage(watched.page()).open(study.link())
        rater.vote("river")
        second = rater.texts
        rater.page.goto(f"{server.url}rate/rate.css")
        rater.page.go_back()
        expect(rater.title).to_have_text(re.compile("Pair 2 "))
        assert rater.texts == second and study.votes == 1


def test_all_that_the_protocol_asks_is_asked_and_kept(server: Server, chromium: Browser) -> None:
    study = Study(server, FULL, items=1)
    with visitor(chromium, PHONE) as watched:
        rater = RaterPage(watched.page()).open(study.link())
        rater.going_on(lambda: rater.page.get_by_role("button", name="I agree, begin").click())
        rater.page.locator("form [type=submit]").click()
        expect(rater.page.get_by_role("alert")).to_have_text("Choose an answer first.")
        rater.choose("Tie")
        expect(rater.page.get_by_text("How much better?")).to_be_hidden()
        rater.choose("Right")
        rater.page.get_by_role("radio", name="Clearly").check()
        rater.page.get_by_role("group", name="Clear", exact=True).get_by_label("Left").check()
        rater.page.get_by_label("Why?").fill("1 0 b: keys in a text are letters")
        rater.send()
        expect(rater.title).to_have_text("A last question")
        rater.choose("Not sure")
        rater.page.get_by_label("Did you recognise anything?").fill("no")
        rater.send()
        expect(rater.page.locator("#code")).to_have_text("CODE-1")
    (vote,) = study.store.look(study.id, lambda desk: desk.votes())
    assert vote.ballot.choice == "right" and vote.ballot.strength == 2
    assert vote.ballot.criteria == (("Clear", "left"),)
    assert vote.ballot.reason == "1 0 b: keys in a text are letters"
    assert vote.ballot.active_ms is not None and vote.ballot.active_ms > 0


def test_single_keys_can_be_switched_off(server: Server, chromium: Browser) -> None:
    study = Study(server, StudyProtocol())
    with visitor(chromium, DESK) as watched:
        rater = RaterPage(watched.page()).open(study.link())
        rater.page.get_by_text("Instructions and keys").click()
        rater.page.get_by_label("Single keys work").uncheck()
        rater.page.keyboard.press("1")
        expect(rater.page.locator("#choices input:checked")).to_have_count(0)


def test_a_lock_in_mid_vote_is_told_and_nothing_more_is_counted(server: Server, chromium: Browser) -> None:
    study = Study(server, StudyProtocol())
    with visitor(chromium, PHONE) as watched:
        watched.outage = True  # the refusal
        rater = RaterPage(watched.page()).open(study.link())
        rater.vote("river")
        study.studies.lock(study.id, OWNER)
        rater.choose("Left")
        rater.send()
        expect(rater.title).to_have_text("The study has ended")
        expect(rater.page.get_by_role("alert")).to_contain_text("not counted")
    assert study.votes == 1


def test_texts_with_markup_are_words(server: Server, chromium: Browser) -> None:
    study = Study(server, StudyProtocol(question="<b>Which</b> {{x}} ${y}?"))
    with visitor(chromium, DESK) as watched:
        rater = RaterPage(watched.page()).open(study.link())
        expect(rater.page.locator("#question")).to_have_text("<b>Which</b> {{x}} ${y}?")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["380", "1440"])
def test_the_page_fits_and_axe_finds_no_serious_violation(
    server: Server, chromium: Browser, size: dict[str, int], scheme: str
) -> None:
    study = Study(server, FULL, items=1)
    with visitor(chromium, size, scheme) as watched:
        rater = RaterPage(watched.page()).open(study.link())
        for state in ("consent", "pair", "closing", "done"):
            expect(rater.page.locator("body")).to_have_attribute("data-state", state)
            if state == "pair":
                rater.page.get_by_text("Instructions and keys").click()
            if state in ("pair", "closing"):
                rater.choose("Left")
            assert overflow(rater.page) <= 0
            violations(rater.page)
            if state == "consent":
                rater.going_on(lambda: rater.page.get_by_role("button", name="I agree, begin").click())
            elif state != "done":
                rater.send()
