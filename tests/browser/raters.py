"""What raters and owners of studies do in a browser, in their words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Watched

PHONE = {"width": 380, "height": 760}
DESK = {"width": 1440, "height": 900}


@contextmanager
def visitor(chromium: Browser, size: dict[str, int], scheme: str = "light") -> Iterator[Watched]:
    """A browser of its own, whose pages may neither complain nor ask another host."""
    context = chromium.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(20_000)
    found = Watched(context)
    yield found
    context.close()
    assert found.complaints == []


class RaterPage:
    """A rater's tab."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, link: str) -> RaterPage:
        self.page.goto(link)
        expect(self.page.locator("body")).not_to_have_attribute("data-state", "loading")
        return self

    @property
    def state(self) -> str:
        return self.page.locator("body").get_attribute("data-state") or ""

    @property
    def title(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    @property
    def texts(self) -> tuple[str, str]:
        left, right = (self.page.locator(f"#{side} .words").text_content() for side in ("left", "right"))
        return left or "", right or ""

    def side_of(self, word: str) -> str:
        """The side on which the text with this word stands."""
        left, right = self.texts
        assert (word in left) != (word in right)
        return "left" if word in left else "right"

    def choose(self, label: str) -> None:
        self.page.locator("#choices").get_by_role("radio", name=label, exact=True).check()

    def send(self) -> None:
        """Press Next, and wait for what comes."""
        self.going_on(lambda: self.page.locator("form [type=submit]").click())

    def going_on(self, act: object) -> None:
        assert callable(act)
        title = self.title.text_content() or ""
        act()
        expect(self.title).not_to_have_text(title)

    def vote(self, word: str) -> None:
        """Vote for the text with this word."""
        self.choose(self.side_of(word).capitalize())
        self.send()

    def vote_to_the_end(self, word: str) -> None:
        while self.state == "pair":
            self.vote(word)
