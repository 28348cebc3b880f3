"""Small values that many tests start from."""

from __future__ import annotations

from core.domain import Completion, Message, Recipe, Sampling, Settings, Task, Token, Usage
from core.models.protocol import Reply
from core.steps import Ask, Replied, Step

TASK = Task("The food was fantastic.", instruction="Make it negative.")


def reply(text: str, tokens: tuple[Token, ...] = ()) -> Reply:
    """A reply of one completion."""
    return Reply((Completion(text, tokens=tokens),), Usage(10, 5, 0), 0.5, "scripted")


def ask(text: str = "hello", seed: int | None = 7) -> Ask:
    """An Ask of one user message."""
    return Ask("draft", 0, (Message("user", text),), Sampling(seed=seed))


def step(question: str = "hello", answer: str = "Good day.") -> Step:
    """One asked and answered step."""
    return Step(ask(question), Replied(reply(answer)))


def recipe(preset: str = "name: x", **settings: object) -> Recipe:
    """A recipe with the given settings."""
    return Recipe("self_refine", preset, "scripted", Settings(**settings))  # type: ignore[arg-type]
