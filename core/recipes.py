"""Makes a recipe from what a person chose, what the preset says and what the model can do."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace

from core.domain import Budget, Feedback, GateRule, HistoryRule, Recipe, Sampling, Settings, Task
from core.models.protocol import Capabilities
from core.presets import Preset
from core.scorer_choice import Scorers, chosen, usual_gate, usual_verifier

LARGEST_SEED = 2**31 - 1000
"""Leaves room for the calls of a session, each of which adds one to the seed."""


@dataclass(frozen=True)
class Wishes:
    """What a person chose; None leaves it to the preset or the model.

    `scorer` is the one scorer there shall be ("none": no scorer); `scorers` are several, the first of which,
    or `gate_scorer`, is the gate's. `verifier` "none" leaves the preset's away.
    """

    strategy: str = "self_refine"
    rounds: int | None = None
    scorer: str | None = None
    scorers: tuple[str, ...] = ()
    gate_scorer: str | None = None
    verifier: str | None = None
    judges: tuple[str, ...] = ()
    judge_samples: int = 1
    candidates: int = 4
    width: int = 2
    children: int = 2
    lookahead: bool = False
    audit: bool = False
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


def make_recipe(
    preset: Preset, model: str, capabilities: Capabilities, wishes: Wishes, task: Task | None = None
) -> Recipe:
    """The recipe with every choice made, the seed included; some scorers need something of the task.

    Raises UnknownScorer.
    """
    scorers = _scorers(preset, model, capabilities, wishes, task or Task(""))
    seed = secrets.randbelow(LARGEST_SEED) if wishes.seed is None else wishes.seed
    sampling = Sampling(temperature=wishes.temperature, seed=seed if capabilities.seed is not False else None)
    settings = Settings(
        rounds=preset.rounds if wishes.rounds is None else wishes.rounds,
        feedback=wishes.feedback,
        history=wishes.history or preset.history,
        scorers=scorers.all,
        gate_scorer=scorers.gate,
        verifier=scorers.verifier,
        gate=wishes.gate,
        margin=wishes.margin,
        target_score=wishes.target_score,
        patience=wishes.patience,
        step_by_step=wishes.step_by_step,
        context_tokens=capabilities.context_tokens,
        candidates=wishes.candidates,
        width=wishes.width,
        children=wishes.children,
        lookahead=wishes.lookahead,
        judge_samples=wishes.judge_samples,
        audit=wishes.audit,
        sampling=_limited(sampling, wishes.max_tokens or preset.draft_max_tokens),
        critique_sampling=_limited(sampling, preset.critique_max_tokens),
        budget=wishes.budget,
    )
    return Recipe(wishes.strategy, preset.text, model, settings, judges=wishes.judges)


def reseeded(recipe: Recipe) -> Recipe:
    """The recipe with a newly drawn seed where it has one."""
    settings = recipe.settings
    if settings.sampling.seed is None:
        return recipe
    seed = secrets.randbelow(LARGEST_SEED)
    sampling = replace(settings.sampling, seed=seed)
    critique = replace(settings.critique_sampling, seed=seed)
    return replace(recipe, settings=replace(settings, sampling=sampling, critique_sampling=critique))


def _limited(sampling: Sampling, max_tokens: int | None) -> Sampling:
    return Sampling(sampling.temperature, sampling.top_p, max_tokens, sampling.seed, sampling.top_logprobs)


def _scorers(preset: Preset, model: str, capabilities: Capabilities, wishes: Wishes, task: Task) -> Scorers:
    """Those a person named, else those of the preset that can be had."""
    if wishes.scorer == "none":
        return Scorers()
    named = (wishes.scorer,) if wishes.scorer else wishes.scorers
    usual = named or (usual_gate(preset, capabilities, task, wishes.judges or (model,)),)
    verifier = wishes.verifier or usual_verifier(preset, capabilities, task)
    return chosen(usual, wishes.gate_scorer, "" if verifier == "none" else verifier)
