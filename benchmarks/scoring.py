"""Scoring 16 answers under one prompt against reading each whole with all its logits.

Usage: python benchmarks/scoring.py [MODEL-FOLDER]; without a folder, on the starter's weights in
REDRAFT_HOME. Each way runs in a process of its own, so that its peak memory is its own (Linux).
Other work on the machine blurs the clock more than the CPU time; both are shown. The last line holds
the ratios; the goals are speed >= 2.5 and >= 5, memory <= 0.33, difference <= 1e-4.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

Ids = Sequence[int]
Way = Callable[[Any, Ids, Sequence[Ids]], list[list[float]]]
PROMPTS = (300, 1200)


def one_at_a_time(model: Any, prompt: Ids, answers: Sequence[Ids]) -> list[list[float]]:
    """The definition, spelt out: all logits of prompt and answer, then the answer's part of them."""
    import torch

    found = []
    with torch.inference_mode():
        for answer in answers:
            logits = model(torch.tensor([[*prompt, *answer]]), use_cache=False).logits[0]
            logprobs = logits.float().log_softmax(dim=-1)
            found.append([float(logprobs[len(prompt) + t - 1, i]) for t, i in enumerate(answer)])
    return found


def ours(model: Any, prompt: Ids, answers: Sequence[Ids]) -> list[list[float]]:
    """The way the product scores."""
    from core.models.forced_scoring import answer_logprobs

    return answer_logprobs(model, prompt, answers)


WAYS: dict[str, Way] = {"one at a time": one_at_a_time, "shared prompt": ours}


def texts(prompt_tokens: int, vocabulary: int) -> tuple[list[int], list[list[int]]]:
    """A prompt and 16 answers of 135 to 165 tokens, the same in every run."""
    rng = random.Random(7)
    prompt = [rng.randrange(20, vocabulary) for _ in range(prompt_tokens)]
    return prompt, [[rng.randrange(20, vocabulary) for _ in range(rng.randint(135, 165))] for _ in range(16)]


def resident(field: str) -> float:
    """This process's memory in MB: VmRSS now, or VmHWM at its peak."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measure(way: str, prompt_tokens: int, folder: str) -> None:
    """Run one way and print what it took, as JSON."""
    import torch
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.eval()
    prompt, answers = texts(prompt_tokens, model.config.vocab_size)
    WAYS[way](model, prompt[:8], [answers[0][:8]] * 4)  # every weight read once
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    began, busy = time.perf_counter(), time.process_time()
    found = WAYS[way](model, prompt, answers)
    took = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - busy}
    print(json.dumps({**took, "mb": resident("VmHWM") - before, "found": found}))


def run(way: str, prompt_tokens: int, folder: str) -> dict[str, Any]:
    """What one way took, measured in its own process."""
    command = [sys.executable, __file__, "--measure", way, str(prompt_tokens), folder]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(prompt_tokens: int, folder: str) -> str:
    """Both ways under a prompt of that length, as one line of ratios."""
    slow, fast = (run(way, prompt_tokens, folder) for way in WAYS)
    for way, took in zip(WAYS, (slow, fast), strict=True):
        times = f"{took['seconds']:.1f} s ({took['cpu']:.1f} s of CPU)"
        print(f"prompt {prompt_tokens}, {way}: {times}, {took['mb']:.0f} MB more at the peak")
    apart = max(
        abs(a - b)
        for left, right in zip(slow["found"], fast["found"], strict=True)
        for a, b in zip(left, right, strict=True)
    )
    return (
        f"{prompt_tokens}: speed {slow['seconds'] / fast['seconds']:.2f}x "
        f"({slow['cpu'] / fast['cpu']:.2f}x in CPU time), "
        f"memory {fast['mb'] / slow['mb']:.2f}, difference {apart:.1e}"
    )


def starter_folder() -> str:
    """The starter's weights for scoring, fetched and converted when absent."""
    from core.models.starter import ensure_scoring_weights

    home = os.environ.get("REDRAFT_HOME") or "~/.local/share/redraft"
    return str(ensure_scoring_weights(Path(home).expanduser(), print))


def main(arguments: Sequence[str]) -> None:
    """Compare for every prompt length, or measure one way as a child."""
    if arguments[:1] == ["--measure"]:
        measure(arguments[1], int(arguments[2]), arguments[3])
        return
    folder = arguments[0] if arguments else starter_folder()
    print("; ".join([compare(length, folder) for length in PROMPTS]))


if __name__ == "__main__":
    main(sys.argv[1:])
