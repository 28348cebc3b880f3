"""`history` on the command line: found by filters, step by step, compared, in figures, and marked."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.insight import BYS
from tests.fault_server import FaultServer
from tests.terminal import SHORT, Cli, chat_fixture, cli_fixture
from tests.test_importing import attempt, lines
from ui.cli import history_grammar

__all__ = ["chat_fixture", "cli_fixture"]

ROOT = Path(__file__).parent.parent


@pytest.fixture(name="ids")
def ids_fixture(cli: Cli, tmp_path: Path) -> list[str]:
    """Two imported trajectories of two attempts, the newer first."""
    rows = [attempt(0, "bad soup", "Negative"), attempt(1, "good soup", "Very positive")]
    more = [
        attempt(0, "So so.", "Neutral", 4, review="Dull."),
        attempt(1, "=Great!", "Neutral", 4, review="Dull."),
    ]
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(*rows, *more))
    assert cli("history", "import", str(path)).code == 0
    return [row["id"] for row in cli("history", "list", "--json").json]


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


# -- lists ------------------------------------------------------------------------------------


def test_sessions_are_found_by_words_and_filters(cli: Cli, ids: list[str]) -> None:
    def found(*options: str) -> list[str]:
        return [row["id"] for row in cli("history", "list", "--json", *options).json]

    assert found("--query", "soup") == [ids[1]]
    assert found("--change-least", "0.1") == [ids[1]] and found("--change-most", "0") == [ids[0]]
    assert found("--strategy", "self_refine", "--sort", "change", "--ascending") == ids
    assert found("--limit", "1") == ids[:1] and found("--limit", "1", "--after", ids[0]) == ids[1:]
    assert found("--until", "2001-01-01") == []
    assert [row["id"] for row in table(cli("history", "list", "--csv").out)] == ids
    words = cli("history", "list", "--query", "nowhere")
    assert (words.code, words.out) == (0, "") and "No session is like this" in words.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "--since", "yesterday"], "A day looks like"),
        (["list", "--cost-least", "much"], "cost least is a number"),
        (["list", "--sort", "beauty"], "invalid choice"),
        (["list", "--after", "nobody"], "no session 'nobody'"),
        (["compare"], "name sessions, or --all"),
        (["compare", "--all", "--query", "x"], "only one of these"),
        (["compare", "nobody"], "no session 'nobody'"),
        (["tag", "t"], "name sessions, or --all"),
        (["tag", "t", "nobody"], "no session 'nobody'"),
        (["tag", "\n", "--all"], "visible characters"),
        (["delete"], "name sessions, or --all"),
        (["star", "nobody"], "no session 'nobody'"),
        (["undo", "nothing"], "no such action"),
        (["delete", "--query", " "], "--query is empty"),
        (["delete", "--query", "\u200b"], "nothing in these words"),
        (["delete", "--query", '" "'], "nothing in these words"),
        (["delete", "--tag", "", "--preset", "imported"], "--tag is empty"),
        (["list", "--tag", "a\udcff"], "is no text"),
        (["list", "--outcome", "nonsense"], "invalid choice"),
        (["steps", "nobody"], "no session 'nobody'"),
        (["insight", "--until", "2026-13-01"], "A day looks like"),
        (["insight", "--by", "mood"], "invalid choice"),
    ],
)
def test_bad_usage_is_told_in_words(cli: Cli, arguments: list[str], message: str) -> None:
    ran = cli("history", *arguments)
    assert (ran.code, ran.out) == (2, "") and message in ran.err and "Traceback" not in ran.err


# -- one session ------------------------------------------------------------------------------


def test_every_request_is_shown_as_it_was_sent(cli: Cli, chat: FaultServer) -> None:
    assert cli(*SHORT, "--json").code == 0
    session = cli.only_session()
    listed = cli("history", "steps", session)
    assert listed.out.count("\n") == len(cli("history", "steps", session, "--json").json)
    first = cli("history", "steps", session, "0")
    assert "--- sent as user" in first.out and "The food was fantastic." in first.out
    whole = cli("history", "steps", session, "0", "--json").json
    assert whole["prompt"][-1]["content"] in first.out and ["seed", "7"] in whole["facts"]
    beyond = cli("history", "steps", session, "99")
    assert beyond.code == 2 and "there is no step 99" in beyond.err


def test_two_steps_are_compared(cli: Cli, ids: list[str]) -> None:
    texts = [v for v in cli("history", "steps", ids[1], "--json").json if v["title"] in ("Draft", "Revision")]
    old, new = (str(view["position"]) for view in texts)
    assert cli("history", "diff", ids[1], old, new).out == "[-bad-]{+good+} soup\n"
    pieces = cli("history", "diff", ids[1], old, new, "--json").json
    assert pieces == [["removed", "bad"], ["added", "good"], ["same", " soup"]]
    lacking = cli("history", "diff", ids[1], old, "77")
    assert (
        lacking.code == 2
        and "step 77 brought no text" in lacking.err
        and f"{old} (First draft)" in lacking.err
    )


def test_a_terminal_is_not_commanded_by_a_text(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_file = tmp_path / "evil.csv"
    text = 'draft,revision,model\na\x1b[2J,"b\rc\x9bd\te",ev\x1b]0;pwn\x07il\n'
    table_file.write_text(text, "utf-8", newline="")
    assert cli("history", "import", str(table_file)).code == 0
    session = cli.only_session()
    assert "\x1b" in cli("history", "show", session).out, "a file gets exactly the text"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for command in (
        ["show", session], ["steps", session], ["steps", session, "0"], ["list"], ["list", "--csv"],
        ["compare", session], ["compare", session, "--csv"], ["insight", "--by", "model"],
        ["export", session, "--format", "md"], ["export", "--all", "--format", "csv"],
    ):  # fmt: skip
        ran = cli("history", *command)
        assert ran.code == 0 and not set(ran.out) & set("\x1b\x9b\x07"), command
    assert "ev␛]0;pwn␇il" in cli("history", "insight", "--by", "model").out
    table_file.write_text("dra\x1b[2Jft,revision\na,b\n", "utf-8")
    assert "dra␛[2Jft" in cli("history", "import", str(table_file)).err


def test_a_reader_that_has_seen_enough_ends_it_quietly(cli: Cli, ids: list[str]) -> None:
    command = [sys.executable, "app.py", "history", "export", *ids * 1, "--format", "jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as running:
        assert running.stdout and running.stderr
        running.stdout.close()
        assert (running.stderr.read(), running.wait()) == (b"", 0)


# -- several ----------------------------------------------------------------------------------


def test_sessions_are_compared_in_a_table_or_round_by_round(cli: Cli, ids: list[str]) -> None:
    rows = cli("history", "compare", "--all", "--json").json
    assert [(row["session_id"], row["rounds"], row["change"]) for row in rows] == [
        (ids[0], 1, 0.0),
        (ids[1], 1, 0.75),
    ]
    assert [
        row["session_id"] for row in table(cli("history", "compare", *reversed(ids), "--csv").out)
    ] == ids[::-1]
    assert cli("history", "compare", "--query", "soup").out.startswith(ids[1])
    beside = cli("history", "compare", *ids, "--aligned")
    assert "== Round 1" in beside.out and f"A: {ids[0]}" in beside.out and "good soup" in beside.out
    assert [row["name"] for row in cli("history", "compare", *ids, "--aligned", "--json").json["rows"]] == [
        "First drafts", "Round 1",
    ]  # fmt: skip
    alone = cli("history", "compare", ids[0], "--aligned")
    assert alone.code == 2 and "2 to 4 sessions" in alone.err
    assert cli("history", "compare", "--query", "nowhere").code == 1
    cli("history", "delete", ids[0])
    gone = cli("history", "compare", ids[0])
    assert gone.code == 1 and "None of these 1 sessions is here any more" in gone.err


def test_insight_is_told_in_words_as_json_and_as_a_table(cli: Cli, ids: list[str]) -> None:
    document = cli("history", "insight", "--json").json
    assert (document["sessions"], document["rounds"]) == (2, 2)
    reached = next(chart for chart in document["charts"] if chart["key"] == "reached")
    assert [line["figures"][0]["value"] for line in reached["lines"]][:2] == [0.0, 0.5]
    words = cli("history", "insight").out
    assert "Which text reaches what was asked for? (label)" in words and "the last attempt: 50.0% [" in words
    assert "undefined (no model here has a price)" in words
    rows = table(cli("history", "insight", "--csv").out)
    gain = next(row for row in rows if row["series"] == "as proposed")
    assert (gain["line"], gain["n"], gain["value"]) == ("round 1", "2", "0.375")
    cli("history", "tag", "pilot", ids[1])
    assert cli("history", "insight", "--tag", "pilot", "--json").json["sessions"] == 1
    nobody = cli("history", "insight", "--until", "2001-01-01", "--json").json
    assert nobody["sessions"] == 0 and "NaN" not in json.dumps(nobody)


@pytest.mark.parametrize("by", BYS)
def test_insight_tells_groups_apart(cli: Cli, ids: list[str], by: str) -> None:
    assert history_grammar.BYS == BYS
    charts = cli("history", "insight", "--by", by, "--json").json["charts"]
    assert any(by in chart["question"] for chart in charts)


# -- marks --------------------------------------------------------------------------------------


def test_tags_are_put_on_taken_off_and_undone(cli: Cli, ids: list[str]) -> None:
    def tagged() -> list[str]:
        return [row["id"] for row in cli("history", "list", "--tag", "for me", "--json").json]

    done = cli("history", "tag", " for  me ", "--query", "soup", "--json").json
    assert (done["sessions"], tagged()) == (1, ids[1:])
    assert cli("history", "tag", "for me", "--all").code == 0 and tagged() == ids
    off = cli("history", "tag", "for me", ids[0], "--off", "--json").json
    assert tagged() == ids[1:] and cli("history", "undo", off["undo"], "--json").json == {"sessions": 1}
    assert tagged() == ids and "#for me" in cli("history", "list").out
    assert cli("history", "undo", done["undo"]).code == 0 and tagged() == ids[:1]


def test_stars_are_put_on_sessions_and_on_candidates(cli: Cli, ids: list[str]) -> None:
    assert cli("history", "star", ids[0]).code == 0
    assert cli("history", "star", ids[1], "--step", "0").code == 0
    assert [row["starred"] for row in cli("history", "list", "--starred", "--json").json] == [True, False]
    assert cli("history", "star", ids[0], "--off").code == 0
    assert len(cli("history", "list", "--starred", "--json").json) == 1
    nothing = cli("history", "star", ids[1], "--step", "1")
    assert nothing.code == 2 and "no candidate" in nothing.err


def test_what_was_deleted_comes_back(cli: Cli, ids: list[str]) -> None:
    done = cli("history", "delete", "--query", "soup", "--json").json
    assert [row["id"] for row in cli("history", "list", "--json").json] == ids[:1]
    assert cli("history", "undo", done["undo"]).code == 0
    assert [row["id"] for row in cli("history", "list", "--json").json] == ids
    assert cli("history", "undo", done["undo"]).code == 1, "there is nothing left to undo"


# -- files ----------------------------------------------------------------------------------------


def test_a_table_is_exported_of_one_or_many(cli: Cli, ids: list[str], tmp_path: Path) -> None:
    one = table(cli("history", "export", ids[0], "--format", "csv").out)
    assert {row["session"] for row in one} == {ids[0]} and "'=Great!" in [row["text"] for row in one]
    out = tmp_path / "all.csv"
    assert cli("history", "export", "--all", "--format", "csv", "--output", str(out)).code == 0
    rows = table(out.read_text("utf-8"))
    assert {row["session"] for row in rows} == set(ids)
    assert [row["text"] for row in rows if row["stands"] == "1"] == ["good soup", "'=Great!"]


def test_tags_and_stars_go_to_another_machine(cli: Cli, ids: list[str], tmp_path: Path) -> None:
    cli("history", "tag", "kept", ids[0])
    cli("history", "star", ids[0], "--step", "0")
    out = tmp_path / "some.jsonl"
    assert cli("history", "export", "--tag", "kept", "--output", str(out)).code == 0
    cli.patch.setenv("REDRAFT_HOME", str(tmp_path / "elsewhere"))
    assert cli("history", "import", str(out)).code == 0
    assert [row["id"] for row in cli("history", "list", "--tag", "kept", "--starred", "--json").json] == ids[
        :1
    ]
    assert cli("history", "export", "--all").out == out.read_text("ascii")
