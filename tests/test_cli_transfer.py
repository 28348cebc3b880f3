"""`history export` of many, `history import` and `history training` from the command line."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from pathlib import Path
from threading import Thread

import pytest

from core.listing import Chosen, Filter
from storage.archive import SqlArchive
from storage.database import open_database
from tests.fault_server import FaultServer
from tests.terminal import OPTIONS, SHORT, Cli, chat_fixture, cli_fixture
from tests.test_importing import attempt, lines
from ui.cli.progress import shown

__all__ = ["chat_fixture", "cli_fixture"]


@pytest.fixture(name="runs")
def runs_fixture(cli: Cli, tmp_path: Path) -> Path:
    """A file of two trajectories."""
    rows = [attempt(0, "bad", "Negative"), attempt(1, "good", "Very positive")]
    more = [
        attempt(0, "So so.", "Neutral", 4, review="Dull."),
        attempt(1, "Great!", "Very positive", 4, review="Dull."),
    ]
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(*rows, *more))
    return path


def elsewhere(cli: Cli, tmp_path: Path) -> None:
    """From now on commands work on another, empty data folder."""
    cli.patch.setenv("REDRAFT_HOME", str(tmp_path / "elsewhere"))


def test_all_sessions_go_to_another_machine_once(cli: Cli, runs: Path, tmp_path: Path) -> None:
    assert cli("history", "import", str(runs)).code == 0
    out = tmp_path / "all.jsonl"
    ran = cli("history", "export", "--all", "--output", str(out))
    assert (ran.code, ran.out) == (0, "") and "2 sessions are in" in ran.err
    elsewhere(cli, tmp_path)
    for expected in ((2, 0), (0, 2)):
        ran = cli("history", "import", str(out), "--json")
        (told,) = ran.json["files"]
        assert (ran.code, told["kind"], told["new"], told["known"]) == (0, "redraft", *expected)
    assert cli("history", "export", "--all").out.encode() == out.read_bytes()
    assert "2 here already" in cli("history", "import", str(out)).err


def test_one_session_as_json_goes_to_another_machine(cli: Cli, chat: FaultServer, tmp_path: Path) -> None:
    assert cli(*SHORT, "--json").code == 0
    one = cli("history", "export", cli.only_session())
    (tmp_path / "one.json").write_text(one.out)
    elsewhere(cli, tmp_path)
    assert cli("history", "import", str(tmp_path / "one.json")).code == 0
    assert cli("history", "export", cli.only_session()).out == one.out
    assert [row["ending"] for row in cli("history", "list", "--json").json] == [one.json["outcome"]["reason"]]


def test_several_or_found_sessions_are_exported(cli: Cli, chat: FaultServer) -> None:
    for text in ("first text", "second text", "third"):
        assert cli("refine", text, *OPTIONS, "--strategy", "direct", "--json").code == 0
    ids = [row["id"] for row in cli("history", "list", "--json").json]
    assert cli("history", "export", *ids[:2]).out.count("\n") == 3
    found = cli("history", "export", "--query", "TEXT").out.splitlines()
    assert json.loads(found[0])["sessions"] == 2 and "third" not in "".join(found)
    assert json.loads(cli("history", "export", "--query", "nowhere").out) == {
        "format": "redraft sessions", "version": 2, "sessions": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["history", "export"], "name sessions, or --all"),
        (["history", "export", "X", "--all"], "only one of these"),
        (["history", "export", "--all", "--format", "html"], "html is for one session"),
        (["history", "export", "X", "--format", "jsonl"], "no session 'X'"),
        (["history", "export", "X"], "no session 'X'"),
        (["history", "export", "--all", "--output", "/nowhere/x"], "can't be written"),
        (["history", "import", "/nowhere/x"], "no file /nowhere/x"),
        (["history", "import", "x", "--column", "draft"], "not NAME=COLUMN"),
        (
            ["history", "training", "--kind", "sft", "--out", "x", "--threshold", "1"],
            "--threshold needs --scorer",
        ),
        (["history", "training", "--kind", "dpo", "--out", "x", "--from", "votes"], "--from votes needs"),
        (["history", "training", "--kind", "dpo", "--out", "x", "--from", "scores"], "--from scores needs"),
        (
            ["history", "training", "--kind", "dpo", "--out", "x", "--held-out", "2"],
            "not a number from 0 to 1",
        ),
        (["history", "training", "--kind", "dpo", "--out", "x", "--near", "0"], "--near must be above 0"),
        (
            ["history", "training", "--kind", "sft", "--out", "x", "--from", "accepted", "--scorer", "label"],
            "are for --from scores",
        ),
        (["history", "training", "--kind", "dpo", "--out", "x", "--margin", "1"], "--margin needs --scorer"),
        (["history", "training", "--kind", "dpo", "--out", "x", "--steps"], "--steps goes with --kind sft"),
        (["history", "training", "--kind", "sft", "--out", "x", "--held-out", "1"], "nothing to train on"),
        (
            ["history", "training", "--kind", "sft", "--out", "x", "--min-chars", "9", "--max-chars", "8"],
            "--max-chars is less",
        ),
        (["history", "training", "--kind", "sft", "--out", "x", "--test-file", "/nowhere/t"], "/nowhere/t"),
    ],
)
def test_bad_usage_is_told(cli: Cli, arguments: list[str], message: str) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "") and message in ran.err


def test_a_bad_file_is_refused_with_its_row_and_the_good_one_before_it_stays(
    cli: Cli, runs: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"id,draft,revision\n1,a,b\n2,c,\n")
    ran = cli("history", "import", str(runs), str(bad), "--json")
    assert ran.code == 1 and "line 3: the text is empty. Nothing was imported." in ran.err
    assert ran.json["refused"]["place"] == "line 3" and ran.json["files"][0]["new"] == 2
    assert len(cli("history", "list", "--json").json) == 2


def test_a_table_with_its_own_columns(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes("nr;alt;neu\n1;café;thé\n".encode())
    named = ["--column", "draft=alt", "--column", "revision=neu", "--column", "id=nr"]
    assert cli("history", "import", str(table), *named, "--model", "gpt-x").code == 0
    shown_session = cli("history", "show", cli.only_session(), "--json").json
    assert shown_session["recipe"]["model"] == "gpt-x" and shown_session["outcome"]["draft"]["text"] == "thé"


def test_an_output_is_written_where_the_path_leads(cli: Cli, runs: Path, tmp_path: Path) -> None:
    assert cli("history", "import", str(runs)).code == 0
    ids = [row["id"] for row in cli("history", "list", "--json").json]
    target, link, pipe = tmp_path / "private.json", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    os.mkfifo(pipe)
    for arguments in ([ids[0], "--format", "json"], ["--all"]):
        assert cli("history", "export", *arguments, "--output", str(link)).code == 0
        assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o600
        assert ids[0] in target.read_text()
    reader = Thread(target=lambda: heard.append(pipe.read_text()))
    heard: list[str] = []
    reader.start()
    assert cli("history", "export", ids[0], "--output", str(pipe)).code == 0
    reader.join()
    assert pipe.is_fifo() and ids[0] in heard[0]


def test_an_output_that_fails_leaves_the_old_file(
    cli: Cli, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("history", "import", str(runs)).code == 0
    target = tmp_path / "precious.json"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.replace", full)
    (session, *_) = [row["id"] for row in cli("history", "list", "--json").json]
    ran = cli("history", "export", session, "--output", str(target))
    assert ran.code == 2 and "No space left" in ran.err
    assert target.read_text() == "old" and list(tmp_path.glob(".*.part")) == []


def test_training_data_of_what_was_imported(cli: Cli, runs: Path, tmp_path: Path) -> None:
    assert cli("history", "import", str(runs)).code == 0
    ran = cli(
        "history", "training", "--kind", "dpo", "--out", str(tmp_path / "dpo"), "--held-out", "0.5", "--json"
    )
    assert ran.code == 0 and ran.json["rows"] == {"in": 2, "train": 1, "held_out": 1}
    assert re.search(r"1 row to train on and 1 held out\. .* They are in .*dpo", ran.err)
    rows = [json.loads((tmp_path / "dpo" / f"{name}.jsonl").read_text()) for name in ("train", "heldout")]
    pairs = {(row["chosen"][0]["content"], row["rejected"][0]["content"]) for row in rows}
    assert pairs == {("good", "bad"), ("Great!", "So so.")}
    again = cli("history", "training", "--kind", "dpo", "--out", str(tmp_path / "dpo"))
    assert again.code == 2 and "there already" in again.err


def test_training_data_is_filtered(cli: Cli, runs: Path, tmp_path: Path) -> None:
    assert cli("history", "import", str(runs)).code == 0
    tests = tmp_path / "eval.txt"
    tests.write_text("The soup was cold. The soup")
    usual = [
        "history",
        "training",
        "--kind",
        "sft",
        "--scorer",
        "label",
        "--threshold",
        "0.5",
        "--held-out",
        "0",
    ]

    def texts(name: str, *more: str) -> list[str]:
        assert cli(*usual, "--out", str(tmp_path / name), *more).code == 0
        found = (tmp_path / name / "train.jsonl").read_text().splitlines()
        return sorted(json.loads(line)["completion"][0]["content"] for line in found)

    assert texts("a") == ["Great!", "So so.", "good"]
    assert texts("b", "--query", "dull", "--preset", "imported", "--strategy", "self_refine") == [
        "Great!",
        "So so.",
    ]
    assert texts("c", "--min-chars", "6", "--max-chars", "6", "--model", "imported:runs") == [
        "Great!",
        "So so.",
    ]
    assert texts("d", "--most", "1") in (["Great!"], ["So so."], ["good"])
    assert len(texts("e", "--test-file", str(tests), "--words", "5")) == 3
    accepted = ["history", "training", "--kind", "sft", "--by-person", "--from", "accepted"]
    none = cli(*accepted, "--out", str(tmp_path / "f"))
    assert none.code == 1 and "nothing to learn" in none.err and not (tmp_path / "f").exists()


def test_votes_of_a_study_are_data_too(cli: Cli, tmp_path: Path) -> None:
    votes = tmp_path / "votes.jsonl"
    votes.write_text('{"prompt": "Say hi.", "chosen": "Hi!", "rejected": "No."}\n')
    usual = ["history", "training", "--held-out", "0", "--votes", str(votes)]
    assert cli(*usual, "--kind", "dpo", "--out", str(tmp_path / "x")).code == 0
    row = json.loads((tmp_path / "x" / "train.jsonl").read_text())
    assert row["prompt"] == [{"role": "user", "content": "Say hi."}] and row["chosen"][0]["content"] == "Hi!"
    told = json.loads((tmp_path / "x" / "provenance" / "rows.jsonl").read_text())
    assert told["study"] == "votes.jsonl, line 1" and told["why"] == "preferred by votes"
    votes.write_text('{"prompt": "Say hi.", "chosen": 7, "rejected": "No."}\n')
    bad = cli(*usual, "--kind", "dpo", "--out", str(tmp_path / "y"))
    assert bad.code == 2 and "line 1: prompt, chosen and rejected must be texts" in bad.err
    assert cli(*usual, "--kind", "gsr", "--out", str(tmp_path / "z")).code == 2


def test_a_bar_is_drawn_for_those_who_watch_and_cleared(
    monkeypatch: pytest.MonkeyPatch, capsys: object
) -> None:
    drawn: list[str] = []

    class Terminal:
        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            drawn.append(text)
            return len(text)

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("ui.cli.progress.EVERY", -1.0)
    assert list(shown(["a", "b"], "reading", lambda count: count / 2)) == ["a", "b"]
    said = "".join(drawn)
    assert "reading [############------------]  50% 1" in said and "100% 2" in said
    assert said.endswith("\r\x1b[K")


def test_nothing_is_drawn_where_no_one_watches(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(shown(range(3), "reading", lambda count: count / 3)) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_what_is_imported_is_in_the_database_of_the_data_folder(cli: Cli, runs: Path) -> None:
    assert cli("history", "import", str(runs)).code == 0
    archive = SqlArchive(open_database(f"sqlite:///{next(cli.home.glob('*.db'))}"))
    assert archive.count(Chosen(filter=Filter(query="soup"))) == 1
