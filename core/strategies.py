"""Strategies as pure generators: a yield asks the world and gets the answer, nothing else.

They know no model, no clock, no randomness and no preset's wording; replaying their answers gives
the same requests again. A strategy is how it begins, whether it goes on with rounds of critique and
revision, and, where it began with several drafts, a last look at everything that was seen.
"""

from __future__ import annotations

from collections.abc import Callable

from core.asking import Ended, Verb
from core.beam import search
from core.candidates import adjudicate, by_score, by_synthesis, by_votes, choose, group, write
from core.domain import Critique, Draft, Settings, Task
from core.engine import Moves
from core.prompting import Prompting
from core.work import NO_CRITIQUE, Work

Begin = Callable[[Work], Verb[Draft]]
Strategy = Callable[[Task, Prompting, Settings], Moves]


def direct(task: Task, prompting: Prompting, settings: Settings) -> Moves:
    """One generation, plain or step by step: the baseline that every comparison includes."""
    return _ended(task, prompting, settings, _one_draft)


def self_refine(task: Task, prompting: Prompting, settings: Settings) -> Moves:
    """Draft, then critique and revise round by round (Madaan et al. 2023, algorithm 1), with gates."""
    return _ended(task, prompting, settings, lambda work: _then_refined(work, Work.first_draft))


def beam(task: Task, prompting: Prompting, settings: Settings) -> Moves:
    """Each round every kept draft gets critiques and revisions of its own; the best of all are kept."""
    return _ended(task, prompting, settings, lambda work: _then_all_considered(work, _beam))


def _ended(task: Task, prompting: Prompting, settings: Settings, run: Callable[[Work], Verb[str]]) -> Moves:
    work = Work(task, prompting, settings)
    try:
        return work.outcome((yield from run(work)))
    except Ended as end:
        return work.outcome(end.reason)


def _one_draft(work: Work) -> Verb[str]:
    yield from work.first_draft()
    return "one draft was asked for"


def _then_refined(work: Work, begin: Begin) -> Verb[str]:
    """Critique and revision from what a beginning left, until something ends it."""
    current = yield from begin(work)
    for number in range(1, work.settings.rounds + 1):
        work.stop_when_reached(current)
        agreed = NO_CRITIQUE
        if work.settings.feedback != "none":
            current, agreed = yield from work.critique(current, number)
            _stop_when_done(work, current, agreed.critique)
        current = yield from work.revise(current, agreed, number)
    work.stop_when_reached(current)
    return "the rounds are used up"


def _stop_when_done(work: Work, current: Draft, critique: Critique) -> None:
    """A target score, where one is set and known, outranks the critic's word that it is done.

    A person's word outranks both.
    """
    by_model = critique.by == "model"
    if critique.done and not (by_model and work.below_target(current)):
        who = "the critic" if by_model else critique.by
        raise Ended(f"{who} says it is done")


# -- beginnings with several drafts -------------------------------------------------------------


def _best_of_n(work: Work) -> Verb[Draft]:
    """n drafts side by side; the best by score."""
    drafts = yield from write(work, work.settings.candidates)
    drafts = yield from work.all_scored(drafts, 0)
    return (yield from choose(work, drafts, by_score(work)))[0]


def _self_consistency(work: Work) -> Verb[Draft]:
    """n drafts, and the answer that most of them give (Wang et al. 2023).

    No more are asked for than may be needed for a class of answers to hold more than n / 2.
    """
    most = work.settings.candidates
    needed = most // 2 + 1
    drafts = yield from write(work, needed)
    while len(drafts) < most:
        votes = yield from group(work, drafts)
        largest = max(map(len, votes.classes), default=0)
        if largest >= needed:
            break
        more = yield from write(work, min(most - len(drafts), needed - largest), drafts)
        if len(more) == len(drafts):
            break
        drafts = more
    drafts = yield from work.all_scored(drafts, 0)
    return (yield from choose(work, drafts, by_votes(work)))[0]


def _synthesise(work: Work) -> Verb[Draft]:
    """n drafts, then a new one written from all of them (generative self-refinement, arXiv 2509.00084)."""
    drafts = yield from write(work, work.settings.candidates)
    drafts = yield from work.all_scored(drafts, 0)
    return (yield from choose(work, drafts, by_synthesis(work)))[0]


def _beam(work: Work) -> Verb[str]:
    drafts = yield from write(work, max(work.settings.width, work.settings.candidates))
    drafts = yield from work.all_scored(drafts, 0)
    return (yield from search(work, drafts))


def _chosen(begin: Begin) -> Strategy:
    """The beginning alone."""

    def run(work: Work) -> Verb[str]:
        yield from begin(work)
        return "the choice is made"

    return lambda task, prompting, settings: _ended(task, prompting, settings, run)


def _refined(begin: Begin) -> Strategy:
    """The beginning, refined; at the end one of all texts that were seen is chosen."""

    def run(work: Work) -> Verb[str]:
        return (yield from _then_all_considered(work, lambda work: _then_refined(work, begin)))

    return lambda task, prompting, settings: _ended(task, prompting, settings, run)


def _then_all_considered(work: Work, run: Callable[[Work], Verb[str]]) -> Verb[str]:
    """What it was that ended the run, after one of all texts that were seen was chosen."""
    try:
        reason = yield from run(work)
    except Ended as end:
        if end.stopped or work.best is None:
            raise
        reason = end.reason
    yield from choose(work, _everything(work), adjudicate(work), work.settings.rounds + 1)
    return reason


def _everything(work: Work) -> tuple[Draft, ...]:
    """Every text that was seen, once, in its order."""
    assert work.best is not None
    texts: dict[str, Draft] = {}
    for draft in (*work.seen, work.best.draft):
        if draft.text.strip():
            texts.setdefault(draft.text, draft)
    return tuple(texts.values())


_BEGINNINGS: dict[str, Begin] = {
    "best_of_n": _best_of_n,
    "self_consistency": _self_consistency,
    "synthesise": _synthesise,
}
STRATEGIES: dict[str, Strategy] = {
    "direct": direct,
    "self_refine": self_refine,
    **{name: _chosen(begin) for name, begin in _BEGINNINGS.items()},
    "beam": beam,
    **{f"{name}+self_refine": _refined(begin) for name, begin in _BEGINNINGS.items()},
}
"""Strategies by the name that recipes carry."""


def refining(strategy: str) -> str | None:
    """The strategy that goes on where this one has chosen, or None where it has no such choice."""
    return f"{strategy}+self_refine" if strategy in _BEGINNINGS else None
