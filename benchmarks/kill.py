"""Promise: kill -9 at any moment costs at most the call it hit; nothing committed is asked for again.

Usage: python benchmarks/kill.py [KILLS]. Sessions of `python app.py refine` against an endpoint in this
process are killed 100 times at random (seeded) moments and resumed. The last line holds the number of
broken promises over kills; the goal is 0.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fault_server import FaultServer
from tests.kill import CALLS, Crashes, Endpoint, Kept, differences, kept, random_kill

PER_SESSION = 8
"""Kills before a session is left alone: few enough that most hit it in mid-run."""


def session(folder: Path, rng: random.Random, kills: int) -> tuple[Crashes, Kept]:
    """One session, killed at most so often, then left alone until its end."""
    crashes = Crashes(folder, Endpoint())
    with FaultServer(crashes.endpoint) as server:
        crashes.prepare(server)
        done = False
        while crashes.kills < kills and not done:
            done = crashes.run(random_kill(rng)) == 0
        if not done and crashes.run(None) != 0:
            crashes.faults.append("it did not end well")
    if crashes.endpoint.asked.total() > CALLS + crashes.kills:
        crashes.faults.append("a kill cost more than one call")
    return crashes, kept(folder)


def main(arguments: Sequence[str]) -> None:
    """Kill and resume, and say what was broken."""
    wanted, rng = int(arguments[0]) if arguments else 100, random.Random(7)
    faults: list[str] = []
    kills, sessions = 0, 0
    seen: Counter[tuple[str, int]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        _, undisturbed = session(Path(folder) / "undisturbed", rng, 0)
        while kills < wanted:
            crashes, ended = session(Path(folder) / str(sessions), rng, min(PER_SESSION, wanted - kills))
            faults += crashes.faults + differences(ended, undisturbed)
            kills, sessions, seen = kills + crashes.kills, sessions + 1, seen + crashes.seen
            print(f"{kills} kills, {sessions} sessions, {len(faults)} broken promises", flush=True)
    for (when, steps), count in sorted(seen.items()):
        print(f"  {count:3} {when} with {steps} steps kept")
    print("\n".join(faults))
    print(f"{len(faults)} / {kills}")


if __name__ == "__main__":
    main(sys.argv[1:])
