"""The decoding loop: n continuations of one prompt, a token of each at a time (torch).

Knows ids and logits only. The prompt is read once, whatever n is. Reported logprobs are those of the
model's own distribution (temperature 1, nothing cut off), whatever shaped the draw.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.domain import Sampling
from core.models.forced_scoring import cache_keyword

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Draw:
    """A token drawn for candidate `index`, with the likeliest ids there and their natural logprobs."""

    index: int
    id: int
    logprob: float
    top: tuple[tuple[int, float], ...]


def draws(
    model: Any,
    prompt: Sequence[int],
    *,
    indices: Sequence[int],
    sampling: Sampling,
    limit: int,
    stop_ids: Collection[int],
) -> Iterator[list[Draw]]:
    """One list a step: a draw of every candidate not yet ended; a stop id, drawn too, ends its candidate.

    Candidate i draws the same way whatever other candidates run beside it. At most `limit` steps.
    """
    import torch

    generators = {i: _generator(sampling.seed, i) for i in indices}
    running = list(indices)
    reader = _Reader(model)
    with torch.inference_mode():
        logits = reader.begin(prompt, len(running))
    for step in range(limit):
        with torch.inference_mode():
            drawn = [_draw(i, row, sampling, generators[i]) for i, row in zip(running, logits, strict=True)]
        yield drawn
        alive = [place for place, draw in enumerate(drawn) if draw.id not in stop_ids]
        running = [running[place] for place in alive]
        if not running or step + 1 == limit:
            return
        with torch.inference_mode():
            logits = reader.go_on([drawn[place].id for place in alive], alive, len(drawn))


class _Reader:
    """The model with its memory of what it has read: one row a candidate."""

    def __init__(self, model: Any) -> None:
        from transformers import DynamicCache

        self._model = model
        self._memory = DynamicCache(config=model.config)
        self._keywords = {cache_keyword(model.forward): self._memory, "use_cache": True}

    def begin(self, prompt: Sequence[int], rows: int) -> torch.Tensor:
        """The logits after the prompt, in float32 on the CPU, the same in every row."""
        logits = self._read([list(prompt)])
        if rows > 1:
            self._memory.batch_repeat_interleave(rows)
        return logits.expand(rows, -1)

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
    values, ids = logprobs.topk(min(sampling.top_logprobs, len(logprobs)))
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
