"""What a person does on the Refine page, in their words."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect


class RefinePage:
    """The Refine page in a browser tab."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, path: str = "") -> RefinePage:
        self.page.goto(f"{self.url}{path}")
        # Gradio's scripts have taken over when the board's own script has run.
        self.page.wait_for_function("document.querySelector('.rd-board')?.dataset.ready === '1'")
        return self

    def fill(self, text: str, instruction: str = "Make it shorter.", model: str = "fake:tiny-chat") -> None:
        """Fill the form, which is folded away beside an open session."""
        box = self.page.locator("#text textarea")
        if "session=" in self.page.url and not box.is_visible():
            self.press("Show the task")
        box.fill(text)
        self.page.locator("#instruction textarea").fill(instruction)
        self.choose_model(model)

    def choose_model(self, model: str) -> None:
        box = self.page.locator("#model input")
        box.fill(model)
        box.press("Enter")

    def start(self) -> str:
        """Press Start; the session's id once it is open."""
        self.page.locator("#start").click()
        self.page.wait_for_url(re.compile("session="))
        return self.session

    @property
    def session(self) -> str:
        found = re.search(r"session=([0-9a-f]+)", self.page.url)
        assert found, self.page.url
        return found.group(1)

    @property
    def board(self) -> Locator:
        return self.page.locator(".rd-board")

    def button(self, name: str) -> Locator:
        return self.board.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def at_critique(self, number: int = 1) -> Locator:
        """Wait for the critique gate of a round; its row."""
        row = self.row(number)
        expect(row.locator(".rd-edit-points")).to_be_visible()
        self._resting()
        return row

    def at_revision(self, number: int = 1) -> Locator:
        """Wait for the revision gate of a round; its row."""
        row = self.row(number)
        expect(row.get_by_role("button", name="Accept", exact=True)).to_be_visible()
        self._resting()
        return row

    def _resting(self) -> None:
        """Wait until nothing runs: until then there is a Stop for the run besides the gate's."""
        expect(self.board.locator(".rd-stop")).to_be_hidden()

    def at_revision_with(self, button: str) -> None:
        """Wait for a revision gate whose first button reads so."""
        expect(self.button(button)).to_be_visible()

    def row(self, number: int) -> Locator:
        return self.board.locator(".rd-round").nth(number - 1)

    def ended(self) -> None:
        expect(self.board.locator(".rd-outcome h2")).to_be_visible()

    @property
    def message(self) -> Locator:
        return self.board.locator(".rd-message")
