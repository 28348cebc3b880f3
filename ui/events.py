"""The event stream of a session: the parts of its view that changed, and the text that streams.

State, not a log: whoever joins is sent where things stand and then what is added.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from core.runs import Live, Passage, Runs
from core.sessions import UnknownSession
from core.workbench import Workbench
from ui.sharing import shared
from ui.views import session_view

BATCH_SECONDS = 0.08
"""Ten to fifteen updates a second read as a stream; more only costs."""
PING_SECONDS = 15.0

Parts = Mapping[str, str]


class Views:
    """Streams of session views; one view is made per change, however many pages watch."""

    def __init__(self, bench: Workbench, runs: Runs) -> None:
        self._bench, self._runs = bench, runs
        self._made: dict[str, tuple[int, Parts]] = {}

    async def stream(self, session_id: str) -> AsyncIterator[str]:
        """Server-sent events: `view` (changed parts), `notice`, `gone`; unnamed [passage, from, text]."""
        try:
            await asyncio.to_thread(self._bench.store.mode, session_id)
        except UnknownSession as error:
            yield _event("gone", {"text": str(error)})
            return
        live = self._runs.live(session_id)
        live.watchers += 1
        try:
            async for event in self._follow(session_id, live):
                yield event
        finally:
            self._runs.left(session_id)
            if not live.watchers:
                self._made.pop(session_id, None)

    async def _follow(self, session_id: str, live: Live) -> AsyncIterator[str]:
        seen = _Seen()
        while True:
            change = live.next_change()
            if seen.version != live.version:
                seen.version = live.version
                yield seen.changed(await self._view(session_id, live))
            for event in seen.news(live):
                yield event
            try:
                await asyncio.wait_for(change.wait(), PING_SECONDS)
                await _gather(seen, live)
            except TimeoutError:
                yield ": still here\n\n"

    async def _view(self, session_id: str, live: Live) -> Parts:
        version, made = live.version, self._made.get(session_id)
        if made is not None and made[0] == version:
            return made[1]
        parts = await asyncio.to_thread(self._make, session_id, live)
        self._made[session_id] = (version, parts)
        return parts

    def _make(self, session_id: str, live: Live) -> Parts:
        session = self._bench.store.load(session_id)
        view = shared(session_view(self._bench, session, live))
        return {name: _json(part) for name, part in view.items()}


class _Seen:
    """What one page has been sent; `sent` is of each streaming text, by part, its number and how much."""

    def __init__(self) -> None:
        self.version, self.notice = -1, ""
        self.sent: dict[int, tuple[int, int]] = {}
        self.parts: Parts = {}

    def changed(self, parts: Parts) -> str:
        """The event with the parts that are new to this page."""
        new = [f"{_json(name)}:{part}" for name, part in parts.items() if self.parts.get(name) != part]
        self.parts = parts
        return f"event: view\ndata: {{{','.join(new)}}}\n\n"

    def news(self, live: Live) -> list[str]:
        """Events for the texts and the notice that are new since the last call."""
        news = [
            self._more(part, passage) for part, passage in live.texts.items() if self._owed(part, passage)
        ]
        self.sent = {part: sent for part, sent in self.sent.items() if part in live.texts}
        if live.notice != self.notice:
            self.notice = live.notice
            news.append(_event("notice", {"text": live.notice}))
        return news

    def _so_far(self, part: int, passage: Passage) -> int:
        number, sent = self.sent.get(part, (-1, 0))
        return sent if number == passage.number else 0

    def _owed(self, part: int, passage: Passage) -> bool:
        return len(passage.text) > self._so_far(part, passage)

    def _more(self, part: int, passage: Passage) -> str:
        """By far the most events: they go without a name, which would double what a short one costs."""
        start = self._so_far(part, passage)
        self.sent[part] = (passage.number, len(passage.text))
        told = [passage.number, start, passage.text[start:], *([part] if part else [])]
        return f"data: {_json(told)}\n\n"

    def awaits_first_words(self, live: Live) -> bool:
        """Whether no text that streams now has been begun on this page."""
        return not any(self._so_far(part, passage) for part, passage in live.texts.items())


async def _gather(seen: _Seen, live: Live) -> None:
    """Let changes come together for a moment; the first words of a text are not kept waiting."""
    if not seen.awaits_first_words(live):
        await asyncio.sleep(BATCH_SECONDS)
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(BATCH_SECONDS):
            while not any(passage.text for passage in live.texts.values()):
                await live.next_change().wait()


def _event(kind: str, data: object) -> str:
    return f"event: {kind}\ndata: {_json(data)}\n\n"


def _json(data: object) -> str:
    """ASCII only, on one line: a stream is read line by line, and U+2028 ends one for some readers."""
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
