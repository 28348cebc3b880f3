"""What a person does with candidates besides choosing: compare them, put parts together, refine one.

Plain routes beside those of core sessions (ui/session_routes.py); errors come back as {"error": words}.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from core.checks import BadDecision, merged_text
from core.domain import Decision
from core.engine import Pending
from core.runs import Runs
from core.steps import PickGate, Request
from core.workbench import Workbench
from ui.marks import pieces
from ui.session_routes import answered

Answer = dict[str, Any]
MOST = 64


class MergeBody(BaseModel):
    """The candidate to begin with, and the changes of others, each (candidate, number of the change)."""

    base: int = Field(ge=0, le=MOST)
    merged: list[tuple[int, int]] = Field([], max_length=10_000)


class RefineBody(BaseModel):
    """The candidate that is to be refined further."""

    pick: int = Field(ge=0, le=MOST)


def candidate_routes(bench: Workbench, runs: Runs, person: str) -> APIRouter:
    """The routes; `position` is the step of the choice, decided or open."""
    router = APIRouter(prefix="/api/sessions/{session_id}/choices/{position}")

    @router.get("/compare", response_model=None)
    async def compare(session_id: str, position: int, base: int, others: str) -> Answer:
        def read() -> Answer:
            gate = _gate(bench, session_id, position)
            numbers = [int(part) for part in others.split(",")[:MOST] if part.isdecimal()]
            return {"pieces": [[n, pieces(_text(gate, base), _text(gate, n))] for n in numbers if n != base]}

        return await answered(read)

    @router.post("/merge", response_model=None)
    async def merge(session_id: str, position: int, body: MergeBody) -> Answer:
        def read() -> Answer:
            gate = _gate(bench, session_id, position)
            if not body.merged:
                return {"text": _text(gate, body.base)}
            decision = Decision("merge", person, picks=(body.base,), merged=tuple(body.merged))
            return {"text": merged_text(gate, decision)}

        return await answered(read)

    @router.post("/refine", response_model=None)
    async def refine(session_id: str, position: int, body: RefineBody) -> Answer:
        decision = Decision("pick", person, picks=(body.pick,))
        answer = await answered(lambda: {"session": bench.refine(session_id, position, decision)})
        if "session" in answer:
            runs.start(answer["session"])
        return answer

    return router


def _gate(bench: Workbench, session_id: str, position: int) -> PickGate:
    """The choice at that step. Raises UnknownSession, BadDecision."""
    session = bench.store.load(session_id)
    asked: list[Request] = [step.request for step in session.steps]
    place, _ = bench.readable_place(session)
    asked += [place.request] if isinstance(place, Pending) else []
    found = asked[position] if 0 <= position < len(asked) else None
    if not isinstance(found, PickGate):
        raise BadDecision("There is no choice among candidates here any more; reload the page.")
    return found


def _text(gate: PickGate, number: int) -> str:
    if not 0 <= number < len(gate.candidates):
        raise BadDecision("There is no such candidate; reload the page.")
    return gate.candidates[number].text
