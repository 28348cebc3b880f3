"""The Presets page in a real browser: edited, previewed, saved, used; and what goes wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core.presets import BUILT_IN
from tests.browser.conftest import Server, Watched, configure
from tests.browser.pages import RefinePage
from tests.browser.test_refine import HOSTILE, overflow
from tests.browser.test_steering import violations
from tests.fault_server import FaultServer
from tests.small_preset import SMALL

OWN = "You edit with tweezers."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, endpoint: FaultServer) -> Iterator[Server]:
    """A server of its own: these tests look at all the presets there are, and change them."""
    folder = tmp_path_factory.mktemp("presets")
    configure(folder, endpoint.url)
    running = Server(folder).start()
    yield running
    running.stop()


@pytest.fixture
def small(home: Server) -> Iterator[Path]:
    """A small preset of one's own, as a file; afterwards there are the built-in ones alone."""
    folder = home.home / "presets"
    folder.mkdir(exist_ok=True)
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    yield folder / "small.yaml"
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


class PresetsPage:
    """The Presets page in a browser tab, in a person's words."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, name: str = "small", theme: str = "") -> PresetsPage:
        self.page.goto(f"{self.url}presets/?preset={name}" + (f"&__theme={theme}" if theme else ""))
        expect(self.page.locator(".rd-presets")).to_have_attribute("data-state", "ready")
        expect(self.page.locator(".rd-turns li").first).to_be_visible()
        return self

    @property
    def yaml(self) -> Locator:
        return self.page.get_by_label("YAML", exact=True)

    @property
    def status(self) -> Locator:
        return self.page.locator(".rd-presets > .rd-status")

    @property
    def offer(self) -> Locator:
        return self.page.locator(".rd-offer")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def turn(self, title: str) -> Locator:
        return self.page.locator(".rd-turns li", has=self.page.get_by_text(title, exact=True)).locator(
            ".rd-words"
        )

    def change(self, old: str, new: str) -> None:
        self.yaml.fill(self.yaml.input_value().replace(old, new, 1))


def test_a_preset_is_edited_saved_and_used(
    home: Server, watched: Watched, endpoint: FaultServer, small: Path
) -> None:
    tab = PresetsPage(watched.page(), home.url).open()
    expect(tab.turn("System")).to_have_text("You edit.")
    tab.change("You edit.", OWN)
    expect(tab.turn("System")).to_have_text(OWN)
    expect(tab.page.locator(".rd-turns [data-changed]")).to_have_count(1)
    tab.page.get_by_label("Title", exact=True).fill("Tweezers: {{fine}} <b>")
    tab.page.get_by_label("Title", exact=True).press("Tab")
    expect(tab.yaml).to_have_value(re.compile(r'title: "Tweezers: {{fine}} <b>"'))
    tab.button("Save as a new version").click()
    expect(tab.status).to_have_text("Saved: small, version 2.")
    expect(tab.page.locator(".rd-names [data-current] a")).to_have_text("Tweezers: {{fine}} <b>")
    tab.page.get_by_role("link", name="Use it", exact=True).click()
    board = RefinePage(tab.page, home.url)
    expect(tab.page.get_by_label("Kind of task")).to_have_value("Tweezers: {{fine}} <b>")
    tab.page.locator("#text textarea").fill("A long text.")
    board.choose_model("fake:tiny-chat")
    board.start()
    row = board.row(1)
    expect(row.locator(".rd-base .rd-text")).to_have_text(re.compile("This is text number"))
    asked = [ask.body["messages"] for ask in endpoint.asks if "messages" in ask.body]
    assert {"role": "system", "content": OWN} in [messages[0] for messages in asked]
    changes = board.board.locator(".rd-preset-changes")
    expect(changes).to_be_empty()
    small.write_text(small.read_text(encoding="utf-8").replace("tweezers", "pliers"), encoding="utf-8")
    tab.page.reload()
    changes.get_by_text("The preset has changed since this session began").click()
    expect(changes.locator("del")).to_have_text("tweezers")
    expect(changes.locator("ins")).to_have_text("pliers")


def test_a_mistake_is_marked_at_its_line_and_not_saved(home: Server, watched: Watched, small: Path) -> None:
    tab = PresetsPage(watched.page(), home.url).open()
    tab.change("title:", "titel:")
    expect(tab.page.locator(".rd-problem")).to_contain_text('line 2: there is no key "titel"')
    expect(tab.page.locator(".rd-gutter b")).to_have_text("2")
    tab.button("To line 2").click()
    expect(tab.yaml).to_be_focused()
    assert (
        tab.yaml.evaluate("box => box.value.slice(box.selectionStart, box.selectionEnd)")
        == "titel: A small one"
    )
    tab.button("Save as a new version").click()
    expect(tab.page.locator(".rd-error")).to_contain_text("Nothing was saved.")
    assert small.read_text(encoding="utf-8") == SMALL
    tab.change("titel:", "title:")
    expect(tab.page.locator(".rd-problem")).to_be_hidden()


def test_unsaved_words_outlive_a_reload_and_are_offered(home: Server, watched: Watched, small: Path) -> None:
    tab = PresetsPage(watched.page(), home.url).open()
    tab.change("You edit.", OWN)
    tab.open()
    expect(tab.yaml).to_have_value(SMALL)
    tab.button("Bring them back").click()
    expect(tab.turn("System")).to_have_text(OWN)
    tab.button("Drop my changes").click()
    expect(tab.turn("System")).to_have_text("You edit.")
    tab.button("Undo").click()
    expect(tab.turn("System")).to_have_text(OWN)
    tab.button("Drop my changes").click()
    tab.open()
    expect(tab.offer).to_be_empty()


def test_of_two_tabs_the_second_does_not_save_over_the_first(
    home: Server, watched: Watched, small: Path
) -> None:
    first = PresetsPage(watched.page(), home.url).open()
    second = PresetsPage(watched.page(), home.url).open()
    first.change("You edit.", OWN)
    first.button("Save as a new version").click()
    expect(first.status).to_have_text("Saved: small, version 2.")
    second.change("You edit.", "You cut.")
    second.button("Save as a new version").click()
    conflict = second.page.locator(".rd-conflict")
    expect(conflict).to_contain_text("version 2 is in use now. Nothing was saved.")
    conflict.get_by_role("button", name="What differs").click()
    expect(second.page.locator(".rd-compared ins")).to_have_text("cut")
    conflict.get_by_role("button", name="Save over it").click()
    expect(second.status).to_have_text("Saved: small, version 3.")
    second.page.locator(".rd-versions summary").click()
    second.button("Go back to this: version 2").click()
    expect(second.status).to_have_text("Saved: small, version 4.")
    expect(second.turn("System")).to_have_text(OWN)


def test_presets_are_brought_in_and_taken_out(
    home: Server, watched: Watched, small: Path, tmp_path: Path
) -> None:
    tab = PresetsPage(watched.page(), home.url).open()
    tab.button("Import a preset").click()
    bring = tab.page.locator(".rd-bring")
    (tmp_path / "bad.yaml").write_bytes(SMALL.replace("A small one", "caf\xe9").encode("latin-1"))
    bring.get_by_label("A YAML file").set_input_files(tmp_path / "bad.yaml")
    expect(bring.get_by_role("alert")).to_have_text(re.compile("line 2: this is not UTF-8"))
    bring.get_by_label("or its text").fill(SMALL.replace("A small one", HOSTILE.replace("\\", "")))
    bring.get_by_role("button", name="Import the text").click()
    expect(bring).to_contain_text("There is already a preset small. Nothing was imported yet.")
    bring.get_by_role("button", name="Give it another name").click()
    tab.page.get_by_label(re.compile("Name of the new preset")).fill("other")
    tab.button("Go on").click()
    expect(tab.page.locator(".rd-about")).to_have_text("new, not saved yet")
    tab.button("Save as a new version").click()
    expect(tab.status).to_have_text("Saved: other, version 1.")
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name="Export", exact=True).click()
    saved = download.value.path().read_text(encoding="utf-8")
    assert download.value.suggested_filename == "other.yaml" and saved.startswith("name: other\n")
    expect(tab.page).to_have_title("Redraft: presets")


def test_it_works_by_keyboard_alone(home: Server, watched: Watched, small: Path) -> None:
    tab = PresetsPage(watched.page(), home.url).open()
    keys = tab.page.keyboard
    tab.page.get_by_role("link", name="A small one").focus()
    for _ in range(200):
        keys.press("Tab")
        if tab.yaml.evaluate("box => box === document.activeElement"):
            break
    keys.press("Control+Home")
    keys.type("# mine\n")
    expect(tab.button("Save as a new version")).to_be_enabled()
    for _ in range(200):
        keys.press("Shift+Tab")
        if tab.button("Save as a new version").evaluate("button => button === document.activeElement"):
            break
    keys.press("Enter")
    expect(tab.status).to_have_text("Saved: small, version 2.")
    assert small.read_text(encoding="utf-8") == "# mine\n" + SMALL


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1440])
def test_nothing_overflows_and_axe_finds_no_serious_violation(
    home: Server, watched: Watched, small: Path, width: int, theme: str
) -> None:
    long = (BUILT_IN / "rewrite.yaml").read_text(encoding="utf-8").replace("Is it easy", "W" * 200)
    small.write_text(long.replace("name: rewrite", "name: small", 1), encoding="utf-8")
    page = watched.page()
    page.set_viewport_size({"width": width, "height": 800})
    tab = PresetsPage(page, home.url).open(theme=theme)
    assert overflow(page) <= 0
    violations(page)
    tab.page.locator(".rd-versions summary").click()
    tab.change("rounds: 3", "rounds: " + "W" * 200)
    expect(tab.page.locator(".rd-problem")).to_contain_text("rounds")
    tab.button("Drop my changes").click()
    tab.button("Undo").click()
    assert overflow(page) <= 0
    violations(page)
    tab.button("Import a preset").click()
    assert overflow(page) <= 0
    violations(page)
