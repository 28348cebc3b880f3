"""The Refine page: what to do on the left, the board on the right. Decides nothing about a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from core.checks import BadTask
from core.domain import Budget, Task
from core.models.catalog import Models, UnknownModel
from core.models.protocol import ModelError
from core.preset_schema import PresetError
from core.presets import Preset
from core.recipes import Wishes, make_recipe
from core.runs import Runs
from core.scoring.catalog import SCORERS, UnknownScorer
from core.sessions import Session, UnknownSession
from core.strategies import STRATEGIES
from core.workbench import Workbench
from ui import widgets

PROBLEMS = (BadTask, UnknownModel, UnknownScorer, ModelError, PresetError)
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

    def all(self) -> list[gr.components.Component]:
        """Every input."""
        return list(vars(self).values())


def build(bench: Workbench, runs: Runs, models: Models, presets: Mapping[str, Preset]) -> gr.Blocks:
    """The page."""
    examples = [(preset, task) for preset in presets.values() for task in preset.page_examples][:3]
    page: gr.Blocks
    with gr.Blocks(title="Redraft", analytics_enabled=False, fill_width=True) as page:
        with gr.Row(elem_id="refine"):
            with gr.Column(scale=1, min_width=300, elem_id="task"):
                form = _form(models, presets)
                start = gr.Button("Start", variant="primary", elem_id="start")
                message = gr.Textbox(
                    "", visible=False, interactive=False, show_label=False, elem_id="message", lines=2
                )
            with gr.Column(scale=3, min_width=320):
                board = widgets.board([_label(task) for _, task in examples])
        _wire(_Handlers(bench, runs, models, presets, examples), page, form, start, message, board)
    return page


def _label(task: Task) -> str:
    return f"{task.instruction or task.target} “{task.input}”"


def _form(models: Models, presets: Mapping[str, Preset]) -> Form:
    first = next(iter(presets.values()))
    preset = gr.Dropdown(
        [(p.title, name) for name, p in presets.items()],
        value=first.name,
        label="Kind of task",
        interactive=True,
    )
    text = gr.Textbox(label="Text", lines=6, max_lines=20, elem_id="text", placeholder="Paste or type a text")
    instruction = gr.Textbox(
        label="What to do with it", lines=2, elem_id="instruction", **_shown(first, "instruction")
    )
    target = gr.Dropdown(
        list(first.labels),
        label="Target",
        allow_custom_value=True,
        elem_id="target",
        **_shown(first, "target"),
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
    return Form(preset, text, instruction, target, model, mode, *more)


def _shown(preset: Preset, name: str) -> dict[str, Any]:
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


def _wire(
    handlers: _Handlers,
    page: gr.Blocks,
    form: Form,
    start: gr.Button,
    message: gr.Textbox,
    board: gr.HTML,
) -> None:
    quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    texts = [form.preset, form.text, form.instruction, form.target]
    fields = [form.instruction, form.target, form.rounds]
    start.click(handlers.start, form.all(), [board, message], trigger_mode="once", **quiet)
    form.preset.input(handlers.fields, form.preset, fields, **quiet)
    board.example(handlers.example, None, texts, **quiet)
    page.load(handlers.load, None, [board, message, *texts, form.model], **quiet)


@dataclass(frozen=True)
class _Handlers:
    bench: Workbench
    runs: Runs
    models: Models
    presets: Mapping[str, Preset]
    examples: Sequence[tuple[Preset, Task]]

    async def start(self, *values: Any) -> tuple[Any, Any]:
        """Make a session of the form and let it run."""
        try:
            session_id = await self._start(dict(zip(Form.__dataclass_fields__, values, strict=True)))
        except PROBLEMS as problem:
            return gr.skip(), _said(str(problem))
        self.runs.start(session_id)
        return {"session": session_id}, _said("")

    async def _start(self, form: dict[str, Any]) -> str:
        preset = self.presets[form["preset"]]
        asked = {field.name for field in preset.fields}
        task = Task(
            form["text"] or "",
            instruction=form["instruction"] or "" if "instruction" in asked else "",
            target=form["target"] or preset.target if "target" in asked else "",
        )
        model = self.models.open((form["model"] or "").strip())
        recipe = make_recipe(preset, model.name, await model.capabilities(), _wishes(form))
        return self.bench.start(task, recipe, form["mode"])

    def fields(self, name: str) -> tuple[Any, Any, Any]:
        """Show the fields that this kind of task has."""
        preset = self.presets[name]
        return (
            gr.update(**_shown(preset, "instruction")),
            gr.update(**_shown(preset, "target"), choices=list(preset.labels), value=preset.target or None),
            preset.rounds,
        )

    def example(self, event: gr.EventData) -> tuple[Any, ...]:
        """Fill the form with an example; the index is the client's, so it is checked."""
        index = event._data.get("index") if isinstance(event._data, dict) else None
        if not isinstance(index, int) or not 0 <= index < len(self.examples):
            return (gr.skip(),) * 4
        preset, task = self.examples[index]
        return _texts(preset.name, preset, task)

    def load(self, request: gr.Request) -> tuple[Any, ...]:
        """Open the session that the URL names."""
        session_id = dict(request.query_params).get("session", "")
        if not session_id:
            return (None, _said(""), *(gr.skip(),) * 5)
        try:
            session = self.bench.store.load(session_id)
        except UnknownSession as error:
            return (None, _said(str(error)), *(gr.skip(),) * 5)
        return ({"session": session_id}, _said(""), *self._form_of(session))

    def _form_of(self, session: Session) -> tuple[Any, ...]:
        preset = next((p for p in self.presets.values() if p.text == session.recipe.preset), None)
        if preset is None:
            return (gr.skip(), session.task.input, session.task.instruction, gr.skip(), session.recipe.model)
        return (*_texts(preset.name, preset, session.task), session.recipe.model)


def _texts(name: str, preset: Preset, task: Task) -> tuple[Any, ...]:
    target = gr.update(
        **_shown(preset, "target"), choices=list(preset.labels), value=task.target or preset.target or None
    )
    instruction = gr.update(**_shown(preset, "instruction"), value=task.instruction)
    return (name, task.input, instruction, target)


def _said(text: str) -> Any:
    return gr.update(value=text, visible=bool(text))


def _wishes(form: dict[str, Any]) -> Wishes:
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
