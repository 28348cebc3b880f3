"""Takes the README's pictures from the running app: `python -m tests.browser.screenshots`.

The endpoint answers with prepared texts, so that the pictures show the page and not one model's luck.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.conftest import ARGUMENTS, ROOT, Server, configure
from tests.browser.install import find
from tests.browser.pages import RefinePage
from tests.fake_chat import Chat
from tests.fault_server import FaultServer

FOLDER = ROOT / "assets" / "screenshots"
TASK = (
    "Due to the fact that the weather was bad, the decision was made to postpone the picnic to next Sunday."
)
WIDTHS = {"": 1440, "phone-": 380}
TEXTS = (
    "Because the weather was bad, it was decided that the picnic would be postponed to next Sunday.",
    "Because of bad weather, we moved the picnic to next Sunday.",
    "Bad weather moved our picnic to next Sunday.",
)
CRITIQUES = (
    '- [major] "it was decided that" | hides who decided | write "we"\n'
    '- [minor] "would be postponed" | a long word for moving | write "moved"\nVERDICT: revise',
    '- [minor] "Because of bad weather, we" | takes too many words | let the weather act\nVERDICT: revise',
)


RATINGS = ((9, 8, 9, 4), (9, 9, 9, 8), (9, 8, 8, 10))
"""What the judge says of each of the texts."""
RATED = ("meets instruction", "clear", "accurate", "concise")


def rating(asked: str) -> str:
    """The prepared verdict on the text that the judge is asked about."""
    numbers = next(numbers for text, numbers in zip(TEXTS, RATINGS, strict=True) if text in asked)
    lines = [f"{name}: {number} | as it reads" for name, number in zip(RATED, numbers, strict=True)]
    return "\n".join([*lines, f"TOTAL: {sum(numbers)}"])


def answer(messages: Sequence[Mapping[str, str]]) -> str:
    """The prepared text or critique of the round that the prompt has come to."""
    asked = messages[-1]["content"]
    if "This is the text to rate" in asked:
        return rating(asked)
    if "Answer with" in asked or "yes or no" in asked.lower():
        return "Yes"
    told = sum(message["role"] == "assistant" for message in messages[5:])
    return CRITIQUES[min(told // 2, 1)] if "critic" in asked else TEXTS[min((told + 1) // 2, 2)]


def take(browser: Browser, server: Server, session: str, theme: str, kind: str, width: int) -> None:
    """One picture of the session."""
    page = browser.new_page(viewport={"width": width, "height": 900}, device_scale_factor=1)
    tab = RefinePage(page, server.url).open(f"?session={session}&__theme={theme}")
    tab.at_revision(2)
    page.wait_for_timeout(300)  # the fonts and the theme settle
    page.screenshot(path=FOLDER / f"refine-{kind}{theme}.png", full_page=True)
    page.close()


def main() -> None:
    """All pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        FaultServer(Chat(answer=answer)) as endpoint,
        sync_playwright() as playwright,
    ):
        configure(Path(folder), endpoint.url)
        server = Server(Path(folder), {"REDRAFT_USER": "Anna"}).start()
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        try:
            tab = RefinePage(browser.new_page(), server.url).open()
            tab.fill(TASK, "Make it shorter.")
            session = tab.start()
            tab.at_critique(1)
            tab.press("Revise with the ticked points")
            tab.at_revision(1)
            tab.press("Accept")
            tab.at_critique(2)
            tab.press("Revise with the ticked points")
            tab.at_revision(2)
            for theme in ("light", "dark"):
                for kind, width in WIDTHS.items():
                    take(browser, server, session, theme, kind, width)
        finally:
            browser.close()
            server.stop()


if __name__ == "__main__":
    main()
