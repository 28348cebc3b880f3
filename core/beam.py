"""Beam search over revisions: every kept draft gets children, the best of parents and children are kept.

A child is a critique of its parent and the revision after it; it sees its parent alone. With a look ahead
each child is revised once more, and ranks by the better of its own score and that revision's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core import ranking
from core.asking import Ended, Verb
from core.candidates import Drafts, by_score, choose
from core.conversation import Prompt, chat
from core.domain import Draft, Score
from core.drafts import GIVEN_CRITIQUE, draft_from
from core.work import NO_CRITIQUE, Agreement, Work


def search(work: Work, drafts: Drafts) -> Verb[str]:
    """Rounds of children from the scored first drafts on; why it ended. Raises Ended."""
    width = work.settings.width
    kept = yield from choose(work, drafts, by_score(work, width), keep=width)
    for number in range(1, work.settings.rounds + 1):
        work.stop_when_reached(kept[0])
        parents = (draft for draft in kept for _ in range(work.settings.children))
        born = yield from grow(work, dict(enumerate(parents)), number)
        if not born:
            raise Ended("the critic says of every draft that it is done")
        if work.settings.lookahead:
            born = yield from _looked_ahead(work, born, number)
        advise = by_score(work, width, ahead=work.settings.lookahead)
        kept = yield from choose(work, (*kept, *born.values()), advise, number, keep=width)
    return "the rounds are used up"


def grow(work: Work, parents: Mapping[int, Draft], number: int) -> Verb[dict[int, Draft]]:
    """A scored child a parent, by the child's number; a parent that its critic calls done has none."""
    critiques = yield from _critiques(work, parents, number)
    prompts = {
        child: _prompt(work, parents[child], agreed)
        for child, agreed in critiques.items()
        if not agreed.critique.done
    }
    if not prompts:
        return {}
    answers = yield from work.side_by_side("revise", number, prompts)
    work.stop_when_cut(answers)
    made = [draft_from(each.reply, number, work.task.input, GIVEN_CRITIQUE) for each in answers]
    work.seen += tuple(made)
    scored = yield from work.all_scored(made, number)
    # Fewer than were prompted where the budget had no more calls.
    return {child: draft for child, draft in zip(prompts, scored, strict=False) if draft.text.strip()}


def _critiques(work: Work, parents: Mapping[int, Draft], number: int) -> Verb[dict[int, Agreement]]:
    feedback = work.settings.feedback
    if feedback == "none":
        return dict.fromkeys(parents, NO_CRITIQUE)
    request = work.prompting.critique_request(work.task, feedback=feedback)
    turns = chat(("user", request))
    prompts = {child: work.prompt(parent.text, turns) for child, parent in parents.items()}
    answers = yield from work.side_by_side("critique", number, prompts)
    work.stop_when_cut(answers)
    raws = [each.reply.completions[0].text for each in answers]
    return {
        child: Agreement(request, work.prompting.read_critique(work.task, raw, parents[child].text))
        for child, raw in zip(parents, raws, strict=False)
    }


def _prompt(work: Work, parent: Draft, agreed: Agreement) -> Prompt:
    request = work.prompting.revise_request(
        work.task, feedback=work.settings.feedback, points=agreed.critique.points
    )
    return work.prompt(parent.text, (*agreed.turns(), *chat(("user", request))))


def _looked_ahead(work: Work, born: Mapping[int, Draft], number: int) -> Verb[dict[int, Draft]]:
    """The children with what a further revision of each would score."""
    beyond = max(born) + 1
    after = yield from grow(work, {beyond + child: draft for child, draft in born.items()}, number)
    name = work.settings.gate_scorer or ""
    return {child: _promising(draft, after.get(beyond + child), name) for child, draft in born.items()}


def _promising(child: Draft, after: Draft | None, name: str) -> Draft:
    """The child with its look-ahead score: the better of its own and that of its revision."""
    own = child.score(name)
    values = [draft.value(name) for draft in (child, after) if draft is not None]
    known = [value for value in values if value is not None]
    if own is None or not known:
        return child
    why = "the better of its own score and that of one more revision"
    return replace(child, scores=(*child.scores, Score(ranking.LOOKAHEAD, max(known), why, own.condition)))
