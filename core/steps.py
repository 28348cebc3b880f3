"""What a strategy may ask the world, and the record of the answers.

A strategy yields a Request and is sent its Answer; nothing else passes between it and the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.domain import Cost, Critique, Decision, Draft, Message, Role, Sampling, Score, Task, Verdict
from core.models.protocol import Reply


@dataclass(frozen=True)
class Ask:
    """Write n texts after `messages`, in the part of `role`. `notes` say what the prompt left out."""

    role: Role
    round: int
    messages: tuple[Message, ...]
    sampling: Sampling
    n: int = 1
    notes: tuple[str, ...] = ()
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True)
class Measure:
    """Score each of `texts` with each of `scorers`; `prompt` is the task prompt alone."""

    scorers: tuple[str, ...]
    round: int
    task: Task
    prompt: tuple[Message, ...]
    texts: tuple[str, ...]
    kind: Literal["measure"] = "measure"


@dataclass(frozen=True)
class CritiqueGate:
    """Which points of the critique shall the revision follow?"""

    round: int
    draft: Draft
    critique: Critique
    kind: Literal["critique gate"] = "critique gate"


@dataclass(frozen=True)
class RevisionGate:
    """Shall the revision take the place of the current draft? `verdict` is the policy's view."""

    round: int
    current: Draft
    proposed: Draft
    verdict: Verdict
    kind: Literal["revision gate"] = "revision gate"


@dataclass(frozen=True)
class Replied:
    """The answer to an Ask; `stopped_by` names the person who cut it short, its text is partial then."""

    reply: Reply
    stopped_by: str = ""
    money: float | None = None
    kind: Literal["reply"] = "reply"


@dataclass(frozen=True)
class Measured:
    """The answer to a Measure: the scores of each text, in the order asked, and what asking models took."""

    scores: tuple[tuple[Score, ...], ...]
    stopped_by: str = ""
    costs: tuple[Cost, ...] = ()
    kind: Literal["scores"] = "scores"


@dataclass(frozen=True)
class Ruled:
    """The answer to a gate."""

    decision: Decision
    kind: Literal["decision"] = "decision"


Gate = CritiqueGate | RevisionGate
Request = Ask | Measure | CritiqueGate | RevisionGate
Answer = Replied | Measured | Ruled


def costs_of(answer: Answer) -> tuple[Cost, ...]:
    """What the calls to models behind an answer took."""
    if isinstance(answer, Replied):
        return (Cost(answer.reply.usage, answer.reply.seconds, answer.money),)
    return answer.costs if isinstance(answer, Measured) else ()


def same_question(one: Request, other: Request) -> bool:
    """Whether two requests ask the same, however their remarks are worded.

    Verdicts, flags and parsed points are derived from what was answered before: sessions recorded
    before such words were changed still replay.
    """
    return _question(one) == _question(other)


def _question(request: Request) -> tuple[object, ...]:
    if isinstance(request, Ask):
        return ("ask", request.role, request.round, request.messages, request.n)
    if isinstance(request, Measure):
        return ("measure", request.scorers, request.round, request.prompt, request.texts)
    if isinstance(request, CritiqueGate):
        return ("critique gate", request.round, request.draft.text, request.critique.raw)
    return ("revision gate", request.round, request.current.text, request.proposed.text)


@dataclass(frozen=True)
class Step:
    """One request with its answer: the unit in which a session is recorded."""

    request: Request
    answer: Answer
