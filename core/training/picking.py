"""Examples out of a session: accepted steps, scores, verifier passes. Knows no file.

A flagged text (empty, cut off, filtered, a refusal, a remark) is never one to learn. The policy's ruling
counts only where a score rose or most votes agreed: a gate that takes every revision has found none better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from core.domain import Draft, Message, Ruling
from core.gates import POLICY, PUTS_IN_PLACE
from core.history import Attempt, Round, Story, story_of
from core.importing.making import THE_RUN
from core.pools import Pool
from core.sessions import Session
from core.steps import Ask, Replied
from core.training.evidence import VERIFIERS, Evidence, all_wrong, gap, passed
from core.training.examples import Example, Kind, Origin, Way

NOBODY = (POLICY, THE_RUN)
"""Names of those who rule without looking."""
MOST_PAIRS = 4
"""Pairs of a passing and a failing text that one session gives."""


def examples_of(session: Session, kind: Kind, evidence: Evidence) -> Iterator[Example]:
    """The session's examples of that kind, each text once."""
    asked = next((s.request.messages for s in session.steps if isinstance(s.request, Ask)), None)
    if asked is None:
        return
    picking = _Picking(session, story_of(session, None), asked, evidence)
    yield from {"sft": picking.to_learn, "dpo": picking.pairs, "gsr": picking.hybrid}[kind]()


@dataclass(frozen=True)
class _Text:
    """A text of the session with what is known of it, and the step that brought it or ruled on it."""

    draft: Draft
    step: int | None
    why: str = ""


@dataclass(frozen=True)
class _Picking:
    session: Session
    story: Story
    asked: tuple[Message, ...]
    evidence: Evidence

    @property
    def _task(self) -> str:
        task = self.session.task
        return "\n".join(filter(None, (task.instruction, task.target, task.input, task.reference)))

    def _example(
        self,
        text: _Text,
        *,
        worse: Draft | None = None,
        prompt: tuple[Message, ...] | None = None,
        way: Way = "direct",
        all_wrong: bool | None = None,
    ) -> Example:
        origin = Origin(text.why, self.session.id, text.step, by=text.draft.by, all_wrong=all_wrong)
        rejected = worse.text if worse else None
        return Example(self._task, prompt or self.asked, text.draft.text, origin, rejected, way)

    # -- SFT ------------------------------------------------------------------------------------

    def to_learn(self) -> Iterator[Example]:
        """What is good enough as the answer to the task, and revisions as answers to their requests."""
        found: dict[str, _Text] = {}
        for text in [*self._accepted(), *self._by_number()]:
            if not text.draft.flags:
                found.setdefault(text.draft.text, text)
        for text in found.values():
            yield self._example(text)
        if self.evidence.steps:
            yield from self._revisions(found)

    def _accepted(self) -> Iterator[_Text]:
        """The text that stood at the end, if a ruling that counts put it there."""
        if not self.evidence.accepted or self.story.current is None:
            return
        last = [text for text in self._rulings() if text.draft.text == self.story.current.text]
        yield from last[-1:]

    def _rulings(self) -> Iterator[_Text]:
        """Each text that was put in place by a ruling that counts."""
        for each in self.story.rounds:
            for attempt in each.attempts:
                if self._counts(each, attempt):
                    yield _Text(attempt.settled, attempt.gate, self._ruled(attempt))
        for pool in self.story.pools:
            if pool.decision is not None and len(pool.chosen) == 1 and self._chosen_for_a_reason(pool):
                yield _Text(pool.chosen[0], pool.gate, _picked(pool.decision.ruling, pool.decision.by))

    def _chosen_for_a_reason(self, pool: Pool) -> bool:
        """Whether a person chose, or the policy by a score that tells texts apart or by most votes."""
        if pool.decision is None or pool.decision.by not in NOBODY:
            return pool.decision is not None
        others = [each.draft for each in pool.candidates.values() if each.draft.text != pool.chosen[0].text]
        rose = any(self._rose(other, pool.chosen[0]) for other in others)
        return not self.evidence.by_person and (rose or _most_agree(pool))

    def _counts(self, each: Round, attempt: Attempt) -> bool:
        decision = attempt.decision
        if decision is None or decision.ruling not in PUTS_IN_PLACE:
            return False
        return decision.by not in NOBODY or (
            not self.evidence.by_person and self._rose(each.base, attempt.proposed)
        )

    def _rose(self, before: Draft, after: Draft) -> bool:
        """Whether a gate's score of one condition rose."""
        settings = self.session.recipe.settings
        gaps = (gap(after, before, name) for name in (settings.verifier, settings.gate_scorer) if name)
        known = [each for each in gaps if each]
        return bool(known) and known[0] > 0

    def _ruled(self, attempt: Attempt) -> str:
        assert attempt.decision is not None
        done = PUTS_IN_PLACE[attempt.decision.ruling]
        return f"{done} by {attempt.decision.by}"

    def _by_number(self) -> Iterator[_Text]:
        """Texts that pass their verifier, or whose score reaches the threshold."""
        for text in self._texts():
            if self.evidence.verifier and (name := passed(text.draft)):
                yield replace(text, why=f"passes {name}")
            scorer, least = self.evidence.scorer, self.evidence.threshold
            value = text.draft.value(scorer or "")
            if least is not None and value is not None and value >= least:
                yield replace(text, why=f"{scorer} {value:.4g} is at least {least:g}")

    def _texts(self) -> Iterator[_Text]:
        """Every text of the session, with its scores."""
        if self.story.first is not None and not self.story.pools:
            yield _Text(self.story.first, 0)
        for pool in self.story.pools:
            yield from (
                _Text(each.draft, each.position) for each in pool.candidates.values() if each.draft.text
            )
            yield from (_Text(each, pool.gate) for each in filter(None, [pool.written]))
        for round_ in self.story.rounds:
            for attempt in round_.attempts:
                yield _Text(attempt.proposed, attempt.position)
                yield from (_Text(each, attempt.gate) for each in filter(None, [attempt.written]))

    def _revisions(self, good: dict[str, _Text]) -> Iterator[Example]:
        """Accepted or good revisions as answers to the very request that brought them."""
        accepted = {text.draft.text: text for text in self._rulings()}
        for position, step in enumerate(self.session.steps):
            if isinstance(step.request, Ask) and step.request.role == "revise":
                for attempt in self._attempts_at(position):
                    text = accepted.get(attempt.settled.text) or good.get(attempt.settled.text)
                    if text is not None and not text.draft.flags:
                        kept = replace(text, step=position)
                        yield self._example(kept, prompt=step.request.messages, way="refine")

    def _attempts_at(self, position: int) -> Iterator[Attempt]:
        yield from (a for each in self.story.rounds for a in each.attempts if a.position == position)

    # -- DPO ------------------------------------------------------------------------------------

    def pairs(self) -> Iterator[Example]:
        """Pairs of texts of which one is known to be better, each pair once."""
        seen: set[tuple[str, str | None]] = set()
        for example in [*self._ruled_pairs(), *self._chosen_pairs(), *self._number_pairs()]:
            if (example.chosen, example.rejected) not in seen:
                seen.add((example.chosen, example.rejected))
                yield example

    def _pair(self, better: _Text, worse: Draft) -> Iterator[Example]:
        if not better.draft.flags:
            yield self._example(better, worse=worse)

    def _ruled_pairs(self) -> Iterator[Example]:
        if not self.evidence.accepted:
            return
        for each in self.story.rounds:
            for attempt in each.attempts:
                yield from self._pairs_at(each, attempt)

    def _pairs_at(self, each: Round, attempt: Attempt) -> Iterator[Example]:
        decision = attempt.decision
        if decision is None:
            return
        if self._counts(each, attempt):
            text = _Text(attempt.settled, attempt.gate, self._ruled(attempt))
            yield from self._pair(text, each.base)
            if attempt.written is not None:
                yield from self._pair(text, attempt.proposed)
        elif decision.ruling == "reject" and self._rejects(each, attempt, decision.by):
            text = _Text(each.base, attempt.gate, f"its revision was rejected by {decision.by}")
            yield from self._pair(text, attempt.proposed)

    def _rejects(self, each: Round, attempt: Attempt, by: str) -> bool:
        if by not in NOBODY:
            return True
        return not self.evidence.by_person and self._rose(attempt.proposed, each.base)

    def _chosen_pairs(self) -> Iterator[Example]:
        """What a person picked among candidates, over each other candidate."""
        for pool in self.story.pools:
            decision = pool.decision
            if (
                self.evidence.accepted
                and decision is not None
                and decision.by not in NOBODY
                and len(pool.chosen) == 1
            ):
                text = _Text(pool.chosen[0], pool.gate, _picked(decision.ruling, decision.by))
                others = (each.draft for each in pool.candidates.values() if each.draft.text)
                for other in [each for each in others if each.text != text.draft.text]:
                    yield from self._pair(text, other)

    def _number_pairs(self) -> Iterator[Example]:
        texts = list({text.draft.text: text for text in self._texts()}.values())
        if self.evidence.verifier:
            yield from self._verified_pairs(texts)
        if self.evidence.scorer:
            yield from self._scored_pair(texts, self.evidence.scorer)

    def _verified_pairs(self, texts: list[_Text]) -> Iterator[Example]:
        for name in VERIFIERS:
            passing = [text for text in texts if text.draft.value(name) == 1.0 and not text.draft.flags]
            failing = [text for text in texts if (text.draft.value(name) or 0.0) < 1.0 and _known(text, name)]
            for better, worse in list(product(passing, failing))[:MOST_PAIRS]:
                yield from self._pair(replace(better, why=f"passes {name}, the other does not"), worse.draft)

    def _scored_pair(self, texts: list[_Text], name: str) -> Iterator[Example]:
        """The best over the worst, where their scores compare and differ enough."""
        known = [text for text in texts if _known(text, name)]
        good = [text for text in known if not text.draft.flags]
        if not good:
            return
        best = max(good, key=lambda text: text.draft.value(name) or 0.0)
        worst = min(known, key=lambda text: text.draft.value(name) or 0.0)
        more = gap(best.draft, worst.draft, name)
        if more is not None and more > 0 and more >= self.evidence.margin:
            values = f"{best.draft.value(name):.4g} against {worst.draft.value(name):.4g}"
            yield from self._pair(replace(best, why=f"{name} {values}"), worst.draft)

    # -- GSR ------------------------------------------------------------------------------------

    def hybrid(self) -> Iterator[Example]:
        """Good direct answers, and good ones written from candidates, even wrong ones (arXiv 2509.00084)."""
        good = {
            text.draft.text: text for text in [*self._accepted(), *self._by_number()] if not text.draft.flags
        }
        for pool in self.story.pools or (Pool(0),):
            candidates = [each for each in pool.candidates.values() if each.draft.text]
            shown = [each.draft for each in candidates if each.made == "draft"]
            for each in candidates:
                text = good.get(each.draft.text)
                if text is not None and each.made == "synthesis" and each.position is not None:
                    yield self._written_from(replace(text, step=each.position), shown)
        for text in good.values():
            if self._is_direct(text):
                yield self._example(text)

    def _written_from(self, text: _Text, shown: list[Draft]) -> Example:
        request = self.session.steps[text.step or 0].request
        assert isinstance(request, Ask)
        return self._example(text, prompt=request.messages, way="refine", all_wrong=all_wrong(shown))

    def _is_direct(self, text: _Text) -> bool:
        """Whether the text came as the answer to the task alone."""
        return any(
            isinstance(step.request, Ask)
            and step.request.role == "draft"
            and isinstance(step.answer, Replied)
            and text.draft.text in step.answer.reply.completions[0].text
            for step in self.session.steps
        )


def _picked(ruling: Ruling, by: str) -> str:
    return f"{PUTS_IN_PLACE.get(ruling, ruling)} by {by} among candidates"


def _most_agree(pool: Pool) -> bool:
    """Whether more than half of the candidates gave the answer that was chosen."""
    if pool.grouped is None or pool.decision is None:
        return False
    homes = [each for each in pool.grouped.classes if set(each) & set(pool.decision.picks)]
    return any(2 * len(home) > len(pool.grouped.answers) for home in homes)


def _known(text: _Text, name: str) -> bool:
    return text.draft.value(name) is not None
