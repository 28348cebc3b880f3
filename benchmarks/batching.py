"""Promise: eight candidates from a model in this process take far less time side by side than one by one.

Usage: python benchmarks/batching.py [MODEL-FOLDER]; without a folder, on the starter's weights in
REDRAFT_HOME, run by transformers. The calls are those of eight candidates: one prompt, eight seeds. The
two ways take turns. The last line holds how many times as fast the batch is (median of the rounds).
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.scoring import starter_folder
from core.domain import Message, Sampling
from core.models.protocol import Reply
from core.models.transformers_local import TransformersModel

CALLS = 8
TOKENS = 48
ROUNDS = 3
PROMPT = [
    Message("user", "Write a short, friendly story about a lighthouse keeper who repairs an old radio. " * 4)
]


def sampling(seed: int, tokens: int = TOKENS) -> Sampling:
    """What one candidate is asked with."""
    return Sampling(temperature=0.8, max_tokens=tokens, seed=seed)


async def side_by_side(model: TransformersModel) -> list[Reply]:
    """Eight calls at once."""
    return await asyncio.gather(*(model.complete(PROMPT, sampling=sampling(s)) for s in range(CALLS)))


async def one_by_one(model: TransformersModel) -> list[Reply]:
    """Eight calls, each begun when the one before has ended."""
    return [await model.complete(PROMPT, sampling=sampling(seed)) for seed in range(CALLS)]


async def measure(model: TransformersModel) -> list[float]:
    """The ratio of each round."""
    await model.complete(PROMPT, sampling=sampling(0, tokens=2))  # loaded, every weight read once
    ratios = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        batch = await side_by_side(model)
        between = time.perf_counter()
        singles = await one_by_one(model)
        ended = time.perf_counter()
        written = sum(reply.usage.completion_tokens or 0 for reply in batch)
        same = sum(
            a.completions[0].text == b.completions[0].text for a, b in zip(batch, singles, strict=True)
        )
        ratios.append((ended - between) / (between - began))
        print(
            f"{written} tokens: {between - began:.1f} s side by side ({written / (between - began):.0f}/s), "
            f"{ended - between:.1f} s one by one; {same} of {CALLS} texts are the same"
        )
    return ratios


def main(arguments: Sequence[str]) -> None:
    """Some rounds, and their median."""
    model = TransformersModel(arguments[0] if arguments else starter_folder(), exact=True)
    print(f"{statistics.median(asyncio.run(measure(model))):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
