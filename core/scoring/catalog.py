"""Scorer names to scorers."""

from __future__ import annotations

from collections.abc import Callable

from core.domain import Recipe
from core.models.protocol import Capabilities, Model
from core.scoring.heuristic import Heuristic
from core.scoring.logprob import LogprobScorer, SelfEvaluation
from core.scoring.protocol import Scorer

SCORERS = {
    "logprob": "how likely the model finds the text, given the task prompt alone (mean per token)",
    "self_evaluation": "how sure the model is that the text meets the task, from 0 to 1",
    "heuristic": "an answer in a box or a number, and brevity; for tasks with a short answer",
}
"""What each scorer measures, by the name that recipes carry."""


class UnknownScorer(ValueError):
    """There is no scorer of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no scorer {name!r}. There are: {', '.join(SCORERS)}.")


def scorer_opener(open_model: Callable[[str], Model]) -> Callable[[str, Recipe], Scorer]:
    """A function that opens a scorer by name for a recipe. It raises UnknownScorer."""

    def open_scorer(name: str, recipe: Recipe) -> Scorer:
        if name == "logprob":
            return LogprobScorer(open_model(recipe.model_for("score")))
        if name == "self_evaluation":
            return SelfEvaluation(open_model(recipe.model_for("judge")))
        if name == "heuristic":
            return Heuristic()
        raise UnknownScorer(name)

    return open_scorer


def usual_scorer(wanted: str, capabilities: Capabilities) -> str:
    """The scorer to use where a person named none: the preset's, or what this model can do instead."""
    return "self_evaluation" if wanted == "logprob" and not capabilities.scoring else wanted
