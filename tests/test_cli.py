"""`refine` on the command line: results, exit codes, going on, a person at the gates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, refusal
from tests.kill import writer_and_critic
from tests.terminal import OPTIONS, SHORT, Cli, chat_fixture, cli_fixture

__all__ = ["chat_fixture", "cli_fixture"]

# -- refine -------------------------------------------------------------------------------


def test_refine_prints_one_json_document_with_everything(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT, "--scorer", "self_evaluation", "--json")
    assert ran.code == 0, ran.err
    assert [step["request"]["kind"] for step in ran.json["steps"]] == [
        "ask", "measure", "ask", "critique gate", "ask", "measure", "revision gate",
    ]  # fmt: skip
    draft = ran.json["steps"][0]["answer"]["reply"]["completions"][0]
    assert draft["text"] == "The meal of 6 turns was a slow and costly let-down for us all."
    assert "".join(token["text"] for token in draft["tokens"]) == draft["text"]
    assert all(token["logprob"] < 0 for token in draft["tokens"])
    assert ran.json["steps"][1]["answer"]["scores"][0][0]["value"] == 1.0
    assert ran.json["steps"][6]["answer"]["decision"]["ruling"] == "accept"
    assert ran.json["outcome"]["reason"] == "the rounds are used up"
    assert ran.json["outcome"]["draft"]["round"] == 1
    assert (ran.json["spent"]["calls"], ran.json["problem"], ran.err) == (5, "", "")


def test_refine_to_read_streams_on_stderr_and_prints_markdown(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT)
    assert ran.code == 0
    assert "--- critique, round 1" in ran.err and "let-down for us all." in ran.err
    assert ran.out.startswith("# Make it negative")
    assert "## Outcome" in ran.out and "Ended because the rounds are used up" in ran.out


def test_what_was_chosen_reaches_the_endpoint(cli: Cli, chat: FaultServer) -> None:
    assert cli(*SHORT, "--temperature", "0.25", "--max-tokens", "9").code == 0
    first = chat.bodies[0]
    limit = first.get("max_tokens") or first.get("max_completion_tokens")
    assert (first["model"], first["seed"], first["temperature"], limit) == ("tiny-chat", 7, 0.25, 9)
    assert "The food was fantastic." in first["messages"][-1]["content"]


def test_a_file_is_read_as_it_is(cli: Cli, chat: FaultServer, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes("\ufeffEins\r\nzwei: größer 🌍\r\n".encode())
    ran = cli("refine", f"@{file}", *OPTIONS, "--strategy", "direct", "--json")
    assert ran.code == 0
    assert ran.json["task"]["input"] == "Eins\r\nzwei: größer 🌍\r\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["refine"], "no text"),
        (["refine", "  "], "no text"),
        (["refine", "a\ud83cb"], "is no text"),
        (["refine", "@nowhere.txt"], "nowhere.txt can't be read"),
        (["refine", "x", "--preset", "sonnet"], "no preset 'sonnet'. There are: "),
        (["refine", "x", "--model", "nobody:tiny"], "no model 'nobody:tiny'"),
        (["refine", "x", "--model", "fake:"], "no model 'fake:'"),
        (["refine", "x", "--scorer", "vibes"], "invalid choice: 'vibes'"),
        (["refine", "x", "--strategy", "luck"], "invalid choice: 'luck'"),
        (["refine", "x", "--rounds", "-1"], "argument --rounds: '-1' is not a whole number from 0 on"),
        (["refine", "x", "--rounds", "two"], "argument --rounds: 'two' is not"),
        (["refine", "x", "--max-calls", "0"], "argument --max-calls: '0' is not a whole number from 1 on"),
        (["refine", "x", "--max-tokens", "0"], "argument --max-tokens: '0' is not"),
        (["refine", "x", "--target-score", "nan"], "argument --target-score: 'nan' is not a number"),
        (["refine", "x", "--margin", "inf"], "argument --margin: 'inf' is not a number"),
        (["refine", "x", "--temperature", "warm"], "argument --temperature: 'warm' is not a number"),
        (["refine", "x", "--seed", str(2**31)], "argument --seed"),
        (["refine", "--resume", "nosuch"], "no session 'nosuch'"),
        (["history"], "required"),
        (["history", "show", "nosuch"], "no session 'nosuch'"),
        (["history", "export", "nosuch"], "no session 'nosuch'"),
        (["models", "check", "nobody:x"], "no model 'nobody:x'"),
        (["dance"], "invalid choice: 'dance'"),
        (["--config", "nowhere.toml", "history", "list"], "nowhere.toml"),
    ],
)
def test_bad_usage_is_refused_in_words(cli: Cli, chat: FaultServer, arguments: list[str], words: str) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err and "Traceback" not in ran.err
    assert chat.asks == []
    assert cli("history", "list", "--json").json == []


def test_a_file_that_is_no_text_is_refused(cli: Cli, chat: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    ran = cli("refine", f"@{tmp_path / 'latin.txt'}", *OPTIONS)
    assert ran.code == 2 and "UTF-8" in ran.err


def test_a_failure_says_how_to_go_on_and_going_on_asks_nothing_twice(cli: Cli) -> None:
    answers = Chat(writer_and_critic)
    broken = [True]

    def unlucky(ask: Ask) -> Play:
        third = broken[0] and len(server.asks) == 3
        return refusal("The key has expired.", 401) if third else answers(ask)

    with FaultServer(unlucky) as server:
        cli.endpoint(server.url)
        ran = cli(*SHORT, "--json")
        assert ran.code == 1
        assert len(ran.json["steps"]) == 3 and ran.json["outcome"] is None
        assert "The key has expired." in ran.json["problem"]
        command = re.search(r"python app\.py (refine --resume \w+)", ran.err)
        assert command is not None and "Traceback" not in ran.err
        broken[0] = False
        again = cli(*command[1].split(), "--json")
    assert again.code == 0 and again.json["problem"] == ""
    assert again.json["steps"][:3] == ran.json["steps"]
    prompts = [json.dumps([body["messages"], body["seed"]]) for body in server.bodies]
    assert len(prompts) == 4 and prompts[2] == prompts[3] and len(set(prompts)) == 3


def test_going_on_with_what_has_ended_shows_it_and_asks_nothing(cli: Cli, chat: FaultServer) -> None:
    first = cli(*SHORT, "--json")
    asked = len(chat.asks)
    again = cli("refine", "--resume", cli.only_session(), "--json")
    assert (again.code, again.json) == (0, first.json)
    assert len(chat.asks) == asked


def test_an_unreachable_endpoint_is_said(cli: Cli) -> None:
    with FaultServer([refusal("no such model", 404)]) as server:
        cli.endpoint(server.url)
        ran = cli(*SHORT)
    assert ran.code == 1
    assert "tiny-chat" in ran.err and "--resume" in ran.err


# -- a person at the gates ------------------------------------------------------------------


def test_a_person_rules_from_the_terminal(cli: Cli, chat: FaultServer) -> None:
    cli.patch.setenv("REDRAFT_USER", "Anna")
    ran = cli(*SHORT, "--gate", "human", "--json", stdin="x\n\na\ne\nMine alone.\n")
    assert ran.code == 0, ran.err
    assert "too weak after" in ran.err and "Answer one of: a, n, s" in ran.err
    rulings = [s["answer"]["decision"] for s in ran.json["steps"] if s["answer"]["kind"] == "decision"]
    assert [(r["ruling"], r["by"], r["text"]) for r in rulings] == [
        ("accept", "Anna", None),
        ("edit", "Anna", "Mine alone."),
    ]
    assert ran.json["outcome"]["draft"]["text"] == "Mine alone."


def test_a_retry_carries_its_note_to_the_model(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT, "--gate", "human", "--json", stdin="a\nn\nmore about the soup\na\n")
    assert ran.code == 0
    assert "more about the soup" in chat.bodies[-1]["messages"][-1]["content"]


def test_an_empty_edit_is_refused_and_asked_again(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT, "--gate", "human", "--json", stdin="a\ne\n\nr\n")
    assert ran.code == 0 and "The edited text is empty" in ran.err


def test_an_edit_that_cannot_be_kept_is_refused_and_asked_again(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT, "--gate", "human", "--json", stdin="a\ne\nno\0good\nr\n")
    assert ran.code == 0 and "NUL character" in ran.err


def test_the_end_of_input_leaves_the_gate_open(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT, "--gate", "human", "--json", stdin="a\n")
    assert ran.code == 1 and ran.json["outcome"] is None
    assert "waits for a decision" in ran.err and "--resume" in ran.err
    asked = len(chat.asks)
    again = cli("refine", "--resume", cli.only_session(), "--json", stdin="s\n")
    assert again.code == 0 and len(chat.asks) == asked
    assert again.json["outcome"]["reason"] == "stopped by person"
