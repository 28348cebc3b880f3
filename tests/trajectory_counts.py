"""A recount of Self-Refine trajectories straight from the file: which attempts reached the label.

Shares no code with what imports them. An attempt reaches the label where its statement says in so many words
that the sentiment is the target's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

FILES = ("selfrefine_yelp_chatgpt.jsonl", "selfrefine_yelp_gpt4.jsonl")


@dataclass(frozen=True)
class Counts:
    """In how many records the first, the last, any attempt reached the label; and all attempts."""

    records: int
    attempts: int
    first: int
    last: int
    any: int


def trajectory_file(name: str) -> Path:
    """A file of the test data; the test is skipped where there is none."""
    folder = os.environ.get("REDRAFT_TEST_DATA")
    if not folder or not (Path(folder) / name).exists():
        pytest.skip("REDRAFT_TEST_DATA names no folder with this file")
    return Path(folder) / name


def recount(path: Path) -> Counts:
    """The counts of one file."""
    records: dict[object, dict[int, bool]] = {}
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            row = json.loads(line)
            target = row["target_sentiment"].lower()
            said = row["transferred_review_sentiment"].lower()
            reached = f"sentiment is {target}" in said or f"sentiment of the review is {target}" in said
            records.setdefault(row["record_id"], {})[row["attempt"]] = reached
    runs = [[run[number] for number in sorted(run)] for run in records.values()]
    return Counts(
        len(runs), sum(map(len, runs)), _count(runs, 0), _count(runs, -1), sum(any(run) for run in runs)
    )


def _count(runs: Sequence[Sequence[bool]], place: int) -> int:
    return sum(run[place] for run in runs)
