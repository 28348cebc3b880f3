"""The first promise, on the real starter: a stranger pastes a text and sees it drafted and refined."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Server, Watched
from tests.browser.pages import RefinePage
from tests.browser.test_refine import exported

pytestmark = pytest.mark.starter
TEXT = "The food at the new restaurant was really very fantastic, and we all enjoyed it very much indeed."
WISH = "It is too long. Say it in five words."
MODEL_SECONDS = 90_000


def starter_home() -> Path:
    """Where the starter's weights are kept on this machine."""
    return Path(os.environ.get("REDRAFT_HOME") or Path.home() / ".local" / "share" / "redraft")


def test_a_text_is_refined_on_the_starter_and_every_step_is_found_again(
    watched: Watched, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models").symlink_to(starter_home() / "models")
    server = Server(tmp_path).start()
    watched.context.set_default_timeout(MODEL_SECONDS)
    expect.set_options(timeout=MODEL_SECONDS)
    try:
        tab = RefinePage(watched.page(), server.url).open()
        tab.page.locator(".rd-example").first.click()
        expect(tab.page.locator("#text textarea")).not_to_be_empty()
        tab.fill(TEXT, "Make it shorter.", "starter")
        session = tab.start()
        edit_first_point(tab, tab.at_critique(1), WISH)
        tab.at_revision(1)
        tab.press("Reject")
        edit_first_point(tab, tab.at_critique(2), "Say that it was good, in four words.")
        tab.at_revision(2)
        tab.press("Accept")
        tab.at_critique(3)
        before = tab.board.locator(".rd-rounds").inner_text()
        tab.page.reload()
        tab.at_critique(3)
        assert tab.board.locator(".rd-rounds").inner_text() == before
        again = RefinePage(watched.page(), server.url).open(f"?session={session}")
        again.at_critique(3)
        assert again.board.locator(".rd-rounds").inner_text() == before
    finally:
        watched.outage = True
        server.stop()
        expect.set_options(timeout=5_000)
    check_history(exported(server, session, capsys))


def edit_first_point(tab: RefinePage, row: Locator, wish: str) -> None:
    """Put the wish in the place of the critic's first point; a small model may have given none."""
    if not row.locator(".rd-edit-points textarea").count():
        tab.press("Add a point")
    row.get_by_label("What is wrong of point 1").fill(wish)
    tab.press("Revise with the ticked points")


def check_history(document: dict[str, object]) -> None:
    """Every step of the scene above, in the database, with token scores that join to the texts."""
    steps = document["steps"]
    assert isinstance(steps, list)
    roles = [s["request"].get("role", s["request"]["kind"]) for s in steps]
    one_round = ["critique", "critique gate", "revise", "measure", "revision gate"]
    assert roles == ["draft", "measure", *one_round, *one_round, "critique"]
    rulings = [s["answer"]["decision"]["ruling"] for s in steps if s["request"]["kind"] == "revision gate"]
    assert rulings == ["reject", "accept"]
    edited = steps[3]["answer"]["decision"]["points"][0]["problem"]
    assert edited == WISH
    assert edited in json.dumps(steps[4]["request"]["messages"])
    for step in (s for s in steps if s["request"]["kind"] == "ask"):
        completion = step["answer"]["reply"]["completions"][0]
        assert "".join(token["text"] for token in completion["tokens"]) == completion["text"]
    scores = [s["answer"]["scores"][0][0]["value"] for s in steps if s["request"]["kind"] == "measure"]
    assert all(value < 0 for value in scores)
