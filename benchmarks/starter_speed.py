"""Promise: the starter writes through the app as fast as its server can, and far faster than by torch.

Usage: python benchmarks/starter_speed.py. The same prompts, one after another: through the workbench
(store, streaming, token scores and all), from the raw server by plain HTTP, and by transformers'
generate on the converted weights, taking turns. The last line holds the medians of app / raw (goal
>= 0.95) and app / transformers (goal >= 5), in tokens a second.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from benchmarks.prompt_cache import PRESET, starter_workbench
from core.domain import Message, Recipe, Sampling, Settings, Task
from core.models.llama_server import Address, LlamaServer, default_slots
from core.models.starter import ensure_scoring_weights, ensure_weights
from core.presets import Prompts, load_preset
from core.steps import Replied
from core.workbench import Stop, Workbench

TOKENS, TURNS, SLOW_TURNS = 200, 8, 3
TOPICS = ("a lighthouse", "two brothers", "the sea", "an old car", "a garden", "the moon", "bread", "winter")
Way = Callable[[int], float]


def task(number: int) -> Task:
    """A task whose answer is long."""
    return Task(f"A story about {TOPICS[number % len(TOPICS)]}.", instruction="Make it long and detailed.")


def by_app(bench: Workbench) -> Way:
    """Tokens a second of one draft through the workbench."""
    sampling = Sampling(temperature=0.8, max_tokens=TOKENS)

    def way(number: int) -> float:
        settings = Settings(rounds=0, sampling=Sampling(sampling.temperature, None, TOKENS, 100 + number))
        recipe = Recipe("direct", PRESET.read_text(encoding="utf-8"), "starter", settings)
        session = bench.start(task(number), recipe, "auto")
        began = time.perf_counter()
        loop.run_until_complete(bench.advance(session, lambda _: None, Stop()))
        seconds = time.perf_counter() - began
        (step,) = bench.store.load(session).steps
        assert isinstance(step.answer, Replied)
        return (step.answer.reply.usage.completion_tokens or 0) / seconds

    return way


loop = asyncio.new_event_loop()


def prompt(number: int) -> tuple[Message, ...]:
    """The prompt that the app makes of a task."""
    return Prompts(load_preset(PRESET.read_text(encoding="utf-8"))).system_and_task(task(number))


def by_raw_server(address: Address) -> Way:
    """Tokens a second of plain streaming HTTP; nothing is asked for besides the text and its count."""
    parts = urlsplit(address.base_url)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {address.api_key}"}

    def way(number: int) -> float:
        body = {
            "messages": [{"role": m.role, "content": m.content} for m in prompt(number)],
            **{"max_tokens": TOKENS, "temperature": 0.8, "seed": 100 + number, "stream": True},
            "stream_options": {"include_usage": True},
        }
        began = time.perf_counter()
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
        connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body), headers)
        lines = [line for line in connection.getresponse() if line.startswith(b"data: {")]
        seconds = time.perf_counter() - began
        connection.close()
        tokens: int = json.loads(lines[-1][6:])["usage"]["completion_tokens"]
        return tokens / seconds

    return way


def by_transformers(folder: Path) -> Way:
    """Tokens a second of transformers' generate, float32 on the CPU."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)

    def way(number: int) -> float:
        chat = [{"role": m.role, "content": m.content} for m in prompt(number)]
        ids = tokenizer.apply_chat_template(
            chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        torch.manual_seed(100 + number)
        began = time.perf_counter()
        with torch.inference_mode():
            out = model.generate(
                **ids, do_sample=True, temperature=0.8, max_new_tokens=TOKENS, pad_token_id=0
            )
        return float((out.shape[1] - ids["input_ids"].shape[1]) / (time.perf_counter() - began))

    return way


def interleaved(ways: Sequence[tuple[str, Way, int]]) -> dict[str, float]:
    """The median of each way, the ways taking turns, who begins too; a first turn does not count."""
    found: dict[str, list[float]] = {name: [] for name, _, _ in ways}
    for number in range(TURNS + 1):
        for name, way, turns in ways if number % 2 else tuple(reversed(ways)):
            if number <= turns:
                found[name].append(way(number))
                print(f"{number} {name}: {found[name][-1]:.1f} tokens/s", flush=True)
    return {name: statistics.median(speeds[1:]) for name, speeds in found.items()}


def main() -> None:
    """All three ways, and the two ratios."""
    home = Path(os.environ.get("REDRAFT_HOME") or "~/.local/share/redraft").expanduser()
    server = LlamaServer(ensure_weights(home, print), slots=default_slots())
    folder = ensure_scoring_weights(home, print)
    with tempfile.TemporaryDirectory() as temporary:
        app, raw = by_app(starter_workbench(temporary)), by_raw_server(server.start())
        ways = [("app", app, TURNS), ("raw", raw, TURNS)]
        medians = interleaved([*ways, ("transformers", by_transformers(folder), SLOW_TURNS)])
    server.stop()
    loop.close()
    print(", ".join(f"{name} {median:.1f}" for name, median in medians.items()))
    print(f"{medians['app'] / medians['raw']:.3f} {medians['app'] / medians['transformers']:.2f}")


if __name__ == "__main__":
    main()
