"""What lists, filters and figures need to know of a session, folded into one flat value.

A copy for looking things up: the truth is the steps. Knows no SQL and no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from core.domain import Draft, Recipe, Score, Settings
from core.fences import text_of
from core.gates import POLICY
from core.history import Story, story_of
from core.round_facts import RoundFacts, change_between, flags_of, overruled_at, round_facts, value_of
from core.sessions import Session
from core.steps import Ask, CritiqueGate, PickGate, Replied, Ruled, Step

Outcome = Literal["open", "done", "rounds", "target", "no gain", "stopped", "budget", "failed"]
OUTCOMES: tuple[Outcome, ...] = (
    "open",
    "done",
    "rounds",
    "target",
    "no gain",
    "stopped",
    "budget",
    "failed",
)
Decided = Literal[
    "accepted by policy",
    "rejected by policy",
    "accepted by a person",
    "rejected by a person",
    "edited by a person",
    "policy overruled",
]
_ENDINGS: tuple[tuple[str, Outcome], ...] = (
    ("stopped by ", "stopped"),
    ("the budget is spent", "budget"),
    ("the target is reached", "target"),
    ("the rounds are used up", "rounds"),
    ("nothing was gained", "no gain"),
    ("the revision returns", "no gain"),
    ("the revision is the same", "no gain"),
    ("the model gave no text", "failed"),
)
_NAME = re.compile(r"^name:[ \t]*([\"']?)(.+?)\1[ \t]*(?:#.*)?$", re.M)
MOST_SEARCHED = 1_000_000
"""Characters of drafts that a search looks at in one session; what comes after them is not searched."""


@dataclass(frozen=True)
class Facts:
    """One session. Scores are those of `scorer`, the gate's.

    `last_score` is that of the text that stands now, `best_score` the highest that any draft had under the
    condition of the first, `change` last minus first where they compare. `money` is None where no call has a
    price. Counts of decisions are those at gates after revisions and among candidates.
    """

    preset: str
    strategy: str
    model: str
    models: tuple[str, ...]
    mode: str
    outcome: Outcome
    scorer: str = ""
    verifier: str = ""
    rounds: int = 0
    candidates: int = 0
    policy_accepted: int = 0
    policy_rejected: int = 0
    person_accepted: int = 0
    person_rejected: int = 0
    person_edited: int = 0
    overruled: int = 0
    first_score: float | None = None
    last_score: float | None = None
    best_score: float | None = None
    change: float | None = None
    flags: tuple[str, ...] = ()
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    money: float | None = None
    each_round: tuple[RoundFacts, ...] = ()

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def decisions(self) -> tuple[Decided, ...]:
        """The kinds of decision that the session has at least one of."""
        counts: tuple[tuple[Decided, int], ...] = (
            ("accepted by policy", self.policy_accepted),
            ("rejected by policy", self.policy_rejected),
            ("accepted by a person", self.person_accepted),
            ("rejected by a person", self.person_rejected),
            ("edited by a person", self.person_edited),
            ("policy overruled", self.overruled),
        )
        return tuple(kind for kind, count in counts if count)


def facts_of(session: Session, ending: str) -> Facts:
    """The facts of a session; `ending` is its outcome's reason, "" while it has none."""
    story = story_of(session, None)
    settings, recipe, spent = session.recipe.settings, session.recipe, story.spent
    scorer, drafts = gate_scorer(settings), tuple(_drafts(story))
    first, last = (draft.score(scorer) if draft else None for draft in (story.first, story.current))
    rulings = [ruling for step in session.steps if (ruling := _ruling(step))]
    return Facts(
        preset=preset_name(recipe.preset),
        strategy=recipe.strategy,
        model=recipe.model,
        models=_models(recipe),
        mode=session.mode,
        outcome=outcome_of(ending, session.problem),
        scorer=scorer,
        verifier=settings.verifier or "",
        rounds=_rounds(session.steps),
        candidates=sum(len(pool.candidates) for pool in story.pools if not pool.final),
        policy_accepted=rulings.count(("accepted", True)),
        policy_rejected=rulings.count(("rejected", True)),
        person_accepted=rulings.count(("accepted", False)),
        person_rejected=rulings.count(("rejected", False)),
        person_edited=rulings.count(("edited", False)),
        overruled=sum(map(overruled_at, session.steps)),
        first_score=value_of(first),
        last_score=value_of(last),
        best_score=_best(scorer, first or last, drafts),
        change=change_between(first, last),
        flags=flags_of(drafts),
        calls=spent.calls,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        seconds=spent.seconds,
        money=spent.money if spent.priced else None,
        each_round=round_facts(session, story, scorer),
    )


def outcome_of(ending: str, problem: str) -> Outcome:
    """The kind of an outcome's reason in words; `problem` is why a session without one can't go on."""
    if not ending:
        return "failed" if problem else "open"
    return next((kind for words, kind in _ENDINGS if ending.startswith(words)), "done")


def gate_scorer(settings: Settings) -> str:
    """The scorer whose values a session is told by: the gate's, else the verifier, else the first."""
    return settings.gate_scorer or settings.verifier or next(iter(settings.scorers), "")


def preset_name(text: str) -> str:
    """The name that a preset's text gives it, "" where it gives none; a preset with mistakes has one too."""
    found = _NAME.search(text)
    return found.group(2).strip() if found else ""


def draft_texts(session: Session) -> tuple[str, ...]:
    """Every draft's text, each once, in the order they were written; up to MOST_SEARCHED characters."""
    texts: dict[str, None] = {}
    room = MOST_SEARCHED
    for text in chain.from_iterable(_written(step, session.task.input) for step in session.steps):
        if text not in texts and room > 0:
            texts[text[:room]] = None
            room -= len(text)
    return tuple(texts)


def _written(step: Step, source: str) -> Iterator[str]:
    request, answer = step.request, step.answer
    if isinstance(answer, Ruled) and answer.decision.text:
        yield answer.decision.text
    if isinstance(request, Ask) and isinstance(answer, Replied) and request.role != "critique":
        yield from (text_of(completion.text, source) for completion in answer.reply.completions)


def _models(recipe: Recipe) -> tuple[str, ...]:
    return tuple(dict.fromkeys((recipe.model, *(name for _, name in recipe.models), *recipe.judges)))


def _rounds(steps: Sequence[Step]) -> int:
    asks = (step.request for step in steps if isinstance(step.request, Ask))
    return max((ask.round for ask in asks if ask.role in ("critique", "revise")), default=0)


# -- decisions ----------------------------------------------------------------------------------

_KINDS = {
    "accept": "accepted",
    "pick": "accepted",
    "reject": "rejected",
    "retry": "rejected",
    "edit": "edited",
    "hunks": "edited",
    "merge": "edited",
}


def _ruling(step: Step) -> tuple[str, bool] | None:
    """What a gate's ruling did to a text, and whether the policy ruled; None where it did nothing to one."""
    if not isinstance(step.answer, Ruled):
        return None
    decision, request = step.answer.decision, step.request
    by_policy, kind = decision.by == POLICY, _KINDS.get(decision.ruling)
    if isinstance(request, CritiqueGate):
        return ("edited", by_policy) if kind == "edited" else None
    if isinstance(request, PickGate) and decision.ruling == "retry":
        return None
    return (kind, by_policy) if kind else None


# -- scores -------------------------------------------------------------------------------------


def _drafts(story: Story) -> Iterator[Draft]:
    """Every draft of the story, as far as it was scored there."""
    yield from (draft for draft in (story.first, story.current) if draft)
    for pool in story.pools:
        yield from (each.draft for each in pool.candidates.values())
        yield from (draft for draft in (pool.written,) if draft)
    for each in story.rounds:
        yield from (each.base, *each.replaced)
        for attempt in each.attempts:
            yield attempt.proposed
            yield from (draft for draft in (attempt.written,) if draft)


def _best(scorer: str, like: Score | None, drafts: Sequence[Draft]) -> float | None:
    scores = [score for draft in drafts if (score := draft.score(scorer)) is not None]
    known = [s.value for s in scores if s.value is not None and like and s.condition == like.condition]
    return max(known, default=None)
