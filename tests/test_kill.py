"""Ten kill -9 of a session, at every kind of moment; see tests/kill.py for what is promised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fault_server import FaultServer
from tests.kill import CALLS, STEPS, Crashes, Endpoint, Kept, Kill, differences, kept

FIRST = [
    Kill("starting", seconds=0.4),
    Kill("streaming", call=1, chunk=5),
    Kill("answered", call=1),
    Kill("streaming", call=3, chunk=0),
    Kill("starting", seconds=0.9),
]
SECOND = [
    Kill("streaming", call=2, chunk=1),
    Kill("answered", call=4, seconds=0.004),
    Kill("streaming", call=3, chunk=9),
    Kill("answered", call=2, seconds=0.01),
    Kill("streaming", call=1, chunk=2),
]


def run(folder: Path, kills: list[Kill]) -> tuple[Crashes, Kept]:
    """A session killed at these moments and then left alone until its end."""
    crashes = Crashes(folder, Endpoint())
    with FaultServer(crashes.endpoint) as server:
        crashes.prepare(server)
        for kill in kills:
            assert crashes.run(kill) == -9, "it was over before its kill"
        assert crashes.run(None) == 0
    return crashes, kept(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The same session without a kill."""
    crashes, ended = run(tmp_path_factory.mktemp("undisturbed") / "home", [])
    assert crashes.endpoint.asked.total() == CALLS and len(ended.steps) == STEPS
    assert set(crashes.endpoint.asked.values()) == {1}
    return ended


@pytest.mark.parametrize("kills", [FIRST, SECOND], ids=["first", "second"])
def test_nothing_committed_is_asked_again_and_the_history_is_that_of_an_undisturbed_run(
    tmp_path: Path, undisturbed: Kept, kills: list[Kill]
) -> None:
    crashes, ended = run(tmp_path / "home", kills)
    assert crashes.faults == []
    assert differences(ended, undisturbed) == []
    assert crashes.kills == len(kills)
    assert crashes.endpoint.asked.total() <= CALLS + len(kills), "a kill cost more than the call it hit"


def test_the_check_can_fail(undisturbed: Kept) -> None:
    shorter = Kept(undisturbed.id, undisturbed.ending, undisturbed.positions[:-1], undisturbed.steps[:-1])
    request, answer = undisturbed.steps[0]
    other = json.dumps({**json.loads(answer), "stopped_by": "someone"})
    changed = Kept(undisturbed.id, "other", undisturbed.positions, ((request, other), *undisturbed.steps[1:]))
    assert differences(shorter, undisturbed) == ["16 steps, not 17"]
    assert differences(changed, undisturbed) == ["ended 'other'", "step 0 differs"]
