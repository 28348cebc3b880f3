"""The prompt of a session as one growing chat, so that its beginning stays the same from call to call.

A server that caches prompts by prefix then reads only what is new. Knows no preset's wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import HistoryRule, Message, Speaker

REPLY_RESERVE = 512
"""Tokens left for the reply where no limit was set."""


@dataclass(frozen=True)
class Exchange:
    """One finished round: the text it began with, and the turns that followed ("" where none).

    `value` is the score of the text it began with, where it is known.
    """

    base: str
    critique_request: str
    critique: str
    revise_request: str
    revision: str
    value: float | None = None

    def turns(self) -> tuple[Message, ...]:
        """The round as chat turns."""
        critique = exchange_of(self.critique_request, self.critique)
        return critique + exchange_of(self.revise_request, self.revision)


def chat(*turns: tuple[Speaker, str]) -> tuple[Message, ...]:
    """Messages from (speaker, text) pairs, leaving empty texts out."""
    return tuple(Message(speaker, text) for speaker, text in turns if text)


def exchange_of(request: str, answer: str) -> tuple[Message, ...]:
    """A request with its answer, or nothing: chats of some models must alternate."""
    return chat(("user", request), ("assistant", answer)) if request and answer.strip() else ()


def estimate_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a prompt has: 4 ASCII characters or 1 other character a token."""
    ascii_chars = sum(1 for m in messages for c in m.content if c.isascii())
    other = sum(len(m.content) for m in messages) - ascii_chars
    return ascii_chars // 4 + other + 8 * len(messages)


@dataclass(frozen=True)
class Prompt:
    """A prompt with what had to be left out of it."""

    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()


def assemble(
    head: Sequence[Message],
    exchanges: Sequence[Exchange],
    current: str,
    turns: Sequence[Message],
    *,
    history: HistoryRule,
    limit: int | None,
) -> Prompt:
    """Head, as much history as the rule and the context window (`limit`, tokens) allow, then `turns`.

    The oldest rounds are left out first, or where the rule is by score those of the lowest. Where
    nothing of the history is left, `current` stands for it; what is then still too long is the
    endpoint's to refuse.
    """
    kept = _ruled(exchanges, history)
    wanted = len(kept)
    join = _ranked if history == "by_score" else _joined
    while kept and limit is not None and estimate_tokens(join(head, kept, current, turns)) > limit:
        kept.pop(0)
    dropped = wanted - len(kept)
    which = "worst" if history == "by_score" else "first"
    note = f"The {which} {dropped} rounds were left out of the prompt to fit the context of {limit} tokens."
    return Prompt(join(head, kept, current, turns), (note,) if dropped else ())


def _ruled(exchanges: Sequence[Exchange], history: HistoryRule) -> list[Exchange]:
    """The rounds that the rule shows, in its order; unknown scores come before the lowest."""
    if history == "by_score":
        return sorted(exchanges, key=lambda e: float("-inf") if e.value is None else e.value)
    return list(exchanges) if history == "full" else []


def _ranked(
    head: Sequence[Message], kept: Sequence[Exchange], current: str, turns: Sequence[Message]
) -> tuple[Message, ...]:
    """Each earlier text with its critique, whatever came of it; then the current one."""
    past = (
        chat(("assistant", e.base))
        + exchange_of(e.critique_request, e.critique)
        + chat(("user", e.revise_request))
        for e in kept
    )
    return (*head, *(turn for each in past for turn in each), Message("assistant", current), *turns)


def _joined(
    head: Sequence[Message], kept: Sequence[Exchange], current: str, turns: Sequence[Message]
) -> tuple[Message, ...]:
    base = kept[0].base if kept else current
    past = tuple(turn for exchange in kept for turn in exchange.turns())
    return (*head, Message("assistant", base), *past, *turns)
