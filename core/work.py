"""The verbs that strategies are made of: draft, critique, revise, decide.

One Work is local to one run of one strategy and holds what has been said so far. It knows no
model, no clock and no preset's wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core import conversation, gates
from core.asking import Asking, Ended, Verb
from core.conversation import Exchange, chat, exchange_of
from core.domain import Critique, Decision, Draft, Message, Outcome, Settings, Task, Verdict
from core.drafts import GIVEN_CRITIQUE, GIVEN_TASK, by_hand, draft_from
from core.prompting import Prompting
from core.steps import CritiqueGate, Grouped, RevisionGate


@dataclass(frozen=True)
class Agreement:
    """A critique as it was agreed on, with the request that it answers ("" where none was asked)."""

    request: str
    critique: Critique

    def turns(self) -> tuple[Message, ...]:
        """The two as chat turns; a request that got nothing is left out with its answer."""
        return exchange_of(self.request, self.critique.raw)


NO_CRITIQUE = Agreement("", Critique((), None, ""))


class Work(Asking):
    """What one run of a strategy has done so far."""

    def __init__(self, task: Task, prompting: Prompting, settings: Settings) -> None:
        super().__init__(task, prompting, settings)
        self.best: gates.Best | None = None
        self.synthesis: int | None = None
        self.votes: tuple[tuple[str, ...], Grouped] | None = None
        self.kept_reason = ""
        self.restate = False
        self.flat_rounds = 0

    def first_draft(self) -> Verb[Draft]:
        """The first draft, scored; it is the best until something is better."""
        reply = yield from self.ask("draft", 0, conversation.Prompt(self.head))
        draft = draft_from(reply, 0, self.task.input, GIVEN_TASK)
        self.best = gates.first_best(draft)
        draft = yield from self.scored(draft)
        self.best = gates.first_best(draft)
        self.seen = (draft,)
        if not draft.text.strip():
            raise Ended("the model gave no text, twice")
        return draft

    def critique(self, current: Draft, number: int) -> Verb[tuple[Draft, Agreement]]:
        """The current draft, by then perhaps a person's, and its critique as agreed at the gate."""
        note = ""
        while True:
            request = self._critique_request(current)
            turns = chat(("user", f"{request}\n\n{note}" if note else request))
            reply = yield from self.ask("critique", number, self.prompt(current.text, turns))
            found = self.prompting.read_critique(self.task, reply.completions[0].text, current.text)
            decision = yield from self.rule(CritiqueGate(number, current, found))
            if decision.ruling == "edit":
                current = yield from self._written(current, decision)
            elif decision.ruling != "retry":
                return current, Agreement(request, self._agreed(found, decision))
            note = decision.note

    def _written(self, current: Draft, decision: Decision) -> Verb[Draft]:
        """A person's own text in the place of the current draft, before its critique."""
        draft = yield from self.scored(Draft(decision.text or "", by=decision.by, round=current.round))
        self.seen += (draft,)
        if self.best is not None:
            self.best = gates.better(self.best, draft, decision, self.settings)
        self.kept_reason, self.restate = "", bool(self.exchanges)
        return draft

    def _critique_request(self, current: Draft) -> str:
        """Says what became of the last revision where the prompt still shows that revision."""
        kept = self.kept_reason if self.settings.history == "full" else ""
        return self.prompting.critique_request(
            self.task,
            feedback=self.settings.feedback,
            kept_reason=kept,
            current=current.text if kept or (self.restate and self.settings.history == "full") else "",
        )

    def _agreed(self, found: Critique, decision: Decision) -> Critique:
        """The critique after its gate; its `raw` is what stands for it in later prompts."""
        points = decision.points
        if points is None or points == found.points:
            return found
        if not points:
            return Critique((), True, "", by=decision.by)
        return Critique(points, False, self.prompting.render_points(points), by=decision.by)

    def revise(self, current: Draft, agreed: Agreement, number: int) -> Verb[Draft]:
        """A revision as it is ruled on at its gate: the draft that is current afterwards."""
        note = ""
        while True:
            request = self.prompting.revise_request(
                self.task, feedback=self.settings.feedback, points=agreed.critique.points, note=note
            )
            turns = (*agreed.turns(), *chat(("user", request)))
            reply = yield from self.ask("revise", number, self.prompt(current.text, turns))
            proposed = draft_from(reply, number, self.task.input, GIVEN_CRITIQUE)
            proposed = yield from self.scored(proposed)
            current = yield from self.comparable(current, proposed)
            if self.best is not None:
                best = yield from self.comparable(self.best.draft, proposed)
                self.best = replace(self.best, draft=best)
            said = (*turns, *chat(("assistant", reply.completions[0].text)))
            audit = yield from self._audited(current, said, agreed, number)
            repeat = self._repeats(current, proposed)
            policy = repeat or gates.verdict(current, proposed, self.settings)
            decision = yield from self.rule(RevisionGate(number, current, proposed, policy, audit))
            if decision.ruling == "retry":
                self.seen += (proposed,)
                note = decision.note
                continue
            if repeat and decision.by == gates.POLICY:
                raise Ended(repeat.reason)
            settled = yield from self._settle(current, proposed, decision)
            self._remember(current, agreed, request, proposed if settled is current else settled)
            return settled

    def _audited(
        self, current: Draft, turns: Sequence[Message], agreed: Agreement, number: int
    ) -> Verb[tuple[bool | None, ...]]:
        """What the critic says of each agreed point: whether the revision (the last turn) meets it."""
        points = agreed.critique.points
        if not self.settings.audit or not points:
            return ()
        request = self.prompting.audit_request(self.task, points)
        prompt = self.prompt(current.text, (*turns, *chat(("user", request))))
        reply = yield from self.ask_once("judge", number, prompt)
        return self.prompting.read_audit(reply.completions[0].text, len(points))

    def _repeats(self, current: Draft, proposed: Draft) -> Verdict | None:
        """The verdict on a revision that brings nothing new, or None."""
        if proposed.text == current.text:
            return Verdict(False, "the revision is the same as its draft")
        earlier = next((draft for draft in self.seen if draft.text == proposed.text and draft.text), None)
        if earlier is None:
            return None
        return Verdict(False, f"the revision returns to a text of round {earlier.round}")

    def _settle(self, current: Draft, proposed: Draft, decision: Decision) -> Verb[Draft]:
        """The draft that is current after the ruling; a person's own text is scored first."""
        self.seen += (proposed,)
        if decision.ruling in ("edit", "hunks"):
            proposed = yield from self.scored(by_hand(proposed, decision))
        before = self.best
        if before is not None:
            self.best = gates.better(before, proposed, decision, self.settings)
        accepted = decision.ruling in gates.PUTS_IN_PLACE
        self.kept_reason = "" if accepted else decision.why or "it was rejected"
        self.restate = False
        self._count_flat(decision, before)
        return proposed if accepted else current

    def _count_flat(self, decision: Decision, before: gates.Best | None) -> None:
        """Rounds in which the best score did not rise end the session, but only while no person rules."""
        old, new = self._value(before), self._value(self.best)
        flat = decision.by == gates.POLICY and old is not None and new is not None and new <= old
        self.flat_rounds = self.flat_rounds + 1 if flat else 0

    def _value(self, best: gates.Best | None) -> float | None:
        return self._value_of(best.draft) if best else None

    def _value_of(self, draft: Draft) -> float | None:
        return draft.value(self.settings.gate_scorer or "")

    def _remember(self, current: Draft, agreed: Agreement, request: str, shown: Draft) -> None:
        """What later prompts show of this round.

        Without critiques no later turn could say that a revision was not kept: it is left out then.
        """
        if self.settings.feedback == "none" and self.kept_reason:
            return
        exchange = Exchange(
            current.text, agreed.request, agreed.critique.raw, request, shown.text, self._value_of(current)
        )
        self.exchanges += (exchange,)

    # -- stops and the end ----------------------------------------------------------------

    def below_target(self, draft: Draft) -> bool:
        """Whether a target score is set, this draft's score is known, and it is lower."""
        value, target = draft.value(self.settings.gate_scorer or ""), self.settings.target_score
        return target is not None and value is not None and value < target

    def stop_when_reached(self, draft: Draft) -> None:
        """Raises Ended when the target is reached or nothing was gained for too long."""
        value, target = draft.value(self.settings.gate_scorer or ""), self.settings.target_score
        if target is not None and value is not None and value >= target and not draft.flags:
            raise Ended(f"the target is reached: {self.settings.gate_scorer} {value:.4g} of {target:g}")
        if self.settings.patience and self.flat_rounds >= self.settings.patience:
            raise Ended(f"nothing was gained for {self.flat_rounds} rounds")

    def outcome(self, reason: str) -> Outcome:
        """The end of the session, with the best draft."""
        if self.best is None:
            return Outcome(None, reason, "There is no draft.")
        return Outcome(self.best.draft, reason, self.best.why)
