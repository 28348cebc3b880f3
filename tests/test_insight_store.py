"""The counts over all sessions on a real database: against a recount, and each round once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from core.importing.making import sessions_of
from core.importing.trajectories import read_trajectories
from core.insight import Scope
from core.questions import Chart, insight
from storage.archive import SqlArchive
from storage.database import open_database
from storage.insight_store import SqlInsightStore
from tests.trajectory_counts import FILES, recount, trajectory_file

AT = datetime(2026, 11, 1, tzinfo=UTC)


def chart(found: tuple[Chart, ...], key: str) -> Chart:
    return next(each for each in found if each.key == key)


@pytest.mark.parametrize("name", FILES)
def test_the_real_trajectories_come_out_as_in_the_file(name: str, tmp_path: Path) -> None:
    path = trajectory_file(name)
    engine = open_database(f"sqlite:///{tmp_path}/redraft.db")
    SqlArchive(engine).receive(
        sessions_of(read_trajectories(path.read_bytes(), name), (AT + timedelta(seconds=n) for n in count()))
    )
    found = insight(SqlInsightStore(engine), Scope(), "model")
    expected = recount(path)
    reached = {line.name: line.figures[0] for line in chart(found.charts, "reached").lines}
    counts = {name: round((figure.value or 0) * figure.n) for name, figure in reached.items()}
    assert {figure.n for figure in reached.values()} == {expected.records} == {found.sessions}
    assert counts == {
        "the first draft": expected.first,
        "the last attempt": expected.last,
        "the text that stands": expected.last,
        "any of them": expected.any,
    }
