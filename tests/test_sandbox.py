"""Hostile programs in the sandbox, with every tool that works here; and the refusal where none does."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.scoring import sandbox
from core.scoring.sandbox import NoIsolation, Ran, run, trial
from core.scoring.shut_off import TOOLS, Limits, Tool

ROOMY = Limits(seconds=30, cpu_seconds=10, memory_mb=256, disk_mb=4, processes=16, output_kb=64)
SHORT = replace(ROOMY, seconds=1.5, cpu_seconds=1)


@pytest.fixture(params=sorted(TOOLS))
def tool(request: pytest.FixtureRequest) -> Tool:
    found: Tool = request.param
    reason = trial(found)
    if reason:
        pytest.skip(f"{found} can't shut programs off here: {reason}")
    return found


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def ran(tool: Tool, program: str, *arguments: str, stdin: str = "", limits: Limits = ROOMY) -> Ran:
    return run({"main.py": program}, arguments=arguments, stdin=stdin, limits=limits, tool=tool)


def test_a_program_runs_with_its_input(tool: Tool) -> None:
    found = ran(tool, "import sys; print(input()[::-1], sys.argv[1])", "x", stdin="né\n")
    assert (found.outcome, found.output) == ("finished", "én x\n")
    assert found.cpu_seconds is not None and 0 < found.cpu_seconds < 10


def test_a_program_that_fails_says_how(tool: Tool) -> None:
    found = ran(tool, "1/0")
    assert found.outcome == "failed"
    assert found.said == "It failed: ZeroDivisionError: division by zero"
    assert ran(tool, "raise SystemExit(3)").said == "It failed with exit code 3."


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import time\ntime.sleep(60)", "after 1.5 seconds"),
        (
            "import signal, time\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(60)",
            "after 1.5",
        ),
        ("import os, time\nos.close(1)\nos.close(2)\ntime.sleep(60)", "after 1.5"),
        ("import os\nwhile True:\n try: os.fork()\n except OSError: pass", "after 1"),
        ("while True: pass", "after 1"),
        ("while True: print('x' * 10**6)", "wrote more than 64 kB"),
        ("import sys\nwhile True: sys.stderr.write('x' * 10**6)", "wrote more than 64 kB"),
    ],
)
def test_a_program_that_does_not_end_is_stopped(tool: Tool, program: str, said: str) -> None:
    found = ran(tool, program, limits=SHORT)
    assert said in found.said
    assert found.outcome in ("out of time", "too much output")
    assert found.seconds < 10


def test_memory_is_bounded(tool: Tool) -> None:
    found = ran(tool, "x = bytearray(10**10)")
    assert found.outcome == "out of memory"
    assert "256 MB" in found.said


def test_processes_are_bounded(tool: Tool) -> None:
    found = ran(
        tool,
        "import os, time\nn = 0\ntry:\n while True:\n  if not os.fork(): time.sleep(60)\n  n += 1\n"
        "except OSError: print(n)",
    )
    assert 0 < int(found.output) <= 16


@pytest.mark.parametrize("size", [10**8, 10**5])
def test_files_are_bounded_one_by_one_and_together(tool: Tool, size: int) -> None:
    program = f"for n in range(1000): open(f'f{{n}}', 'wb').write(b'x' * {size})"
    assert "OSError" in ran(tool, program).said


def test_processes_left_behind_end_with_the_program(tool: Tool, tmp_path: Path) -> None:
    program = "import os, time\nif not os.fork():\n os.setsid()\n time.sleep(60)\nprint('done')"
    found = ran(tool, program, "left-behind-marker")
    assert found.outcome == "finished"
    running = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/cmdline") if _readable(p)]
    assert not any(b"left-behind-marker" in line for line in running)


def _readable(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:  # it has ended since
        return False


def test_nothing_of_this_machine_is_seen_or_written(tool: Tool, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("untouched", encoding="utf-8")
    places = [secret, Path(__file__), Path("/etc/passwd"), Path.home()]
    program = f"import os\nprint([os.path.exists(p) for p in {[str(p) for p in places]}])"
    seen = ran(tool, program).output
    # A home folder that holds Python itself is there as a path, with nothing else in it.
    assert seen.startswith("[False, False, False,")
    for target in (secret, tmp_path / "new", "/usr/new", "/input/main.py", "/new"):
        assert ran(tool, f"open({str(target)!r}, 'w').write('x')").outcome == "failed"
    assert secret.read_text(encoding="utf-8") == "untouched"
    assert os.listdir(tmp_path) == ["secret"]


def test_the_network_is_out_of_reach(tool: Tool, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    found = ran(tool, f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)")
    assert found.outcome == "failed"
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert ran(tool, "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)").outcome == "failed"


def test_no_key_of_the_environment_is_seen(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    program = (
        "import os, glob\nfound = str(dict(os.environ))\n"
        "for name in glob.glob('/proc/[0-9]*/environ'):\n"
        " try: found += open(name).read()\n except OSError: pass\n"
        "print('sk-secret' in found, len(found) > 10)"
    )
    assert ran(tool, program).output == "False True\n"


def test_other_processes_can_not_be_signalled(tool: Tool) -> None:
    program = f"import os\nos.kill({os.getpid()}, 15)"
    assert "ProcessLookupError" in ran(tool, program).said


def test_temporary_folders_do_not_pile_up(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran(tool, "import time\ntime.sleep(60)", limits=SHORT)
    assert os.listdir(tmp_path) == []


def test_where_nothing_can_be_shut_off_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trial.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(NoIsolation, match=r"bubblewrap: bwrap is not installed.*Installing bubblewrap"):
            run({"main.py": "print(1)"})
    finally:
        trial.cache_clear()


def test_a_tool_that_does_not_isolate_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # It runs what it is given, and shuts nothing off.
    fake = tmp_path / "bwrap"
    fake.write_text(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do\n'
        'if [ "$1" = --ro-bind ] && [ "$3" = /input ]; then in=$2; fi\nshift\ndone\n'
        'shift\nexec "$1" "$in/main.py" "$9" "${10}"\n',
        encoding="utf-8",
    )
    fake.chmod(0o755)
    trial.cache_clear()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    try:
        assert trial("bubblewrap").startswith("AssertionError: it ")
    finally:
        trial.cache_clear()


def test_a_tool_that_passes_its_trial_is_chosen(tool: Tool) -> None:
    assert not trial(sandbox.isolation())
