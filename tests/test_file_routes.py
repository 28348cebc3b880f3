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

    def trained(self, **query: str) -> httpx.Response:
        return self.ask("GET", "training", params=query)


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
    answer = house.trained(kind="dpo", accepted="1", held_out="0.5", q="soup")
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
        ({"kind": "ppo"}, "sft, dpo or gsr"),
        ({"kind": "sft", "accepted": "1", "q": "nowhere"}, "nothing to learn from here. Found: 0 examples"),
        ({"kind": "sft", "held_out": "2"}, "from 0 to below 1"),
        ({"kind": "sft", "threshold": "high"}, "threshold is a number"),
        ({"kind": "sft", "ids": "nobody"}, "no session 'nobody'"),
    ],
)
def test_training_data_that_cant_be_made_says_why(house: House, query: dict[str, str], message: str) -> None:
    house.take(RUNS)
    answer = house.trained(**query)
    assert message in answer.json()["error"]


def test_no_folder_is_left_behind(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    house.take(RUNS)
    assert house.trained(kind="sft", accepted="1").status_code == 200
    assert house.trained(kind="sft", q="nowhere").json()["error"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_more_sessions_than_are_learned_from_here_are_refused(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.take(RUNS)
    monkeypatch.setattr(file_routes, "MOST_TRAINED", 1)
    answer = house.trained(kind="sft", accepted="1")
    assert "history training" in answer.json()["error"]
