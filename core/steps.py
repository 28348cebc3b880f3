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
    """Write n texts after `messages`, in the part of `role`. `notes` say what the prompt left out.

    In a Fan `part` tells it from the others: it is the number of the candidate that it is for.
    """

    role: Role
    round: int
    messages: tuple[Message, ...]
    sampling: Sampling
    n: int = 1
    notes: tuple[str, ...] = ()
    part: int = 0
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True)
class Fan:
    """Several asks side by side. Each is recorded by itself, as a step of its own, when it completes."""

    asks: tuple[Ask, ...]


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
class Group:
    """Which of the texts give the same answer?"""

    round: int
    task: Task
    texts: tuple[str, ...]
    kind: Literal["group"] = "group"


@dataclass(frozen=True)
class CritiqueGate:
    """Which points of the critique shall the revision follow?"""

    round: int
    draft: Draft
    critique: Critique
    kind: Literal["critique gate"] = "critique gate"


@dataclass(frozen=True)
class RevisionGate:
    """Shall the revision take the place of the current draft? `verdict` is the policy's view.

    `audit` is what the critic says of each agreed point: met, not met, or None (not said).
    """

    round: int
    current: Draft
    proposed: Draft
    verdict: Verdict
    audit: tuple[bool | None, ...] = ()
    kind: Literal["revision gate"] = "revision gate"


@dataclass(frozen=True)
class PickGate:
    """Which `keep` of the candidates go on?

    `advised` are those that the policy would choose, and `reason` is why; where it is not `sure`, nothing
    told them from the others. With `synthesise` it would have one text written from those advised.
    """

    round: int
    candidates: tuple[Draft, ...]
    advised: tuple[int, ...]
    reason: str
    keep: int = 1
    sure: bool = True
    synthesise: bool = False
    kind: Literal["pick gate"] = "pick gate"


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
class Grouped:
    """The answer to a Group: what each text answers ("" where nothing was found), and which agree.

    `classes` hold the numbers of the texts, each number at most once, in the order of their first; a text
    without an answer is in none.
    """

    answers: tuple[str, ...]
    classes: tuple[tuple[int, ...], ...]
    kind: Literal["classes"] = "classes"


@dataclass(frozen=True)
class Ruled:
    """The answer to a gate."""

    decision: Decision
    kind: Literal["decision"] = "decision"


Gate = CritiqueGate | RevisionGate | PickGate
Request = Ask | Measure | Group | CritiqueGate | RevisionGate | PickGate
Answer = Replied | Measured | Grouped | Ruled


def costs_of(answer: Answer) -> tuple[Cost, ...]:
    """What the calls to models behind an answer took."""
    if isinstance(answer, Replied):
        return (Cost(answer.reply.usage, answer.reply.seconds, answer.money),)
    return answer.costs if isinstance(answer, Measured) else ()


def stopped_by(answer: Answer) -> str:
    """The person who cut the answer short, or ""."""
    return answer.stopped_by if isinstance(answer, Replied | Measured) else ""


def same_question(one: Request, other: Request) -> bool:
    """Whether two requests ask the same, however their remarks are worded.

    Verdicts, flags and parsed points are derived from what was answered before: sessions recorded
    before such words were changed still replay.
    """
    return _question(one) == _question(other)


def _question(request: Request) -> tuple[object, ...]:
    if isinstance(request, Ask):
        return ("ask", request.role, request.round, request.messages, request.n, request.part)
    if isinstance(request, Measure):
        return ("measure", request.scorers, request.round, request.prompt, request.texts)
    if isinstance(request, Group):
        return ("group", request.round, request.texts)
    if isinstance(request, CritiqueGate):
        return ("critique gate", request.round, request.draft.text, request.critique.raw)
    if isinstance(request, PickGate):
        return ("pick gate", request.round, request.keep, tuple(d.text for d in request.candidates))
    return ("revision gate", request.round, request.current.text, request.proposed.text)


@dataclass(frozen=True)
class Step:
    """One request with its answer: the unit in which a session is recorded."""

    request: Request
    answer: Answer
