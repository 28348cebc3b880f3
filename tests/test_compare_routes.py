"""The routes of the comparison, asked over HTTP in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.domain import Decision, Task
from storage.database import open_database
from storage.insight_store import SqlInsightStore
from tests.benches import Bench, recipe
from tests.played import FIRST, OWN, PERSON, THIRD, bench_in, played
from ui.compare_routes import compare_routes

KEEP = (
    Decision("accept", PERSON),
    Decision("reject", PERSON),
    Decision("accept", PERSON),
    Decision("accept", PERSON),
)


def ask(bench: Bench, folder: Path, what: str) -> tuple[int, Any]:
    """The status and the JSON of an answer."""

    async def get() -> tuple[int, Any]:
        app = FastAPI()
        counts = SqlInsightStore(open_database(f"sqlite:///{folder}/redraft.db"))
        app.include_router(compare_routes(bench, counts))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
            answer = await web.get(f"/api/compare{what}")
            return answer.status_code, answer.json()

    return asyncio.run(get())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_in(tmp_path, 2)


def beside(bench: Bench, folder: Path, ids: Sequence[str]) -> Any:
    status, view = ask(bench, folder, f"?ids={','.join(ids)}")
    assert status == 200, view
    return view


def test_rounds_stand_beside_each_other_whatever_was_decided(bench: Bench, tmp_path: Path) -> None:
    view = beside(bench, tmp_path, [played(bench), played(bench, KEEP)])
    assert [row["name"] for row in view["rows"]] == ["First drafts", "Round 1", "Round 2"]
    first, one, two = (row["cells"] for row in view["rows"])
    assert [cell[0]["draft"]["text"] for cell in first] == [FIRST, FIRST]
    assert [part["heading"] for part in one[0]] == ["Critique", "Revision", "As it was taken over"]
    assert one[1][-1]["remark"] == f"Not accepted by {PERSON}"
    assert [part["heading"] for part in two[0]][-1] == "In their own words"
    assert [result["draft"]["text"] for result in view["results"]] == [OWN, THIRD]
    assert view["tasks"]["differing"] == [] and view["differences"] == []


def test_settings_that_differ_are_told_and_only_those(bench: Bench, tmp_path: Path) -> None:
    other = bench.new("auto", recipe(rounds=3, strategy="best_of_n"))
    view = beside(bench, tmp_path, [bench.new("ask", recipe(rounds=2)), other])
    told = {row["name"]: row["values"] for row in view["differences"]}
    assert told == {
        "strategy": ["Draft, critique, revise", "Several drafts, the best by score"],
        "decided by": ["a person", "the policy"],
        "rounds": ["2", "3"],
    }


def test_tasks_that_differ_are_told(bench: Bench, tmp_path: Path) -> None:
    other = bench.new(task=Task("Another text.", instruction="Make it negative."))
    view = beside(bench, tmp_path, [bench.new(), other])
    assert view["tasks"]["differing"] == ["text"]
    assert view["tasks"]["shared"] == [["instruction", "Make it negative."]]
    assert view["results"][0] == {"draft": None, "why": "Not ended."}


def test_candidates_stand_in_the_first_row(tmp_path: Path) -> None:
    texts = ["one", "two", "three", "four"]
    bench = Bench(tmp_path, texts, scores=dict.fromkeys(texts, -1.0))
    ids = [played(bench, (Decision("pick", PERSON, picks=(1,)),), recipe(strategy="best_of_n")), bench.new()]
    cells = beside(bench, tmp_path, ids)["rows"][0]["cells"]
    chosen = [part["chosen"] for part in cells[0] if part["heading"].startswith("Candidate")]
    assert chosen == [False, True, False, False] and cells[1] == []


def test_results_differ_word_by_word(bench: Bench, tmp_path: Path) -> None:
    one, other = played(bench), played(bench, KEEP)
    _, view = ask(bench, tmp_path, f"/difference?old={one}&new={other}")
    changed = [[kind, "".join(c for c, _ in marks)] for kind, _, marks in view["pieces"] if kind != "same"]
    assert changed == [["removed", "our waiter"], ["added", "the staff"]]
    assert ask(bench, tmp_path, f"/difference?old={one}&new={bench.new()}")[1] == {"pieces": None}


def test_a_table_has_first_last_and_best_score(bench: Bench, tmp_path: Path) -> None:
    one, gone = played(bench), bench.new()
    bench.store.delete(gone)
    _, view = ask(bench, tmp_path, f"/table?ids={gone},{one},nothing,{one}")
    (row,) = view["rows"]
    figures = ("first", "last", "best", "change", "rounds", "outcome", "scorer")
    assert [row[name] for name in figures] == [-3.0, -1.5, -1.0, 1.5, 2, "rounds", "logprob"]
    assert view["missing"] == 2


@pytest.mark.parametrize(
    ("what", "status", "words"),
    [
        ("?ids=a", 200, "2 to 4 sessions"),
        ("?ids=a,b,c,d,e", 200, "2 to 4 sessions"),
        ("?ids=a,b", 404, "There is no session 'a'"),
        ("/table?ids=,", 200, "1 to 500"),
    ],
)
def test_what_cannot_be_compared_is_said(
    bench: Bench, tmp_path: Path, what: str, status: int, words: str
) -> None:
    got, answer = ask(bench, tmp_path, what)
    assert got == status and words in answer["error"]
