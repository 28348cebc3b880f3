"""Candidates as the board shows them: a grid a choice, each candidate a part of its own, votes as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.history import Story
from core.pools import Candidate, Pool
from core.similar import groups
from core.strategies import refining
from ui.rows import Drawing, ruled

View = dict[str, Any]
MADE = {
    "draft": "",
    "synthesis": "written from the others",
    "child": "revision of a kept draft",
    "kept": "kept from before",
}


def pool_parts(drawing: Drawing, story: Story, strategy: str) -> dict[str, View]:
    """Parts of the view: `pool i` for each choice, and `pool i n` for its candidate number n."""
    parts: dict[str, View] = {}
    further = strategy.endswith("+self_refine") or refining(strategy) is not None
    for i, pool in enumerate(story.pools):
        parts[f"pool {i}"] = _pool(pool) | {"refinable": further and not pool.number and not pool.final}
        alike = _alike(pool)
        for number, each in _shown(pool).items():
            parts[f"pool {i} {number}"] = _slot(drawing, pool, number, each, alike)
    return parts


def _shown(pool: Pool) -> Mapping[int, Candidate | None]:
    """Those written and those asked for, in order."""
    numbers = sorted({*pool.candidates, *pool.asked})
    return {number: pool.candidates.get(number) for number in numbers}


def _pool(pool: Pool) -> View:
    choice, decision = pool.choice, pool.decision
    open_ = choice is not None and decision is None
    return {
        "name": _name(pool),
        "slots": list(_shown(pool)),
        "asked": len(pool.asked),
        "reason": choice.reason if choice else "",
        "advised": list(choice.advised) if choice and open_ else [],
        "synthesise": bool(choice and choice.synthesise),
        "keep": choice.keep if choice else 1,
        "open": open_,
        "final": pool.final,
        "gate": pool.gate,
        "ruled": _ruled(pool),
        "picked": list(decision.picks) if decision and not pool.written else [],
        "votes": _votes(pool),
    }


def _name(pool: Pool) -> str:
    if pool.final:
        return "The choice among everything that was seen"
    return f"Round {pool.number}" if pool.number else "Candidates"


def _ruled(pool: Pool) -> str:
    if pool.decision is None:
        return ""
    which = ", ".join(str(number + 1) for number in pool.decision.picks)
    return f"{ruled(pool.decision)}{f' (candidate {which})' if which else ''}"


def _votes(pool: Pool) -> list[View]:
    """The answers with their members, the most frequent first."""
    if pool.grouped is None:
        return []
    answers = pool.grouped.answers
    classes = sorted(pool.grouped.classes, key=len, reverse=True)
    return [{"answer": answers[c[0]], "members": list(c), "of": len(answers)} for c in classes]


def _alike(pool: Pool) -> dict[int, list[int]]:
    """For each candidate the others that say nearly the same."""
    numbers = [number for number, each in pool.candidates.items() if each.draft.text.strip()]
    found = groups([pool.candidates[number].draft.text for number in numbers])
    same = [[numbers[place] for place in group] for group in found if len(group) > 1]
    return {number: [other for other in group if other != number] for group in same for number in group}


def _slot(
    drawing: Drawing, pool: Pool, number: int, each: Candidate | None, alike: Mapping[int, list[int]]
) -> View:
    waiting = number in pool.asked
    written = each is not None and (each.position is not None or each.made == "kept")
    return {
        "number": number,
        "made": MADE[each.made] if each else "",
        "critique": each.critique if each else "",
        "draft": drawing.draft(each.draft) if each and written else None,
        "waiting": waiting,
        "alike": alike.get(number, []),
        "position": each.position if each else None,
    }
