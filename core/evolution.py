"""The text of a session as it changed hands: each text that took another's place, with who wrote which part.

Knows no page. What a person takes over from a model's revision stays the model's writing; what they type is
theirs. The text that a pick or a person's own words put in place counts like an accepted revision.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.attribution import Author, Runs, rewritten, written
from core.domain import Decision, Message, Recipe
from core.fences import text_of
from core.gates import POLICY, PUTS_IN_PLACE
from core.sessions import Session
from core.steps import Ask, CritiqueGate, PickGate, Replied, RevisionGate, Ruled, Step


@dataclass(frozen=True)
class Standing:
    """A text that stood from `step` on, in runs that join to it.

    `how` is what put it there: "first draft", or what was done at a gate; `by` is who decided so: the model's
    name for a first draft, a person's, or the policy.
    """

    step: int
    round: int
    how: str
    by: str
    runs: Runs


@dataclass
class _Play:
    source: str
    recipe: Recipe
    alone: bool
    known: dict[str, Runs] = field(default_factory=dict)
    current: str | None = None
    reviser: Author | None = None
    done: dict[tuple[str, str, Author], Runs] = field(default_factory=dict)
    stood: list[Standing] = field(default_factory=list)

    def see(self, position: int, step: Step) -> None:
        request, answer = step.request, step.answer
        if isinstance(request, Ask) and isinstance(answer, Replied):
            self._reply(position, request, answer)
        elif isinstance(answer, Ruled) and isinstance(request, CritiqueGate):
            if answer.decision.ruling == "edit":
                self._put(
                    position, request.round, answer.decision, self._own(request.draft.text, position, step)
                )
        elif isinstance(answer, Ruled) and answer.decision.ruling in PUTS_IN_PLACE:
            if isinstance(request, RevisionGate):
                self._revised(position, request, answer.decision, step)
            elif isinstance(request, PickGate):
                self._picked(position, request, answer.decision, step)

    def _model(self, position: int, ask: Ask) -> Author:
        return Author(self.recipe.model_for(ask.role), False, ask.round, position)

    def _own(self, base: str, position: int, step: Step) -> Runs:
        """A person's own text, begun from `base`."""
        assert isinstance(step.answer, Ruled)
        decision = step.answer.decision
        author = Author(decision.by, decision.by != POLICY, step.request.round, position)
        return rewritten(self._runs(base), decision.text or "", author)

    def _runs(self, text: str) -> Runs:
        """The runs of a text that is known; of another one (its step is not here), a model's."""
        unknown = self.reviser or Author(self.recipe.model, False, 0, 0)
        return self.known.get(text) or written(text, unknown)

    def _reply(self, position: int, ask: Ask, answer: Replied) -> None:
        if ask.role not in ("draft", "revise", "synthesise"):
            return
        author, text = self._model(position, ask), text_of(answer.reply.completions[0].text, self.source)
        if ask.role == "revise":
            self.reviser = author
            runs = self._revision(self._parent(ask.messages), text, author)
        else:
            runs = written(text, author)
        self.known.setdefault(text, runs)
        if self.alone and ask.role == "draft":
            self.current = text
            self.stood = [Standing(position, ask.round, "first draft", author.name, runs)]

    def _revision(self, before: str, text: str, author: Author) -> Runs:
        """What `author` made of a text; compared once, though the reply and its gate both ask for it."""
        key = (before, text, author)
        if key not in self.done:
            self.done[key] = rewritten(self._runs(before), text, author)
        return self.done[key]

    def _parent(self, messages: tuple[Message, ...]) -> str:
        """The last known text among the turns: what a child is the revision of."""
        said = (m.content for m in reversed(messages) if m.role == "assistant" and m.content in self.known)
        return next(said, self.current or "")

    def _revised(self, position: int, gate: RevisionGate, decision: Decision, step: Step) -> None:
        author = self.reviser or Author(self.recipe.model_for("revise"), False, gate.round, position)
        before = self._runs(gate.current.text)
        proposed = self._revision(gate.current.text, gate.proposed.text, author)
        self.known[gate.proposed.text] = proposed
        if decision.ruling == "hunks":
            self._put(position, gate.round, decision, rewritten(before, decision.text or "", author))
        elif decision.ruling == "edit":
            self._put(position, gate.round, decision, self._own(gate.proposed.text, position, step))
        else:
            self._put(position, gate.round, decision, proposed)

    def _picked(self, position: int, gate: PickGate, decision: Decision, step: Step) -> None:
        texts = [gate.candidates[n].text for n in decision.picks if n < len(gate.candidates)]
        base = texts[0] if texts else self.current or ""
        if decision.ruling == "edit":
            runs = self._own(base, position, step)
        elif decision.ruling == "merge":
            model = Author(self.recipe.model, False, gate.round, position)
            runs = rewritten(self._runs(base), decision.text or "", model)
        else:
            runs = self._runs(base)
        self._put(position, gate.round, decision, runs)

    def _put(self, position: int, number: int, decision: Decision, runs: Runs) -> None:
        text = "".join(run.text for run in runs)
        self.known[text], self.current = runs, text
        how = PUTS_IN_PLACE[decision.ruling]
        self.stood.append(Standing(position, number, how, decision.by, runs))


def evolution(session: Session) -> tuple[Standing, ...]:
    """Every text that stood, in order; empty while none does."""
    alone = session.recipe.strategy in ("direct", "self_refine")
    play = _Play(session.task.input, session.recipe, alone)
    for position, step in enumerate(session.steps):
        play.see(position, step)
    return tuple(play.stood)
