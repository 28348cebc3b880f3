"""Candidates over HTTP: compared and put together at any time, refined in a copy; wrong numbers in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from core.domain import Decision
from core.engine import Pending
from core.running import Stop
from core.runs import Runs
from tests.benches import Bench
from tests.test_fans import made
from ui.candidate_routes import candidate_routes

TEXTS = ["The food was good.", "The food was fine.", "The meal was good.", "The food was good!"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, [*TEXTS, "A critique. VERDICT: revise", "Better."])


@pytest.fixture
def client(bench: Bench) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(candidate_routes(bench, Runs(bench), "Anna"))
    with TestClient(app) as client:
        yield client


@pytest.fixture
def session(bench: Bench) -> str:
    session_id = bench.new(mode="ask", made_by=made())
    asyncio.run(bench.advance(session_id, lambda _: None, Stop()))
    return session_id


def at_gate(bench: Bench, session: str) -> int:
    place = bench.place(bench.store.load(session))
    assert isinstance(place, Pending)
    return place.position


def test_candidates_are_compared_with_one_of_them(client: TestClient, session: str) -> None:
    found = client.get(f"/api/sessions/{session}/pools/0/compare?base=0&others=1,0,2").json()["pieces"]
    assert [number for number, _ in found] == [1, 2]
    removed = ["".join(c for c, _ in marks) for kind, _, marks in found[0][1] if kind == "removed"]
    assert removed == ["good"]


def test_what_is_put_together_is_what_the_decision_will_say(
    bench: Bench, client: TestClient, session: str
) -> None:
    body = {"base": 0, "merged": [[1, 0], [2, 0]]}
    text = client.post(f"/api/sessions/{session}/pools/0/merge", json=body).json()["text"]
    assert text == "The meal was fine."
    bench.decide(
        session, at_gate(bench, session), Decision("merge", "Anna", picks=(0,), merged=((1, 0), (2, 0)))
    )
    decided = bench.store.load(session).steps[-1].answer
    assert decided.decision.text == text  # type: ignore[union-attr]


def test_wrong_numbers_are_refused_in_words(bench: Bench, client: TestClient, session: str) -> None:
    root = f"/api/sessions/{session}"
    for path in ("/pools/7/compare?base=0&others=1", "/pools/0/compare?base=9&others=1"):
        assert "reload the page" in client.get(root + path).json()["error"]
    clash = {"base": 0, "merged": [[1, 0], [1, 9]]}
    assert "compare the texts again" in client.post(f"{root}/pools/0/merge", json=clash).json()["error"]
    assert "no session" in client.get("/api/sessions/nope/pools/0/compare?base=0&others=1").json()["error"]
    refused = client.post(f"{root}/choices/0/refine", json={"pick": 1}).json()["error"]
    assert "waiting for a model" in refused
    assert len(bench.store.recent(5)) == 1  # nothing was copied for it


def test_a_candidate_is_refined_in_a_copy(bench: Bench, client: TestClient, session: str) -> None:
    position = at_gate(bench, session)
    copy = client.post(f"/api/sessions/{session}/choices/{position}/refine", json={"pick": 1}).json()[
        "session"
    ]
    kept = bench.store.load(copy)
    assert kept.recipe.strategy == "best_of_n+self_refine" and kept.parent == (session, position)
    assert at_gate(bench, session) == position
