"""Training data as `datasets` and TRL's trainers take it: a step runs, its loss is the completion's."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.domain import Message
from core.training.building import Plan, build
from core.training.examples import Example, Kind, Origin
from core.training.writing import write

pytest.importorskip("trl")
pytest.importorskip("datasets")

STEP = Path(__file__).with_name("trl_step.py")
HEAD = (Message("system", "Set the price."), Message("user", "Tea?"), Message("assistant", "$2"))
ASKED = ["Price: ", "Two\u2028lines\u0085and more", "海洋の温度 🌍", "What is 2 + 2?"]
SAID = [("$30 each", "30 each"), ("Error:\u2028TypeError", "none\n"), ("上がる", "下がる"), ("4", "5")]


def examples(kind: Kind) -> list[Example]:
    """Rows with several turns before them, and texts at which the boundary could shift."""
    return [
        Example(
            asked, (*HEAD, Message("user", asked)), good, Origin("so", "S", n), bad if kind == "dpo" else None
        )
        for n, (asked, (good, bad)) in enumerate(zip(ASKED, SAID, strict=True))
    ]


@dataclass(frozen=True)
class Stepped:
    """A folder with the data of each kind, and what the trainers made of them."""

    folder: Path
    seen: Any


@pytest.fixture(name="stepped", scope="module")
def stepped_fixture(tmp_path_factory: pytest.TempPathFactory) -> Stepped:
    folder = tmp_path_factory.mktemp("data")
    kinds: tuple[Kind, ...] = ("sft", "dpo")
    for kind in kinds:
        write(build(examples(kind), Plan(kind, held_out=0.25)), folder / kind, {})
    command = [sys.executable, str(STEP), str(folder / "sft"), str(folder / "dpo")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return Stepped(folder, json.loads(ran.stdout.splitlines()[-1]))


def rows_of(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "train.jsonl").read_text("ascii").splitlines()]


def completions(rows: list[Any], name: str) -> list[str]:
    return [row[name][0]["content"] for row in rows]


def test_a_step_of_sft_learns_exactly_the_completions(stepped: Stepped) -> None:
    seen = stepped.seen["sft"]
    turns = "List({'role': Value('string'), 'content': Value('string')})"
    assert seen["columns"] == {"prompt": turns, "completion": turns}
    assert seen["splits"] == {"train": 3, "test": 1} and seen["rows"] == rows_of(stepped.folder / "sft")
    assert (seen["steps"], seen["loss"] > 0) == (1, True)
    learnt = sorted([t for t in labels if t != -100] for labels in seen["batch"]["labels"])
    ends = [whole[len(asked) :] for asked, whole in zip(seen["prompts"], seen["wholes"], strict=True)]
    assert learnt == sorted(ends) and all(ends)
    for asked, whole in zip(seen["prompts"], seen["wholes"], strict=True):
        assert whole[: len(asked)] == asked, "the boundary of the prompt stays where it is"


def test_a_step_of_dpo_compares_exactly_the_completions(stepped: Stepped) -> None:
    seen = stepped.seen["dpo"]
    turns = "List({'role': Value('string'), 'content': Value('string')})"
    assert seen["columns"] == {"prompt": turns, "chosen": turns, "rejected": turns}
    assert seen["rows"] == rows_of(stepped.folder / "dpo") and seen["steps"] == 1
    assert seen["loss"] == pytest.approx(0.6931, abs=1e-3), "before any step both are equally likely"
    prompts = [asked for asked in seen["prompts"] for _ in ("chosen", "rejected")]
    ends = [whole[len(asked) :] for asked, whole in zip(prompts, seen["wholes"], strict=True)]
    batch = seen["batch"]
    compared = [
        [token for token, said in zip(ids, mask, strict=True) if said]
        for ids, mask in zip(batch["input_ids"], batch["completion_mask"], strict=True)
    ]
    assert sorted(compared) == sorted(ends) and len(ends) == 6
    assert completions(seen["rows"], "chosen") != completions(seen["rows"], "rejected")
