"""The command of the README on the starter, as two processes: the same seed gives the same document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

APP = Path(__file__).parent.parent / "app.py"
COMMAND = [
    *("refine", "The food was fantastic and the staff were so friendly."),
    *("--instruction", "Make this review negative", "--rounds", "1", "--scorer", "logprob"),
    *("--gate", "score", "--seed", "7", "--json"),
]


def document(folder: Path) -> dict[str, Any]:
    """What the command prints; its sessions go into a database in `folder`."""
    environment = {**os.environ, "REDRAFT_DATABASE_URL": f"sqlite:///{folder}/redraft.db"}
    done = subprocess.run(
        [sys.executable, str(APP), *COMMAND], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def timeless(value: Any) -> Any:
    """A document without what differs from run to run on purpose."""
    if isinstance(value, dict):
        own = ("session", "created_at", "at", "seconds")
        return {key: timeless(each) for key, each in value.items() if key not in own}
    return [timeless(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The documents of two runs."""
    return [document(tmp_path_factory.mktemp(name)) for name in ("first", "second")]


@pytest.mark.starter
def test_the_same_seed_gives_the_same_document(documents: list[dict[str, Any]]) -> None:
    first, second = documents
    assert first["session"] != second["session"]
    assert timeless(first) == timeless(second)


@pytest.mark.starter
def test_every_text_comes_with_the_logprobs_of_its_tokens(documents: list[dict[str, Any]]) -> None:
    asks = [step for step in documents[0]["steps"] if step["request"]["kind"] == "ask"]
    replies = [step["answer"]["reply"] for step in asks]
    assert asks[0]["request"]["role"] == "draft"
    for completion in (reply["completions"][0] for reply in replies):
        assert completion["text"] == "".join(token["text"] for token in completion["tokens"])
        logprobs = [token["logprob"] for token in completion["tokens"]]
        assert logprobs and all(logprob <= 0 for logprob in logprobs)
        assert any(logprob < 0 for logprob in logprobs)


@pytest.mark.starter
def test_every_draft_is_scored_under_the_task_prompt(documents: list[dict[str, Any]]) -> None:
    measures = [s for s in documents[0]["steps"] if s["request"]["kind"] == "measure"]
    asked = [s for s in documents[0]["steps"] if s["request"].get("role") in ("draft", "revise")]
    assert len(measures) == len(asked) >= 1
    for step in measures:
        (score,) = step["answer"]["scores"][0]
        assert (score["scorer"], score["condition"]) == ("logprob", "given the task prompt alone, by starter")
        assert (
            score["value"] < 0 and "".join(t["text"] for t in score["tokens"]) == step["request"]["texts"][0]
        )
    assert documents[0]["outcome"]["draft"]["text"] and documents[0]["outcome"]["reason"]
