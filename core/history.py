"""Folds the steps of a session into rounds, for page, command line and export.

Knows no page. Shows what was asked and answered; rules nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from core.domain import Critique, Decision, Draft, Point, Token, Verdict
from core.drafts import GIVEN_CANDIDATES, GIVEN_CRITIQUE, GIVEN_TASK, by_hand, draft_from
from core.engine import Pending, Place
from core.fences import text_of
from core.gates import PUTS_IN_PLACE
from core.models.protocol import Reply
from core.models.tokens import tokens_of_part
from core.pools import Pool
from core.sessions import Session
from core.spending import Spent
from core.steps import (
    Answer,
    Ask,
    CritiqueGate,
    Group,
    Grouped,
    Measure,
    Measured,
    PickGate,
    Replied,
    Request,
    RevisionGate,
    Ruled,
    Step,
)


@dataclass(frozen=True)
class Attempt:
    """One revision of a round: as proposed, as ruled on, and the person's own text if they wrote one.

    `position` is the step whose reply it is, `gate` the step in which it is ruled on. `audit` is what the
    critic says of each agreed point.
    """

    proposed: Draft
    position: int
    verdict: Verdict | None = None
    decision: Decision | None = None
    written: Draft | None = None
    gate: int | None = None
    audit: tuple[bool | None, ...] = ()

    @property
    def settled(self) -> Draft:
        """The text that stands after the ruling."""
        return self.written or self.proposed


@dataclass(frozen=True)
class Round:
    """One round: the draft it works on, its critique, and the revisions tried.

    `replaced` are the drafts it began with before a person wrote `base` in their place; `gate` is the
    step in which the critique is ruled on.
    """

    number: int
    base: Draft
    replaced: tuple[Draft, ...] = ()
    raw_critique: str = ""
    critique: Critique | None = None
    agreed: Decision | None = None
    attempts: tuple[Attempt, ...] = ()
    gate: int | None = None

    @property
    def points(self) -> tuple[Point, ...]:
        """The points that the revisions were asked to follow."""
        if self.agreed is not None and self.agreed.points is not None:
            return self.agreed.points
        return self.critique.points if self.critique else ()


@dataclass(frozen=True)
class Story:
    """A session as a person reads it. `notes` are (step, text) pairs that a person should know.

    `current` is the draft that stands after all that happened. `pools` are the choices among candidates;
    the first candidate is then the first draft: what one generation alone would have given.
    """

    first: Draft | None
    current: Draft | None
    rounds: tuple[Round, ...]
    spent: Spent
    notes: tuple[tuple[int, str], ...]
    pools: tuple[Pool, ...] = ()


@dataclass
class _Fold:
    source: str
    strategy: str = "self_refine"
    pools: list[Pool] = field(default_factory=list)
    first: Draft | None = None
    current: Draft | None = None
    rounds: list[Round] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    notes: list[tuple[int, str]] = field(default_factory=list)

    def see(self, position: int, request: Request, answer: Answer | None) -> None:
        if answer is not None:
            self.spent = self.spent.after(answer)
        if self._among_candidates(request):
            self._pooled(position, request, answer)
        elif isinstance(request, Ask) and isinstance(answer, Replied):
            self._reply(position, request, answer.reply)
        elif isinstance(request, Measure) and isinstance(answer, Measured):
            self._scores(answer)
        elif isinstance(request, CritiqueGate):
            self._critique_gate(position, request, answer)
        elif isinstance(request, RevisionGate):
            self._revision_gate(position, request, answer)

    # -- candidates -----------------------------------------------------------------------

    def _among_candidates(self, request: Request) -> bool:
        if self.strategy in ("direct", "self_refine"):
            return False
        if isinstance(request, Ask):
            return request.role in ("draft", "synthesise") or self.strategy == "beam"
        if isinstance(request, Measure):
            return not self.rounds or self.pools[-1].final
        return isinstance(request, Group | PickGate)

    def _pool(self, number: int, *, final: bool = False) -> Pool:
        """The pool that is open, or a new one."""
        if not self.pools or not self.pools[-1].open:
            self.pools.append(Pool(number, final=final))
        return self.pools[-1]

    def _pooled(self, position: int, request: Request, answer: Answer | None) -> None:
        if isinstance(request, Ask):
            self.pools[-1] = self._candidate(position, request, answer, self._pool(request.round))
        elif isinstance(request, PickGate):
            decision = answer.decision if isinstance(answer, Ruled) else None
            pool = self._pool(request.round, final=bool(self.pools))
            self.pools[-1] = pool.at_gate(request, position, decision)
        elif isinstance(request, Measure) and isinstance(answer, Measured):
            self.pools[-1] = self.pools[-1].measured(request, answer)
        elif isinstance(request, Group) and isinstance(answer, Grouped):
            self.pools[-1] = replace(self._pool(request.round), grouped=answer)
        self._stand(self.pools[-1])

    def _candidate(self, position: int, ask: Ask, answer: Answer | None, pool: Pool) -> Pool:
        if not isinstance(answer, Replied):
            return replace(pool, asked=(*pool.asked, ask.part))
        reply = answer.reply
        self.notes += [(position, note) for note in (*ask.notes, *reply.notes)]
        if ask.role == "critique":
            return pool.with_critique(ask.part, reply.completions[0].text)
        condition, made = _MADE[ask.role]
        draft = draft_from(reply, ask.round, self.source, condition)
        return pool.with_reply(ask.part, draft, position, made)

    def _stand(self, pool: Pool) -> None:
        """What the candidates leave standing: the first of them, until one is chosen."""
        if len(self.pools) == 1 and 0 in pool.candidates:
            self.first = self.current = pool.candidates[0].draft
        if pool.chosen:
            self.current = pool.chosen[0]

    # -- rounds ---------------------------------------------------------------------------

    def _reply(self, position: int, ask: Ask, reply: Reply) -> None:
        self.notes += [(position, note) for note in (*ask.notes, *reply.notes)]
        if ask.role == "critique":
            self._round(ask.round, raw_critique=reply.completions[0].text)
            return
        condition = GIVEN_TASK if ask.role == "draft" else GIVEN_CRITIQUE
        draft = draft_from(reply, ask.round, self.source, condition)
        if ask.role == "draft":
            self.first = self.current = draft
        else:
            attempts = self._round(ask.round).attempts
            self._round(ask.round, attempts=(*attempts, Attempt(draft, position)))

    def _round(self, number: int, **changes: object) -> Round:
        """The round of that number, begun where it is new, with the changes made to it."""
        if not self.rounds or self.rounds[-1].number != number:
            self.rounds.append(Round(number, self.current or Draft("")))
        self.rounds[-1] = replace(self.rounds[-1], **changes)  # type: ignore[arg-type]
        return self.rounds[-1]

    def _scores(self, answer: Measured) -> None:
        def scored(draft: Draft) -> Draft:
            found = tuple(score.bare() for score in answer.scores[0])
            return replace(draft, scores=draft.scores + found)

        last = self.rounds[-1] if self.rounds else None
        attempt = last.attempts[-1] if last and last.attempts else None
        if last is not None and attempt is None:
            self.current = scored(last.base)
            self.rounds[-1] = replace(last, base=self.current)
        elif attempt is None and self.first is not None:
            self.first = self.current = scored(self.first)
        elif attempt is not None and attempt.written is not None:
            self.current = scored(attempt.written)
            self._attempt(replace(attempt, written=self.current))
        elif attempt is not None:
            self._attempt(replace(attempt, proposed=scored(attempt.proposed)))

    def _attempt(self, attempt: Attempt) -> None:
        last = self.rounds[-1]
        self.rounds[-1] = replace(last, attempts=(*last.attempts[:-1], attempt))

    def _critique_gate(self, position: int, gate: CritiqueGate, answer: Answer | None) -> None:
        decision = answer.decision if isinstance(answer, Ruled) else None
        last = self._round(gate.round, critique=gate.critique, agreed=decision, gate=position)
        if decision is not None and decision.ruling == "edit":
            self.current = Draft(decision.text or "", by=decision.by, round=last.base.round)
            self.rounds[-1] = Round(gate.round, self.current, (*last.replaced, last.base))

    def _revision_gate(self, position: int, gate: RevisionGate, answer: Answer | None) -> None:
        decision = answer.decision if isinstance(answer, Ruled) else None
        written = None
        if decision is not None and decision.ruling in ("edit", "hunks"):
            written = by_hand(gate.proposed, decision)
        attempt = replace(
            self.rounds[-1].attempts[-1],
            proposed=gate.proposed,
            verdict=gate.verdict,
            decision=decision,
            written=written,
            gate=position,
            audit=gate.audit,
        )
        self._attempt(attempt)
        if decision is not None and decision.ruling in PUTS_IN_PLACE:
            self.current = attempt.settled


_MADE = {
    "draft": (GIVEN_TASK, "draft"),
    "synthesise": (GIVEN_CANDIDATES, "synthesis"),
    "revise": (GIVEN_CRITIQUE, "child"),
}


def story_of(session: Session, place: Place | None) -> Story:
    """The session as a person reads it; `place` is where it stands, None where it can only be read.

    What can only be read may have steps in an order that no run makes: of these it is what they cost.
    """
    source, strategy = session.task.input, session.recipe.strategy
    if place is not None:
        waiting = place.open if isinstance(place, Pending) else ()
        return tell(session.steps, waiting, source=source, strategy=strategy)
    try:
        return tell(session.steps, (), source=source, strategy=strategy)
    except (IndexError, KeyError):
        spent = reduce(Spent.after, (step.answer for step in session.steps), Spent())
        return Story(None, None, (), spent, ())


def tell(
    steps: Sequence[Step], waiting: Sequence[Request], *, source: str, strategy: str = "self_refine"
) -> Story:
    """The story of the steps and of what is being waited for; `source` is the task's input."""
    fold = _Fold(source, strategy)
    for position, step in enumerate(steps):
        fold.see(position, step.request, step.answer)
    for request in waiting:
        fold.see(len(steps), request, None)
    rounds, notes = tuple(fold.rounds), tuple(fold.notes)
    return Story(fold.first, fold.current, rounds, fold.spent, notes, tuple(fold.pools))


def tokens_at(steps: Sequence[Step], position: int, source: str, which: int = 0) -> tuple[Token, ...]:
    """The tokens of the text that step `position` brought or measured, joining to exactly it, or ().

    Of several texts that were measured together it is number `which`.
    """
    answer = steps[position].answer
    if isinstance(answer, Measured):
        scores = answer.scores[which] if 0 <= which < len(answer.scores) else ()
        return next((score.tokens for score in scores if score.tokens), ())
    if not isinstance(answer, Replied):
        return ()
    completion = answer.reply.completions[0]
    return tokens_of_part(completion.tokens, text_of(completion.text, source))


def token_steps(steps: Sequence[Step], source: str) -> dict[str, tuple[tuple[int, int], ...]]:
    """For each text that tokens with probabilities are known of, where: (step, number of the text in it)."""
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for position, step in enumerate(steps):
        count = len(step.answer.scores) if isinstance(step.answer, Measured) else 1
        for which in range(count):
            text = "".join(token.text for token in tokens_at(steps, position, source, which))
            if text:
                found[text] = (*found.get(text, ()), (position, which))
    return found
