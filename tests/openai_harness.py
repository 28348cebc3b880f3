"""Asks the OpenAI-compatible backend at a fault server, in no time, and keeps what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.domain import Message, Sampling
from core.models.openai_compatible import OpenAICompatible
from core.models.protocol import Delta, Happening, ModelError, Reply
from tests.fault_server import Answering, FaultServer, Play

HELLO = [Message("user", "Say hello")]


@dataclass
class Run:
    """What one call brought: the reply or the error, what was heard, what was waited, what was asked."""

    reply: Reply | None = None
    error: ModelError | None = None
    heard: list[Happening] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def good(self) -> Reply:
        assert self.reply is not None, self.error
        return self.reply

    @property
    def text(self) -> str:
        return self.good.completions[0].text

    @property
    def failure(self) -> ModelError:
        assert self.error is not None
        return self.error

    @property
    def streamed(self) -> str:
        return "".join(h.text for h in self.heard if isinstance(h, Delta))


def ask(
    plays: Sequence[Play] | Answering,
    *,
    n: int = 1,
    messages: Sequence[Message] = HELLO,
    sampling: Sampling | None = None,
    times: int = 1,
    **options: Any,
) -> Run:
    """Asks a model at a fault server once (or more often, for the last answer)."""
    run = Run()

    async def sleep(seconds: float) -> None:
        run.waits.append(seconds)

    with FaultServer(plays) as server:
        model = OpenAICompatible("x", model="m", sleep=sleep, **{"base_url": server.url, **options})
        for _ in range(times):
            try:
                run.reply = asyncio.run(
                    model.complete(messages, n=n, sampling=sampling or Sampling(), listen=run.heard.append)
                )
            except ModelError as error:
                run.error = error
        run.bodies = server.bodies
    return run
