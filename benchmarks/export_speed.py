"""Promise: exporting, importing and choosing training data take memory that does not grow with the sessions.

Usage: python benchmarks/export_speed.py [SESSIONS]. Synthetic sessions with all their steps, a twentieth of
20,000 and 20,000 of them by default. Each command runs in a process of its own; what it took is the peak on
top of what it had before it began (Linux). An import goes into an empty database, of the small number and of
a fifth of it. The last line holds the ratio of an export's peak with many sessions to that with few; the
goal is <= 1.5, and a session takes at most 1.5 times as long. Training data is all in memory: it is not here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.synthetic_sessions import fill
from core.interchange import rows_of
from core.listing import Chosen
from storage.archive import SqlArchive
from storage.database import open_database

SESSIONS, PART, LESS = 20_000, 20, 5


def main(sessions: int) -> None:
    few = max(sessions // PART, LESS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        out = {count: _export(folder, count) for count in (few // LESS, few, sessions)}
        taken = {count: _import(folder, count) for count in (few // LESS, few)}
    peak = out[sessions]["mb"] / max(out[few]["mb"], 1.0)
    each = (out[sessions]["seconds"] / sessions) / (out[few]["seconds"] / few)
    grown = taken[few]["mb"] / max(taken[few // LESS]["mb"], 1.0)
    print(f"import: peak memory of {few:,} sessions / of {few // LESS:,}: {grown:.2f}")
    print(f"export: seconds a session, {sessions:,} / {few:,}: {each:.2f}")
    print(f"export: peak memory of {sessions:,} sessions / of {few:,}: {peak:.2f}")


def _export(folder: Path, count: int) -> dict[str, float]:
    database, file = folder / f"{count}.db", folder / f"{count}.jsonl"
    engine = open_database(f"sqlite:///{database}")
    fill(engine, count)
    engine.dispose()
    return _told(f"export of {count:,}", _apart("export", database, file), count, file)


def _import(folder: Path, count: int) -> dict[str, float]:
    file = folder / f"{count}.jsonl"
    return _told(f"import of {count:,}", _apart("import", folder / f"{count}-new.db", file), count, file)


def _told(what: str, took: dict[str, float], count: int, file: Path) -> dict[str, float]:
    size = file.stat().st_size / 1e6
    rate = count / took["seconds"]
    print(
        f"{what} sessions, {size:,.0f} MB: {took['seconds']:.1f} s ({rate:,.0f} a second), "
        f"peak {took['mb']:.0f} MB"
    )
    return took


def _apart(command: str, database: Path, file: Path) -> dict[str, float]:
    ran = subprocess.run(
        [sys.executable, __file__, command, str(database), str(file)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def _alone(command: str, database: Path, file: Path) -> None:
    """One command; prints seconds and MB of peak on top of what there was."""
    archive = SqlArchive(open_database(f"sqlite:///{database}"))
    before, began = _resident("VmRSS"), time.perf_counter()
    if command == "export":
        with file.open("w", encoding="ascii") as out:
            out.writelines(archive.file(Chosen()))
    else:
        with file.open("rb") as stream:
            archive.receive_documents(rows_of(stream))
    took = time.perf_counter() - began
    print(json.dumps({"seconds": took, "mb": (_resident("VmHWM") - before) / 1024}))


def _resident(name: str) -> int:
    """The process's memory in kB: VmRSS now, VmHWM at most."""
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text("ascii"))
    assert found is not None, "this needs Linux"
    return int(found[1])


if __name__ == "__main__":
    if len(sys.argv) == 4:
        _alone(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS)
