"""Promise: what the engine, the store and the replaying add to the models' own time is next to nothing.

Usage: python benchmarks/engine.py. Three rounds with a model that takes 0.2 s a call, on a real database
file. Model time is what its calls really took (sleeping is never exact), less what its listener took.
The last line holds wall time / model time (median of the runs); the goal is <= 1.03.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.domain import Completion, Message, Recipe, Sampling, Settings, Task, Token, Usage
from core.engine import Finished
from core.models.protocol import Capabilities, Delta, Listener, Reply, unheard
from core.running import Stop
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import open_database
from storage.store import SqlStore
from tests.kill import writer_and_critic

LATENCY = 0.2
RUNS = 5
PRESET = Path(__file__).resolve().parents[1] / "assets" / "presets" / "rewrite.yaml"


class Slow:
    """A model of fixed latency: streams its answer within it, never longer."""

    name = "slow"

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0

    async def capabilities(self) -> Capabilities:
        """Everything, and no context limit."""
        return Capabilities(True, True, True, True, True, True)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """An answer computed from the prompt, LATENCY after the call."""
        began = time.perf_counter()
        self.calls += 1
        text = writer_and_critic([{"role": m.role, "content": m.content} for m in messages])
        words = [word + " " for word in text.split(" ")]
        heard = 0.0
        for number, word in enumerate(words, 1):
            said = time.perf_counter()
            listen(Delta(0, word, (Token(word, -0.5),)))
            heard += time.perf_counter() - said
            await asyncio.sleep(max(began + LATENCY * number / len(words) - time.perf_counter(), 0))
        self.seconds += time.perf_counter() - began - heard
        completion = Completion("".join(words), tokens=tuple(Token(word, -0.5) for word in words))
        return Reply((completion,), Usage(100, len(words)), LATENCY, self.name)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """The same for every token, LATENCY after the call."""
        began = time.perf_counter()
        self.calls += 1
        await asyncio.sleep(LATENCY)
        self.seconds += time.perf_counter() - began
        return [tuple(Token(word + " ", -0.5) for word in text.split()) for text in texts]


def run(folder: str, number: int) -> float:
    """Wall time over model time of one session of three rounds."""
    model = Slow()
    store = SqlStore(open_database(f"sqlite:///{folder}/{number}.db"))
    bench = Workbench(store, lambda _: model, open_scorer)
    settings = Settings(rounds=3, scorers=("logprob",), gate_scorer="logprob", patience=0)
    recipe = Recipe("self_refine", PRESET.read_text(encoding="utf-8"), "slow", settings)
    session = bench.start(Task("The food was fantastic.", instruction="Make it negative."), recipe, "auto")
    began = time.perf_counter()
    place = asyncio.run(bench.advance(session, lambda _: None, Stop()))
    wall = time.perf_counter() - began
    assert isinstance(place, Finished) and model.calls == 11, place
    print(f"{model.calls} calls, {wall:.3f} s of which {model.seconds:.3f} s are the model's")
    return wall / model.seconds


def main() -> None:
    """Some runs, and their median."""
    with tempfile.TemporaryDirectory() as folder:
        ratios = [run(folder, number) for number in range(RUNS)]
    print(f"{statistics.median(ratios):.4f}")


if __name__ == "__main__":
    main()
