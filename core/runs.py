"""Sessions that run now. A run belongs to the server: pages watch it, and come and go.

State, not a log: a page that joins is shown where things stand and then what is added, so that
joining late, again or from a second device are the same case. Knows no web. Used from one event
loop; nothing here is safe to call from other threads.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field

from core.engine import HistoryMismatch
from core.models.catalog import UnknownModel
from core.models.protocol import Delta, ModelError, Notice, Restart
from core.preset_schema import PresetError
from core.running import Began, Event, Recorded, Stop
from core.scoring.catalog import UnknownScorer
from core.sessions import StaleStep, StoreBusy
from core.steps import Ask, Request
from core.workbench import Workbench

log = logging.getLogger(__name__)

SAID = (ModelError, StaleStep, StoreBusy, HistoryMismatch, PresetError, UnknownModel, UnknownScorer)
"""What can stop a run and is told in its own words."""
BUG = "Something went wrong inside Redraft; the server's log has the details. Nothing recorded is lost."


@dataclass
class Passage:
    """What has streamed of one text; `number` counts those begun, so that none is taken for another."""

    number: int
    text: str = ""


@dataclass
class Live:
    """What is happening in one session. `version` counts changes of anything but streamed text.

    `doing` is the last request begun, since `began` (seconds of time.monotonic). `texts` holds what has
    streamed of the requests being answered, by their part of a fan (0 where there is no fan).
    """

    version: int = 0
    begun: int = 0
    texts: dict[int, Passage] = field(default_factory=dict)
    notice: str = ""
    problem: str = ""
    began: float = 0.0
    doing: Request | None = None
    stop: Stop | None = None
    task: asyncio.Task[None] | None = None
    again: bool = False
    watchers: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def running(self) -> bool:
        """Whether the server is working on this session."""
        return self.task is not None and not self.task.done()

    def hear(self, event: Event) -> None:
        """Take in what happened and wake those who watch."""
        if isinstance(event, Delta):
            if event.index in self.texts:
                self.texts[event.index].text += event.text
            self.notice = "" if event.text else self.notice
        elif isinstance(event, Restart):
            self._begin_passage(event.index)
        elif isinstance(event, Notice):
            self.notice = event.text
        elif isinstance(event, Began):
            self._begin(event.request)
            self.version += 1
        elif isinstance(event, Recorded):
            self.texts.pop(_part(event.request), None)
            self.version += 1
        self.wake()

    @property
    def passage(self) -> int:
        """The number of the first text that streams."""
        return self.texts[0].number if 0 in self.texts else self.begun

    @property
    def text(self) -> str:
        """The first text that streams, as far as it has come."""
        return self.texts[0].text if 0 in self.texts else ""

    def _begin(self, request: Request) -> None:
        if not self.texts:  # else it joins others of a fan
            self.began = time.monotonic()
        self.doing = request
        self._begin_passage(_part(request))

    def _begin_passage(self, part: int) -> None:
        self.begun += 1
        self.texts[part] = Passage(self.begun)
        self.notice = ""

    def changed(self) -> None:
        """Something besides the streamed text is new."""
        self.version += 1
        self.wake()

    def wake(self) -> None:
        """Wake everyone who waits for the next change."""
        self._changed.set()
        self._changed = asyncio.Event()

    def next_change(self) -> asyncio.Event:
        """What will be set at the next change; take it before looking, so that none is missed."""
        return self._changed


def _part(request: Request) -> int:
    return request.part if isinstance(request, Ask) else 0


class Runs:
    """The live state of every session that was run or watched since the server started."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._live: dict[str, Live] = {}

    def live(self, session_id: str) -> Live:
        """The live state of a session, made where there is none yet."""
        return self._live.setdefault(session_id, Live())

    def running(self) -> frozenset[str]:
        """The sessions that the server is working on."""
        return frozenset(each for each, live in self._live.items() if live.running)

    def refresh(self, session_id: str) -> None:
        """Let those who watch look again, where someone does."""
        if session_id in self._live:
            self._live[session_id].changed()

    def left(self, session_id: str) -> None:
        """One page less watches; what nobody watches and nothing runs in is forgotten."""
        live = self.live(session_id)
        live.watchers -= 1
        self._forget(session_id, live)

    def _forget(self, session_id: str, live: Live) -> None:
        """Forget what nobody watches and nothing runs in, unless there is a problem to be told."""
        idle = live.watchers <= 0 and not live.running and not live.problem
        if idle and self._live.get(session_id) is live:
            del self._live[session_id]

    def start(self, session_id: str) -> None:
        """Run the session until its next open gate; when it runs already, look again at its end."""
        live = self.live(session_id)
        if live.running:
            live.again = True
            return
        live.stop = Stop()
        live.task = asyncio.create_task(self._run(session_id, live, live.stop))
        live.changed()

    def stop(self, session_id: str, by: str) -> bool:
        """Stop the session's run in that person's name; False when none is running."""
        live = self._live.get(session_id)
        if live is None or not live.running or live.stop is None:
            return False
        live.stop.ask(by)
        return True

    async def close(self) -> None:
        """End all runs; each stays resumable at the step it was in."""
        tasks = [live.task for live in self._live.values() if live.task and not live.task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, session_id: str, live: Live, stop: Stop) -> None:
        live.problem = ""
        try:
            await self._until_left_alone(session_id, live, stop)
        except SAID as error:
            live.problem = str(error)
        except Exception:
            log.exception("run of session %s", session_id)
            live.problem = BUG
        finally:
            live.task, live.doing, live.notice = None, None, ""
            live.texts.clear()
            live.changed()
            self._forget(session_id, live)

    async def _until_left_alone(self, session_id: str, live: Live, stop: Stop) -> None:
        """Advance; once more, with a stop that nobody has asked yet, when a decision came meanwhile."""
        while True:
            live.again = False
            await self._bench.advance(session_id, live.hear, stop)
            if not live.again:
                return
            live.stop = stop = Stop()
