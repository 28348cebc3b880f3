"""Makes a recipe from what a person chose, what the preset says and what the model can do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace

from core.domain import Budget, Feedback, GateRule, HistoryRule, Recipe, Sampling, Settings
from core.models.protocol import Capabilities
from core.presets import Preset
from core.scoring.catalog import SCORERS, UnknownScorer, usual_scorer

LARGEST_SEED = 2**31 - 1000
"""Leaves room for the calls of a session, each of which adds one to the seed."""


@dataclass(frozen=True)
class Wishes:
    """What a person chose; None leaves it to the preset or the model."""

    strategy: str = "self_refine"
    rounds: int | None = None
    scorer: str | None = None
    gate: GateRule = "score"
    margin: float = 0.0
    target_score: float | None = None
    patience: int = 2
    feedback: Feedback = "specific"
    history: HistoryRule | None = None
    step_by_step: bool = False
    temperature: float | None = 0.7
    max_tokens: int | None = None
    seed: int | None = None
    budget: Budget = field(default_factory=Budget)


def make_recipe(preset: Preset, model: str, capabilities: Capabilities, wishes: Wishes) -> Recipe:
    """The recipe with every choice made, the seed included. Raises UnknownScorer."""
    scorer = _scorer(preset, capabilities, wishes)
    seed = secrets.randbelow(LARGEST_SEED) if wishes.seed is None else wishes.seed
    sampling = Sampling(temperature=wishes.temperature, seed=seed if capabilities.seed is not False else None)
    settings = Settings(
        rounds=preset.rounds if wishes.rounds is None else wishes.rounds,
        feedback=wishes.feedback,
        history=wishes.history or preset.history,
        scorers=(scorer,) if scorer else (),
        gate_scorer=scorer,
        gate=wishes.gate,
        margin=wishes.margin,
        target_score=wishes.target_score,
        patience=wishes.patience,
        step_by_step=wishes.step_by_step,
        context_tokens=capabilities.context_tokens,
        sampling=_limited(sampling, wishes.max_tokens or preset.draft_max_tokens),
        critique_sampling=_limited(sampling, preset.critique_max_tokens),
        budget=wishes.budget,
    )
    return Recipe(wishes.strategy, preset.text, model, settings)


def reseeded(recipe: Recipe) -> Recipe:
    """The recipe with a newly drawn seed where it has one."""
    settings = recipe.settings
    if settings.sampling.seed is None:
        return recipe
    seed = secrets.randbelow(LARGEST_SEED)
    sampling = replace(settings.sampling, seed=seed)
    critique = replace(settings.critique_sampling, seed=seed)
    return replace(recipe, settings=replace(settings, sampling=sampling, critique_sampling=critique))


def _scorer(preset: Preset, capabilities: Capabilities, wishes: Wishes) -> str | None:
    if wishes.scorer == "none":
        return None
    if wishes.scorer and wishes.scorer not in SCORERS:
        raise UnknownScorer(wishes.scorer)
    return wishes.scorer or usual_scorer(preset.default_scorer or "logprob", capabilities)


def _limited(sampling: Sampling, max_tokens: int | None) -> Sampling:
    return Sampling(sampling.temperature, sampling.top_p, max_tokens, sampling.seed, sampling.top_logprobs)
