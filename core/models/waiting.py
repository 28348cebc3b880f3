"""Calls that wait for the torch thread, and which of them may be answered as one batch. Knows no torch.

A call is joined to others of the same key (model, prompt, sampling but for the seed) when the first of
them comes to its turn. Its reply is told to it as soon as it is complete, whatever the others still do.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from core.models.protocol import Happening, Listener, ModelError, Reply
from core.models.torch_worker import worker

MOST_ROWS = 32
"""Texts written in one batch, unless one call asks for more: each has a memory of its own."""


@dataclass(eq=False)
class Call:
    """One request as the worker sees it: whom to tell, and whether anyone still wants it."""

    key: Hashable
    n: int
    seed: int | None
    listen: Listener
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    over: threading.Event = field(default_factory=threading.Event)
    reply: Reply | None = None

    def __post_init__(self) -> None:
        self._woken = self.loop.create_future()

    def tell(self, happening: Happening) -> None:
        """Let the listener hear it on the event loop, unless the call is over by then."""
        self._soon(lambda: None if self.over.is_set() else self.listen(happening))

    def finish(self, reply: Reply) -> None:
        """The reply is complete: from the worker."""
        self.reply = reply
        self._soon(lambda: None if self._woken.done() else self._woken.set_result(None))

    def _soon(self, act: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed while the last token was computed
            self.loop.call_soon_threadsafe(act)

    async def served(self, serve: Callable[[Call], None]) -> Reply:
        """The reply, by its own turn in the worker or by that of another. Raises what `serve` raises."""
        turn = self.loop.run_in_executor(worker, serve, self)
        try:
            await asyncio.wait({turn, self._woken}, return_when=asyncio.FIRST_COMPLETED)
            if self.reply is None:
                turn.result()
            if self.reply is None:
                raise ModelError("the call was left without a reply; try again", retryable=True)
            return self.reply
        finally:
            turn.cancel()


class Waiting:
    """The calls that have not been begun."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._lock = threading.Lock()

    async def answer(self, call: Call, serve: Callable[[Call], None]) -> Reply:
        """The call's reply; `serve` is run in the worker and answers the call with those it takes along."""
        with self._lock:
            self._calls.append(call)
        try:
            await asyncio.sleep(
                0
            )  # calls that are begun side by side all stand here before the first is taken
            return await call.served(serve)
        finally:
            call.over.set()
            self._drop([call])

    def take(self, leader: Call) -> list[Call]:
        """The leader and those that can be answered with it, in the order they came; they wait no longer."""
        with self._lock:
            alike = [call for call in self._calls if call.key == leader.key and not call.over.is_set()]
        taken, rows = [leader], leader.n
        for call in alike:
            if call is not leader and rows + call.n <= MOST_ROWS:
                taken.append(call)
                rows += call.n
        self._drop(taken)
        return taken

    def _drop(self, calls: list[Call]) -> None:
        with self._lock:
            self._calls = [call for call in self._calls if call not in calls]
