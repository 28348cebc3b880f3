"""Sessions beside each other, aligned by round, as plain JSON values. Knows no widget.

A row is a round: what each session drafted, what it was told to change, what came of it and who ruled. Rounds
have the same number in every session, whatever steps they took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.domain import Draft, Task
from core.engine import Finished
from core.facts import preset_name
from core.history import Attempt, Round, Story, story_of, token_steps
from core.pools import Pool
from core.sessions import Session
from core.workbench import Workbench
from ui.marks import pieces
from ui.naming import strategy_name
from ui.rows import LABELS, Drawing, point_view, ruled

View = dict[str, Any]
TASK_PARTS = {"input": "text", "instruction": "instruction", "reference": "reference", "target": "target"}
SHOWN = 12
"""Most candidates of one choice that a cell shows."""


@dataclass(frozen=True)
class Side:
    """One of the sessions, with its story."""

    session: Session
    story: Story
    drawing: Drawing
    ended: Finished | None

    @property
    def result(self) -> Draft | None:
        """The outcome's draft; of a session that has not ended the one that stands."""
        return self.ended.outcome.draft if self.ended else self.story.current


def side_of(bench: Workbench, session: Session) -> Side:
    """The session as it is compared."""
    place, _ = bench.readable_place(session)
    tokens = token_steps(session.steps, session.task.input)
    drawing = Drawing(session.recipe.settings, session.steps, tokens)
    return Side(session, story_of(session, place), drawing, place if isinstance(place, Finished) else None)


def compared(sides: Sequence[Side]) -> View:
    """The whole comparison."""
    numbers = sorted({number for side in sides for number in _numbers(side.story)})
    return {
        "sessions": [_head(side) for side in sides],
        "tasks": _tasks([side.session.task for side in sides]),
        "differences": _differences(sides),
        "rows": [
            {"name": f"Round {n}" if n else "First drafts", "cells": [_cells(side, n) for side in sides]}
            for n in numbers
        ],
        "results": [_result(side) for side in sides],
    }


def difference(old: Side, new: Side) -> View:
    """The result of one against that of the other."""
    if old.result is None or new.result is None:
        return {"pieces": None}
    return {"pieces": pieces(old.result.text, new.result.text)}


def _head(side: Side) -> View:
    session, spent = side.session, side.story.spent
    return {
        "id": session.id,
        "title": session.title,
        "created_at": session.created_at.isoformat(),
        "about": [strategy_name(session.recipe.strategy), session.recipe.model],
        "spent": {
            "calls": spent.calls,
            "tokens": spent.tokens,
            "seconds": round(spent.seconds, 1),
            "money": spent.money if spent.priced else None,
        },
    }


# -- what they have in common -------------------------------------------------------------------


def _tasks(tasks: Sequence[Task]) -> View:
    """The task where it is one and the same, and which parts of it differ."""
    parts = {name: list(dict.fromkeys(getattr(task, name) for task in tasks)) for name in TASK_PARTS}
    differing = [TASK_PARTS[name] for name, values in parts.items() if len(values) > 1]
    shown = [
        [TASK_PARTS[name], values[0]] for name, values in parts.items() if len(values) == 1 and values[0]
    ]
    return {"differing": differing, "shared": shown}


def _differences(sides: Sequence[Side]) -> list[View]:
    """Settings that are not the same in all of them: {"name", "values"}."""
    each = [_settings(side.session) for side in sides]
    names = list(dict.fromkeys(name for settings in each for name in settings))
    found = [{"name": name, "values": [settings.get(name, "") for settings in each]} for name in names]
    return [row for row in found if len(set(row["values"])) > 1]


def _settings(session: Session) -> dict[str, str]:
    recipe = session.recipe
    found = {
        "preset": preset_name(recipe.preset),
        "strategy": strategy_name(recipe.strategy),
        "model": recipe.model,
        **{f"model for {role}": name for role, name in recipe.models},
        "judges": ", ".join(recipe.judges),
        "decided by": {"ask": "a person", "ask_on_fall": "a person where the score falls"}.get(
            session.mode, "the policy"
        ),
    }
    for name, value in asdict(recipe.settings).items():
        if isinstance(value, dict):
            found |= {f"{_spoken(name)}: {_spoken(part)}": _said(each) for part, each in value.items()}
        else:
            found[_spoken(name)] = _said(value)
    return found


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _said(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(LABELS.get(str(each), str(each)) for each in value)
    if value is None:
        return "none"
    return (
        {True: "yes", False: "no"}[value] if isinstance(value, bool) else LABELS.get(str(value), str(value))
    )


# -- rounds -------------------------------------------------------------------------------------


def _numbers(story: Story) -> set[int]:
    """The rounds that the session has anything in; 0 is before the first."""
    return {0, *(pool.number for pool in story.pools if not pool.final), *(r.number for r in story.rounds)}


def _cells(side: Side, number: int) -> list[View]:
    """What happened in a round of one session, in order."""
    story, found = side.story, list[View]()
    for pool in story.pools:
        if pool.number == number and not pool.final:
            found += _pool(side, pool)
    for each in story.rounds:
        if each.number == number:
            found += _round(side, each)
    if number == 0 and not story.pools and story.first is not None:
        found.append({"heading": "", "draft": side.drawing.draft(story.first)})
    return found


def _pool(side: Side, pool: Pool) -> list[View]:
    found: list[View] = [
        {
            "heading": f"Candidate {number + 1}",
            "draft": side.drawing.draft(each.draft),
            "chosen": pool.decision is not None and number in pool.decision.picks,
        }
        for number, each in list(pool.candidates.items())[:SHOWN]
        if each.made != "kept"
    ]
    left = len(pool.candidates) - SHOWN
    if left > 0:
        found.append({"heading": "", "remark": f"{left} more candidates"})
    if pool.written is not None:
        found.append(
            {"heading": f"Put together by {pool.written.by}", "draft": side.drawing.draft(pool.written)}
        )
    if pool.decision is not None:
        found.append({"heading": "", "remark": ruled(pool.decision)})
    return found


def _round(side: Side, each: Round) -> list[View]:
    found: list[View] = []
    if each.replaced:
        found.append({"heading": f"Written by {each.base.by}", "draft": side.drawing.draft(each.base)})
    if each.raw_critique or each.points:
        points = [point_view(point, kept=True) for point in each.points]
        found.append({"heading": "Critique", "points": points, "text": "" if points else each.raw_critique})
    return found + [cell for attempt in each.attempts for cell in _attempt(side, each, attempt)]


def _attempt(side: Side, each: Round, attempt: Attempt) -> list[View]:
    base = each.base
    found: list[View] = [_revised(side, "Revision", base, attempt.proposed, attempt)]
    if attempt.written is not None:
        own = attempt.written.by == _decided_by(attempt)
        heading = "In their own words" if own else "As it was taken over"
        found.append(_revised(side, heading, base, attempt.written, None))
    return found


def _decided_by(attempt: Attempt) -> str:
    return attempt.decision.by if attempt.decision else ""


def _revised(side: Side, heading: str, base: Draft, draft: Draft, attempt: Attempt | None) -> View:
    decision = attempt.decision if attempt else None
    return {
        "heading": heading,
        "draft": {**side.drawing.draft(draft, base), "pieces": pieces(base.text, draft.text)},
        "remark": ruled(decision) if decision else "",
    }


def _result(side: Side) -> View:
    result, outcome = side.result, side.ended.outcome if side.ended else None
    return {
        "draft": side.drawing.draft(result, side.story.first) if result else None,
        "why": f"Ended: {outcome.reason}. {outcome.why_best}"
        if outcome
        else side.session.problem or "Not ended.",
    }
