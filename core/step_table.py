"""Sessions as one flat table, a row for every text and every ruling, for whoever counts. Knows no file.

JSON is complete; this leaves out what a cell can't hold: prompts, tokens, points, single ratings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from core.domain import Completion, Draft, Score
from core.facts import gate_scorer, preset_name
from core.history import story_of
from core.interchange import Kept
from core.spreadsheet import csv_lines
from core.steps import Answer, Ask, CritiqueGate, Replied, Request, RevisionGate, Ruled, costs_of, stopped_by
from core.timeline import ONE_BY_ONE, texts_of

COLUMNS = (
    "session",
    "title",
    "began",
    "preset",
    "strategy",
    "tags",
    "starred",
    "step",
    "at",
    "round",
    "candidate",
    "what",
    "by",
    "text",
    "star",
    "stands",
    "ruling",
    "reason",
    "scorer",
    "score",
    "scores",
    "flags",
    "finish",
    "notes",
    "prompt_tokens",
    "completion_tokens",
    "seconds",
    "cost",
)
"""`starred` is about the session, `star` about the text. `stands`: 1 for the text that the session stands
on now. `score` is that of `scorer`, the gate's; `scores` are all that were measured of the text, as JSON.
`candidate` is which of several drafts a text is. Several texts of one reply are rows of one step: scores, and
what the reply took, stand in the first. What measuring took is in no row."""
_WHAT = {"draft": "draft", "critique": "critique", "revise": "revision", "synthesise": "synthesis"}
Row = dict[str, Any]


def step_table(sessions: Iterable[Kept]) -> Iterator[str]:
    """The sessions as lines of CSV with a header."""
    rows = ([row.get(name, "") for name in COLUMNS] for kept in sessions for row in _rows(kept))
    return csv_lines(COLUMNS, rows)


def _rows(kept: Kept) -> Iterator[Row]:
    session, about = kept.session, _about(kept)
    drafts = {text.step: text.draft for text in texts_of(session)}
    scorer = gate_scorer(session.recipe.settings)
    standing = _standing(kept)
    for position, (step, at) in enumerate(zip(session.steps, kept.times, strict=True)):
        draft, place = drafts.get(position), _place(kept, position, at)
        first = {"stands": int(position == standing), "star": int(position in kept.marks.stars)}
        first |= _scored(draft, scorer) if draft else {}
        for number, row in enumerate(_told(step.request, step.answer, draft)):
            yield about | place | (first if number == 0 else {"stands": 0, "star": 0}) | row


def _about(kept: Kept) -> Row:
    session, marks = kept.session, kept.marks
    return {
        "session": session.id,
        "title": session.title,
        "began": session.created_at.isoformat(),
        "preset": preset_name(session.recipe.preset),
        "strategy": session.recipe.strategy,
        "tags": ", ".join(marks.tags),
        "starred": int(marks.starred),
    }


def _standing(kept: Kept) -> int | None:
    """The first step that brought the text that stands: a later one may have been rejected."""
    current = story_of(kept.session, None).current
    steps = (text.step for text in texts_of(kept.session) if current and text.draft.text == current.text)
    return next(steps, None)


def _place(kept: Kept, position: int, at: datetime) -> Row:
    request, strategy = kept.session.steps[position].request, kept.session.recipe.strategy
    several = strategy not in ONE_BY_ONE
    candidate = isinstance(request, Ask) and several and (request.role == "draft" or "beam" in strategy)
    return {
        "step": position,
        "at": at.isoformat(),
        "round": request.round,
        "candidate": request.part + 1 if candidate and isinstance(request, Ask) else "",
    }


def _told(request: Request, answer: Answer, draft: Draft | None) -> Iterator[Row]:
    """The rows of one step; none of a step that only measures or groups."""
    if isinstance(request, Ask) and isinstance(answer, Replied):
        for number, completion in enumerate(answer.reply.completions):
            first = _reply(answer) if number == 0 else {}
            text = draft.text if draft and number == 0 else completion.text
            yield {"what": _WHAT.get(request.role, request.role), "by": answer.reply.model,
                   "text": text, **first, **_ended(completion, answer)}  # fmt: skip
    elif isinstance(answer, Ruled):
        decision = answer.decision
        reasons = filter(None, (decision.note, decision.why))
        yield {"what": _gate(request), "by": decision.by, "text": decision.text or "",
               "ruling": decision.ruling, "reason": " ".join(reasons)}  # fmt: skip


def _gate(request: Request) -> str:
    if isinstance(request, CritiqueGate):
        return "ruling on the critique"
    return "ruling on the revision" if isinstance(request, RevisionGate) else "ruling on the candidates"


def _reply(answer: Replied) -> Row:
    """What the reply took, and what a person should know of it."""
    (cost,) = costs_of(answer)
    return {
        "notes": "; ".join(answer.reply.notes),
        "prompt_tokens": _known(cost.usage.prompt_tokens),
        "completion_tokens": _known(cost.usage.completion_tokens),
        "seconds": round(cost.seconds, 3),
        "cost": _known(cost.money),
    }


def _ended(completion: Completion, answer: Answer) -> Row:
    by = stopped_by(answer)
    return {"finish": f"stopped by {by}" if by else completion.finish}


def _known(value: float | None) -> float | str:
    return "" if value is None else value


def _scored(draft: Draft, scorer: str) -> Row:
    gate = next((s.value for s in reversed(draft.scores) if s.scorer == scorer), None)
    return {
        "scorer": scorer,
        "score": _known(gate),
        "scores": json.dumps({s.scorer: _value(s) for s in draft.scores}) if draft.scores else "",
        "flags": ", ".join(draft.flags),
    }


def _value(score: Score) -> float | str | None:
    """The value, or in its place why there is none."""
    return score.value if score.value is not None else score.why or None
