"""Kills `python app.py refine` at chosen moments and lets it go on, for the crash test and the benchmark.

The endpoint runs in this process: it counts what it is asked, and pulls the trigger in the middle of
an answer. What is promised: whatever was committed at the kill is never asked for again, and the
history ends up as if nothing had happened. Knows the command line and the database, not the engine.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.fake_chat import Chat
from tests.fault_server import SSE, Ask, FaultServer, Part, Play

APP = Path(__file__).parent.parent / "app.py"
LONGEST = 60.0
"""Seconds after which a process that should have ended is a failure."""
CALLS = 11
"""What one session asks: a draft and its evaluation, then three times critique, revision, evaluation."""
STEPS = 17
WORDS = ["refine", "The food was fantastic.", "--instruction", "Make it negative.", "--json"]
CHOICES = ["--model", "fake:tiny-chat", "--rounds", "3", "--seed", "1", "--scorer", "self_evaluation"]
BEGIN = [*WORDS, *CHOICES, "--gate", "score", "--patience", "0"]

When = Literal["starting", "streaming", "answered"]


def writer_and_critic(messages: Sequence[Mapping[str, str]]) -> str:
    """What a tireless writer, critic or judge would say; another text for every prompt."""
    last = messages[-1]["content"]
    if "yes or no" in last:
        return "yes"
    if "VERDICT" in last:
        return f'- [major] "meal" | too weak after {len(messages)} turns | write "feast"\nVERDICT: revise'
    return f"The meal of {len(messages)} turns was a slow and costly let-down for us all."


@dataclass(frozen=True)
class Kill:
    """A moment: seconds after the start of the process, or at its `call`-th call.

    Within a call: at chunk `chunk` of the answer, or `seconds` after the whole of it was sent.
    """

    when: When
    call: int = 1
    chunk: int = 0
    seconds: float = 0.0


def random_kill(rng: random.Random) -> Kill:
    """A kill at a random moment; half of them in the middle of an answer."""
    when: When = rng.choice(["starting", "streaming", "streaming", "answered"])
    call = rng.randint(1, 4)
    if when == "starting":
        return Kill(when, seconds=rng.uniform(0.0, 2.0))
    if when == "streaming":
        return Kill(when, call, chunk=rng.randint(0, 8))
    return Kill(when, call, seconds=rng.uniform(0.0, 0.02))


@dataclass
class Trigger:
    """The process that is to be killed, and when; shared by the server's threads and the test's."""

    process: subprocess.Popen[bytes]
    kill: Kill
    calls: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_call(self) -> int:
        """The number of the call that comes in now."""
        with self.lock:
            self.calls += 1
            return self.calls

    def pull(self) -> None:
        """Kill -9."""
        self.process.send_signal(signal.SIGKILL)


class Endpoint:
    """A chat endpoint that counts every prompt and kills its client when the moment has come."""

    def __init__(self) -> None:
        self._chat = Chat(writer_and_critic)
        self.asked: Counter[str] = Counter()
        self.trigger: Trigger | None = None
        self._told = threading.Event()

    def arm(self, trigger: Trigger | None) -> None:
        """From now on calls are the trigger's; those that come before this wait."""
        self.trigger = trigger
        self._told.set()

    def disarm(self) -> None:
        """The next process is about to start: its first call waits until it is known."""
        self._told.clear()

    def __call__(self, ask: Ask) -> Play:
        self._told.wait(LONGEST)
        self.asked[_key(ask.body["messages"], ask.body.get("seed"))] += 1
        parts, trigger = list(self._chat(ask).parts), self.trigger
        deadly = trigger is not None and trigger.next_call() == trigger.kill.call
        # Kept open, a connection would only bring the news that its client was killed.
        headers = {**SSE, "Connection": "close"}
        return Play(_deadly(parts, trigger) if trigger and deadly else parts, headers=headers)


def _deadly(parts: Sequence[Part], trigger: Trigger) -> Iterator[Part]:
    """The parts of an answer, with the kill among them or after them."""
    for number, part in enumerate(parts):
        if trigger.kill.when == "streaming" and number == min(trigger.kill.chunk, len(parts) - 1):
            trigger.pull()
        yield part
    if trigger.kill.when == "answered":
        # The body has not ended for the client, but all that it reads of it has been sent.
        yield trigger.kill.seconds
        trigger.pull()


def _key(messages: Sequence[Mapping[str, str]], seed: int | None) -> str:
    """One prompt: the same messages with another seed are another prompt."""
    return json.dumps([[m["role"], m["content"]] for m in messages]) + f" seed {seed}"


@dataclass(frozen=True)
class Kept:
    """What the database holds of its one session; no id where there is none yet."""

    id: str | None
    ending: str
    positions: tuple[int, ...]
    steps: tuple[tuple[str, str], ...]

    @property
    def prompts(self) -> set[str]:
        """The prompts whose replies are committed, as the endpoint counts them."""
        requests = [json.loads(request) for request, _ in self.steps]
        asks = [r for r in requests if r["kind"] == "ask"]
        return {_key(ask["messages"], ask["sampling"]["seed"]) for ask in asks}

    @property
    def texts(self) -> set[str]:
        """The texts whose measurements are committed."""
        requests = [json.loads(request) for request, _ in self.steps]
        return {text for r in requests if r["kind"] == "measure" for text in r["texts"]}

    @property
    def history(self) -> list[tuple[Any, Any]]:
        """Every step without what the clock says."""
        return [(json.loads(request), _timeless(json.loads(answer))) for request, answer in self.steps]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if key != "seconds"}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


def kept(home: Path) -> Kept:
    """What is in the database, read without the app."""
    file = home / "redraft.db"
    if not file.exists():
        return Kept(None, "", (), ())
    with closing(sqlite3.connect(file)) as database:
        if not database.execute("select 1 from sqlite_master where name = 'session'").fetchone():
            return Kept(None, "", (), ())
        sessions = database.execute("select id, ending from session").fetchall()
        rows = database.execute("select position, request, answer from step order by position").fetchall()
    assert len(sessions) <= 1
    session_id, ending = sessions[0] if sessions else (None, "")
    return Kept(session_id, ending, tuple(row[0] for row in rows), tuple(row[1:] for row in rows))


@dataclass
class Crashes:
    """One session in a data folder of its own, killed again and again. Use `endpoint` in a FaultServer."""

    home: Path
    endpoint: Endpoint
    faults: list[str] = field(default_factory=list)
    kills: int = 0
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)

    def prepare(self, server: FaultServer) -> None:
        """Write the configuration that names the endpoint."""
        self.home.mkdir()
        settings = f'[endpoints.fake]\nbase_url = "{server.url}"\n'
        (self.home / "config.toml").write_text(settings, encoding="utf-8")

    def run(self, kill: Kill | None) -> int:
        """Start or resume the session and kill it at that moment; its exit code, negative when killed.

        A process that is done before its moment is not killed.
        """
        before = kept(self.home)
        asked = self.endpoint.asked.copy()
        code = self._process(
            BEGIN if before.id is None else ["refine", "--json", "--resume", before.id], kill
        )
        self.kills += code == -signal.SIGKILL
        if kill and code == -signal.SIGKILL:
            self.seen[kill.when, len(kept(self.home).steps)] += 1
        self._check(before, asked)
        return code

    def _process(self, arguments: Sequence[str], kill: Kill | None) -> int:
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("REDRAFT_", "OPENAI_"))}
        environment["REDRAFT_HOME"] = str(self.home)
        self.endpoint.disarm()
        with subprocess.Popen(
            [sys.executable, str(APP), *arguments],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            self.endpoint.arm(Trigger(process, kill) if kill and kill.when != "starting" else None)
            if kill and kill.when == "starting":
                return _killed_after(process, kill.seconds)
            return process.wait(LONGEST)

    def _check(self, before: Kept, asked: Counter[str]) -> None:
        """Whatever was committed before this process began was not asked for again by it."""
        new = self.endpoint.asked - asked
        self.faults += [f"asked again: {prompt[-200:]}" for prompt in new if prompt in before.prompts]
        measured = {json.dumps(["assistant", text]) for text in before.texts}
        self.faults += [
            f"evaluated again: {prompt[-200:]}"
            for prompt in new
            if "yes or no" in prompt and any(text in prompt for text in measured)
        ]
        after = kept(self.home)
        if after.steps[: len(before.steps)] != before.steps:
            self.faults.append("a committed step has changed")
        if after.positions != tuple(range(len(after.positions))):
            self.faults.append(f"a gap: {after.positions}")


def _killed_after(process: subprocess.Popen[bytes], seconds: float) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        return process.wait(LONGEST)


def differences(ended: Kept, undisturbed: Kept) -> list[str]:
    """How a history differs from that of a run that nobody killed; nothing when it doesn't."""
    found = [] if ended.ending == undisturbed.ending else [f"ended {ended.ending!r}"]
    found += [] if len(ended.steps) == STEPS else [f"{len(ended.steps)} steps, not {STEPS}"]
    pairs = zip(ended.history, undisturbed.history, strict=False)
    return found + [f"step {at} differs" for at, (ours, theirs) in enumerate(pairs) if ours != theirs]
