"""How likely a causal language model finds given answers after one prompt, by forward passes (torch).

The prompt is read once and its keys and values are shared by all answers, which go through in small
batches; probabilities are taken only where an answer's token is predicted, for a part of the vocabulary
at a time.
Knows ids only: no text, no chat template, no device policy.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

BATCH = 4
"""Answers in one forward pass: more gains little on a CPU and costs memory."""
WORDS = 1024
"""Words whose logits exist at one time, for all positions of a batch: 2.5 MB for 600. More is not faster."""


def cache_keyword(forward: Any) -> str:
    """The name under which this forward function takes its cache: it changed between releases."""
    return "cache" if "cache" in inspect.signature(forward).parameters else "past_key_values"


def plain_attention(model: Any) -> bool:
    """Whether all the model remembers are keys and values of attention, which batches can share."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    return all(isinstance(layer, DynamicLayer) for layer in DynamicCache(config=model.config).layers)


def plain_head(model: Any) -> bool:
    """Whether the logits are the output matrix times the last hidden state, nothing capped or scaled."""
    import torch

    head = model.get_output_embeddings()
    if not isinstance(head, torch.nn.Linear) or model.base_model is model:
        return False
    ids = torch.tensor([[0, 1]], device=model.device)
    with torch.inference_mode():
        direct = model(ids, use_cache=False).logits
        built = head(model.base_model(ids, use_cache=False).last_hidden_state)
    return bool(torch.equal(direct, built))


def answer_logprobs(model: Any, prompt: Sequence[int], answers: Sequence[Sequence[int]]) -> list[list[float]]:
    """The natural logprob of each id of each answer, given the prompt and the ids before it.

    The prompt has at least one id. The result is that of reading prompt + answer whole, one at a time.
    """
    import torch

    with torch.inference_mode():
        if not (plain_attention(model) and plain_head(model)):
            return [_read_whole(model, prompt, answer) for answer in answers]
        return _read_shared(model, prompt, answers)


def _read_whole(model: Any, prompt: Sequence[int], answer: Sequence[int]) -> list[float]:
    """One answer, the prompt with it: for models whose memory can't be shared."""
    import torch

    if not answer:
        return []
    ids = torch.tensor([[*prompt, *answer[:-1]]], device=model.device)
    logits = model(ids, use_cache=False, logits_to_keep=len(answer)).logits[0, -len(answer) :].float()
    own = logits.gather(1, torch.tensor(answer, device=model.device)[:, None])[:, 0]
    values: list[float] = (own - _log_mass(logits)).tolist()
    return values


def _read_shared(model: Any, prompt: Sequence[int], answers: Sequence[Sequence[int]]) -> list[list[float]]:
    import torch
    from transformers import DynamicCache

    decoder = model.base_model
    keyword = cache_keyword(decoder.forward)
    memory = DynamicCache()
    ids = torch.tensor([list(prompt)], device=model.device)
    last = decoder(ids, use_cache=True, **{keyword: memory}).last_hidden_state[:, -1:]
    found: list[list[float]] = [[] for _ in answers]
    for batch in _batches(answers):
        hidden = _hidden(decoder, keyword, memory, last, [answers[i] for i in batch])
        rows = torch.cat([hidden[place, : len(answers[i])] for place, i in enumerate(batch)])
        ids = torch.tensor([i for place in batch for i in answers[place]], device=model.device)
        values = iter(_by_slices(model.get_output_embeddings(), rows, ids).tolist())
        for i in batch:
            found[i] = list(islice(values, len(answers[i])))
    return found


def _batches(answers: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """The places of the answers that have ids, those of like length together: least padding."""
    order = sorted((i for i, a in enumerate(answers) if a), key=lambda i: len(answers[i]))
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def _hidden(
    decoder: Any, keyword: str, memory: Any, last: torch.Tensor, answers: Sequence[Sequence[int]]
) -> torch.Tensor:
    """The states that predict each answer's ids: the prompt's last, then those after all but the last id.

    Padding stands to the right, where causal attention lets no real token see it: it needs no mask.
    """
    import torch

    width = max(map(len, answers)) - 1
    first = last.expand(len(answers), -1, -1)
    if not width:
        return first
    rows = [[*a[:-1], *[0] * (width + 1 - len(a))] for a in answers]
    ids = torch.tensor(rows, device=last.device)
    places = torch.arange(width, device=last.device)[None] + memory.get_seq_length()
    shared = {keyword: _sharing(memory)}
    states = decoder(ids, position_ids=places, use_cache=True, **shared).last_hidden_state
    return torch.cat([first, states], dim=1)


def _sharing(memory: Any) -> Any:
    """A cache that lends every row the prompt's keys and values and keeps nothing of the rows."""
    from transformers.cache_utils import Cache, DynamicLayer

    class Lent(DynamicLayer):
        def __init__(self, layer: Any) -> None:
            super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
            self.lazy_initialization(layer.keys, layer.values)
            self.keys, self.values = layer.keys, layer.values

        def update(
            self, key_states: torch.Tensor, value_states: torch.Tensor, *_: object, **__: object
        ) -> tuple[torch.Tensor, torch.Tensor]:
            return _after(self.keys, key_states), _after(self.values, value_states)

    return Cache(layers=[Lent(layer) for layer in memory.layers])


def _after(shared: Any, own: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.cat([shared.expand(len(own), -1, -1, -1), own], dim=-2)


def _by_slices(head: Any, hidden: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The logprob of each row's id, the output matrix taken a slice at a time.

    Few words for many rows multiply nearly twice as fast as all words for few rows, in less memory.
    """
    import torch

    bias = head.bias
    total = torch.full((len(ids),), -torch.inf, device=hidden.device)
    for start in range(0, head.weight.shape[0], WORDS):
        end = start + WORDS
        part = torch.nn.functional.linear(
            hidden, head.weight[start:end], None if bias is None else bias[start:end]
        )
        total = torch.logaddexp(total, _log_mass(part.float()))
    own: torch.Tensor = (hidden.float() * head.weight[ids].float()).sum(dim=1)
    return own - total if bias is None else own + bias[ids].float() - total


def _log_mass(logits: torch.Tensor) -> torch.Tensor:
    """log(sum(exp)) of each row; spends the logits, which saves a copy of them."""
    peak = logits.amax(dim=1, keepdim=True)
    return peak[:, 0] + logits.sub_(peak).exp_().sum(dim=1).log_()
