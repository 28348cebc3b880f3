"""What the board shows of a session, as plain JSON values: words and order are decided here.

Knows no widget. A view is a mapping of parts; a page is sent the parts that changed.
"""

from __future__ import annotations

import time
from typing import Any

from core.domain import Budget
from core.engine import Finished, Pending, Place
from core.history import story_of, token_steps
from core.runs import Live
from core.sessions import Session
from core.spending import Spent
from core.steps import Ask, CritiqueGate, Gate, Group, Measure, PickGate, Request, RevisionGate
from core.workbench import Workbench
from ui.outcome import outcome_view
from ui.pools import pool_parts
from ui.rows import LABELS, Drawing, chart, counted, critic_verdict, point_view, rows
from ui.undoing import undo_words

View = dict[str, Any]
DOING = {
    "draft": "Drafting",
    "critique": "Reading critically",
    "revise": "Revising",
    "judge": "Checking the points",
    "synthesise": "Writing one from all",
}
NEARLY = 0.8
"""From this share of a budget on, the page warns."""


def session_view(bench: Workbench, session: Session, live: Live) -> View:
    """Everything that the board shows of the session as it stands now, part by part."""
    place, problem = bench.readable_place(session)
    waiting = place.request if isinstance(place, Pending) else None
    settings = session.recipe.settings
    story = story_of(session, place)
    drawing = Drawing(settings, session.steps, token_steps(session.steps, session.task.input))
    drawn = rows(drawing, story, waiting, direct=session.recipe.strategy == "direct")
    return {
        "head": {
            **_head(session, place, live, waiting),
            "problem": problem or live.problem or ("" if live.running else session.problem),
            "figures": _figures(story.spent, priced=story.spent.priced),
            "warning": _nearly(story.spent, settings.budget),
            "round": waiting.round if waiting is not None else None,
            "rows": sum(name.startswith("row ") for name in drawn),
            "pools": len(story.pools),
            "pooled": bool(story.pools) and story.pools[-1].open,
        },
        "settings": _settings(session, priced=story.spent.priced or settings.budget.money is not None),
        "gate": _gate(waiting),
        "notes": list(dict.fromkeys(note for _, note in story.notes)),
        "chart": chart(story, settings.gate_scorer),
        "outcome": outcome_view(place.outcome, session, story) if isinstance(place, Finished) else None,
        **drawn,
        **pool_parts(drawing, story, session.recipe.strategy),
    }


def _head(session: Session, place: Place | None, live: Live, waiting: Request | None) -> View:
    return {
        "title": session.title,
        "parent": {"session": session.parent[0], "step": session.parent[1]} if session.parent else None,
        "mode": session.mode,
        "state": _state(place, live),
        "notice": live.notice,
        "doing": _doing(session, place, live),
        "running_seconds": round(time.monotonic() - live.began, 1) if live.doing else 0,
        "position": len(session.steps),
        "passages": {str(part): passage.number for part, passage in live.texts.items()},
        "streaming": waiting.role if live.running and isinstance(waiting, Ask) else None,
        "undo": undo_words(session.steps),
    }


def _settings(session: Session, *, priced: bool) -> View:
    recipe = session.recipe
    budget = recipe.settings.budget
    return {
        "strategy": recipe.strategy,
        "model": recipe.model,
        "models": dict(recipe.models),
        "rounds": recipe.settings.rounds,
        "calls": budget.calls,
        "tokens": budget.tokens,
        "seconds": budget.seconds,
        "money": budget.money,
        "priced": priced,
    }


def _state(place: Place | None, live: Live) -> str:
    if isinstance(place, Finished):
        return "ended"
    if live.running:
        return "running"
    if isinstance(place, Pending):
        return "waiting" if isinstance(place.request, Gate) else "paused"
    return "unreadable"


def _doing(session: Session, place: Place | None, live: Live) -> str:
    if isinstance(place, Finished):
        return f"Ended: {place.outcome.reason}."
    if place is None:
        return "This session can be read but not continued."
    where = _where(place.request, session.recipe.settings.rounds)
    return f"{_activity(session, place, live)} · {where}"


def _where(request: Request, rounds: int) -> str:
    if request.round > rounds:
        return "the last look at everything"
    if request.round:
        return f"round {request.round} of {rounds}"
    many = isinstance(request, PickGate | Group) or (
        isinstance(request, Ask) and request.role == "synthesise"
    )
    return "candidates" if many else "first draft"


def _activity(session: Session, place: Pending, live: Live) -> str:
    request = place.request
    if isinstance(request, CritiqueGate):
        return "Waiting for you: which points shall the revision follow?"
    if isinstance(request, RevisionGate):
        return "Waiting for you: accept the revision?"
    if isinstance(request, PickGate):
        return "Waiting for you: which candidate goes on?"
    if not live.running:
        button = "Retry" if live.problem or session.problem else "Continue"
        return f"Not running. {button} goes on at this step"
    if isinstance(request, Measure):
        return f"Scoring ({', '.join(LABELS.get(name, name) for name in request.scorers)})"
    return _asking(session, place, request) if isinstance(request, Ask) else "Comparing the answers"


def _asking(session: Session, place: Pending, ask: Ask) -> str:
    what, model = DOING.get(ask.role, ask.role), session.recipe.model_for(ask.role)
    if place.fan is None or len(place.fan.asks) == 1:
        return f"{what} with {model}"
    asked, left = len(place.fan.asks), len(place.open)
    return f"{what}: {asked} side by side with {model}, {asked - left} done"


def _figures(spent: Spent, *, priced: bool) -> str:
    tokens = f"{spent.prompt_tokens:,} tokens read ({spent.cached_tokens:,} from cache), "
    tokens += f"{spent.completion_tokens:,} written"
    uncounted = f" ({spent.uncounted} calls reported none)" if spent.uncounted else ""
    money = f" · cost {spent.money:.4f}" if priced else ""
    return (
        f"{counted(spent.calls, 'call')} · {tokens}{uncounted} · {spent.seconds:.1f} s of model time{money}"
    )


def _nearly(spent: Spent, budget: Budget) -> str:
    """The parts of the budget that are nearly spent, in words, or ""."""
    parts = (
        ("calls", spent.calls, budget.calls),
        ("tokens", spent.tokens, budget.tokens),
        ("seconds", spent.seconds, budget.seconds),
        ("money", spent.money, budget.money),
    )
    near = [
        f"{used:,.6g} of {limit:,g} {what}" for what, used, limit in parts if limit and used >= NEARLY * limit
    ]
    return f"The budget is nearly spent: {', '.join(near)}." if near else ""


# -- gates --------------------------------------------------------------------------


def _gate(waiting: Request | None) -> View | None:
    if isinstance(waiting, CritiqueGate):
        critique = waiting.critique
        hint = "Tick the points that the revision shall follow. Edit them, weigh them, add your own."
        return {
            "kind": "critique",
            "done": bool(critique.done),
            "hint": f"{critic_verdict(critique)} {hint}",
            "text": waiting.draft.text,
            "points": [point_view(point, kept=True) for point in critique.points],
        }
    if isinstance(waiting, RevisionGate):
        advised = waiting.verdict.accept is not False
        return {"kind": "revision", "text": waiting.proposed.text, "advised": advised}
    return None
