"""Strategies as pure generators: a yield asks the world and gets the answer, nothing else.

They know no model, no clock, no randomness and no preset's wording; replaying their answers gives
the same requests again.
"""

from __future__ import annotations

from core.domain import Critique, Draft, Settings, Task
from core.engine import Moves
from core.prompting import Prompting
from core.work import NO_CRITIQUE, Ended, Work


def direct(task: Task, prompting: Prompting, settings: Settings) -> Moves:
    """One generation, plain or step by step: the baseline that every comparison includes."""
    work = Work(task, prompting, settings)
    try:
        yield from work.first_draft()
        return work.outcome("one draft was asked for")
    except Ended as end:
        return work.outcome(end.reason)


def self_refine(task: Task, prompting: Prompting, settings: Settings) -> Moves:
    """Draft, then critique and revise round by round (Madaan et al. 2023, algorithm 1), with gates."""
    work = Work(task, prompting, settings)
    try:
        current = yield from work.first_draft()
        for number in range(1, settings.rounds + 1):
            work.stop_when_reached(current)
            agreed = NO_CRITIQUE
            if settings.feedback != "none":
                current, agreed = yield from work.critique(current, number)
                _stop_when_done(work, current, agreed.critique)
            current = yield from work.revise(current, agreed, number)
        work.stop_when_reached(current)
        return work.outcome("the rounds are used up")
    except Ended as end:
        return work.outcome(end.reason)


def _stop_when_done(work: Work, current: Draft, critique: Critique) -> None:
    """A target score, where one is set and known, outranks the critic's word that it is done.

    A person's word outranks both.
    """
    by_model = critique.by == "model"
    if critique.done and not (by_model and work.below_target(current)):
        who = "the critic" if by_model else critique.by
        raise Ended(f"{who} says it is done")


STRATEGIES = {"direct": direct, "self_refine": self_refine}
"""Strategies by the name that recipes carry."""
