"""How a session ended, as the board shows it: the text, why it is the best, and what refining it brought."""

from __future__ import annotations

from typing import Any

from core.domain import Outcome
from core.gains import Gains, gains
from core.history import Story
from core.preset_schema import PresetError
from core.presets import load_preset
from core.sessions import Session
from core.workbench import was_stopped
from ui.guidance import cautions
from ui.rows import LABELS, counted

View = dict[str, Any]


def outcome_view(outcome: Outcome, session: Session, story: Story) -> View:
    """The end of the session."""
    scorer = session.recipe.settings.gate_scorer
    refined = session.recipe.strategy != "direct"
    brought = _brought(gains(story, outcome.draft, scorer)) if scorer and refined else []
    return {
        "text": outcome.draft.text if outcome.draft else None,
        "why": f"Ended: {outcome.reason}. {outcome.why_best}",
        "stopped": was_stopped(session.steps),
        "brought": [*brought, *_cautions(session)],
    }


def _cautions(session: Session) -> tuple[str, ...]:
    try:
        preset = load_preset(session.recipe.preset)
    except PresetError:
        return ()
    return cautions(preset, session.recipe.strategy, session.recipe.model)[:1]


def _brought(found: Gains) -> list[str]:
    """Baseline and result, and the price of an accepted improvement, in words."""
    score = LABELS.get(found.scorer, found.scorer.replace("_", " "))
    lines = []
    if found.baseline is not None and found.result is not None:
        change = found.result - found.baseline
        way = "no change" if change == 0 else f"{change:+.4g}"
        lines.append(
            f"{score.capitalize()} of the first draft, which one generation alone gives: "
            f"{found.baseline:.4g}. Of the outcome: {found.result:.4g} ({way})."
        )
    if found.calls is not None and found.seconds is not None:
        money = f", cost {found.money:.4f}" if found.money is not None else ""
        lines.append(
            f"{counted(found.accepted, 'accepted improvement')}: {found.calls:.3g} calls and "
            f"{found.seconds:.3g} s of model time for each{money}."
        )
    elif found.baseline is not None:
        lines.append("No improvement was accepted.")
    return lines
