"""The verbs for several drafts of one task: write them side by side, choose, write one from all.

Knows no preset's wording, no model and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from core import gates, ranking
from core.asking import Ended, Verb
from core.conversation import Prompt, estimate_tokens
from core.domain import Decision, Draft, Message
from core.drafts import GIVEN_CANDIDATES, GIVEN_TASK, draft_from, put_together
from core.ranking import Advice
from core.steps import Group, Grouped, PickGate
from core.work import Work

Drafts = tuple[Draft, ...]
Adviser = Callable[[Drafts], Verb[Advice]]


def write(work: Work, count: int, before: Drafts = (), note: str = "") -> Verb[Drafts]:
    """`count` more drafts after those there are, not scored; no more where the budget is spent.

    Raises Ended when it was stopped, and where there is no text at all.
    """
    if before and work.spent.over(work.settings.budget):
        return before
    asked = Prompt(_with(work.head, note))
    wanted = range(len(before), len(before) + count)
    answers = yield from work.side_by_side("draft", 0, dict.fromkeys(wanted, asked))
    made = tuple(draft_from(each.reply, 0, work.task.input, GIVEN_TASK) for each in answers)
    whole = [draft for draft, each in zip(made, answers, strict=True) if not each.stopped_by]
    if work.best is None and whole:
        work.best = gates.first_best(next((draft for draft in whole if not draft.flags), whole[0]))
    work.stop_when_cut(answers)
    if not before and not any(draft.text.strip() for draft in made):
        raise Ended("the model gave no text")
    work.seen += made
    return (*before, *made)


def choose(work: Work, drafts: Drafts, advise: Adviser, number: int = 0, keep: int = 1) -> Verb[Drafts]:
    """The `keep` drafts that are chosen of the scored ones, by a person or as `advise` says, best first."""
    while True:
        advice = yield from advise(drafts)
        gate = PickGate(
            number, drafts, advice.picks, advice.reason, keep, sure=advice.sure, synthesise=advice.synthesise
        )
        decision = yield from work.rule(gate)
        if decision.ruling == "retry":
            more = yield from write(work, work.settings.candidates, drafts, decision.note)
            drafts = yield from work.all_scored(more, number)
        elif decision.ruling == "synthesise":
            made = yield from synthesise(
                work, [drafts[i] for i in decision.picks], len(drafts), decision.note
            )
            drafts = yield from work.all_scored((*drafts, made), number)
        else:
            return (yield from _chosen(work, drafts, decision))


def _chosen(work: Work, drafts: Drafts, decision: Decision) -> Verb[Drafts]:
    """The drafts that a ruling leaves, the first of them the best so far."""
    if decision.ruling in ("edit", "merge"):
        draft = yield from work.scored(put_together(drafts, decision))
        work.seen += (draft,)
        chosen: Drafts = (draft,)
    else:
        chosen = tuple(drafts[i] for i in decision.picks)
    work.best = _best(work.best, chosen[0], decision)
    return chosen


def _best(before: gates.Best | None, draft: Draft, decision: Decision) -> gates.Best:
    if decision.by != gates.POLICY:
        did = gates.PUTS_IN_PLACE[decision.ruling]
        return gates.Best(draft, f"It is the text that {decision.by} {did}.", by_person=True)
    if before is not None and before.by_person:
        return before
    return gates.Best(draft, decision.why)


def synthesise(work: Work, drafts: Sequence[Draft], number: int, note: str = "") -> Verb[Draft]:
    """One new draft, candidate `number`, written from all of these (arXiv 2509.00084).

    Equal texts are shown once with their count; those that the context has no room for are left out, the
    last first, and the step says so.
    """
    counted: dict[str, int] = {}
    for draft in drafts:
        if draft.text.strip():
            counted[draft.text] = counted.get(draft.text, 0) + 1
    prompt = _fitting(work, list(counted.items()), note)
    answers = yield from work.side_by_side("synthesise", 0, {number: prompt})
    work.stop_when_cut(answers)
    made = draft_from(answers[0].reply, 0, work.task.input, GIVEN_CANDIDATES)
    work.seen += (made,)
    work.synthesis = number
    return made


def _fitting(work: Work, shown: list[tuple[str, int]], note: str) -> Prompt:
    limit, left_out = work.prompt_limit(), 0
    while True:
        asked = work.prompting.synthesis_request(work.task, shown)
        prompt = _with(_with(work.head, asked), note)
        if limit is None or len(shown) <= 1 or estimate_tokens(prompt) <= limit:
            break
        shown.pop()
        left_out += 1
    said = f"The last {left_out} candidates were left out of the prompt to fit the context of {limit} tokens."
    return Prompt(prompt, (said,) if left_out else ())


def _with(messages: tuple[Message, ...], more: str) -> tuple[Message, ...]:
    """The prompt with this added to its last turn: chats of some models must alternate."""
    if not more:
        return messages
    return (*messages[:-1], replace(messages[-1], content=f"{messages[-1].content}\n\n{more}"))


# -- advisers -----------------------------------------------------------------------------------


def by_score(work: Work, keep: int = 1, *, ahead: bool = False) -> Adviser:
    """The highest scores."""

    def advise(drafts: Drafts) -> Verb[Advice]:
        return ranking.by_score(drafts, work.settings, keep, ahead=ahead)
        yield

    return advise


def by_votes(work: Work) -> Adviser:
    """The answer that most candidates give."""

    def advise(drafts: Drafts) -> Verb[Advice]:
        grouped = yield from group(work, drafts)
        return ranking.by_votes(drafts, grouped, work.settings)

    return advise


def by_synthesis(work: Work) -> Adviser:
    """First a text written from all that are fit; then that text, unless another scores higher."""

    def advise(drafts: Drafts) -> Verb[Advice]:
        if work.synthesis is None:
            picks = tuple(ranking.fit_all(drafts))
            return Advice(picks, "One answer is to be written from all candidates.", synthesise=True)
        return ranking.by_score_unless(drafts, work.synthesis, work.settings)
        yield

    return advise


def adjudicate(work: Work) -> Adviser:
    """The best of all that was seen: a person's choice, else the highest score, else as the session went."""

    def advise(drafts: Drafts) -> Verb[Advice]:
        best, scored = work.best, ranking.by_score(drafts, work.settings)
        assert best is not None
        if scored.sure and not best.by_person:
            return scored
        place = next(i for i, draft in enumerate(drafts) if draft.text == best.draft.text)
        return Advice((place,), best.why)
        yield

    return advise


def group(work: Work, drafts: Drafts, number: int = 0) -> Verb[Grouped]:
    """Which of the drafts give the same answer; what was asked last is not asked again."""
    texts = tuple(draft.text for draft in drafts)
    if work.votes is None or work.votes[0] != texts:
        answer = yield Group(number, work.task, texts)
        assert isinstance(answer, Grouped)
        work.votes = (texts, answer)
    return work.votes[1]
