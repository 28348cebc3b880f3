"""What a person should know before they refine: where the field found that it does not help."""

from __future__ import annotations

from core.models.catalog import STARTER
from core.presets import Preset

SMALL = (
    "The starter is a very small model: it shows how Redraft works. As a critic it mostly repeats itself, "
    "and its revisions are often no better than its first draft."
)
OWN_FEEDBACK = "Keep the baseline beside it: the strategy “One draft only” on the same task."
COSTS = {
    "beam": "Every round asks for width × children critiques and as many revisions.",
    "self_consistency": "Votes need answers that can be compared: a number, a choice, a short text.",
}


def cautions(preset: Preset, strategy: str, model: str) -> tuple[str, ...]:
    """What speaks against this choice, or what it takes, in words."""
    refines = strategy == "self_refine" or strategy.endswith("+self_refine") or strategy == "beam"
    said = []
    if preset.caution and refines:
        said += [preset.caution, OWN_FEEDBACK]
    if model == STARTER and refines:
        said.append(SMALL)
    beginning = strategy.partition("+")[0]
    return (*said, *([COSTS[beginning]] if beginning in COSTS else []))
