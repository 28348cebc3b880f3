"""The tree of forks that a session belongs to, with the best of them marked."""

from __future__ import annotations

from typing import Any

from core.engine import Finished
from core.history import Story, story_of
from core.sessions import Session
from core.workbench import Workbench
from ui.naming import strategy_name

View = dict[str, Any]


def family_view(bench: Workbench, session_id: str) -> list[View]:
    """Every session of the family, oldest first; `best` marks the highest score and what led to it."""
    family = bench.store.family(session_id)
    scores = {session.id: _best_score(session) for session in family}
    known = {i: score for i, score in scores.items() if score is not None}
    best = max(known, key=lambda i: known[i]) if known else None
    path = _path(family, best)
    return [
        {
            "session": session.id,
            "parent": session.parent[0] if session.parent else None,
            "steps": len(session.steps),
            "forked_at": session.parent[1] if session.parent else None,
            "created_at": session.created_at.isoformat(),
            "state": _state(bench, session),
            "score": scores[session.id],
            "strategy": strategy_name(session.recipe.strategy),
            "best": session.id == best,
            "on_best_path": session.id in path,
            "here": session.id == session_id,
        }
        for session in family
    ]


def _path(family: list[Session], best: str | None) -> set[str]:
    parents = {session.id: session.parent[0] if session.parent else None for session in family}
    path: set[str] = set()
    while best is not None:
        path.add(best)
        best = parents.get(best)
    return path


def _best_score(session: Session) -> float | None:
    """The highest gate score among the texts that stood at some time."""
    scorer = session.recipe.settings.gate_scorer
    if scorer is None:
        return None
    story = story_of(session, None)
    values = [draft.value(scorer) for draft in _stood(story)]
    return max((value for value in values if value is not None), default=None)


def _stood(story: Story) -> list[Any]:
    bases = [r.base for r in story.rounds]
    return [draft for draft in (story.first, *bases, story.current) if draft is not None]


def _state(bench: Workbench, session: Session) -> str:
    place, _ = bench.readable_place(session)
    if place is None:
        return "can only be read"
    return f"ended: {place.outcome.reason}" if isinstance(place, Finished) else "open"
