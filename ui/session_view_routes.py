"""The routes of the session view: the timeline, one step, a text against another, the texts that stood.

Knows no widget. Errors come back as {"error": words} for the place where the person is looking. What is long
is sent on demand: the timeline holds no prompt and no whole text.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from core.attribution import Author
from core.domain import Outcome, Task
from core.engine import Finished
from core.evolution import Standing, evolution
from core.facts import preset_name
from core.history import token_steps
from core.sessions import Session, UnknownSession
from core.steps import Measured
from core.timeline import Text, texts_of
from core.workbench import Workbench
from ui.marks import pieces
from ui.naming import strategy_name
from ui.rows import Drawing
from ui.session_steps import line, score_view, whole

View = dict[str, Any]
HOWS = {"wrote": "written"}
MOST_PLAYED = 2_000_000
"""Characters of texts that are sent to be played through; of more the last ones are."""


class NoSuchStep(Exception):
    """A step was asked for that the session has not, or that brought no text."""

    def __init__(self, position: int, what: str = "step") -> None:
        super().__init__(f"This session has no {what} {position}; reload the page to see what it has.")


def session_view_routes(bench: Workbench) -> APIRouter:
    """The routes of the session view."""
    router = APIRouter(prefix="/api/sessions/{session_id}")

    @router.get("/timeline")
    async def timeline(session_id: str) -> JSONResponse:
        return await _answer(lambda: timeline_view(bench, bench.store.load(session_id)))

    @router.get("/steps/{position}")
    async def step(session_id: str, position: int) -> JSONResponse:
        return await _answer(lambda: step_view(bench.store.load(session_id), position))

    @router.get("/texts")
    async def text(session_id: str, step: int, against: int | None = None) -> JSONResponse:
        return await _answer(lambda: text_view(bench.store.load(session_id), step, against))

    @router.get("/evolution")
    async def played(session_id: str) -> JSONResponse:
        return await _answer(lambda: evolution_view(bench.store.load(session_id)))

    return router


async def _answer(work: Any) -> JSONResponse:
    """What the work gives, or the words of its refusal."""
    try:
        return JSONResponse(await asyncio.to_thread(work))
    except (UnknownSession, NoSuchStep) as refusal:
        return JSONResponse({"error": str(refusal)}, status_code=404)


def timeline_view(bench: Workbench, session: Session) -> View:
    """The session's head, a line a step, and the names of its texts."""
    place, problem = bench.readable_place(session)
    ended = place.outcome if isinstance(place, Finished) else None
    source, recipe = session.task.input, session.recipe
    return {
        "id": session.id,
        "title": session.title,
        "created_at": session.created_at.isoformat(),
        "preset": preset_name(recipe.preset),
        "strategy": strategy_name(recipe.strategy),
        "model": recipe.model,
        "parent": list(session.parent) if session.parent else None,
        "state": _ended(ended) if ended else problem or session.problem or "Not ended.",
        "task": _task(session.task),
        "steps": [line(position, step, recipe, source) for position, step in enumerate(session.steps)],
        "texts": [{"step": text.step, "name": text.name} for text in texts_of(session)],
    }


def _ended(outcome: Outcome) -> str:
    return f"Ended: {outcome.reason}. {outcome.why_best}"


def _task(task: Task) -> list[list[str]]:
    parts = (
        ("Instruction", task.instruction),
        ("Text", task.input),
        ("Reference", task.reference),
        ("Target", task.target),
    )
    return [[name, text] for name, text in parts if text]


def step_view(session: Session, position: int) -> View:
    """Everything of one step."""
    if not 0 <= position < len(session.steps):
        raise NoSuchStep(position)
    return whole(position, session.steps[position], session.recipe, session.task.input)


def text_view(session: Session, step: int, against: int | None) -> View:
    """The text that a step brought, its scores with their reasons, and its changes against another step's."""
    known = {text.step: text for text in texts_of(session)}
    text = _known(known, step)
    other = _known(known, against) if against is not None and against != step else None
    tokens = token_steps(session.steps, session.task.input)
    drawing = Drawing(session.recipe.settings, session.steps, tokens)
    return {
        "name": text.name,
        "against": other.name if other else "",
        "draft": drawing.draft(text.draft, other.draft if other else None),
        "pieces": pieces(other.draft.text, text.draft.text) if other else None,
        "reasons": _reasons(session, text),
    }


def _known(texts: dict[int, Text], step: int) -> Text:
    if step not in texts:
        raise NoSuchStep(step, "text of step")
    return texts[step]


def _reasons(session: Session, text: Text) -> list[View]:
    """The measurements of a text that say more than a number."""
    found = []
    for step in session.steps:
        if isinstance(step.answer, Measured) and step.request.kind == "measure":
            for each, scores in zip(step.request.texts, step.answer.scores, strict=False):
                found += [score_view(s) for s in scores if each == text.draft.text and (s.notes or s.replies)]
    return found


def evolution_view(session: Session) -> View:
    """Every text that stood, as [number of the author, characters] pairs; of long ones the last."""
    stood = evolution(session)
    played = _last(stood)
    authors = list(dict.fromkeys(run.by for standing in played for run in standing.runs))
    number = {author: place for place, author in enumerate(authors)}
    return {
        "left_out": len(stood) - len(played),
        "authors": [_author(author) for author in authors],
        "frames": [
            {
                "step": standing.step,
                "round": standing.round,
                "how": HOWS.get(standing.how, standing.how),
                "by": standing.by,
                "runs": [[number[run.by], run.text] for run in standing.runs],
            }
            for standing in played
        ],
    }


def _last(stood: tuple[Standing, ...]) -> tuple[Standing, ...]:
    """As many of the last texts as may be sent, one at least."""
    room = MOST_PLAYED
    for place in range(len(stood) - 1, -1, -1):
        room -= sum(len(run.text) for run in stood[place].runs)
        if room < 0:
            return stood[min(place + 1, len(stood) - 1) :]
    return stood


def _author(author: Author) -> View:
    return {"name": author.name, "person": author.person, "round": author.round, "step": author.step}
