"""Beam search over revisions: every kept draft gets children, the best of parents and children are kept.

A child is a critique of its parent and the revision after it; it sees its parent alone. With a look ahead
each child is revised once more, and ranks by the better of its own score and that revision's.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        parents = [draft for draft in kept for _ in range(work.settings.children)]
        born = yield from grow(work, parents, number)
        if not born:
            raise Ended("the critic says of every draft that it is done")
        if work.settings.lookahead:
            born = yield from _looked_ahead(work, born, number)
        advise = by_score(work, width, ahead=work.settings.lookahead)
        kept = yield from choose(work, (*kept, *born), advise, number, keep=width)
    return "the rounds are used up"


def grow(work: Work, parents: Sequence[Draft], number: int) -> Verb[Drafts]:
    """One scored child a parent; a parent that its critic calls done has none."""
    critiques = yield from _critiques(work, parents, number)
    # Fewer critiques than parents where the budget had no more calls.
    living = [(p, c) for p, c in zip(parents, critiques, strict=False) if not c.critique.done]
    prompts = [_prompt(work, parent, agreed) for parent, agreed in living]
    if not prompts:
        return ()
    answers = yield from work.side_by_side("revise", number, prompts)
    work.stop_when_cut(answers)
    made = [draft_from(each.reply, number, work.task.input, GIVEN_CRITIQUE) for each in answers]
    new = tuple(child for child in made if child.text.strip())
    work.seen += new
    return (yield from work.all_scored(new, number))


def _critiques(work: Work, parents: Sequence[Draft], number: int) -> Verb[list[Agreement]]:
    feedback = work.settings.feedback
    if feedback == "none":
        return [NO_CRITIQUE] * len(parents)
    request = work.prompting.critique_request(work.task, feedback=feedback)
    prompts = [work.prompt(parent.text, chat(("user", request))) for parent in parents]
    answers = yield from work.side_by_side("critique", number, prompts)
    work.stop_when_cut(answers)
    pairs = zip(parents, (each.reply.completions[0].text for each in answers), strict=False)
    return [Agreement(request, work.prompting.read_critique(work.task, raw, p.text)) for p, raw in pairs]


def _prompt(work: Work, parent: Draft, agreed: Agreement) -> Prompt:
    request = work.prompting.revise_request(
        work.task, feedback=work.settings.feedback, points=agreed.critique.points
    )
    return work.prompt(parent.text, (*agreed.turns(), *chat(("user", request))))


def _looked_ahead(work: Work, born: Drafts, number: int) -> Verb[Drafts]:
    """The children with what a further revision of each would score."""
    looked = []
    for child in born:
        after = yield from grow(work, [child], number)
        looked.append(_promising(child, after, work.settings.gate_scorer or ""))
    return tuple(looked)


def _promising(child: Draft, after: Drafts, name: str) -> Draft:
    """The child with its look-ahead score: the better of its own and that of its revision."""
    own = child.score(name)
    values = [value for draft in (child, *after) if (value := draft.value(name)) is not None]
    if own is None or not values:
        return child
    why = "the better of its own score and that of one more revision"
    return replace(child, scores=(*child.scores, Score(ranking.LOOKAHEAD, max(values), why, own.condition)))
