"""An ordinary chat endpoint for the fault server to play, its answers computed from the prompt alone.

Knows the wire format of an OpenAI-style API; knows nothing of the app.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from tests.fault_server import DONE, JSON, Ask, FaultServer, Json, Part, Play, body, event


def echo_answer(messages: Sequence[Mapping[str, str]]) -> str:
    """An answer computed from the prompt alone: a sentence about its last turn."""
    words = str(messages[-1].get("content", "")).split() if messages else []
    return f"This answers {len(words)} words, which begin: " + " ".join(words[:12])


@dataclass(frozen=True)
class Chat:
    """Plays an ordinary endpoint: streaming or not, n, usage, /models, logprobs on demand.

    `rate` is tokens a second (0: as fast as can be). Each word is a token; its logprob is computed
    from its place and the candidate's.
    """

    answer: Callable[[Sequence[Mapping[str, str]]], str] = echo_answer
    rate: float = 0.0
    logprobs: bool = True
    model: str = "tiny-chat"

    def __call__(self, ask: Ask) -> Play:
        """What to play for this request."""
        if ask.method == "GET":
            return body({"object": "list", "data": [{"id": self.model, "object": "model"}]})
        text = self.answer(ask.body.get("messages", []))
        return self._streamed(ask.body, text) if ask.body.get("stream") else self._whole(ask.body, text)

    def _streamed(self, asked: Json, text: str) -> Play:
        tokens, count = self._tokens(asked, text), int(asked.get("n") or 1)
        parts: list[Part] = []
        for at, token in enumerate(tokens):
            parts += [1 / self.rate] if self.rate else []
            parts += [self._chunk(asked, i, {"content": token}, None, token, at) for i in range(count)]
        finish = "stop" if "".join(tokens) == text else "length"
        parts += [self._chunk(asked, i, {}, finish) for i in range(count)]
        if (asked.get("stream_options") or {}).get("include_usage"):
            parts.append(
                event({"choices": [], "model": self.model, "usage": self._usage(asked, len(tokens) * count)})
            )
        return Play([*parts, DONE])

    def _chunk(
        self, asked: Json, index: int, delta: Json, finish: str | None, token: str = "", at: int = 0
    ) -> bytes:
        entries = [_entry(token, at + index, asked)] if token else []
        logprobs = {"content": entries} if self.logprobs and asked.get("logprobs") else None
        choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        return event({"object": "chat.completion.chunk", "model": self.model, "choices": [choice]})

    def _whole(self, asked: Json, text: str) -> Play:
        tokens = self._tokens(asked, text)
        count = int(asked.get("n") or 1)
        said = {"role": "assistant", "content": "".join(tokens)}
        choices = [
            {"index": i, "message": said, "finish_reason": "stop", "logprobs": self._all(asked, tokens, i)}
            for i in range(count)
        ]
        usage = self._usage(asked, len(tokens) * count)
        pause = [len(tokens) / self.rate] if self.rate else []
        told = {"object": "chat.completion", "model": self.model, "choices": choices, "usage": usage}
        return Play([*pause, json.dumps(told).encode()], headers=JSON)

    def _all(self, asked: Json, tokens: Sequence[str], index: int) -> Json | None:
        wanted = self.logprobs and asked.get("logprobs")
        return {"content": [_entry(t, at + index, asked) for at, t in enumerate(tokens)]} if wanted else None

    @staticmethod
    def _tokens(asked: Json, text: str) -> list[str]:
        limit = asked.get("max_completion_tokens") or asked.get("max_tokens")
        return _words(text)[:limit]

    @staticmethod
    def _usage(asked: Json, completion: int) -> Json:
        prompt = sum(len(_words(str(m.get("content", "")))) + 4 for m in asked.get("messages", []))
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _words(text: str) -> list[str]:
    """The text cut before each blank that follows a word, so that the pieces join to it."""
    cuts = [
        0,
        *(i for i in range(1, len(text)) if text[i].isspace() and not text[i - 1].isspace()),
        len(text),
    ]
    return [text[a:b] for a, b in pairwise(cuts) if a < b]


def _entry(token: str, place: int, asked: Json) -> Json:
    first = -0.05 * (1 + place % 7)
    others = [{"token": token, "logprob": first, "bytes": list(token.encode())}]
    others += [{"token": f" or{k}", "logprob": first - k, "bytes": None} for k in range(1, 20)]
    top = others[: int(asked.get("top_logprobs") or 0)]
    return {"token": token, "logprob": first, "bytes": list(token.encode()), "top_logprobs": top}


def _log_to(path: str | None) -> Callable[[Json], None]:
    """Writes each event as a line of the file, at once, so that another process can read on."""
    lock = threading.Lock()

    def tell(happened: Json) -> None:
        if path is not None:
            with lock, Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"time": time.time(), **happened}) + "\n")

    return tell


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves an ordinary chat endpoint until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.fault_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--log", help="file that gets a line of JSON for each request, completion, disconnect"
    )
    parser.add_argument("--rate", type=float, default=40.0, help="tokens a second; 0 for no pauses")
    parser.add_argument("--answer", default="tests.fake_chat:echo_answer", help="MODULE:FUNCTION of messages")
    parser.add_argument("--no-logprobs", action="store_true")
    chosen = parser.parse_args(arguments)
    module, _, function = chosen.answer.partition(":")
    chat = Chat(getattr(import_module(module), function), chosen.rate, not chosen.no_logprobs)
    server = FaultServer(chat, port=chosen.port, tell=_log_to(chosen.log))
    print(server.url, flush=True)
    with suppress(KeyboardInterrupt):
        server.serve()
