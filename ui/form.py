"""The task form of the Refine page: its inputs, and what a person wishes by them. Starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from core.domain import Budget
from core.models.catalog import Models
from core.presets import Preset
from core.recipes import Wishes
from core.scoring.catalog import SCORERS
from core.strategies import STRATEGIES
from ui import widgets

STRATEGY_NAMES = {"self_refine": "Draft, critique, revise", "direct": "One draft only (the baseline)"}
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
    model: gr.Dropdown
    mode: gr.Radio
    strategy: gr.Dropdown
    rounds: gr.Slider
    scorer: gr.Dropdown
    gate: gr.Dropdown
    margin: gr.Number
    target_score: gr.Number
    feedback: gr.Dropdown
    step_by_step: gr.Checkbox
    temperature: gr.Slider
    seed: gr.Number
    max_calls: gr.Number
    max_tokens: gr.Number
    max_seconds: gr.Number
    roles: gr.Textbox

    def all(self) -> list[gr.components.Component]:
        """Every input."""
        return list(vars(self).values())


def task_form(models: Models, presets: Mapping[str, Preset]) -> Form:
    first = next(iter(presets.values()))
    preset = gr.Dropdown(
        [(p.title, name) for name, p in presets.items()],
        value=first.name,
        label="Kind of task",
        interactive=True,
    )
    text = gr.Textbox(label="Text", lines=6, max_lines=20, elem_id="text", placeholder="Paste or type a text")
    instruction = gr.Textbox(
        label="What to do with it", lines=2, elem_id="instruction", **shown(first, "instruction")
    )
    target = gr.Dropdown(
        list(first.labels),
        label="Target",
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
    mode = gr.Radio(list(widgets.MODES), value="ask", label="Who decides", interactive=True, elem_id="mode")
    with gr.Accordion("More", open=False):
        more = _more()
    # Filled by the page just before Start with the models that play single roles, as JSON.
    roles = gr.Textbox("{}", visible="hidden", interactive=True, elem_id="roles")
    inputs: tuple[Any, ...] = (preset, text, instruction, target, model, mode, *more, roles)
    return Form(*inputs)


def shown(preset: Preset, name: str) -> dict[str, Any]:
    return {"visible": any(field.name == name for field in preset.fields), "interactive": True}


def _more() -> tuple[Any, ...]:
    scorers = [("Usual for the task and model", ""), *((f"{n}: {what}", n) for n, what in SCORERS.items())]
    return (
        gr.Dropdown(
            [(STRATEGY_NAMES[name], name) for name in sorted(STRATEGIES, reverse=True)],
            value="self_refine",
            label="Strategy",
            interactive=True,
        ),
        gr.Slider(1, 10, value=3, step=1, label="Rounds at most", interactive=True),
        gr.Dropdown([*scorers, ("None", "none")], value="", label="Score", interactive=True),
        gr.Dropdown(
            list(GATES), value="score", label="A revision is accepted by policy when", interactive=True
        ),
        gr.Number(0.0, label="Margin", interactive=True),
        gr.Number(None, label="Stop at this score", interactive=True),
        gr.Dropdown(list(FEEDBACK), value="specific", label="Critique", interactive=True),
        gr.Checkbox(False, label="Let the first draft think step by step", interactive=True),
        gr.Slider(0.0, 2.0, value=0.7, step=0.1, label="Temperature", interactive=True),
        gr.Number(None, label="Seed (empty: drawn)", precision=0, minimum=0, interactive=True),
        gr.Number(None, label="At most so many model calls", precision=0, minimum=1, interactive=True),
        gr.Number(None, label="At most so many tokens", precision=0, minimum=1, interactive=True),
        gr.Number(None, label="At most so many seconds of model time", minimum=1, interactive=True),
    )


def wishes(form: dict[str, Any]) -> Wishes:
    budget = Budget(
        calls=_whole(form["max_calls"]),
        tokens=_whole(form["max_tokens"]),
        seconds=form["max_seconds"] or None,
    )
    return Wishes(
        strategy=form["strategy"],
        rounds=int(form["rounds"]),
        scorer=form["scorer"] or None,
        gate=form["gate"],
        margin=float(form["margin"] or 0.0),
        target_score=form["target_score"],
        feedback=form["feedback"],
        step_by_step=bool(form["step_by_step"]),
        temperature=float(form["temperature"]),
        seed=_whole(form["seed"]),
        budget=budget,
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
