"""Runs a Python program that nobody has read, where it can neither reach nor harm anything, or refuses to.

It knows no task and no test. What a program gets: Python with its standard library and the packages named,
an empty folder in memory, its input, nothing else: no network, no file of this machine to write, none of a
person's to read, no process to see. What stops it: limits of the kernel on memory, CPU time, processes and
files, limits here on wall time and output. All of it ends together, since its processes share a namespace.

A tool (core.scoring.shut_off) is used only after a trial has shown that what runs in it is shut off; where
none passes, NoIsolation says why and nothing runs.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, Literal

from core.scoring.shut_off import TOOLS, Limits, Tool, command, launcher

Outcome = Literal["finished", "failed", "out of time", "out of memory", "too much output"]


class NoIsolation(RuntimeError):
    """Nothing was run: there is no way to shut a program off on this machine; the message says why."""


@dataclass(frozen=True)
class Ran:
    """How a program ended: `said` in words, what it wrote, seconds of wall and CPU time (None: killed)."""

    outcome: Outcome
    said: str
    output: str
    errors: str
    seconds: float
    cpu_seconds: float | None


_PROBE = """
import os, socket, sys
assert [name for _, name in socket.if_nameindex()] in ([], ["lo"]), "it has a network"
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)
except OSError:
    pass
else:
    raise AssertionError("it reaches this machine's ports")
assert not os.path.exists(sys.argv[2]), "it sees files of this machine"
for place in ("/usr", "/input", "/"):
    try:
        open(place + "/probe", "w")
    except OSError:
        continue
    raise AssertionError("it can write to " + place)
open("/box/probe", "w").write("can write here")
assert not [p for p in os.listdir("/proc") if p.isdigit() and int(p) > 100], "it sees other processes"
print("shut off")
"""


def run(
    files: Mapping[str, str],
    *,
    main: str = "main.py",
    arguments: Sequence[str] = (),
    stdin: str = "",
    limits: Limits | None = None,
    tool: Tool | None = None,
) -> Ran:
    """Run `main` among the files and say how it ended; blocks for limits.seconds at most.

    Raises NoIsolation where nothing can shut it off.
    """
    tool = tool or isolation()
    return _run(files, main, arguments, stdin, limits or Limits(), tool)


def isolation() -> Tool:
    """The tool that shuts programs off on this machine. Raises NoIsolation."""
    reasons = {tool: trial(tool) for tool in TOOLS}
    for tool, reason in reasons.items():
        if not reason:
            return tool
    told = "; ".join(f"{tool}: {reason}" for tool, reason in reasons.items())
    raise NoIsolation(
        "Programs are run only where they can be shut off from this machine and the network, which can't "
        f"be done here ({told}). Installing bubblewrap helps on most Linux systems."
    )


@cache
def trial(tool: Tool) -> str:
    """Why this tool can't be used; empty when a program that tried to get out of it could not."""
    missing = [name for name in TOOLS[tool] if shutil.which(name) is None]
    if sys.platform != "linux" or missing:
        return f"{', '.join(missing) or tool} is not installed"
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.NamedTemporaryFile() as secret:
        port = str(server.getsockname()[1])
        ran = _run({"main.py": _PROBE}, "main.py", (port, secret.name), "", Limits(), tool)
    if ran.output == "shut off\n":
        return ""
    return (ran.errors.strip().splitlines() or [ran.said])[-1][:200]


def _run(
    files: Mapping[str, str], main: str, arguments: Sequence[str], stdin: str, limits: Limits, tool: Tool
) -> Ran:
    with tempfile.TemporaryDirectory(prefix="sandbox-") as folder:
        given, root = Path(folder) / "input", Path(folder) / "root"
        for place in (Path(folder), given, root):  # read there by another user
            place.mkdir(exist_ok=True)
            place.chmod(0o755)
        for name, text in files.items():
            (given / name).write_text(text, encoding="utf-8", errors="replace")
            (given / name).chmod(0o644)
        (Path(folder) / "stdin").write_text(stdin, encoding="utf-8", errors="replace")
        told, telling = os.pipe()
        with open(told, "rb") as report, open(telling, "wb") as reporting:
            inside = [*launcher(limits, telling), f"/input/{main}", *arguments]
            shut_off = command(tool, given, root, inside, limits)
            with (Path(folder) / "stdin").open("rb") as entered:
                return _watched(shut_off, entered.fileno(), report, reporting, limits)


def _watched(
    shut_off: Sequence[str], stdin: int, report: BinaryIO, reporting: BinaryIO, limits: Limits
) -> Ran:
    """Run the command until it ends or must be ended."""
    started, pipe = time.monotonic(), subprocess.PIPE
    process = subprocess.Popen(
        shut_off,
        env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")},  # keys in the environment stay outside
        stdin=stdin,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
        pass_fds=[reporting.fileno()],
    )
    reporting.close()
    assert process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        taken = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
        over = _collect(taken, started + limits.seconds, limits.output_kb * 1024)
        status = _ended(process, started + limits.seconds if not over else 0.0)
    seconds = time.monotonic() - started
    reported = report.read(100)
    output, errors = (bytes(part).decode("utf-8", "replace") for part in taken.values())
    outcome, said = _told(over, status, errors, limits)
    return Ran(outcome, said, output, errors, seconds, float(reported) if reported else None)


def _collect(taken: dict[int, bytearray], end: float, most: int) -> Outcome | None:
    """Read what is written until both pipes close; or why no more is read."""
    with selectors.DefaultSelector() as waiting:
        for pipe in taken:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, end - time.monotonic()))
            if not ready:
                return "out of time"
            for key, _ in ready:
                piece = os.read(key.fd, 65536)
                taken[key.fd] += piece
                if not piece:
                    waiting.unregister(key.fd)
                if len(taken[key.fd]) > most:
                    del taken[key.fd][most:]
                    return "too much output"
    return None


def _ended(process: subprocess.Popen[bytes], end: float) -> int | None:
    """Wait for the end of the process, or bring it about: its exit status, None when it was killed."""
    while process.poll() is None:
        if time.monotonic() >= end:
            # The tool dies with its namespace, whatever runs in it and whatever signals that ignores.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        time.sleep(0.002)
    return process.returncode


def _told(over: Outcome | None, status: int | None, errors: str, limits: Limits) -> tuple[Outcome, str]:
    if over == "too much output":
        return over, f"It was stopped: it wrote more than {limits.output_kb:,} kB."
    if over or status is None:
        return "out of time", f"It was stopped after {limits.seconds:g} seconds."
    if status == 128 + signal.SIGXCPU:
        return "out of time", f"It was stopped after {limits.cpu_seconds} seconds of computing."
    if status == 128 + signal.SIGKILL:
        return "failed", "It was killed by the system, for computing too long or for want of memory."
    last = (errors.strip().splitlines() or [""])[-1]
    if status and ("MemoryError" in last or "Unable to allocate" in last):
        return "out of memory", f"It ended: it wanted more than {limits.memory_mb:,} MB of memory."
    if status == 0:
        return "finished", "It ran to its end."
    return "failed", f"It failed: {last[:300]}" if last else f"It failed with exit code {status}."
