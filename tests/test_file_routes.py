"""The routes of files, asked over HTTP in this process: what goes out comes in, and what can't is named."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.listing import Chosen
from storage.database import open_database
from storage.store import SqlStore
from tests.test_importing import attempt, lines
from ui import file_routes
from ui.guard import Guard

RUNS = lines(
    attempt(0, "bad soup", "Negative"),
    attempt(1, "good soup", "Very positive"),
    attempt(0, "So so.", "Neutral", 4, review="Dull."),
    attempt(1, "Great!", "Very positive", 4, review="Dull."),
)


class House:
    """A store, and one that asks its routes."""

    def __init__(self, folder: Path) -> None:
        self.store = SqlStore(open_database(f"sqlite:///{folder}/redraft.db"))

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            app = FastAPI()
            app.add_middleware(Guard)
            app.include_router(file_routes.file_routes(self.store.archive))
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
                return await web.request(method, f"/api/history/{path}", **more)

        return asyncio.run(asked())

    def take(self, data: bytes, name: str = "runs.jsonl", **more: str) -> Any:
        return self.ask("POST", "import", params={"name": name, **more}, content=data).json()

    def trained(self, **asked: Any) -> httpx.Response:
        return self.ask("POST", "training", json=asked)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_a_file_is_imported_once(house: House) -> None:
    assert house.take(RUNS, model="gpt") == {
        "kind": "self-refine",
        "new": 2,
        "known": 0,
        "deleted": 0,
        "alone": 0,
    }
    assert house.take(RUNS, model="gpt")["known"] == 2
    assert [row.model for row in house.store.recent(9)] == ["gpt", "gpt"]
    table = b"id,draft,revision,decision\n1,a,b,accept\n"
    assert house.take(table, "C:/x/drafts.csv")["kind"] == "drafts"
    assert house.store.recent(1)[0].model == "imported:drafts"


def test_an_export_is_imported_elsewhere_as_it_is(house: House, tmp_path: Path) -> None:
    house.take(RUNS)
    exported = house.ask("GET", "export").content
    (tmp_path / "other").mkdir()
    other = House(tmp_path / "other")
    assert other.take(exported, "redraft-sessions.jsonl")["new"] == 2
    assert other.ask("GET", "export").content == exported


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The file"),
        (RUNS[: len(RUNS) // 2], "Line 2"),
        (b"draft,revision\na,\n\xff,b\n", "UTF-8"),
        (b"text\nx\n", "there is no column 'draft'"),
        (b"\x89PNG\r\n\x1a\n\0\0", ""),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_imported(house: House, data: bytes, message: str) -> None:
    answer = house.take(data, "bad.jsonl")
    assert message in answer["error"] and "Nothing was imported" in answer["error"]
    assert house.store.recent(9) == []


def test_a_file_that_is_too_large_is_refused(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_routes, "LARGEST_FILE", 100)
    answer = house.ask("POST", "import", params={"name": "x"}, content=RUNS)
    assert answer.status_code == 413 and "Nothing was imported" in answer.json()["error"]
    assert house.store.recent(9) == []


def test_training_data_comes_as_a_packed_folder(house: House) -> None:
    house.take(RUNS)
    answer = house.trained(kind="dpo", accepted=True, held_out=0.5, filter={"q": "soup"})
    assert answer.headers["Redraft-Said"].startswith("1 row to train on and 0 held out. Found: 1 example.")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        names = set(packed.namelist())
        row = json.loads(packed.read("redraft-dpo/train.jsonl"))
        manifest = json.loads(packed.read("redraft-dpo/manifest.json"))
    assert {"redraft-dpo/README.md", "redraft-dpo/provenance/rows.jsonl"} <= names
    assert (row["chosen"][0]["content"], row["rejected"][0]["content"]) == ("good soup", "bad soup")
    assert manifest["chosen"]["filter"]["q"] == "soup" and manifest["plan"]["kind"] == "dpo"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"kind": "sft", "accepted": True, "filter": {"q": "nowhere"}}, "here. Found: 0 examples"),
        ({"kind": "sft", "accepted": True, "threshold": 0.9}, "A threshold is one of a score"),
        ({"kind": "sft", "scorer": "beauty"}, "no score 'beauty'; there are"),
        ({"kind": "sft", "filter": {"since": "soon"}}, "A day looks like"),
        ({"kind": "sft", "ids": ["nobody"]}, "no session 'nobody'"),
    ],
)
def test_training_data_that_cant_be_made_says_why(house: House, query: dict[str, Any], message: str) -> None:
    house.take(RUNS)
    answer = house.trained(**query)
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    "asked", [{"kind": "ppo"}, {"kind": "sft", "held_out": 1}, {"kind": "sft", "threshold": "high"}]
)
def test_what_is_no_request_for_training_data_is_refused(house: House, asked: dict[str, Any]) -> None:
    assert house.trained(**asked).status_code == 422


def test_texts_below_the_threshold_of_a_score_are_not_learned(house: House) -> None:
    house.take(RUNS)
    assert (
        house.trained(kind="sft", scorer="label", threshold=0.9).headers["Redraft-Said"].startswith("2 rows")
    )
    nothing = house.trained(kind="sft", scorer="label", threshold=1.1)
    assert "nothing to learn" in nothing.json()["error"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"model": "a\0b"}, "The model's name: it has a NUL"),
        ({"model": "m" * 501}, "The model's name: it has 501 characters"),
        ({"name": "a\0b.csv"}, "The file's name: it has a NUL"),
    ],
)
def test_names_that_no_export_could_be_read_with_are_refused(
    house: House, more: dict[str, str], message: str
) -> None:
    assert message in house.take(RUNS, **more)["error"]
    assert house.store.recent(9) == []


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"draft":' + b"[" * 100_000, b"sep=,\n", b"sep=;\n\n"])
def test_odd_files_are_refused_in_words(house: House, data: bytes) -> None:
    assert "Nothing was imported" in house.take(data, "odd.json")["error"]


def test_a_session_that_comes_during_an_export_does_not_spoil_it(house: House, tmp_path: Path) -> None:
    house.take(RUNS)
    lines_of_file = house.store.archive.file(Chosen())
    head = next(lines_of_file)
    house.take(b"draft,revision\na,b\n", "later.csv")
    exported = "".join([head, *lines_of_file]).encode()
    (tmp_path / "other").mkdir()
    assert House(tmp_path / "other").take(exported)["new"] == 2


def test_no_export_holds_a_connection(house: House) -> None:
    house.take(RUNS)
    waiting = [house.store.archive.file(Chosen()) for _ in range(50)]
    for each in waiting:
        next(each), next(each)
    assert house.store.recent(9), "an export that nobody reads on keeps others out"


def test_no_folder_is_left_behind(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    house.take(RUNS)
    assert house.trained(kind="sft", accepted=True).status_code == 200
    assert house.trained(kind="sft", filter={"q": "nowhere"}).json()["error"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_more_sessions_than_are_learned_from_here_are_refused(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.take(RUNS)
    monkeypatch.setattr(file_routes, "MOST_TRAINED", 1)
    answer = house.trained(kind="sft", accepted=True)
    assert "history training" in answer.json()["error"]
