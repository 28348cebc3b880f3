"""Long texts are sent once and named where they stand; what undoing will undo is said."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.domain import Decision
from core.runs import Runs
from tests.benches import CRITIQUE, Bench, recipe
from tests.test_workbench import advance
from ui.events import Views
from ui.sharing import HELD, SHORT, shared
from ui.undoing import undo_words

LONG = "A meal of many words, which is longer than any name of it would be."
NEW = "A feast of many words, which is longer than any name of it would be."


def put_together(value: Any, held: dict[str, Any]) -> Any:
    """The value with what is held in the place of its names, as a page puts it."""
    if isinstance(value, dict) and "held" in value:
        return held[HELD + value["held"]]
    if isinstance(value, dict):
        return {key: put_together(each, held) for key, each in value.items()}
    return [put_together(each, held) for each in value] if isinstance(value, list) else value


def test_a_view_is_put_together_from_its_names() -> None:
    row = {"base": {"text": LONG, "scores": []}, "marks": ([1, LONG],), "by": "model", "n": None}
    parts = shared({"row 0": row, "head": {"doing": LONG}, "outcome": {"text": LONG}})
    assert parts["head"] == {"doing": LONG}
    assert len([name for name in parts if name.startswith(HELD)]) == 2
    assert LONG not in json.dumps(parts["row 0"])
    assert put_together(parts["row 0"], parts) == row
    assert put_together(parts["outcome"], parts) == {"text": LONG}


@pytest.mark.parametrize("length", [0, SHORT, SHORT + 1, 50_000])
def test_texts_of_every_length_come_back(length: int) -> None:
    parts = shared({"row 0": {"text": "\ud83c" * length}})
    assert put_together(parts["row 0"], parts) == {"text": "\ud83c" * length}


def test_a_page_is_sent_each_text_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [LONG, CRITIQUE, NEW])
    session_id = bench.new("auto", recipe(rounds=1, scorer=None))

    async def heard() -> list[str]:
        runs = Runs(bench)
        views, events = Views(bench, runs), list[str]()
        async for event in views.stream(session_id):
            if event.startswith("event: view"):
                events.append(event)
                if len(events) == 1:
                    runs.start(session_id)
                if '"state":"ended"' in event:
                    return events
        return events

    events = asyncio.run(heard())
    assert len(events) > 2
    for text in (LONG, NEW):
        assert sum(event.count(f':"{text}"') for event in events) == 1


def test_what_undoing_undoes_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [LONG, CRITIQUE, NEW, CRITIQUE])
    session_id = bench.new("ask", recipe(scorer=None))
    place = advance(bench, session_id)
    assert undo_words(bench.store.load(session_id).steps) == ""
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    bench.store.set_mode(session_id, "ask_on_fall")
    place = advance(bench, session_id)
    said = undo_words(bench.store.load(session_id).steps)
    assert "the points of round 1" in said and "by Anna" in said
    bench.decide(session_id, place.position, Decision("stop", "Anna"))
    assert "before the stop" in undo_words(bench.store.load(session_id).steps)


def test_where_only_the_policy_ruled_its_last_ruling_is_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [LONG, CRITIQUE, NEW])
    session_id = bench.new("auto", recipe(rounds=1, scorer=None))
    advance(bench, session_id)
    said = undo_words(bench.store.load(session_id).steps)
    assert "the revision of round 1" in said and "by policy" in said
