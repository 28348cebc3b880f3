"""Promise: five verdicts of a judge at an endpoint take hardly longer than one.

Usage: python benchmarks/judges.py. The endpoint streams a verdict at 50 tokens a second, to as many at
once as ask, in a process of its own. The last line holds the time of judging a text five times / once
(median of the rounds); the goal is <= 1.15.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import endpoint, load
from core.config import Config, Endpoint
from core.domain import Settings, Task
from core.models.catalog import Models
from core.models.protocol import Model
from core.presets import BUILT_IN, Preset, read_preset
from core.rubric import Dimension, Rubric
from core.scoring.judge import Judge

SAMPLES = 5
RATE = 50.0
ROUNDS = 5
NAMES = ("meets", "clear", "accurate", "concise")
RUBRIC = Rubric(tuple(Dimension(name, f"Is it {name}?") for name in NAMES))


def verdict(_: Sequence[Mapping[str, str]]) -> str:
    """A verdict of some hundred words, each a token."""
    reason = " ".join(f"because{number}" for number in range(22))
    return "\n".join(f"{name}: 7 | {reason}" for name in NAMES) + "\nTOTAL: 28"


async def seconds(model: Model, preset: Preset, samples: int) -> float:
    """How long so many verdicts take."""
    judge = Judge(preset, [model], Settings(judge_samples=samples))
    began = time.perf_counter()
    (score,) = await judge.measure(Task("The food was good."), (), ["The food was bad."])
    taken = time.perf_counter() - began
    assert score.value == 28 and len(score.replies) == samples, score
    return taken


async def measure(model: Model) -> list[float]:
    """The ratio of each round."""
    preset = replace(read_preset(BUILT_IN / "rewrite.yaml"), rubric=RUBRIC)
    await seconds(model, preset, SAMPLES)  # the client is made, its connections stand
    ratios = []
    for _ in range(ROUNDS):
        one, five = await seconds(model, preset, 1), await seconds(model, preset, SAMPLES)
        ratios.append(five / one)
        print(f"one verdict {one:.2f} s, {SAMPLES} side by side {five:.2f} s; {load()}")
    return ratios


def main() -> None:
    """Some rounds, and their median."""
    with endpoint("benchmarks.judges:verdict", RATE) as url:
        config = Config(Path(), "sqlite://", (Endpoint("fake", url),))
        ratios = asyncio.run(measure(Models(config, {}).open("fake:tiny-chat")))
    print(f"{statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
