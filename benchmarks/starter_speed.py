"""Promise: the starter writes through the app as fast as its server can, and far faster than by torch.

Usage: python benchmarks/starter_speed.py. The same prompts with answers of 200 tokens, one after another:
through the workbench (store, streaming, token scores and all), from a raw server by plain HTTP, and by
transformers' generate on the converted weights, taking turns. "raw scored" is the raw server asked for
the token scores that the app needs, to see what they cost. The last line holds the medians over the
prompts of app / raw (goal >= 0.95) and app / transformers (goal >= 5), in tokens a second.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from benchmarks.prompt_cache import PRESET as REWRITE
from benchmarks.prompt_cache import starter_workbench
from core.domain import Message, Recipe, Sampling, Settings, Task
from core.models.llama_server import Address, LlamaServer, default_slots
from core.models.starter import ensure_scoring_weights, ensure_weights
from core.presets import Prompts, load_preset
from core.running import Stop
from core.steps import Replied
from core.workbench import Workbench

TOKENS, TURNS, TEMPERATURE = 200, 7, 0.8
TOPICS = ("a lighthouse", "two brothers", "the sea", "an old car", "a garden", "the moon", "bread", "winter")
Way = Callable[[int], tuple[int, float]]
"""Writes the answer to a numbered prompt: its tokens, and the seconds that they took."""
# The preset without its examples, all of which have short answers, and with a reason to write much.
PRESET = re.sub(
    r"^examples:\n.*?(?=^page_examples:)", "", REWRITE.read_text(encoding="utf-8"), flags=re.M | re.S
)


def task(number: int) -> Task:
    """A task whose answer is long."""
    text = f"Once upon a time there was a story about {TOPICS[number % len(TOPICS)]}."
    return Task(text, instruction="Turn this into a very long story of many paragraphs, full of details.")


def by_app(bench: Workbench) -> Way:
    """One draft through the workbench."""

    def way(number: int) -> tuple[int, float]:
        sampling = Sampling(temperature=TEMPERATURE, max_tokens=TOKENS, seed=100 + number)
        recipe = Recipe("direct", PRESET, "starter", Settings(sampling=sampling))
        session = bench.start(task(number), recipe, "auto")
        began = time.perf_counter()
        loop.run_until_complete(bench.advance(session, lambda _: None, Stop()))
        seconds = time.perf_counter() - began
        (step,) = bench.store.load(session).steps
        assert isinstance(step.answer, Replied)
        return step.answer.reply.usage.completion_tokens or 0, seconds

    return way


loop = asyncio.new_event_loop()


def prompt(number: int) -> tuple[Message, ...]:
    """The prompt that the app makes of a task."""
    return Prompts(load_preset(PRESET)).system_and_task(task(number))


def by_raw_server(address: Address, **more: Any) -> Way:
    """Plain streaming HTTP; nothing is asked for besides the text and its count, and what `more` says."""
    parts = urlsplit(address.base_url)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {address.api_key}"}

    def way(number: int) -> tuple[int, float]:
        body = {
            "messages": [{"role": m.role, "content": m.content} for m in prompt(number)],
            **{"max_tokens": TOKENS, "temperature": TEMPERATURE, "seed": 100 + number, "stream": True},
            "stream_options": {"include_usage": True},
            **more,
        }
        began = time.perf_counter()
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
        connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body), headers)
        lines = [line for line in connection.getresponse() if line.startswith(b"data: {")]
        seconds = time.perf_counter() - began
        connection.close()
        tokens: int = json.loads(lines[-1][6:])["usage"]["completion_tokens"]
        return tokens, seconds

    return way


def by_transformers(folder: Path) -> Way:
    """Transformers' generate, float32 on the CPU."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)

    def way(number: int) -> tuple[int, float]:
        chat = [{"role": m.role, "content": m.content} for m in prompt(number)]
        ids = tokenizer.apply_chat_template(
            chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        torch.manual_seed(100 + number)
        began = time.perf_counter()
        with torch.inference_mode():
            out = model.generate(
                **ids,
                do_sample=True,
                temperature=TEMPERATURE,
                max_new_tokens=TOKENS,
                min_new_tokens=TOKENS,
                pad_token_id=0,
            )
        return out.shape[1] - ids["input_ids"].shape[1], time.perf_counter() - began

    return way


def long_answers(way: Way) -> list[int]:
    """The numbers of prompts whose answer has all the tokens that it may have."""
    numbers = (number for number in range(100) if way(number)[0] == TOKENS)
    return list(islice(numbers, TURNS))


def interleaved(ways: dict[str, Way], numbers: Sequence[int]) -> dict[str, list[float]]:
    """The tokens a second of each way at each prompt, the ways taking turns, also at who begins."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for turn, number in enumerate(numbers):
        for name in list(ways) if turn % 2 else list(reversed(ways)):
            tokens, seconds = ways[name](number)
            found[name].append(tokens / seconds)
            print(f"{number} {name}: {tokens} tokens, {tokens / seconds:.1f} a second", flush=True)
    return found


def median_ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """The median over the prompts: both were measured within seconds, so under much the same load."""
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


def main() -> None:
    """All three ways, and the two ratios."""
    home = Path(os.environ.get("REDRAFT_HOME") or "~/.local/share/redraft").expanduser()
    server = LlamaServer(ensure_weights(home, print), slots=default_slots())
    folder = ensure_scoring_weights(home, print)
    with tempfile.TemporaryDirectory() as temporary:
        address = server.start()
        ways: dict[str, Way] = {
            "app": by_app(starter_workbench(temporary)),
            "raw": by_raw_server(address),
            "raw scored": by_raw_server(address, logprobs=True, top_logprobs=5),
            "transformers": by_transformers(folder),
        }
        numbers = long_answers(ways["raw"])
        ways["app"](1000)  # starts the app's own server
        found = interleaved(ways, numbers)
    server.stop()
    loop.close()
    print(", ".join(f"{name} {statistics.median(speeds):.1f}" for name, speeds in found.items()))
    print(", ".join(f"{name} {max(speeds):.1f} at best" for name, speeds in found.items()))
    app = found["app"]
    print(f"{median_ratio(app, found['raw']):.3f} {median_ratio(app, found['transformers']):.2f}")


if __name__ == "__main__":
    main()
