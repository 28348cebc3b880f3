"""The decoding loop: n continuations of one prompt, a token of each at a time (torch).

Knows ids and logits only. The prompt is read once, whatever n is; the rows may be of several requests.
Reported logprobs are those of the model's own distribution (temperature 1, nothing cut off), whatever
shaped the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.domain import Sampling
from core.models.forced_scoring import cache_keyword

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Row:
    """A continuation to draw: candidate `number` of a request that has this seed."""

    seed: int | None
    number: int = 0


@dataclass(frozen=True)
class Draw:
    """A token drawn for the row at place `index`, with the likeliest ids there and their natural logprobs."""

    index: int
    id: int
    logprob: float
    top: tuple[tuple[int, float], ...]


def draws(
    reader: Reader,
    rows: Sequence[Row],
    *,
    sampling: Sampling,
    limit: int,
    stop_ids: Collection[int],
    wanted: Callable[[int], bool] = lambda _: True,
) -> Iterator[list[Draw]]:
    """One list a step: a draw of every row not yet ended; a stop id, drawn too, ends its row.

    A row draws the same way whatever other rows are beside it, by its own seed, not the sampling's; one that
    is not `wanted` any more is left out. At most `limit` steps.
    """
    import torch

    generators = [_generator(row.seed, row.number) for row in rows]
    running = list(range(len(rows)))
    with torch.inference_mode():
        logits = reader.spread(len(rows))
    for step in range(limit):
        with torch.inference_mode():
            drawn = [_draw(i, row, sampling, generators[i]) for i, row in zip(running, logits, strict=True)]
        yield drawn
        alive = [at for at, draw in enumerate(drawn) if draw.id not in stop_ids and wanted(draw.index)]
        running = [running[at] for at in alive]
        if not running or step + 1 == limit:
            return
        with torch.inference_mode():
            logits = reader.go_on([drawn[at].id for at in alive], alive, len(drawn))


class Reader:
    """A model that has read a prompt, with its memory of it: one row a continuation."""

    def __init__(self, model: Any, prompt: Sequence[int]) -> None:
        import torch
        from transformers import DynamicCache

        self._model = model
        self._memory = DynamicCache(config=model.config)
        self._keywords = {cache_keyword(model.forward): self._memory, "use_cache": True}
        with torch.inference_mode():
            self._first = self._read([list(prompt)])

    def spread(self, rows: int) -> torch.Tensor:
        """The logits after the prompt, in float32 on the CPU, the same in every one of so many rows."""
        if rows > 1:
            self._memory.batch_repeat_interleave(rows)
        return self._first.expand(rows, -1)

    def go_on(self, ids: Sequence[int], alive: Sequence[int], rows: int) -> torch.Tensor:
        """The logits after one more id for each row that is alive; the other rows are dropped."""
        import torch

        if len(alive) < rows:
            self._memory.batch_select_indices(torch.tensor(alive, device=self._model.device))
        return self._read([[i] for i in ids])

    def _read(self, rows: list[list[int]]) -> torch.Tensor:
        import torch

        ids = torch.tensor(rows, device=self._model.device)
        logits: torch.Tensor = self._model(ids, logits_to_keep=1, **self._keywords).logits
        return logits[:, -1].float().cpu()


def _generator(seed: int | None, index: int) -> torch.Generator:
    import torch

    generator = torch.Generator()
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed((seed * 1_000_003 + index) % 2**63)
    return generator


def _draw(index: int, logits: torch.Tensor, sampling: Sampling, generator: torch.Generator) -> Draw:
    logprobs = logits.log_softmax(dim=0)
    chosen = _choose(logits, sampling, generator)
    values, ids = logprobs.topk(min(max(sampling.top_logprobs, 0), len(logprobs)))
    top = tuple(zip(ids.tolist(), values.tolist(), strict=True))
    return Draw(index, chosen, float(logprobs[chosen]), top)


def _choose(logits: torch.Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    temperature = 1.0 if sampling.temperature is None else sampling.temperature
    if temperature <= 0:
        return int(logits.argmax())
    odds = (logits / temperature).softmax(dim=0)
    if sampling.top_p is not None and sampling.top_p < 1:
        odds = _nucleus(odds, sampling.top_p)
    return int(odds.multinomial(1, generator=generator))


def _nucleus(odds: torch.Tensor, top_p: float) -> torch.Tensor:
    """The odds of the likeliest tokens that together reach `top_p`, all others 0; at least one stays."""
    ordered, ids = odds.sort(descending=True)
    before = ordered.cumsum(dim=0) - ordered
    keep = before < top_p
    keep[0] = True
    return odds.new_zeros(odds.shape).scatter(0, ids[keep], ordered[keep])
