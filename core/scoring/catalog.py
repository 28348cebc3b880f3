"""Scorer names to scorers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from core.domain import Recipe
from core.models.protocol import Capabilities, Model
from core.presets import load_preset
from core.scoring.coverage import ConceptCoverage
from core.scoring.heuristic import Heuristic
from core.scoring.judge import Judge
from core.scoring.label import LabelDistance
from core.scoring.logprob import LogprobScorer, SelfEvaluation
from core.scoring.math_equivalence import MathEquivalence
from core.scoring.program import Speed, UnitTests
from core.scoring.protocol import Scorer
from core.scoring.readability import CodeReadability
from core.scoring.reward import RewardScore
from core.scoring.rules import Rules
from core.scoring.single_rules import SingleRule

SCORERS = {
    "judge": "ratings by the preset's rubric, given by one model or several and summed here",
    "label": "how near the text's label, as a model finds it, is to the wanted one, from 0 to 1",
    "reward_model": "the reward that a sequence classifier gives the text as the answer to the task",
    "logprob": "how likely the model finds the text, given the task prompt alone (mean per token)",
    "self_evaluation": "how sure the model is that the text meets the task, from 0 to 1",
    "heuristic": "an answer in a box or a number, and brevity; for tasks with a short answer",
    "math_equivalence": "whether the answer found in the text equals the reference, 1 or 0",
    "unit_tests": "the share of the reference's tests that the program passes, run apart from everything",
    "speed": "how many times as fast as the input program it runs, where it passes the reference's tests",
    "readability": "names, comments and lengths of functions of a Python program, from 0 to 1",
    "coverage": "the share of the wanted concepts that occur in the text, in any inflection",
    "rules": "the share of the target's rules that the text keeps: length, words, patterns, JSON schema",
    "json_schema": "whether the text is JSON of the schema that is the task's target, 1 or 0",
    "regex": "whether the regular expression that is the task's target is found in the text, 1 or 0",
    "length": "whether the text is as long as the task's target says (at most 50 words), 1 or 0",
}
"""What each scorer measures, by the name that recipes carry."""


IN_CODE: dict[str, Callable[[], Scorer]] = {
    "heuristic": Heuristic,
    "math_equivalence": MathEquivalence,
    "unit_tests": UnitTests,
    "speed": Speed,
    "readability": CodeReadability,
    "coverage": ConceptCoverage,
    "rules": Rules,
    "json_schema": partial(SingleRule, "json_schema"),
    "regex": partial(SingleRule, "regex"),
    "length": partial(SingleRule, "length"),
}
"""Scorers that ask no model."""

OpenModel = Callable[[str], Model]


class UnknownScorer(ValueError):
    """There is no scorer of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no scorer {name!r}. There are: {', '.join(SCORERS)}.")


def open_scorer(name: str, recipe: Recipe, open_model: OpenModel) -> Scorer:
    """The scorer of that name, with the models that the recipe gives it.

    Raises UnknownScorer, and PresetError where the scorer needs the preset and that can't be read.
    """
    if name in IN_CODE:
        return IN_CODE[name]()
    if name not in BY_MODEL:
        raise UnknownScorer(name)
    return BY_MODEL[name](recipe, open_model)


def _judge(recipe: Recipe, open_model: OpenModel) -> Scorer:
    names = dict.fromkeys(recipe.judges or (recipe.model_for("judge"),))
    return Judge(load_preset(recipe.preset), [open_model(name) for name in names], recipe.settings)


def _label(recipe: Recipe, open_model: OpenModel) -> Scorer:
    seed = recipe.settings.sampling.seed
    return LabelDistance(open_model(recipe.model_for("judge")), load_preset(recipe.preset), seed)


BY_MODEL: dict[str, Callable[[Recipe, OpenModel], Scorer]] = {
    "judge": _judge,
    "label": _label,
    "logprob": lambda recipe, open_model: LogprobScorer(open_model(recipe.model_for("score"))),
    "self_evaluation": lambda recipe, open_model: SelfEvaluation(open_model(recipe.model_for("judge"))),
    # It writes nothing: no model that does may stand in for it.
    "reward_model": lambda recipe, _: RewardScore(dict(recipe.models).get("reward", "")),
}
"""Scorers that ask a model, by what makes them."""


def usual_scorer(wanted: str, capabilities: Capabilities) -> str:
    """The scorer to use where a person named none: the preset's, or what this model can do instead."""
    return "self_evaluation" if wanted == "logprob" and not capabilities.scoring else wanted
