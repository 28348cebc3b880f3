"""The routes of the preset editor, asked over HTTP in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from core.domain import Recipe, Settings
from core.preset_library import PresetLibrary
from core.presets import BUILT_IN, load_preset
from tests.benches import Bench
from tests.small_preset import HOSTILE, RICH, SMALL
from ui.diff_lines import diff_lines
from ui.guard import Guard, refuse_plainly
from ui.preset_routes import LARGEST_FILE, preset_routes

REWRITE = (BUILT_IN / "rewrite.yaml").read_bytes().decode("utf-8")
MINE = REWRITE.replace("title: Rewrite a text", "title: Mine")


@dataclass
class Client:
    """Asks the routes; every answer is JSON."""

    web: TestClient
    shelf: PresetLibrary
    bench: Bench
    statuses: list[int] = field(default_factory=list)

    def get(self, path: str, **query: str) -> dict[str, Any]:
        return self._read(self.web.get(f"/api/presets{path}", params=query))

    def post(self, route: str, **body: object) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        return self._read(self.web.post(f"/api/presets{route}", content=json.dumps(body), headers=headers))

    def bring(self, content: bytes) -> dict[str, Any]:
        return self._read(self.web.post("/api/presets/import", content=content))

    def changes(self, session_id: str) -> dict[str, Any]:
        return self._read(self.web.get(f"/api/sessions/{session_id}/preset-changes"))

    def _read(self, answer: Any) -> dict[str, Any]:
        self.statuses.append(answer.status_code)
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    bench, shelf = Bench(tmp_path, []), PresetLibrary(tmp_path)
    app = FastAPI()
    app.add_middleware(Guard)
    refuse_plainly(app)
    app.include_router(preset_routes(bench, shelf))
    with TestClient(app) as web:
        yield Client(web, shelf, bench)


def changed(lines: list[dict[str, Any]]) -> list[list[list[str]]]:
    found = [line.get("parts", []) for line in lines]
    return [parts for parts in found if any(kind != "same" for kind, _ in parts)]


# -- reading ----------------------------------------------------------------------------------


def test_the_list_says_whose_each_preset_is_and_what_is_wrong(client: Client, tmp_path: Path) -> None:
    client.shelf.save("small", SMALL)
    client.shelf.save("rewrite", MINE)
    (tmp_path / "presets" / "bad.yaml").write_text("titel: x", encoding="utf-8")
    (tmp_path / "presets" / b"caf\xe9.yaml".decode("utf-8", "surrogateescape")).write_bytes(b"\xff")
    rows = {row["name"]: row for row in client.get("")["presets"]}
    assert client.get("")["presets"][0]["name"] == "rewrite"
    assert (rows["small"]["origin"], rows["small"]["title"]) == ("own", "A small one")
    assert rows["rewrite"]["origin"] == "own in place of a built-in"
    assert rows["acronym"]["origin"] == "built-in" and rows["acronym"]["error"] == ""
    assert rows["bad"]["line"] == 1 and "titel" in rows["bad"]["error"]


def test_a_preset_is_opened_with_its_versions(client: Client) -> None:
    assert client.get("/text", name="rewrite")["versions"] == [0]
    client.shelf.save("rewrite", MINE)
    opened = client.get("/text", name="rewrite")
    assert opened["text"] == MINE and opened["versions"] == [0, 1]
    assert opened["origin"] == "own in place of a built-in" and len(opened["base"]) == 16
    assert client.get("/text", name="rewrite", version="0")["text"] == REWRITE


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a\x00", "no", "", "é", "..", "x" * 3000])
def test_a_name_that_is_none_is_refused_in_words(client: Client, name: str) -> None:
    for path in ("/text", "/file"):
        assert "There is no preset" in client.get(path, name=name)["error"]
    assert "in version 7" in client.get("/text", name="rewrite", version="7")["error"]
    assert "detail" in client.get("/text", name="rewrite", version="x")


def test_a_file_that_cannot_be_read_can_still_be_replaced(client: Client, tmp_path: Path) -> None:
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "small.yaml").write_bytes(b"name: caf\xe9\n")
    opened = client.get("/text", name="small")
    assert opened["text"] == "" and opened["line"] == 1 and "UTF-8" in opened["error"]
    assert "error" in client.post("/save", text=SMALL, base="")
    assert client.post("/save", text=SMALL, base=opened["base"])["version"] == 2


def test_a_version_is_exported_as_it_is(client: Client) -> None:
    client.shelf.save("rewrite", MINE)
    answer = client.web.get("/api/presets/file", params={"name": "rewrite", "version": 0})
    assert answer.content.decode("utf-8") == REWRITE
    assert answer.headers["content-disposition"] == 'attachment; filename="rewrite-0.yaml"'
    assert client.web.get("/api/presets/file", params={"name": "rewrite"}).text == MINE


# -- the preview ------------------------------------------------------------------------------


def test_the_preview_shows_values_with_lines_and_requests_as_a_chat(client: Client) -> None:
    shown = client.post("/preview", text=REWRITE, task=None)
    assert (shown["name"], shown["title"], shown["notes"]) == ("rewrite", "Rewrite a text", [])
    assert shown["task"]["instruction"] == "Make it shorter."
    assert [turn["role"] for turn in shown["turns"][:4]] == ["system", "user", "assistant", "user"]
    rows = [row for group in shown["groups"] for row in group["rows"]]
    rounds = next(row for row in rows if row["label"] == "Rounds")
    assert rounds["value"] == "3" and REWRITE.splitlines()[rounds["line"] - 1] == "rounds: 3"
    assert next(row for row in rows if row["label"] == "Caution")["line"] is None
    assert [group["title"] for group in shown["groups"]][3:] == [
        "Rubric: meets instruction", "Rubric: clear", "Rubric: accurate", "Rubric: concise"]  # fmt: skip


def test_the_preview_is_of_the_task_that_is_typed(client: Client) -> None:
    for hostile in HOSTILE[:-1]:
        shown = client.post("/preview", text=SMALL, task={"input": hostile, "instruction": hostile})
        draft = next(turn["text"] for turn in shown["turns"] if turn["title"] == "Ask for a draft")
        assert draft == f"Do: {hostile}\n{hostile}".rstrip("\n")
    assert "detail" in client.post("/preview", text=SMALL, task={"input": "\ud800"})
    assert "detail" in client.post("/preview", text=SMALL, task={"input": "x" * 20_001})


def test_a_mistake_is_told_with_its_line(client: Client) -> None:
    assert client.post("/preview", text=SMALL.replace("title:", "titel:"))["line"] == 2
    shown = client.post("/preview", text=RICH.replace("[judge, logprob]", "[vibes]"))
    assert 'no scorer "vibes"' in shown["notes"][0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("You edit.", "'{% for i in range(10**9) %}x{% endfor %}'", "range"),
        ("You edit.", "\"{{ 'a' * 1000000000 }}\"", r"*"),
        ("You edit.", '"a\\0b"', "character"),
        ("You edit.", '"a\\uD800b"', "character"),
        ("A small one", "&a [x]\ndescription: *a", "alias"),
        ("A small one", "!!python/object:os.system x", "must be text"),
        ("A small one", '"\\uD800"', "character"),
        ("title", '"\\uD800"', "no key"),
        ("A small one", "[" * 3000, "nested"),
        ("A small one", "x" * 300_000, "300,"),
    ],
)
def test_hostile_texts_are_refused_at_once(client: Client, old: str, new: str, words: str) -> None:
    text = SMALL.replace(old, new, 1)
    assert words in client.post("/preview", text=text)["error"]
    assert words in client.post("/save", text=text)["error"]
    assert words in client.bring(text.encode("utf-8"))["error"]
    assert client.statuses == [200, 200, 200] and "small" not in client.shelf


def test_a_long_request_is_cut_and_said_to_be(client: Client) -> None:
    long = SMALL.replace("You edit.", "'" + "{{ input }}" * 30 + "'")
    turn = client.post("/preview", text=long, task={"input": "x" * 20_000})["turns"][0]
    assert turn["cut"] is True and len(turn["text"]) == 20_000


def test_a_value_is_put_into_the_text(client: Client) -> None:
    text = client.post("/value", text=REWRITE, path=["rubric", 1, "question"], value="Is it {{plain}}?")[
        "text"
    ]
    rubric = load_preset(text).rubric
    assert rubric is not None and rubric.dimensions[1].question == "Is it {{plain}}?"
    assert "can't be changed here" in client.post("/value", text=REWRITE, path=[0], value="x")["error"]
    assert client.post("/value", text="[", path=["title"], value="x")["line"] == 1


# -- saving -----------------------------------------------------------------------------------


def test_a_text_is_saved_as_a_new_version_and_gone_back_from(client: Client) -> None:
    base = client.get("/text", name="rewrite")["base"]
    saved = client.post("/save", text=MINE, base=base)
    assert (saved["name"], saved["version"]) == ("rewrite", 1)
    assert client.shelf["rewrite"].title == "Mine"
    back = client.post("/save", text=REWRITE, base=saved["base"])
    assert back["version"] == 2 and client.shelf["rewrite"].text == REWRITE


def test_a_save_over_what_someone_saved_since_is_refused(client: Client) -> None:
    base = client.get("/text", name="rewrite")["base"]
    client.post("/save", text=MINE, base=base)
    answer = client.post("/save", text=REWRITE.replace("rounds: 3", "rounds: 4"), base=base)
    assert "version 1 is in use now. Nothing was saved" in answer["error"]
    assert client.shelf["rewrite"].text == MINE
    forced = client.post(
        "/save", text=REWRITE.replace("rounds: 3", "rounds: 4"), base=answer["conflict"]["base"]
    )
    assert forced["version"] == 2 and client.shelf["rewrite"].rounds == 4


def test_a_new_preset_takes_no_name_that_there_is(client: Client) -> None:
    assert client.post("/save", text=SMALL)["version"] == 1
    answer = client.post("/save", text=SMALL.replace("A small one", "Other"))
    assert "already a preset small" in answer["error"] and answer["conflict"]["name"] == "small"
    evil = client.post("/save", text=SMALL.replace("name: small", "name: ../evil"))
    assert "small letters" in evil["error"] and evil["line"] is None


def test_a_folder_that_cannot_be_written_is_said(client: Client, tmp_path: Path) -> None:
    (tmp_path / "presets").write_text("a file in the way", encoding="utf-8")
    assert "can't be written" in client.post("/save", text=SMALL)["error"]


def test_another_sites_page_can_save_nothing(client: Client) -> None:
    evil = {"Origin": "http://evil.example"}
    answer = client.web.post("/api/presets/save", json={"text": SMALL}, headers=evil)
    assert answer.status_code == 403 and "small" not in client.shelf


# -- bringing in ------------------------------------------------------------------------------


def test_a_file_is_checked_and_not_kept(client: Client) -> None:
    assert client.bring(SMALL.encode("utf-8")) == {"name": "small", "text": SMALL, "exists": False}
    assert "small" not in client.shelf
    assert client.bring(REWRITE.encode("utf-8"))["exists"] is True


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (SMALL.replace("A small one", "café").encode("latin-1"), 2, "UTF-8"),
        (SMALL.encode("utf-16"), 1, "UTF-8"),
        (SMALL.replace("title:", "titel:").encode("utf-8"), 2, "titel"),
        (b"\x00\x01PK", 1, "valid YAML"),
        (b"", None, "empty"),
        (b"x" * (LARGEST_FILE + 1), None, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_is_no_preset_is_refused_with_its_line(
    client: Client, content: bytes, line: int | None, words: str
) -> None:
    answer = client.bring(content)
    assert answer["line"] == line and words in answer["error"]


# -- what has changed -------------------------------------------------------------------------


def test_a_difference_shows_the_changed_lines_with_those_around(client: Client) -> None:
    lines = client.post("/diff", old=REWRITE, new=REWRITE.replace("rounds: 3", "rounds: 4"))["lines"]
    assert changed(lines) == [[["same", "rounds: "], ["removed", "3"], ["added", "4"]]]
    assert len(lines) == 7 and set(lines[0]) == set(lines[-1]) == {"skipped"}
    assert lines[0]["skipped"] + lines[-1]["skipped"] + 5 == len(REWRITE.splitlines())


def test_a_difference_of_line_ends_or_none() -> None:
    assert diff_lines("a\nb\n", "a\nb\n") == []
    assert "line ends" in diff_lines("a\r\nb", "a\nb")[0]["parts"][0][1]
    assert diff_lines("", "a\n") == [{"parts": [["added", "a"]]}]
    assert changed(diff_lines("a\nb\nc", "a\nc")) == [[["removed", "b"]]]


def test_a_session_is_told_what_changed_in_its_preset_since(client: Client) -> None:
    client.shelf.save("small", SMALL)
    session_id = client.bench.new(made_by=Recipe("direct", SMALL, "scripted", Settings()))
    assert client.changes(session_id) == {"name": "small", "changed": False, "lines": []}
    client.shelf.save("small", SMALL.replace("You edit.", "You shorten."))
    now = client.changes(session_id)
    assert now["changed"] is True
    assert changed(now["lines"]) == [
        [["same", "  system: You "], ["removed", "edit"], ["added", "shorten"], ["same", "."]]
    ]
    client.shelf.save("small", SMALL)
    assert client.changes(session_id)["changed"] is False
    assert "There is no session" in client.changes("nowhere")["error"]
