"""A model that says what it was told to say: for tests, demonstrations and replays.

Knows no backend and no clock besides the pace it is given.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.domain import Completion, Message, Sampling, Token, Usage
from core.models.protocol import Capabilities, Delta, Listener, ModelError, Reply, unheard

Line = str | Completion | Reply | ModelError
Script = Iterable[Line] | Callable[[Sequence[Message]], Line]


class ScriptRanOut(RuntimeError):
    """More was asked of a scripted model than its script holds."""


@dataclass(frozen=True)
class Asked:
    """One request that a scripted model was given."""

    messages: tuple[Message, ...]
    n: int
    sampling: Sampling


class ScriptedModel:
    """Answers from a queue, a line a candidate (a Reply answers a whole request), or from a function.

    `pace` is seconds a word; `scores` gives the mean logprob of each text that `score` knows.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        pace: float = 0.0,
        scores: Mapping[str, float] | None = None,
    ) -> None:
        self._name = name
        self._function = script if callable(script) else None
        self._queue: list[Line] = [] if callable(script) else list(script)
        self._pace = pace
        self._scores = scores
        self.asks: list[Asked] = []

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    @property
    def left(self) -> int:
        """How many lines have not been said yet."""
        return len(self._queue)

    async def capabilities(self) -> Capabilities:
        """Everything but logprobs, and scoring where scores were given."""
        return Capabilities(
            logprobs=False,
            top_logprobs=False,
            scoring=self._scores is not None,
            seed=True,
            n=True,
            streaming=True,
        )

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """The next n lines. Raises the ModelError that stands there, or ScriptRanOut."""
        self.asks.append(Asked(tuple(messages), n, sampling))
        first = self._next(messages)
        lines = (
            [first] if isinstance(first, Reply) else [first, *(self._next(messages) for _ in range(n - 1))]
        )
        reply = self._reply(lines)
        for index, completion in enumerate(reply.completions):
            await self._say(index, completion, listen)
        return reply

    def _next(self, messages: Sequence[Message]) -> Line:
        if self._function is None and not self._queue:
            raise ScriptRanOut(f"{self._name} was asked {len(self.asks)} times, more than its script holds")
        line = self._function(messages) if self._function else self._queue.pop(0)
        if isinstance(line, ModelError):
            raise line
        return line

    def _reply(self, lines: Sequence[Line]) -> Reply:
        if isinstance(lines[0], Reply):
            return lines[0]
        return Reply(tuple(self._completion(line) for line in lines), Usage(), 0.0, self._name)

    def _completion(self, line: Line) -> Completion:
        if isinstance(line, Reply | ModelError):
            raise ScriptRanOut(f"{self._name}'s script has a whole Reply where one candidate was due")
        return line if isinstance(line, Completion) else Completion(line)

    async def _say(self, index: int, completion: Completion, listen: Listener) -> None:
        for word in _words(completion.text):
            listen(Delta(index, word))
            # Also without a pace others get their turn, as they do while a real model streams.
            await asyncio.sleep(self._pace)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """A token a word, each with the mean logprob scripted for its text. Raises ModelError."""
        if self._scores is None:
            raise ModelError(f"{self._name} cannot score given text.")
        return [self._tokens(text, self._scores) for text in texts]

    def _tokens(self, text: str, scores: Mapping[str, float]) -> tuple[Token, ...]:
        if text and text not in scores:
            raise ModelError(f"{self._name} has no score for this text.")
        return tuple(Token(word, scores[text]) for word in _words(text))


def _words(text: str) -> list[str]:
    """The text cut before each word, so that the pieces join to it."""
    return re.findall(r"\s*\S+|\s+$", text)
