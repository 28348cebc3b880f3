"""`study` on the command line: from a file to the report, refusals with exit code 2, one JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from core.studies.rating import Rating
from core.studies.results import results
from storage.database import open_database
from storage.study_store import SqlStudyStore
from tests.fault_server import FaultServer
from tests.studies import ballot
from tests.terminal import SHORT, Cli, chat_fixture, cli_fixture

__all__ = ["chat_fixture", "cli_fixture"]

HEADER = "id;prompt;plain;fancy"
TEXTS = f"{HEADER}\n1;Describe a place.;A river.;A silver river.\n2;And another.;A hill.;A green hill.\n"


@pytest.fixture
def study(cli: Cli, tmp_path: Path) -> str:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    study_id = cli("study", "new", "Plain or fancy", "--target", "1", "--alias", "silver").out.strip()
    assert cli("study", "import", study_id, str(tmp_path / "texts.csv")).code == 0
    return study_id


def refined(cli: Cli, *options: str) -> str:
    """The id of a new session."""
    cli(*SHORT, *options)
    return str(cli("history", "list", "--json").json[0]["id"])


def rate(cli: Cli, url: str) -> None:
    """Vote for the longer text by the rater's link, until all is done."""
    rating = Rating(SqlStudyStore(open_database(f"sqlite:///{cli.home}/redraft.db")))
    token = url.rsplit("/", 1)[1]
    view = rating.view(token)
    while view.pair:
        longer = "left" if len(view.pair.left) > len(view.pair.right) else "right"
        view = rating.vote(token, view.pair.token, ballot(longer))  # type: ignore[arg-type]


def test_from_a_file_to_the_report_and_its_files(cli: Cli, study: str, tmp_path: Path) -> None:
    again = cli("study", "import", study, str(tmp_path / "texts.csv"), "--json")
    assert again.json == {"new": 0, "repeated": 2, "what": "items"}
    refused = cli("study", "open", study)
    assert refused.code == 2 and "In 1 texts stands a name" in refused.err
    (leak,) = cli("study", "leaks", study, "--json").json
    assert (leak["alias"], leak["decision"], leak["item"]) == ("silver", "open", "1")
    assert "redact" in cli("study", "leaks", study, "--decide", f"{leak['id']}=redact").out
    opened = cli("study", "open", study, "--json").json
    assert opened["status"] == "open" and len(opened["protocol_sha256"]) == 64
    (link,) = cli(
        "study", "links", study, "--name", "Rita", "--base-url", "https://a.example/", "--json"
    ).json
    assert link["url"].startswith("https://a.example/r/") and link["rater"] == "R001"
    rate(cli, link["url"])
    seen = cli("study", "monitor", study)
    assert "votes: 2 of 2" in seen.out and "Rita" in seen.out and "fancy" not in seen.out.split("\n", 1)[1]
    assert cli("study", "report", study).code == 2
    assert cli("study", "lock", study, "--why", "complete").code == 0
    assert "System" in cli("study", "report", study).out
    assert cli("study", "unblind", study).code == 2
    assert cli("study", "unblind", study, "--why", "complete").code == 0
    said = cli("study", "report", study)
    assert said.code == 0 and "2 of 2 non-tied votes preferred fancy to plain" in said.out
    assert cli("study", "report", study, "--json").json["report"]["kept"]["counts"]["votes"] == 2
    file = tmp_path / "rows.jsonl"
    made = cli("study", "export", study, "--format", "preferences", "--output", str(file))
    assert made.code == 0 and "2 rows of 2 judged pairings" in made.err
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {row["chosen"] for row in rows} == {"A […] river.", "A green hill."}
    assert cli("study", "export", study).out.count("\n") == 3
    (listed,) = cli("study", "list", "--json").json
    assert (listed["id"], listed["status"]) == (study, "unblinded")


def test_first_draft_against_outcome_of_a_session(cli: Cli, chat: FaultServer) -> None:
    session = refined(cli)
    study = cli("study", "new", "Did it help?", "--json").json["id"]
    assert cli("study", "import", study, "--session", session, "--json").json["new"] == 1
    store = SqlStudyStore(open_database(f"sqlite:///{cli.home}/redraft.db"))
    contents = store.look(study, lambda desk: desk.contents())
    assert [system.name for system in contents.systems] == ["first draft", "outcome"]
    assert contents.items[0].key == session and "Make it negative." in contents.items[0].prompt
    other = refined(cli)
    arms = cli("study", "new", "Two recipes").out.strip()
    added = cli("study", "import", arms, "--arm", f"one={session}", "--arm", f"two={other}", "--json")
    assert added.json["new"] == 1
    refused = cli("study", "import", arms, "--arm", f"one={session},{other}", "--arm", "two=")
    assert refused.code == 2 and "the second of 'one'" in refused.err


def test_a_session_without_an_outcome_is_refused(cli: Cli, chat: FaultServer) -> None:
    waiting = refined(cli, "--gate", "human")
    study = cli("study", "new", "Too early").out.strip()
    refused = cli("study", "import", study, "--session", waiting)
    assert refused.code == 2 and "has not ended yet" in refused.err


def test_votes_from_elsewhere_are_reported_without_an_opening(cli: Cli, tmp_path: Path) -> None:
    draw = Random(1)
    rows = ["rater,item,system_a,system_b,winner"]
    rows += [f"r{n % 4},i{n // 4},m1,m2,{'model_a' if draw.random() < 0.8 else 'tie'}" for n in range(40)]
    (tmp_path / "votes.csv").write_text("\n".join(rows), encoding="utf-8")
    study = cli("study", "new", "Arena").out.strip()
    for new in (40, 0):
        assert cli("study", "import", study, str(tmp_path / "votes.csv"), "--json").json["new"] == new
    assert cli("study", "lock", study).code == 0
    assert cli("study", "unblind", study, "--why", "published").code == 0
    found = cli("study", "report", study, "--json").json["report"]["kept"]
    wins = sum(row.endswith("model_a") for row in rows[1:])
    assert (found["counts"]["decided"], found["counts"]["ties"]) == (wins, 40 - wins)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["new", " "], "a name of one line"),
        (["new", "x", "--target", "0"], "target must be 1 at least"),
        (["new", "x", "--set", "retest_share=much"], "--set wants NAME=JSON"),
        (["new", "x", "--set", "mood=1"], "no setting 'mood'"),
        (["new", "x", "--protocol", "nowhere.json"], "nowhere.json can't be read"),
        (["monitor", "nothing"], "There is no study 'nothing'"),
        (["import", "nothing"], "Import from one thing"),
        (["import", "nothing", "--session", "s"], "There is no session 's'"),
        (["import", "nothing", "nowhere.csv"], "nowhere.csv can't be read"),
        (["links", "nothing"], "Say for whom"),
        (["leaks", "nothing", "--decide", "one=keep"], "--decide wants NUMBER=DECISION"),
        (["export", "nothing", "--format", "pdf"], "invalid choice: 'pdf'"),
        (["paint"], "invalid choice: 'paint'"),
    ],
)
def test_bad_usage_says_what_and_changes_nothing(cli: Cli, arguments: list[str], words: str) -> None:
    ran = cli("study", *arguments)
    assert ran.code == 2 and words in ran.err and ran.out == ""
    assert cli("study", "list", "--json").json == []


def test_the_protocol_of_a_draft_can_be_read_changed_and_used_again(
    cli: Cli, study: str, tmp_path: Path
) -> None:
    shown = cli("study", "protocol", study, "--question", "Which is kinder?", "--set", "ask_reason=true").json
    assert shown["protocol"]["question"] == "Which is kinder?" and shown["protocol"]["aliases"] == ["silver"]
    file = tmp_path / "protocol.json"
    file.write_text(json.dumps(shown), encoding="utf-8")
    other = cli("study", "new", "Again", "--protocol", str(file), "--seed", "5", "--json").json["id"]
    again = cli("study", "protocol", other).json
    assert again["protocol"] == {**shown["protocol"], "seed": 5} and again["sha256"] != shown["sha256"]


def test_a_busy_database_is_said_and_can_be_tried_again(
    cli: Cli, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    monkeypatch.setattr("storage.database.BUSY_SECONDS", 0.1)
    with sqlite3.connect(cli.home / "redraft.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        ran = cli("study", "links", study, "--number", "1")
        other.execute("ROLLBACK")
    assert ran.code == 1 and "busy" in ran.err
    assert cli("study", "links", study, "--number", "1").code == 0


def test_the_help_shows_the_way(cli: Cli) -> None:
    said = cli("study", "--help")
    assert said.code == 0 and "study unblind ID --why" in said.out


def test_masks_and_names_are_told_apart_by_status(cli: Cli, study: str) -> None:
    cli("study", "leaks", study, "--all", "keep")
    cli("study", "open", study)
    cli("study", "lock", study)
    store = SqlStudyStore(open_database(f"sqlite:///{cli.home}/redraft.db"))
    found = results(store, study)
    assert {found.label(system) for system in found.contents.systems} == {"System A", "System B"}
