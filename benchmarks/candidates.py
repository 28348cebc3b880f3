"""Promise: eight candidates from an endpoint with eight places take hardly longer than one.

Usage: python benchmarks/candidates.py. The endpoint streams 100 tokens at 50 a second, to as many at once
as ask, in a process of its own. The last line holds the time of eight calls side by side / that of one
(median of the rounds); the goal is <= 1.15.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import endpoint, load
from core.config import Config, Endpoint
from core.domain import Message, Sampling
from core.models.catalog import Models
from core.models.protocol import Delta, Happening, Model

CALLS = 8
TOKENS, RATE = 100, 50.0
ROUNDS = 5
PROMPT = [Message("user", "Tell a story.")]


def story(_: Sequence[Mapping[str, str]]) -> str:
    """A text of TOKENS words, each a token."""
    return " ".join(f"word{number}" for number in range(TOKENS))


async def seconds(model: Model, calls: int) -> float:
    """How long so many calls take side by side, each streaming with its token scores."""
    heard = [0] * calls

    async def one(index: int) -> None:
        def listen(happening: Happening) -> None:
            heard[index] += isinstance(happening, Delta)

        await model.complete(PROMPT, sampling=Sampling(seed=index), listen=listen)

    began = time.perf_counter()
    await asyncio.gather(*(one(index) for index in range(calls)))
    taken = time.perf_counter() - began
    assert heard == [TOKENS] * calls, heard
    return taken


async def measure(model: Model) -> list[float]:
    """The ratio of each round."""
    await seconds(model, CALLS)  # the client is made, its connections stand
    ratios = []
    for _ in range(ROUNDS):
        one, eight = await seconds(model, 1), await seconds(model, CALLS)
        ratios.append(eight / one)
        print(f"one {one:.2f} s, {CALLS} side by side {eight:.2f} s; {load()}")
    return ratios


def main() -> None:
    """Some rounds, and their median."""
    with endpoint("benchmarks.candidates:story", RATE) as url:
        config = Config(Path(), "sqlite://", (Endpoint("fake", url, slots=CALLS),))
        ratios = asyncio.run(measure(Models(config, {}).open("fake:tiny-chat")))
    print(f"{statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
