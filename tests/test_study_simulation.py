"""From a file of trajectories to the report: scripted raters of known taste are found out, side bias too."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from math import exp
from pathlib import Path
from random import Random

import pytest

from core.studies.blinding import RaterView
from core.studies.figures import Interval
from core.studies.imports import LAST_ATTEMPT, read_entries
from core.studies.material import Entry
from core.studies.monitor import monitor
from core.studies.protocol import StudyProtocol
from core.studies.records import Answered
from core.studies.report import Report
from core.studies.results import report_of, results
from tests.studies import OWNER, House

LEAN, SIDE = 0.8, 0.5
"""Log odds of the last attempt, and what standing on the left adds to or takes from them."""


def chance(odds: float) -> float:
    return 1 / (1 + exp(-odds))


SHARE = (chance(LEAN + SIDE) + chance(LEAN - SIDE)) / 2


def taste(items: tuple[Entry, ...], seed: int) -> Callable[[RaterView], Answered]:
    """A rater who knows by the text which attempt is which, as no real one does."""
    last = {entry.prompt: dict(entry.texts)[LAST_ATTEMPT] for entry in items}
    draw = Random(f"rater {seed}")

    def choose(view: RaterView) -> Answered:
        assert view.pair
        on_left = view.pair.left == last[view.pair.prompt]
        wants_last = draw.random() < chance(LEAN + (SIDE if on_left else -SIDE))
        return "left" if wants_last == on_left else "right"

    return choose


def study_of(house: House, items: tuple[Entry, ...], raters: int) -> Report:
    """All items judged by so many raters, locked, unblinded and reported."""
    study = house.open(StudyProtocol(target=raters, draws=100, seed=4), list(items))
    for number, token in enumerate(house.raters(study, raters)):
        house.rate(token, taste(items, number))
    found = monitor(house.store, study)
    assert found.votes == found.wanted and found.side_gap <= raters % 2
    house.studies.lock(study, OWNER)
    house.studies.unblind(study, OWNER, "complete")
    return report_of(results(house.store, study))


def assert_found_out(found: Report) -> None:
    """The intervals hold what the raters were made of."""
    (pair,) = found.kept.preferences
    assert pair.second == LAST_ATTEMPT
    intervals = [pair.dropped.wilson, pair.dropped.clustered]  # type: ignore[union-attr]
    assert all(isinstance(one, Interval) and 1 - SHARE in one and 0.5 not in one for one in intervals)
    side = found.kept.side_effect.clustered  # type: ignore[union-attr]
    assert isinstance(side.interval, Interval)  # type: ignore[union-attr]
    assert SIDE in side.interval and 0.0 not in side.interval  # type: ignore[union-attr]


def test_a_small_study_of_made_up_trajectories(tmp_path: Path) -> None:
    rows = [
        {
            "record_id": record,
            "attempt": attempt,
            "review": f"The soup number {record} was cold.",
            "target_sentiment": "Very positive",
            "transferred_review": f"Soup {record} was {'fine' if attempt == 0 else 'a delight'}.",
        }
        for record in range(16)
        for attempt in (0, 1, 2)
    ]
    items = read_entries("\n".join(map(json.dumps, rows)).encode()).entries
    found = study_of(House(tmp_path), items, 16)
    assert found.kept.counts.votes == 256
    assert_found_out(found)


@pytest.mark.skipif("REDRAFT_TEST_DATA" not in os.environ, reason="REDRAFT_TEST_DATA names no folder")
def test_forty_items_of_real_trajectories(tmp_path: Path) -> None:
    data = (Path(os.environ["REDRAFT_TEST_DATA"]) / "selfrefine_yelp_gpt4.jsonl").read_bytes()
    items = read_entries(data, limit=40).entries
    house = House(tmp_path)
    contents = house.studies.contents(house.draft(items=list(items)))
    last = {system.id for system in contents.systems if system.name == LAST_ATTEMPT}
    flagged = Counter(output.measures.flags for output in contents.outputs if output.measures.flags)
    assert flagged[("meta-text",)] >= 5
    assert {output.system for output in contents.outputs if output.measures.flags} == last
    found = study_of(house, items, 12)
    assert found.kept.counts.votes == 39 * 12  # one record has one attempt: the same text twice
    assert_found_out(found)
