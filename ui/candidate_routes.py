"""What a person does with candidates besides choosing: compare them, put parts together, refine one.

Plain routes beside those of core sessions (ui/session_routes.py); errors come back as {"error": words}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from core.checks import BadDecision
from core.domain import Decision
from core.history import story_of
from core.merging import merge
from core.runs import Runs
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
    """The routes; `pool` counts the session's choices from 0, `position` is the step of one."""
    router = APIRouter(prefix="/api/sessions/{session_id}")

    @router.get("/pools/{pool}/compare", response_model=None)
    async def compare(session_id: str, pool: int, base: int, others: str) -> Answer:
        def read() -> Answer:
            texts = _texts(bench, session_id, pool)
            numbers = [int(part) for part in others.split(",")[:MOST] if part.isdecimal()]
            found = [[n, pieces(_of(texts, base), _of(texts, n))] for n in numbers if n != base]
            return {"pieces": found}

        return await answered(read)

    @router.post("/pools/{pool}/merge", response_model=None)
    async def put_together(session_id: str, pool: int, body: MergeBody) -> Answer:
        def read() -> Answer:
            texts = _texts(bench, session_id, pool)
            try:
                return {"text": merge(_of(texts, body.base), texts, body.merged)}
            except ValueError as error:
                raise BadDecision(str(error)) from error

        return await answered(read)

    @router.post("/choices/{position}/refine", response_model=None)
    async def refine(session_id: str, position: int, body: RefineBody) -> Answer:
        decision = Decision("pick", person, picks=(body.pick,))
        answer = await answered(lambda: {"session": bench.refine(session_id, position, decision)})
        if "session" in answer:
            runs.start(answer["session"])
        return answer

    return router


def _texts(bench: Workbench, session_id: str, pool: int) -> dict[int, str]:
    """The candidates of a choice, as far as they are written. Raises UnknownSession, BadDecision."""
    session = bench.store.load(session_id)
    pools = story_of(session, bench.readable_place(session)[0]).pools
    if not 0 <= pool < len(pools):
        raise BadDecision("There is no such choice among candidates; reload the page.")
    return {number: each.draft.text for number, each in pools[pool].candidates.items()}


def _of(texts: Mapping[int, str], number: int) -> str:
    if number not in texts:
        raise BadDecision("There is no such candidate; reload the page.")
    return texts[number]
