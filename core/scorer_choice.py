"""Which scorers a session uses: those a person names, else those of the preset that can be had.

Whether one can be had depends on what the task brings (a reference, rules), the preset (a rubric, labels)
and the model. What a person names is taken at their word; it then says itself what it lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Task
from core.models.catalog import STARTER
from core.models.protocol import Capabilities
from core.preset_values import Preset
from core.scoring.catalog import SCORERS, UnknownScorer, usual_scorer


@dataclass(frozen=True)
class Scorers:
    """All that are measured, in order; which of them the gate compares by, and which by first."""

    all: tuple[str, ...] = ()
    gate: str | None = None
    verifier: str | None = None


def chosen(names: Sequence[str], gate: str | None, verifier: str) -> Scorers:
    """These scorers; the gate's is `gate`, else the first. Raises UnknownScorer."""
    first = gate or (names[0] if names else None)
    wanted = tuple(name for name in dict.fromkeys((verifier, *names, first)) if name)
    for name in wanted:
        if name not in SCORERS:
            raise UnknownScorer(name)
    return Scorers(wanted, first, verifier if verifier != first and verifier else None)


def usual_gate(preset: Preset, capabilities: Capabilities, task: Task, judges: Sequence[str]) -> str:
    """The first of the preset's scorers that can be had; the last, or what stands for it, where none can.

    `judges` are the models that would judge. The starter is not taken for one by itself: it was tried, and
    what it writes can hardly ever be read as ratings.
    """
    wanted = preset.scorers or ("logprob",)
    unfit = {"judge"} if set(judges) <= {STARTER} else set()
    had = (name for name in wanted if name not in unfit and can_be_had(name, preset, capabilities, task))
    return usual_scorer(next(had, wanted[-1]), capabilities)


def usual_verifier(preset: Preset, capabilities: Capabilities, task: Task) -> str:
    """The preset's verifier where it can be had, else ""."""
    name = preset.verifier
    return name if name and can_be_had(name, preset, capabilities, task) else ""


def can_be_had(name: str, preset: Preset, capabilities: Capabilities, task: Task) -> bool:
    """Whether everything is there that this scorer needs."""
    lacking = {
        "logprob": not capabilities.scoring,
        "judge": preset.rubric is None,
        "label": not preset.labels,
        "math_equivalence": not task.reference.strip(),
        "unit_tests": not task.reference.strip(),
        "speed": not task.reference.lstrip().startswith("["),
        **dict.fromkeys(("rules", "json_schema", "regex", "length"), not task.target.strip()),
        "reward_model": True,
    }
    return name in SCORERS and not lacking.get(name, False)
