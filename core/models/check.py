"""Finds out whether a model can be used: reaches it, asks what it can do, scores one line.

Knows models as the protocol has them, and of endpoints that they can be asked whether they score.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from http.client import HTTPException
from typing import Any, Literal, Protocol, runtime_checkable

from core.domain import Message, Sampling, Token
from core.models.protocol import Capabilities, Listener, Model, ModelError, Reply, unheard
from core.scoring.logprob import summary

PROMPT = (Message("user", "Reply with one short friendly sentence."),)
SAMPLING = Sampling(temperature=0.0, max_tokens=24, seed=1)
Condition = Literal["given the prompt alone", "as it was written", ""]


@runtime_checkable
class MayScore(Protocol):
    """What only asking tells: whether given text is scored. Asking raises ModelError."""

    async def can_score(self) -> bool:
        """Whether it scores given text."""
        ...


@dataclass(frozen=True)
class Report:
    """What a check found; `tokens` are those of the reply, scored under `condition` ("": not scored)."""

    model: str
    reached_as: str
    capabilities: Capabilities
    reply: str
    seconds: float
    notes: tuple[str, ...]
    tokens: tuple[Token, ...]
    condition: Condition
    mean_logprob: float | None

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values; a token is [text, logprob]."""
        tokens = [[token.text, token.logprob] for token in self.tokens]
        return {**asdict(self), "tokens": tokens, "notes": list(self.notes)}


async def check_model(model: Model, *, first: Model | None = None, listen: Listener = unheard) -> Report:
    """Reach the model, say what it can do, and score one line. Raises ModelError.

    `first` is the same model without patience: it is asked before, so that a wrong address is said at
    once and not after many tries.
    """
    if first is not None:
        await first.complete(PROMPT, sampling=SAMPLING, listen=listen)
    reply = await model.complete(PROMPT, sampling=SAMPLING, listen=listen)
    text = reply.completions[0].text
    unknown = await _ask_about_scoring(model)
    capabilities = await model.capabilities()
    scored, unscored = await _score(model, text) if capabilities.scoring else ((), "")
    notes = (*reply.notes, *filter(None, (unknown, unscored)))
    return _report(model, reply, capabilities, scored, notes)


async def _ask_about_scoring(model: Model) -> str:
    """Let an endpoint find out whether it scores; why that could not be found out, else ""."""
    try:
        if isinstance(model, MayScore):
            await model.can_score()
    except ModelError as error:
        return f"Whether it scores given text could not be found out. {error}"
    return ""


async def _score(model: Model, text: str) -> tuple[tuple[Token, ...], str]:
    """The text's tokens with their scores, or none and why."""
    try:
        return (await model.score(PROMPT, [text]))[0], ""
    except ModelError as error:
        return (), f"The line could not be scored. {error}"


def _report(
    model: Model,
    reply: Reply,
    capabilities: Capabilities,
    scored: tuple[Token, ...],
    notes: tuple[str, ...],
) -> Report:
    written = reply.completions[0]
    condition: Condition = (
        "given the prompt alone" if scored else "as it was written" if written.tokens else ""
    )
    return Report(
        model.name,
        reply.model,
        capabilities,
        written.text,
        round(reply.seconds, 3),
        notes,
        scored or written.tokens,
        condition,
        summary(scored).mean if scored else None,
    )


def hub_trouble() -> str:
    """Why the hub that local models come from can't be reached, "" if it can. Blocks for some seconds."""
    from core.models import hub

    try:
        hub.check_reachable()
    except (OSError, ValueError, HTTPException) as error:  # ValueError: HF_ENDPOINT is no address
        return str(getattr(error, "reason", error))
    return ""
