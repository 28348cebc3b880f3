"""What a model is to the rest of Redraft. Knows no backend.

Source of the shape: every backend can complete; some can also score a given text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain import Completion, Message, Sampling, Token, Usage


@dataclass(frozen=True)
class Capabilities:
    """What a backend can do; None where only a call will tell. `context_tokens` is per request."""

    logprobs: bool | None
    top_logprobs: bool | None
    scoring: bool
    seed: bool | None
    n: bool | None
    streaming: bool
    context_tokens: int | None = None


@dataclass(frozen=True)
class Reply:
    """What came back from one completion request; `model` is the name the backend gave itself.

    `notes` are things a person should know: adaptations made, warnings, retries.
    """

    completions: tuple[Completion, ...]
    usage: Usage
    seconds: float
    model: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Delta:
    """New text of candidate `index` while it streams; its tokens where the backend gives them."""

    index: int
    text: str
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True)
class Notice:
    """Something to show while waiting ("retrying in 8 s, 2 of 5")."""

    text: str


@dataclass(frozen=True)
class Restart:
    """What streamed so far of this request, candidate `index`, is void: it begins again."""

    index: int = 0


Happening = Delta | Notice | Restart
Listener = Callable[[Happening], None]


class ModelError(Exception):
    """A model call that failed; the message says what to do, `retryable` whether again may help."""

    def __init__(self, message: str, *, retryable: bool = False, partial: str = "") -> None:
        super().__init__(message)
        self.retryable = retryable
        self.partial = partial


def unheard(_: Happening) -> None:
    """A listener that does not listen."""


class Model(Protocol):
    """A model that writes and, where `capabilities.scoring`, tells how likely a text is."""

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        ...

    async def capabilities(self) -> Capabilities:
        """What this model can do, loading or reaching it where need be. Raises ModelError."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """Write n texts after `messages`. Raises ModelError. Cancelling the task ends the call."""
        ...

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """The tokens of each text with their natural logprob given `messages` alone.

        The texts of the tokens join to exactly the text; an empty text gives (). Raises ModelError,
        also where the backend cannot score given text.
        """
        ...
