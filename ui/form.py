"""The task form of the Refine page: its inputs, and what a person wishes by them. Starts nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from core.checks import BadTask
from core.domain import Budget
from core.models.catalog import Models
from core.presets import Preset
from core.recipes import LARGEST_SEED, Wishes
from core.scoring.catalog import SCORERS
from core.strategies import STRATEGIES
from ui import widgets
from ui.naming import strategy_name

UNSAID = re.compile(r"\{\{\s*instruction or \"([^\"]+)\"\s*\}\}")
"""What a preset's template says in the place of an instruction that is missing."""
GATES = (
    ("The score is at least as good", "score"),
    ("The score is better by a margin", "margin"),
    ("Always", "always"),
)
FEEDBACK = (
    ("Specific points", "specific"),
    ("“Could be better” (for comparison)", "generic"),
    ("None (for comparison)", "none"),
)


@dataclass(frozen=True)
class Form:
    """The inputs of the page, in the order in which handlers get them."""

    preset: gr.Dropdown
    text: gr.Textbox
    instruction: gr.Textbox
    target: gr.Dropdown
    reference: gr.Textbox
    model: gr.Dropdown
    strategy: gr.Dropdown
    candidates: gr.Slider
    mode: gr.Radio
    rounds: gr.Slider
    scorers: gr.Dropdown
    verifier: gr.Dropdown
    judges: gr.Textbox
    judge_samples: gr.Slider
    gate: gr.Dropdown
    margin: gr.Textbox
    target_score: gr.Textbox
    feedback: gr.Dropdown
    audit: gr.Checkbox
    width: gr.Slider
    children: gr.Slider
    lookahead: gr.Checkbox
    step_by_step: gr.Checkbox
    temperature: gr.Slider
    seed: gr.Textbox
    max_calls: gr.Textbox
    max_tokens: gr.Textbox
    max_seconds: gr.Textbox
    roles: gr.Textbox

    def all(self) -> list[gr.components.Component]:
        """Every input."""
        return list(vars(self).values())


def task_form(models: Models, presets: Mapping[str, Preset], strategy: str) -> Form:
    """The inputs, with that strategy chosen."""
    first = next(iter(presets.values()))
    preset = gr.Dropdown(
        [(p.title, name) for name, p in presets.items()],
        value=first.name,
        label="Kind of task",
        interactive=True,
    )
    text = gr.Textbox(
        label=_label(first, "input"),
        lines=6,
        max_lines=20,
        elem_id="text",
        placeholder="Paste or type a text",
    )
    instruction = gr.Textbox(lines=2, elem_id="instruction", **shown(first, "instruction"))
    target = gr.Dropdown(
        list(first.labels),
        allow_custom_value=True,
        elem_id="target",
        **shown(first, "target"),
    )
    model = gr.Dropdown(
        list(models.names()),
        value=models.names()[0],
        label="Model",
        info="starter, openai:MODEL, ENDPOINT:MODEL, hf:ID-or-path or gguf:PATH",
        allow_custom_value=True,
        interactive=True,
        elem_id="model",
    )
    reference = gr.Textbox(lines=2, max_lines=12, elem_id="reference", **shown(first, "reference"))
    chosen = gr.Dropdown(
        [(strategy_name(name), name) for name in STRATEGIES],
        value=strategy,
        label="Strategy",
        interactive=True,
        elem_id="strategy",
    )
    candidates = gr.Slider(
        2,
        32,
        value=4,
        step=1,
        label="Drafts side by side",
        interactive=True,
        visible=has_candidates(strategy),
    )
    mode = gr.Radio(list(widgets.MODES), value="ask", label="Who decides", interactive=True, elem_id="mode")
    with gr.Accordion("More", open=False):
        more = _more()
    # Filled by the page just before Start with the models that play single roles, as JSON.
    roles = gr.Textbox("{}", visible="hidden", interactive=True, elem_id="roles")
    begin = (preset, text, instruction, target, reference, model, chosen, candidates, mode)
    inputs: tuple[Any, ...] = (*begin, *more, roles)
    return Form(*inputs)


def shown(preset: Preset, name: str) -> dict[str, Any]:
    """How the field of that name looks for this kind of task."""
    label = next((field.label for field in preset.fields if field.name == name), None)
    unsaid = UNSAID.search(preset.text) if name == "instruction" else None
    hint = {"placeholder": unsaid.group(1)} if unsaid else {}
    return {"visible": label is not None, "interactive": True, "label": label or name, **hint}


def _label(preset: Preset, name: str) -> str:
    return next(field.label for field in preset.fields if field.name == name)


def has_candidates(strategy: str) -> bool:
    """Whether it begins with several drafts."""
    return strategy not in ("direct", "self_refine")


def _more() -> tuple[Any, ...]:
    scorers = [(f"{name}: {what}", name) for name, what in SCORERS.items()]
    usual = ("Usual for the task", "")
    return (
        gr.Slider(1, 10, value=3, step=1, label="Rounds at most", interactive=True),
        gr.Dropdown(
            [*scorers, ("None", "none")],
            value=[],
            multiselect=True,
            label="Scores (the first is the gate's)",
            info="Left empty: what is usual for the task and the model",
            interactive=True,
        ),
        gr.Dropdown(
            [usual, *scorers, ("None", "none")],
            value="",
            label="Compare first by (a verifier)",
            interactive=True,
        ),
        gr.Textbox(
            "",
            label="Judges, for the score “judge”",
            placeholder="the model itself",
            info="Names of models, parted by commas",
            max_lines=1,
            interactive=True,
        ),
        gr.Slider(1, 9, value=1, step=1, label="Ratings by each judge", interactive=True),
        gr.Dropdown(
            list(GATES), value="score", label="A revision is accepted by policy when", interactive=True
        ),
        _typed("Margin", "0"),
        _typed("Stop at this score", "no such stop"),
        gr.Dropdown(list(FEEDBACK), value="specific", label="Critique", interactive=True),
        gr.Checkbox(False, label="Ask after a revision which points it meets", interactive=True),
        gr.Slider(1, 8, value=2, step=1, label="Beam: drafts that are kept", interactive=True, visible=False),
        gr.Slider(1, 8, value=2, step=1, label="Beam: revisions of each", interactive=True, visible=False),
        gr.Checkbox(False, label="Beam: rank by one more revision", interactive=True, visible=False),
        gr.Checkbox(False, label="Let the first draft think step by step", interactive=True),
        gr.Slider(0.0, 2.0, value=0.7, step=0.1, label="Temperature", interactive=True),
        _typed("Seed", "drawn"),
        _typed("At most so many model calls", "no limit"),
        _typed("At most so many tokens", "no limit"),
        _typed("At most so many seconds of model time", "no limit"),
    )


def _typed(label: str, without: str) -> gr.Textbox:
    """A number that may be left out. (An empty gr.Number becomes 0 as soon as it is shown.)"""
    return gr.Textbox("", label=label, placeholder=without, max_lines=1, interactive=True)


def wishes(form: dict[str, Any]) -> Wishes:
    """What the person wishes. Raises BadTask for a number that is none."""
    budget = Budget(
        calls=_whole(form["max_calls"], "At most so many model calls"),
        tokens=_whole(form["max_tokens"], "At most so many tokens"),
        seconds=_number(form["max_seconds"], "At most so many seconds", above=0),
    )
    named = tuple(name for name in form["scorers"] or () if name != "none")
    return Wishes(
        strategy=form["strategy"],
        candidates=int(form["candidates"]),
        width=int(form["width"]),
        children=int(form["children"]),
        lookahead=bool(form["lookahead"]),
        rounds=int(form["rounds"]),
        scorer="none" if form["scorers"] and not named else None,
        scorers=named,
        verifier=form["verifier"] or None,
        judges=tuple(name.strip() for name in (form["judges"] or "").split(",") if name.strip()),
        judge_samples=int(form["judge_samples"]),
        audit=bool(form["audit"]),
        gate=form["gate"],
        margin=_number(form["margin"], "Margin") or 0.0,
        target_score=_number(form["target_score"], "Stop at this score"),
        feedback=form["feedback"],
        step_by_step=bool(form["step_by_step"]),
        temperature=float(form["temperature"]),
        seed=_whole(form["seed"], "Seed", lowest=0),
        budget=budget,
    )


def _number(text: str | None, what: str, *, above: float | None = None) -> float | None:
    if not (text or "").strip():
        return None
    try:
        value = float((text or "").strip().replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (above is not None and value <= above):
        kind = "a number" if above is None else f"a number above {above:g}"
        raise BadTask(f"{what}: {text!r} is not {kind}. Write one, or leave the field empty.")
    return value


def _whole(text: str | None, what: str, *, lowest: int = 1) -> int | None:
    value = _number(text, what)
    if value is None:
        return None
    if value != int(value) or not lowest <= value <= LARGEST_SEED:
        raise BadTask(
            f"{what}: {text!r} is not a whole number from {lowest} on. Write one, or leave it empty."
        )
    return int(value)
