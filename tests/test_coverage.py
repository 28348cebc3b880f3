"""Concepts found in texts by lemma."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from core.domain import Score, Task
from core.scoring.coverage import ConceptCoverage, coverage, read_concepts


@pytest.mark.parametrize(
    ("concept", "text", "is_used"),
    [
        ("run", "She ran home.", True),
        ("wrap", "It was wrapped in paper.", True),
        ("mouse", "Two mice hid.", True),
        ("leaf", "Leaves fell.", True),
        ("leave", "He leaves now.", True),
        ("child", "The CHILDREN's toys", True),
        ("bury", "The dog buried it", True),
        ("tattoo", "A tattooed arm", True),
        ("colour", "She colors it.", True),
        ("dog", "My dog's bowl", True),
        ("star", "He stared at me.", False),
        ("car", "A caring nurse", False),
        ("cat", "The category is concatenated.", False),
        ("pan", "Japan", False),
        ("snow", "", False),
        ("ice cream", "Two ice creams, please", True),
        ("ice cream", "Cream on ice", False),
        ("well-known", "a well-known man", True),
        ("wheel", "a two-wheel cart", True),
    ],
)
def test_forms(concept: str, text: str, is_used: bool) -> None:
    assert bool(coverage([concept], text).found) is is_used


def test_missing_ones_are_listed_in_order() -> None:
    found = coverage(["snow", "dog", "run"], "The dog runs.")
    assert (found.found, found.missing) == (("dog", "run"), ("snow",))
    assert found.share == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "text", ["snow, dog;run", "- snow\n- dog\n- run\n", '["snow", "dog", "run"]', "snow,dog,,run,dog"]
)
def test_lists_as_people_write_them(text: str) -> None:
    assert read_concepts(text) == ("snow", "dog", "run")


def test_another_language() -> None:
    assert coverage(["Haus"], "Die Häuser brennen.", "de").found == ("Haus",)


def score(task: Task, text: str) -> Score:
    return asyncio.run(ConceptCoverage().measure(task, (), [text]))[0]


def test_scores() -> None:
    task = Task("Write a sentence.", target="snow, dog")
    assert (score(task, "A dog in the snow").value, score(task, "A dog").value) == (1.0, 0.5)
    assert score(task, "A dog").why == "missing: snow"
    assert score(Task("snow, dog"), "dogs").value == 0.5
    assert score(Task(" "), "dogs").value is None
    assert score(task, " ").value is None


def test_concepts_listed_as_a_text_are_all_found() -> None:
    folder = os.environ.get("REDRAFT_TEST_DATA")
    if not folder:
        pytest.skip("REDRAFT_TEST_DATA is not set")
    for line in (Path(folder) / "commongen_hard.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            concepts = json.loads(line)["concepts"]
            assert coverage(concepts, "".join(f"{c.upper()}! " for c in concepts)).missing == ()
