"""What becomes of the chunks: deltas for the listener while they come, completions at the end.

Knows thinking and tokens; knows no HTTP and no retry rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Completion, Token, Usage
from core.models.answers import ThinkingFilter, split_thinking
from core.models.endpoint.chunks import Candidate, Gathering, Piece
from core.models.endpoint.tokens import spelled
from core.models.protocol import Delta, Happening, Listener, Notice, Reply, Restart

UNSPELLED = "The endpoint's tokens do not spell the shown answer, so there are no token scores."
UNSENT = "The endpoint sent no token scores."
CERTAIN = "Every token has probability 1: the endpoint reports probabilities after sampling, not comparable."


class Stage:
    """What the listener has been shown of one request, so that parts of it can be taken back."""

    def __init__(self, listen: Listener) -> None:
        self._listen = listen
        self._filters: dict[int, ThinkingFilter] = {}
        self._shown: dict[int, list[Delta]] = {}
        self._told_thinking = False
        self.retries: list[str] = []

    def say(self, piece: Piece, indices: range) -> None:
        """Shows a piece of the candidates `indices`, without its thinking where that is known."""
        if not 0 <= piece.index < len(indices):
            return
        index = indices[piece.index]
        holds = self._filters.setdefault(index, ThinkingFilter())
        text = holds.feed(piece.text)
        self._show(Delta(index, text, spelled(piece.entries, text)))
        if (holds.thinking or piece.thinking) and not self._told_thinking:
            self._told_thinking = True
            self._listen(Notice("The model is thinking."))

    def close(self, indices: range) -> None:
        """Shows what was held back of these candidates; they are complete."""
        for index in indices:
            self._show(Delta(index, self._filters.pop(index, ThinkingFilter()).rest()))

    def tell(self, happening: Happening) -> None:
        """Tells what is no text."""
        self._listen(happening)

    def retry(self, notice: str, why: str) -> None:
        """Tells that the request will be made again."""
        self.retries.append(f"Asked again after: {why}.")
        self._listen(Notice(notice))

    def void(self, indices: range) -> None:
        """Takes back what was shown of these candidates; what was shown of others is shown again."""
        seen = any(self._shown.get(index) for index in indices)
        for index in indices:
            self._shown.pop(index, None)
            self._filters.pop(index, None)
        if not seen:
            return
        self._listen(Restart())
        for index in sorted(self._shown):
            self._listen(_one(index, self._shown[index]))

    def _show(self, delta: Delta) -> None:
        if delta.text:
            self._shown.setdefault(delta.index, []).append(delta)
            self._listen(delta)


def _one(index: int, deltas: Sequence[Delta]) -> Delta:
    tokens = tuple(token for delta in deltas for token in delta.tokens)
    complete = all(delta.tokens for delta in deltas)
    return Delta(index, "".join(delta.text for delta in deltas), tokens if complete else ())


@dataclass(frozen=True)
class Part:
    """What one successful request brought."""

    completions: tuple[Completion, ...]
    usage: Usage
    model: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def finished_part(gathering: Gathering, wanted: int, *, tokens_asked: bool, seconds: float) -> Part:
    """The completions of at most `wanted` candidates, with what is to be known of them."""
    notes: list[str] = []
    chosen = [c for index, c in sorted(gathering.candidates.items()) if 0 <= index < wanted]
    completions = tuple(_completion(candidate) for candidate in chosen)
    for completion, candidate in zip(completions, chosen, strict=True):
        notes += [_about(completion, candidate)] if tokens_asked else []
    return Part(completions, gathering.usage, gathering.model, tuple(filter(None, notes)), seconds)


def _completion(candidate: Candidate) -> Completion:
    inline, answer = split_thinking(candidate.content)
    apart = candidate.thinking.strip()
    answer = answer.lstrip() if apart else answer
    thinking = "\n\n".join(filter(None, [apart, inline]))
    return Completion(answer, candidate.finish or "unknown", spelled(candidate.entries, answer), thinking)


def _about(completion: Completion, candidate: Candidate) -> str:
    if completion.text and not completion.tokens:
        return UNSPELLED if candidate.entries else UNSENT
    certain = len(completion.tokens) >= 3 and all(token.logprob == 0 for token in completion.tokens)
    return CERTAIN if certain else ""


def joined_parts(parts: Sequence[Part], retries: Sequence[str]) -> Reply:
    """One reply of several requests: the first by itself, the others side by side."""
    return Reply(
        completions=tuple(completion for part in parts for completion in part.completions),
        usage=_sum([part.usage for part in parts]),
        seconds=parts[0].seconds + max((part.seconds for part in parts[1:]), default=0.0),
        model=parts[0].model,
        notes=tuple(dict.fromkeys([*retries, *(note for part in parts for note in part.notes)])),
    )


def _sum(usages: Sequence[Usage]) -> Usage:
    return Usage(
        _total([usage.prompt_tokens for usage in usages]),
        _total([usage.completion_tokens for usage in usages]),
        _total([usage.cached_tokens for usage in usages]),
    )


def _total(counts: Sequence[int | None]) -> int | None:
    """A sum that leaves something out would be too small, so it is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def scored(part: Part) -> tuple[bool, bool]:
    """Whether any token of the part has a logprob, and whether any has alternatives."""
    tokens: list[Token] = [token for completion in part.completions for token in completion.tokens]
    return any(t.logprob is not None for t in tokens), any(t.alternatives for t in tokens)
