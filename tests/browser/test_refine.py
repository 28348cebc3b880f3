"""The Refine page in a real browser, on an endpoint that answers by rule."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app import main
from tests.browser.conftest import Rule, Server, Watched, configure
from tests.browser.pages import RefinePage
from tests.fault_server import FaultServer

HOSTILE = (
    "<script>document.title='x'</script> <img src=x onerror=\"document.title='x'\"> [a](javascript:alert(1)) "
    "${document.title='x'} {{7*7}} \\u0041 C:\\users\\new &lt;b&gt; <hello>Vec<u8></hello>"
)


def exported(server: Server, session: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The session as the command line exports it."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDRAFT_HOME", str(server.home))
        assert main(["history", "export", session]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_a_text_is_refined_by_clicking(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("One text that is too long.")
    tab.start()
    row = tab.at_critique()
    expect(row.locator(".rd-base .rd-text")).to_have_text(re.compile("This is text number"))
    row.get_by_label("Follow point 2").uncheck()
    row.get_by_label("What is wrong of point 1").fill("far too plain")
    tab.press("Revise with the ticked points")
    row = tab.at_revision()
    expect(row.locator(".rd-points .rd-left-out").last).to_contain_text("too loud")
    expect(row.locator(".rd-points")).to_contain_text("far too plain")
    assert row.locator(".rd-revision ins").count() >= 1
    tab.press("Reject")
    tab.at_critique(2)
    tab.press("Revise with the ticked points")
    tab.at_revision(2)
    tab.press("Accept")
    tab.at_critique(3)
    tab.press("Stop")
    tab.ended()
    expect(tab.row(1).locator(".rd-ruling").last).to_contain_text("Not accepted by person")
    expect(tab.row(2).locator(".rd-ruling").last).to_contain_text("Accepted by person")


def test_an_unticked_point_is_absent_from_the_next_prompt(
    server: Server, watched: Watched, endpoint: FaultServer
) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("One text with points.")
    tab.start()
    row = tab.at_critique()
    row.get_by_label("Follow point 2").uncheck()
    tab.press("Add a point")
    row.get_by_label("What is wrong of point 3").fill("say thank you")
    tab.press("Revise with the ticked points")
    tab.at_revision()
    asked = [json.dumps(ask.body) for ask in endpoint.asks]
    prompt = next(body for body in reversed(asked) if "Rewrite the text so" in body)
    assert "too loud" not in prompt and "say thank you" in prompt and "too plain" in prompt


def test_hostile_text_is_shown_as_text_and_nothing_runs(server: Server, watched: Watched, rule: Rule) -> None:
    critique = f'- "{HOSTILE}" | {HOSTILE} | {HOSTILE}'
    rule.answer = lambda messages: critique if "critic" in messages[-1]["content"] else HOSTILE
    tab = RefinePage(watched.page(), server.url).open()
    title = tab.page.title()
    tab.fill(HOSTILE, HOSTILE)
    tab.start()
    row = tab.at_critique()
    assert row.locator(".rd-base .rd-text").text_content() == HOSTILE
    tab.press("Revise with the ticked points")
    row = tab.at_revision()
    assert row.locator(".rd-revision .rd-text").first.text_content() == HOSTILE
    tab.press("Stop")
    tab.ended()
    tab.page.reload()
    tab.ended()
    assert tab.page.locator("#text textarea").input_value() == HOSTILE
    assert tab.page.title() == title
    assert tab.board.locator("img, script, iframe").count() == 0


def test_reload_in_mid_stream_goes_on_without_a_lost_or_repeated_token(
    server: Server, watched: Watched, rule: Rule
) -> None:
    words = " ".join(f"word{i}" for i in range(60))
    rule.answer, rule.rate = (lambda _: words), 30.0
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text to stream.")
    tab.start()
    stream = tab.board.locator(".rd-stream")
    for number in (5, 25):
        expect(stream).to_contain_text(f"word{number} ")
        tab.page.reload()
        expect(stream).to_contain_text(f"word{number} ")
        assert words.startswith((stream.text_content() or "").strip())
    expect(tab.row(1).locator(".rd-base .rd-body .rd-text")).to_have_text(words)


def test_two_tabs_accept_at_once_and_one_decision_is_kept(
    server: Server, watched: Watched, capsys: pytest.CaptureFixture[str]
) -> None:
    one = RefinePage(watched.page(), server.url).open()
    one.fill("A text for two tabs.")
    session = one.start()
    one.at_critique()
    two = RefinePage(watched.page(), server.url).open(f"?session={session}")
    two.at_critique()
    one.press("Revise with the ticked points")
    one.at_revision()
    two.at_revision()
    both = """({session, position}) => Promise.all(['accept', 'reject'].map(ruling =>
        fetch(`/api/sessions/${session}/decisions`, {method: 'POST',
              headers: {'Content-Type': 'application/json'},
              body: JSON.stringify({position, ruling})}).then(r => r.json())))"""
    position = len(exported(server, session, capsys)["steps"])  # type: ignore[arg-type]
    answers = one.page.evaluate(both, {"session": session, "position": position})
    refused = [answer["error"] for answer in answers if "error" in answer]
    assert len(refused) == 1 and "already decided" in refused[0]
    one.at_critique(2)
    two.at_critique(2)
    steps = exported(server, session, capsys)["steps"]
    assert isinstance(steps, list)
    assert [s["request"]["kind"] for s in steps].count("revision gate") == 1


def test_a_stale_tab_says_so_and_shows_the_truth(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill("A text for a stale tab.")
    tab.start()
    tab.at_critique()
    # The tab hears nothing of the other decision: its events are held back.
    tab.page.evaluate("document.querySelector('.rd-board').redraft.events.close()")
    other = RefinePage(watched.page(), server.url).open(f"?session={tab.session}")
    other.at_critique()
    other.press("Stop")
    other.ended()
    tab.press("Revise with the ticked points")
    expect(tab.message).to_contain_text("already decided")
    tab.ended()


def test_stop_from_another_tab_ends_the_stream_within_a_second(
    server: Server, watched: Watched, rule: Rule, endpoint: FaultServer
) -> None:
    rule.answer, rule.rate = (lambda _: "word " * 500), 20.0
    one = RefinePage(watched.page(), server.url).open()
    one.fill("A text to stop.")
    session = one.start()
    expect(one.board.locator(".rd-stream")).to_contain_text("word word word")
    two = RefinePage(watched.page(), server.url).open(f"?session={session}")
    expect(two.board.locator(".rd-stream")).to_contain_text("word word word")
    gone = endpoint.disconnects
    two.press("Stop")
    one.ended()
    assert (one.row(1).locator(".rd-base .rd-text").text_content() or "").count("word") < 200
    expect(one.board.locator(".rd-doing")).to_contain_text("stopped by person")
    assert endpoint.wait_for(disconnects=gone + 1)


def test_after_kill_9_the_page_recovers_and_typed_text_is_still_there(
    watched: Watched, tmp_path: Path, endpoint: FaultServer
) -> None:
    configure(tmp_path, endpoint.url)
    server = Server(tmp_path).start()
    watched.outage = True
    try:
        tab = RefinePage(watched.page(), server.url).open()
        tab.fill("A text that survives.")
        tab.start()
        row = tab.at_critique()
        row.get_by_label("What is wrong of point 1").fill("typed before the crash")
        server.kill()
        expect(tab.board.locator(".rd-connection")).to_contain_text("connection to the server is lost")
        server.start()
        expect(tab.board.locator(".rd-connection")).to_have_text("")
        row = tab.at_critique()
        expect(row.get_by_label("What is wrong of point 1")).to_have_value("typed before the crash")
        tab.press("Revise with the ticked points")
        expect(tab.at_revision().locator(".rd-points")).to_contain_text("typed before the crash")
    finally:
        server.stop()


def test_a_run_killed_in_mid_stream_goes_on_by_continue(
    watched: Watched, tmp_path: Path, endpoint: FaultServer, rule: Rule
) -> None:
    rule.answer, rule.rate = (lambda _: "word " * 100), 20.0
    configure(tmp_path, endpoint.url)
    server = Server(tmp_path).start()
    watched.outage = True
    try:
        tab = RefinePage(watched.page(), server.url).open()
        tab.fill("A text cut in the middle.")
        tab.start()
        expect(tab.board.locator(".rd-stream")).to_contain_text("word word")
        server.kill()
        rule.rate = 0.0
        server.start()
        expect(tab.button("Continue")).to_be_visible()
        tab.press("Continue")
        tab.at_critique()
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("text", "model", "words"),
    [
        ("  ", "fake:tiny-chat", "There is no text to work on"),
        ("Some text", "nonsense", "There is no model 'nonsense'"),
        ("a\0b", "fake:tiny-chat", "NUL character at character 2"),
    ],
)
def test_bad_input_is_said_beside_the_form_and_kept(
    server: Server, watched: Watched, text: str, model: str, words: str
) -> None:
    tab = RefinePage(watched.page(), server.url).open()
    tab.fill(text, model=model)
    tab.page.locator("#start").click()
    expect(tab.page.locator("#message .rd-form-message")).to_have_text(re.compile(re.escape(words)))
    assert tab.page.locator("#text textarea").input_value() == text
    assert "session=" not in tab.page.url


def test_an_unknown_session_is_said_to_be_unknown(server: Server, watched: Watched) -> None:
    tab = RefinePage(watched.page(), server.url).open("?session=nowhere")
    expect(tab.page.locator("#message .rd-form-message")).to_have_text(
        re.compile("There is no session 'nowhere'")
    )


def test_another_sites_page_can_decide_nothing(server: Server, watched: Watched) -> None:
    context = watched.context.request
    answer = context.post(
        f"{server.url}api/sessions/x/stop", headers={"Origin": "http://evil.example"}, data={}
    )
    assert answer.status == 403


OVERFLOW = """() => {
  const scrolls = (node) => ["auto", "scroll"].includes(getComputedStyle(node).overflowX);
  const inScroller = (node) => { for (let up = node.parentElement; up; up = up.parentElement) if (scrolls(up)) return up !== document.body && up !== document.documentElement; return false; };
  const seen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && node.getBoundingClientRect().width > 1;
  const ends = [...document.querySelectorAll("main *")].filter((node) => seen(node) && !inScroller(node)).map((node) => node.getBoundingClientRect().right);
  return Math.round(Math.max(document.documentElement.scrollWidth, ...ends) - window.innerWidth);
}"""  # noqa: E501


def overflow(page: Page) -> int:
    """Pixels that the page, or anything on it that does not scroll by itself, is wider than its window."""
    found: int = page.evaluate(OVERFLOW)
    return found
