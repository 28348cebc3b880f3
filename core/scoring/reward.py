"""A text's reward by a sequence classifier that was trained on what people prefer. Knows no model library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain import Message, Score, Task
from core.models.protocol import ModelError
from core.models.reward_local import Reward, RewardModel

NONE_NAMED = (
    "Name a reward model for the role reward: hf:ID-or-path of a sequence classifier, with #CLASS where it "
    "has several classes."
)


class Rater(Protocol):
    """What rates a text as the answer to a prompt."""

    async def rate(self, messages: Sequence[Message], text: str) -> Reward:
        """Raises ModelError."""
        ...


class RewardScore:
    """The reward of each text as the answer to the task prompt; its scale is the model's own."""

    name = "reward_model"

    def __init__(self, model: str = "", rater: Rater | None = None) -> None:
        kind, _, source = model.partition(":")
        self._model = model
        self._rater = rater or (RewardModel(source) if kind == "hf" and source else None)

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order. Raises ModelError where trying again may help."""
        if self._rater is None:
            said = f"{self._model!r} is no reward model. " if self._model else ""
            return tuple(Score(self.name, None, said + NONE_NAMED) for _ in texts)
        return tuple([await self._of(self._rater, prompt, text) for text in texts])

    async def _of(self, rater: Rater, prompt: Sequence[Message], text: str) -> Score:
        condition = f"given the task prompt, by {self._model}"
        if not text.strip():
            return Score(self.name, None, "The text is empty: there is nothing to score.", condition)
        try:
            reward = await rater.rate(prompt, text)
        except ModelError as error:
            if error.retryable:
                raise
            return Score(self.name, None, str(error), condition)
        return Score(self.name, reward.value, "", condition, reward.classes)
