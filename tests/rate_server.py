"""The raters' app as a process of its own, for tests that kill it and benchmarks that load it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parent.parent
SERVER = """
import socket, sys, uvicorn
from storage.database import open_database
from storage.study_store import SqlStudyStore
from ui.rate_routes import rate_app
listening = socket.socket(proto=socket.IPPROTO_TCP)  # without it asyncio leaves 40 ms in every answer
listening.bind(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
app = rate_app(SqlStudyStore(open_database(sys.argv[1])))
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])
"""


@dataclass
class Served:
    """The raters' app as a process."""

    process: subprocess.Popen[str]
    url: str


def serve(database: str) -> Served:
    """Start it on that database and wait until it answers."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, database], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    served = Served(process, f"http://127.0.0.1:{process.stdout.readline().strip()}")
    deadline = time.monotonic() + 30
    while True:
        try:
            httpx.get(f"{served.url}/rate/", timeout=5)
            return served
        except httpx.TransportError:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)


def stop(served: Served) -> None:
    """kill -9."""
    served.process.send_signal(signal.SIGKILL)
    served.process.communicate()
