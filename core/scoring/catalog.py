"""Scorer names to scorers."""

from __future__ import annotations

from collections.abc import Callable

from core.domain import Recipe
from core.models.protocol import Capabilities, Model
from core.scoring.coverage import ConceptCoverage
from core.scoring.heuristic import Heuristic
from core.scoring.logprob import LogprobScorer, SelfEvaluation
from core.scoring.math_equivalence import MathEquivalence
from core.scoring.program import Speed, UnitTests
from core.scoring.protocol import Scorer
from core.scoring.rules import Rules

SCORERS = {
    "logprob": "how likely the model finds the text, given the task prompt alone (mean per token)",
    "self_evaluation": "how sure the model is that the text meets the task, from 0 to 1",
    "heuristic": "an answer in a box or a number, and brevity; for tasks with a short answer",
    "math_equivalence": "whether the answer found in the text equals the reference, 1 or 0",
    "unit_tests": "the share of the reference's tests that the program passes, run apart from everything",
    "speed": "how many times as fast as the input program it runs, where it passes the reference's tests",
    "coverage": "the share of the wanted concepts that occur in the text, in any inflection",
    "rules": "the share of the target's rules that the text keeps: length, words, patterns, JSON schema",
}
"""What each scorer measures, by the name that recipes carry."""


IN_CODE: dict[str, Callable[[], Scorer]] = {
    "heuristic": Heuristic,
    "math_equivalence": MathEquivalence,
    "unit_tests": UnitTests,
    "speed": Speed,
    "coverage": ConceptCoverage,
    "rules": Rules,
}
"""Scorers that ask no model."""


class UnknownScorer(ValueError):
    """There is no scorer of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no scorer {name!r}. There are: {', '.join(SCORERS)}.")


def open_scorer(name: str, recipe: Recipe, open_model: Callable[[str], Model]) -> Scorer:
    """The scorer of that name, with the models that the recipe gives it. Raises UnknownScorer."""
    if name == "logprob":
        return LogprobScorer(open_model(recipe.model_for("score")))
    if name == "self_evaluation":
        return SelfEvaluation(open_model(recipe.model_for("judge")))
    if name not in IN_CODE:
        raise UnknownScorer(name)
    return IN_CODE[name]()


def usual_scorer(wanted: str, capabilities: Capabilities) -> str:
    """The scorer to use where a person named none: the preset's, or what this model can do instead."""
    return "self_evaluation" if wanted == "logprob" and not capabilities.scoring else wanted
