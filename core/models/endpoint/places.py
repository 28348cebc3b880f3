"""How many requests an endpoint is sent at one time; the others wait their turn. Knows no HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.config import SLOTS
from core.models.protocol import Listener, Notice, unheard


class Places:
    """An endpoint's places, shared by all its models; who waits comes in the order of asking.

    They are counted in each event loop by itself: a program has one that matters.
    """

    def __init__(self, name: str, slots: int = SLOTS) -> None:
        self.name, self.slots = name, slots
        self._gates: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(self, listen: Listener = unheard) -> AsyncIterator[None]:
        """A place for one request; the listener is told where there is none free at once."""
        gate = self._gate()
        if gate.locked():
            listen(Notice(f"waiting for a free place at {self.name}"))
        async with gate:
            yield

    def _gate(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if loop not in self._gates:
            self._gates = {known: gate for known, gate in self._gates.items() if not known.is_closed()}
            self._gates[loop] = asyncio.Semaphore(self.slots)
        return self._gates[loop]
