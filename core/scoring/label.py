"""How near a text's label is to the one that it shall have, on the preset's scale of labels, from 0 to 1.

The label is what a model finds in the text alone: it is told neither the task nor the target. A model that
scores given texts is asked how likely each label is as the answer to one question; another one says it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.domain import Message, Sampling, Score, Task, Token
from core.models.protocol import Model, ModelError
from core.models.tokens import usable
from core.parsing import read_label
from core.presets import Preset
from core.scoring.together import together

EMPTY = "The text is empty: there is nothing to score."
ROOM = 200
"""Tokens in which a label is to be said."""


def question(text: str, labels: Sequence[str]) -> tuple[Message, ...]:
    """What a model is asked of a text."""
    listed = "\n".join(f"- {label}" for label in labels)
    return (
        Message(
            "user",
            f"Here is a text:\n\n{text}\n\nWhich of these describes it best?\n{listed}\n\n"
            "Reply with one of them and nothing else.",
        ),
    )


class LabelDistance:
    """1 less the distance of the text's label from the target's, in steps of the scale."""

    name = "label"

    def __init__(self, model: Model, preset: Preset, seed: int | None = 0) -> None:
        self._model, self._labels, self._usual = model, preset.labels, preset.target
        self._sampling = Sampling(temperature=0.0, max_tokens=ROOM, seed=seed, top_logprobs=-1)

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order. Raises ModelError where trying again may help."""
        target = self._rank(task.target or self._usual)
        if len(self._labels) < 2 or target is None:
            return tuple(Score(self.name, None, self._why_not(task)) for _ in texts)
        try:
            forced = (await self._model.capabilities()).scoring
        except ModelError as error:
            if error.retryable:
                raise
            return tuple(Score(self.name, None, str(error)) for _ in texts)
        return tuple(await together(self._of(text, target, forced) for text in texts))

    def _rank(self, label: str) -> int | None:
        folded = [each.lower() for each in self._labels]
        return folded.index(label.strip().lower()) if label.strip().lower() in folded else None

    def _why_not(self, task: Task) -> str:
        if len(self._labels) < 2:
            return "This preset has no labels."
        wanted = task.target or self._usual
        told = f"The target {wanted!r} is none of the labels" if wanted else "The task names no target label"
        return f"{told}: {', '.join(self._labels)}."

    async def _of(self, text: str, target: int, forced: bool) -> Score:
        condition = self._condition(target, forced)
        if not text.strip():
            return Score(self.name, None, EMPTY, condition)
        try:
            return await (self._likeliest if forced else self._said)(text, target, condition)
        except ModelError as error:
            if error.retryable:
                raise
            return Score(self.name, None, str(error), condition)

    def _condition(self, target: int, forced: bool) -> str:
        way = "the likeliest label" if forced else "the label that was said"
        scale = " < ".join(self._labels)
        return f"{way}, by {self._model.name}, on {scale}; target {self._labels[target]}"

    async def _likeliest(self, text: str, target: int, condition: str) -> Score:
        """By the probabilities of all labels after one prompt."""
        scored = await self._model.score(question(text, self._labels), self._labels)
        odds = _shares([_logprob(tokens) for tokens in scored])
        if odds is None:
            return Score(self.name, None, "the labels have no usable probabilities", condition)
        details = tuple(zip(self._labels, odds, strict=True))
        best = [place for place, share in enumerate(odds) if share == max(odds)]
        if len(best) > 1:
            return Score(self.name, None, "two labels are equally likely", condition, details)
        return self._near(best[0], target, condition, details)

    async def _said(self, text: str, target: int, condition: str) -> Score:
        """By what the model replies."""
        reply = await self._model.complete(question(text, self._labels), n=1, sampling=self._sampling)
        raw = reply.completions[0].text if reply.completions else ""
        label = read_label(raw, self._labels)
        if label is None:
            why = "the reply names no label, or several"
            return Score(self.name, None, why, condition, replies=(raw,))
        return self._near(self._labels.index(label), target, condition, replies=(raw,))

    def _near(
        self,
        place: int,
        target: int,
        condition: str,
        details: tuple[tuple[str, float], ...] = (),
        replies: tuple[str, ...] = (),
    ) -> Score:
        value = 1 - abs(place - target) / (len(self._labels) - 1)
        notes = (f"label: {self._labels[place]}",)
        return Score(self.name, value, "", condition, details, notes=notes, replies=replies)


def _logprob(tokens: Sequence[Token]) -> float | None:
    """The logprob of a whole label; None where one of its tokens has none."""
    values = [usable(token.logprob) for token in tokens]
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _shares(logprobs: Sequence[float | None]) -> list[float] | None:
    """Each label's share of the probability of all of them; None where one is unknown."""
    known = [value for value in logprobs if value is not None]
    if len(known) < len(logprobs):
        return None
    peak = max(known)
    masses = [math.exp(value - peak) for value in known]
    return [mass / math.fsum(masses) for mass in masses]
