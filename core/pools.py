"""Candidates as a person sees them: who was asked for, what was written, scored, grouped and chosen.

Folded from steps by core.history. Knows no page; rules nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from core.domain import Decision, Draft
from core.drafts import put_together, with_scores
from core.steps import Grouped, Measure, Measured, PickGate


@dataclass(frozen=True)
class Candidate:
    """One of several drafts; `position` is the step that wrote it, None where it was written before.

    `made` says how: from the task alone, from other candidates, or as the revision of a kept draft, whose
    critique is `critique`.
    """

    draft: Draft
    position: int | None = None
    made: str = "draft"
    critique: str = ""


@dataclass(frozen=True)
class Pool:
    """Candidates between which there is, or was, a choice.

    `asked` are the numbers of those that are asked for and not written yet. `gate` is the step of the
    choice; `final` says that it is the last look at everything that was seen.
    """

    number: int
    candidates: dict[int, Candidate] = field(default_factory=dict)
    asked: tuple[int, ...] = ()
    grouped: Grouped | None = None
    choice: PickGate | None = None
    gate: int | None = None
    decision: Decision | None = None
    written: Draft | None = None
    final: bool = False

    @property
    def open(self) -> bool:
        """Whether more may still join, or be chosen."""
        return self.decision is None or self.decision.ruling in ("retry", "synthesise")

    @property
    def chosen(self) -> tuple[Draft, ...]:
        """What the choice left, best first; nothing before it is made."""
        if self.open or self.decision is None:
            return ()
        if self.written is not None:
            return (self.written,)
        return tuple(self.candidates[n].draft for n in self.decision.picks if n in self.candidates)

    def with_reply(self, number: int, draft: Draft, position: int, made: str) -> Pool:
        """The pool with one more written candidate."""
        known = self.candidates.get(number)
        new = Candidate(draft, position, made, known.critique if known else "")
        left = tuple(n for n in self.asked if n != number)
        return replace(self, candidates={**self.candidates, number: new}, asked=left)

    def with_critique(self, number: int, critique: str) -> Pool:
        """The pool with the critique that candidate `number` is to be written after."""
        new = Candidate(Draft(""), None, "child", critique)
        left = tuple(n for n in self.asked if n != number)
        return replace(self, candidates={**self.candidates, number: new}, asked=left)

    def measured(self, request: Measure, answer: Measured) -> Pool:
        """The pool with what was measured of its texts, or of the text that a person made of them."""
        if not self.open and self.written is not None:
            return replace(self, written=with_scores((self.written,), request.texts, answer)[0])
        return replace(self, candidates={
            number: replace(each, draft=with_scores((each.draft,), request.texts, answer)[0])
            for number, each in self.candidates.items()
        })  # fmt: skip

    def at_gate(self, gate: PickGate, position: int, decision: Decision | None) -> Pool:
        """The pool as its gate numbers the candidates, with the ruling where there is one."""
        known = {each.draft.text: each for each in self.candidates.values() if each.draft.text}
        kept = Candidate(Draft(""), None, "kept")
        candidates = {
            number: replace(known.get(draft.text, kept), draft=draft)
            for number, draft in enumerate(gate.candidates)
        }
        by_hand = decision is not None and decision.ruling in ("edit", "merge")
        return replace(
            self,
            candidates=candidates,
            choice=gate,
            gate=position,
            decision=decision,
            written=put_together(gate.candidates, decision) if decision and by_hand else None,
        )
