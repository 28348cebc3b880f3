"""Any GGUF file as a model: llama.cpp's own server on a loopback port, spoken to as an OpenAI endpoint.

The server runs in a child process, not in this one: its loader holds Python's lock for as long as it
reads the file, which would freeze the event loop, and a crash of native code must not take the app
along. The child ends when this process does, however that ends. A random key keeps other users of the
machine out. Knows where a file comes from only as a function to call; knows no scorer.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from core.domain import Message, Sampling, Token
from core.models.endpoint.places import Places
from core.models.hub import Say, hub_file
from core.models.openai_compatible import OpenAICompatible, Patience
from core.models.protocol import Capabilities, Happening, Listener, ModelError, Notice, Reply, unheard

CONTEXT_TOKENS = 4096
"""The context of one request: the memory of it is taken at the start, for every slot."""
PROMPT_MEMORY_MIB = 256
"""What the server may keep of earlier prompts, beside its slots; its own default is 8 GiB."""

_Q = "is it really a GGUF file of a text model, whole, and is there memory for it?"


@dataclass(frozen=True)
class Address:
    """Where a server listens, and the key that it wants."""

    base_url: str
    api_key: str


class LlamaServer:
    """The server of one file; started at the first need, again if it has died."""

    def __init__(self, path: Path, *, slots: int, context_tokens: int = CONTEXT_TOKENS) -> None:
        self._order = {"path": str(path), "slots": slots, "context_tokens": context_tokens}
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._address: Address | None = None

    @property
    def running(self) -> bool:
        """Whether it can be spoken to now."""
        return self._address is not None and self._child is not None and self._child.poll() is None

    def start(self) -> Address:
        """Start it where need be and wait until it answers: blocks for seconds. Raises ModelError."""
        with self._lock:
            if not self.running or self._address is None:
                self._address = self._start()
            return self._address

    def _start(self) -> Address:
        self.stop()  # what is left of one that died
        key = secrets.token_urlsafe(24)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            self._child = _child(log)
            atexit.register(self.stop)
            told = _ask(self._child, {**self._order, "api_key": key, "threads": _cores()})
            if "address" in told:
                return Address(told["address"] + "/v1", key)
            self._child.wait()
            _close(self._child)
            log.seek(0)
            raise ModelError(f"{self._order['path']} could not be loaded ({_reason(log, told)}): {_Q}")

    def stop(self) -> None:
        """End the server, if it runs."""
        atexit.unregister(self.stop)
        if self._child is not None:
            _close(self._child)
            try:
                self._child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        self._child = self._address = None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_slots() -> int:
    """Requests side by side: more than two a core, or four in all, is slower."""
    return min(4, _cores() * 2)


def _child(log: IO[str]) -> subprocess.Popen[str]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    # Threads that spin while they wait cost ten times the time when anything else runs on the machine.
    calm = {"OMP_WAIT_POLICY": "PASSIVE"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "core.models.llama_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={**calm, **os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for the app, which then ends the child
    )


def _ask(child: subprocess.Popen[str], order: dict[str, Any]) -> dict[str, str]:
    """What the child answers to its order; nothing when it dies of it."""
    assert child.stdin and child.stdout
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(json.dumps(order) + "\n")
        child.stdin.flush()
    for line in child.stdout:
        if line.startswith("{"):
            answer: dict[str, str] = json.loads(line)
            return answer
    return {}


def _close(child: subprocess.Popen[str]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _reason(log: IO[str], told: dict[str, str]) -> str:
    """The first complaint of llama.cpp, else the child's last words."""
    lines = [line.strip() for line in log if line.strip()]
    complaints = [line.split(" E ", 1)[1] for line in lines if " E " in line]
    return next(iter(complaints), told.get("error") or (lines or ["it ended without a word"])[-1])


def serve() -> None:
    """The child's whole life: read the order, load, say where, live until the parent is gone."""
    order = json.loads(sys.stdin.readline())
    try:
        server = _server(order)
    except (ImportError, RuntimeError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.read()


def _server(order: dict[str, Any]) -> Any:
    from xllamacpp import CommonParams, Server

    params: Any = CommonParams()
    params.model.path = order["path"]
    params.model_alias = {Path(order["path"]).stem}
    params.n_parallel = order["slots"]
    params.n_ctx = order["slots"] * order["context_tokens"]
    params.cpuparams.n_threads = order["threads"]
    params.cache_ram_mib = PROMPT_MEMORY_MIB
    params.api_keys = [order["api_key"]]
    params.verbosity = 1  # errors alone
    params.ui = False
    params.port = 0
    return Server(params)


_servers: dict[Path, LlamaServer] = {}
_servers_lock = threading.Lock()


def server_for(path: Path, *, slots: int, context_tokens: int) -> LlamaServer:
    """This process's one server of that file; the first to ask settles its size."""
    with _servers_lock:
        made = LlamaServer(path, slots=slots, context_tokens=context_tokens)
        return _servers.setdefault(path.resolve(), made)


def gguf_file(source: str, say: Say) -> Path:
    """The file that is meant by a path or by HUB-OWNER/REPO/FILE. Raises ModelError."""
    local = Path(source).expanduser()
    if local.is_file():
        return local
    parts = source.split("/")
    if len(parts) < 3 or not source.endswith(".gguf") or local.is_absolute():
        raise ModelError(f"there is no file {source}; give a path, or OWNER/REPO/FILE.gguf of the hub")
    return hub_file("/".join(parts[:2]), "/".join(parts[2:]), say)


class GgufModel:
    """A GGUF by path or OWNER/REPO/FILE on the hub, or one that `find` provides when it is needed."""

    def __init__(
        self,
        source: str,
        *,
        name: str | None = None,
        find: Callable[[Say], Path] | None = None,
        slots: int = 2,
        context_tokens: int = CONTEXT_TOKENS,
    ) -> None:
        self._name = name or f"gguf:{source}"
        self._find = find or partial(gguf_file, source)
        self._slots = slots
        self._context_tokens = context_tokens
        self._server: LlamaServer | None = None
        self._client: tuple[Address, OpenAICompatible] | None = None

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        return self._name

    async def capabilities(self) -> Capabilities:
        """What llama.cpp's server can do; loads nothing."""
        return Capabilities(True, True, False, True, True, True, self._context_tokens)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """Write n texts, loading the model first where need be. Raises ModelError."""
        client = await self._reach(listen)
        return await client.complete(messages, n=n, sampling=sampling, listen=listen)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """Raises ModelError: llama.cpp's server does not score given text."""
        raise ModelError(
            f"{self._name} can't tell how likely a given text is: llama.cpp's server does not offer it. "
            "Score with the starter, a hf: model or a vLLM endpoint, or use the self_evaluation score"
        )

    async def _reach(self, listen: Listener) -> OpenAICompatible:
        if self._server is None or not self._server.running:
            listen(Notice(f"loading {self._name}"))
        address = await asyncio.to_thread(self._start, speaker(listen))
        if self._client is None or self._client[0] != address:
            self._client = (address, self._connect(address))
        return self._client[1]

    def _start(self, say: Say) -> Address:
        if self._server is None:
            path = self._find(say)
            self._server = server_for(path, slots=self._slots, context_tokens=self._context_tokens)
        return self._server.start()

    def _connect(self, address: Address) -> OpenAICompatible:
        return OpenAICompatible(
            name=self._name,
            base_url=address.base_url,
            model=self._name,
            api_key=address.api_key,
            context_tokens=self._context_tokens,
            read_timeout=600,  # a large model may read a long prompt for minutes before its first token
            patience=Patience(retries=1),  # a server in this machine that fails twice is broken
            places=Places(self._name, self._slots),  # it would let the others wait unheard
        )


def speaker(listen: Listener) -> Say:
    """A function for another thread that lets the listener hear a notice on this event loop."""
    loop = asyncio.get_running_loop()

    def say(text: str) -> None:
        happening: Happening = Notice(text)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(listen, happening)

    return say


if __name__ == "__main__":
    serve()
