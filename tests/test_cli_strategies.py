"""Every strategy, and what it needs, from the command line."""

from __future__ import annotations

from collections import Counter

import pytest

from core.strategies import STRATEGIES
from tests.fault_server import FaultServer
from tests.terminal import SHORT, TEXT, Cli, chat_fixture, cli_fixture

__all__ = ["chat_fixture", "cli_fixture"]

CALLS = {
    "direct": {"draft": 1},
    "self_refine": {"draft": 1, "critique": 1, "revise": 1},
    "best_of_n": {"draft": 3},
    "self_consistency": {"draft": 2},  # both say the same: a third could change nothing
    "synthesise": {"draft": 3, "synthesise": 1},
    "beam": {"draft": 3, "critique": 2, "revise": 2},
    "best_of_n+self_refine": {"draft": 3, "critique": 1, "revise": 1},
    "self_consistency+self_refine": {"draft": 2, "critique": 1, "revise": 1},
    "synthesise+self_refine": {"draft": 3, "synthesise": 1, "critique": 1, "revise": 1},
}


def test_no_strategy_is_forgotten() -> None:
    assert set(CALLS) == set(STRATEGIES)


@pytest.mark.parametrize("strategy", CALLS)
def test_each_strategy_asks_what_it_should_and_no_more(cli: Cli, chat: FaultServer, strategy: str) -> None:
    options = ("--candidates", "3", "--width", "1", "--children", "2", "--json")
    ran = cli(*SHORT, "--strategy", strategy, *options)
    assert ran.code == 0, ran.err
    roles = Counter(s["request"]["role"] for s in ran.json["steps"] if s["request"]["kind"] == "ask")
    assert roles == CALLS[strategy] and sum(roles.values()) == len(chat.bodies)
    assert ran.json["outcome"]["draft"]["text"]


def test_candidates_are_read_and_picked_on_the_terminal(cli: Cli, chat: FaultServer) -> None:
    ran = cli(*SHORT, "--strategy", "best_of_n", "--candidates", "2", "--gate", "human", stdin="p\n2\n")
    assert ran.code == 0 and "--- candidate 2" in ran.err
    assert "It is the text that person picked" in ran.out


def test_a_role_a_judge_and_several_scores_are_named(cli: Cli, chat: FaultServer) -> None:
    ran = cli(
        *TEXT, "--model", "fake:tiny-chat", "--strategy", "direct", "--seed", "7",
        "--scorer", "judge", "--scorer", "heuristic", "--gate-scorer", "heuristic",
        "--judge", "fake:one", "--judge", "fake:two", "--judge-samples", "2",
        "--role", "draft=fake:writer", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    asked = Counter(body["model"] for body in chat.bodies)
    assert asked == {"writer": 1, "one": 2, "two": 2}
    scores = {score["scorer"]: score for score in ran.json["outcome"]["draft"]["scores"]}
    assert scores["heuristic"]["value"] is not None
    assert scores["judge"]["value"] is None and "could be read" in scores["judge"]["why"]
    measured = next(s for s in ran.json["steps"] if s["request"]["kind"] == "measure")
    replies = next(s["replies"] for s in measured["answer"]["scores"][0] if s["scorer"] == "judge")
    assert len(replies) == 4  # kept, though none could be read


def test_what_is_no_role_is_bad_usage(cli: Cli, chat: FaultServer) -> None:
    assert cli(*SHORT, "--role", "poet=fake:x").code == 2
    assert cli(*SHORT, "--role", "draft").code == 2
    assert cli(*SHORT, "--judge", "nowhere:x").code == 2
    assert chat.bodies == []
