"""The Refine page: what to do on the left, the board on the right. Decides nothing about a session."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import gradio as gr

from core.checks import BadTask
from core.domain import Role, Task
from core.models.catalog import STARTER, Models, UnknownModel
from core.models.protocol import ModelError
from core.preset_library import UnknownPreset
from core.preset_schema import PresetError
from core.presets import Preset
from core.recipes import make_recipe
from core.runs import Runs
from core.scoring.catalog import UnknownScorer
from core.sessions import Session, UnknownSession
from core.workbench import Workbench
from ui import models_drawer, navigation, widgets
from ui.form import Form, has_candidates, shown, task_form, wishes
from ui.guidance import cautions

EXAMPLES = 3
"""So many of each kind of task are offered on the empty page."""
ROLES = "(...values) => [...values.slice(0, -1), JSON.stringify(window.redraftRoles?.() ?? {})]"
TELL_PRESET = "(name) => { window.redraftPreset?.(name); }"
TELL_MODEL = "(name) => { window.redraftModel?.(name); }"
PROBLEMS = (BadTask, UnknownModel, UnknownPreset, UnknownScorer, ModelError, PresetError)


def build(
    bench: Workbench,
    runs: Runs,
    models: Models,
    presets: Mapping[str, Preset],
    *,
    name: str = "Refine",
    strategy: str = "self_refine",
) -> gr.Blocks:
    """The page; with another strategy to begin with it is the page of candidates."""
    examples = [(preset, task) for preset in presets.values() for task in preset.page_examples[:EXAMPLES]]
    page: gr.Blocks
    with gr.Blocks(title="Redraft", analytics_enabled=False, fill_width=True) as page:
        navigation.bar(name)
        with gr.Row(elem_id="refine"):
            with gr.Column(scale=1, min_width=300, elem_id="task"):
                form = task_form(models, presets, strategy)
                caution = widgets.caution()
                message = widgets.form_message()
                start = gr.Button("Start", variant="primary", elem_id="start")
                drawer = models_drawer.drawer()
            with gr.Column(scale=3, min_width=320):
                board = widgets.board([(preset.name, _label(task)) for preset, task in examples], name)
        handlers = _Handlers(bench, runs, models, presets, examples)
        _wire(handlers, page, form, start, message, board, drawer)
        _wire_guidance(handlers, page, form, caution)
    return page


def _label(task: Task) -> str:
    return f"{task.instruction or task.target} “{task.input}”"


def _wire(
    handlers: _Handlers,
    page: gr.Blocks,
    form: Form,
    start: gr.Button,
    message: gr.HTML,
    board: gr.HTML,
    drawer: gr.HTML,
) -> None:
    quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    texts = [form.preset, form.text, form.instruction, form.target, form.reference]
    fields = [form.text, form.instruction, form.target, form.reference, form.rounds]
    start.click(handlers.start, form.all(), [board, message], trigger_mode="once", js=ROLES, **quiet)
    drawer.chosen(handlers.chosen, None, form.model, **quiet)
    form.preset.change(None, form.preset, None, js=TELL_PRESET, **quiet)
    form.model.change(None, form.model, None, js=TELL_MODEL, **quiet)
    form.preset.input(handlers.fields, form.preset, fields, **quiet)
    board.example(handlers.example, None, [*texts, form.model], **quiet)
    page.load(handlers.load, None, [board, message, *texts, form.model, form.rounds], **quiet)


def _wire_guidance(handlers: _Handlers, page: gr.Blocks, form: Form, caution: gr.HTML) -> None:
    quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    choices = [form.preset, form.strategy, form.model]
    told = [caution, form.candidates, form.width, form.children, form.lookahead]
    for choice in choices:
        choice.change(handlers.guide, choices, told, **quiet)
    page.load(handlers.guide, choices, told, **quiet)


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
            return gr.skip(), str(problem)
        self.runs.start(session_id)
        return {"session": session_id}, ""

    async def _start(self, form: dict[str, Any]) -> str:
        preset = self.presets[form["preset"]]
        asked = {field.name for field in preset.fields}
        task = Task(
            form["text"] or "",
            instruction=form["instruction"] or "" if "instruction" in asked else "",
            target=form["target"] or preset.target if "target" in asked else "",
            reference=form["reference"] or "" if "reference" in asked else "",
        )
        model = self.models.open((form["model"] or "").strip())
        recipe = make_recipe(preset, model.name, await model.capabilities(), wishes(form), task)
        for judge in recipe.judges:
            self.models.open(judge)
        recipe = replace(recipe, models=self._roles(form["roles"]))
        return await asyncio.to_thread(self.bench.start, task, recipe, form["mode"])

    def _roles(self, text: str) -> tuple[tuple[Role, str], ...]:
        """The models of single roles: the client's text, so every name in it is opened. Raises BadTask."""
        try:
            named = json.loads(text or "{}")
        except json.JSONDecodeError:
            named = None
        if not isinstance(named, dict):
            raise BadTask("The models of single roles can't be read; reload the page.")
        chosen = tuple((role, str(named[role])) for role in get_args(Role) if named.get(role))
        for _, name in chosen:
            self.models.open(name)
        return chosen

    def chosen(self, event: gr.EventData) -> Any:
        """Put the model that was chosen in the drawer into the form."""
        name = event._data.get("name") if isinstance(event._data, dict) else None
        return self._offered(str(name)) if name else gr.skip()

    def _offered(self, name: str) -> Any:
        """The model field with this model chosen, which is among those offered."""
        return gr.update(value=name, choices=list(dict.fromkeys((*self.models.names(), name))))

    def guide(self, preset: str, strategy: str, model: str) -> tuple[Any, ...]:
        """What to know of this choice, and the fields that the strategy has."""
        known = self.presets.get(preset)
        said = cautions(known, strategy, (model or "").strip()) if known else ()
        beam = gr.update(visible=strategy == "beam")
        return " ".join(said), gr.update(visible=has_candidates(strategy)), beam, beam, beam

    def fields(self, name: str) -> tuple[Any, ...]:
        """Show the fields that this kind of task has."""
        preset = self.presets[name]
        return (
            gr.update(label=shown(preset, "input")["label"]),
            gr.update(**shown(preset, "instruction")),
            gr.update(**shown(preset, "target"), choices=list(preset.labels), value=preset.target or None),
            gr.update(**shown(preset, "reference")),
            preset.rounds,
        )

    def example(self, event: gr.EventData) -> tuple[Any, ...]:
        """Fill the form with an example; the index is the client's, so it is checked."""
        index = event._data.get("index") if isinstance(event._data, dict) else None
        if not isinstance(index, int) or not 0 <= index < len(self.examples):
            return (gr.skip(),) * 6
        preset, task = self.examples[index]
        return (*_texts(preset.name, preset, task), STARTER)

    def load(self, request: gr.Request) -> tuple[Any, ...]:
        """Open the session that the URL names, or choose its preset; offer the presets that there are now."""
        query = dict(request.query_params)
        board, message, form, rounds = None, "", (gr.skip(),) * 6, gr.skip()
        try:
            if session_id := query.get("session", ""):
                form = self._form_of(self.bench.store.load(session_id))
                board = {"session": session_id}
            elif name := query.get("preset", ""):
                text, *fields, rounds = self.fields(name)
                form = (name, text, *fields, gr.skip())
        except (UnknownSession, UnknownPreset) as error:
            message = str(error)
        return (board, message, self._offering(form[0]), *form[1:], rounds)

    def _offering(self, chosen: Any) -> Any:
        """The field for the kind of task with all presets that there are now, this one chosen."""
        titles = Counter(preset.title for preset in self.presets.values())
        choices = [
            (preset.title if titles[preset.title] == 1 else f"{preset.title} ({name})", name)
            for name, preset in self.presets.items()
        ]
        return (
            gr.update(choices=choices, value=chosen)
            if isinstance(chosen, str)
            else gr.update(choices=choices)
        )

    def _form_of(self, session: Session) -> tuple[Any, ...]:
        preset = next((p for p in self.presets.values() if p.text == session.recipe.preset), None)
        model = self._offered(session.recipe.model)
        if preset is None:
            task = session.task
            return (gr.skip(), task.input, task.instruction, gr.skip(), task.reference, model)
        return (*_texts(preset.name, preset, session.task), model)


def _texts(name: str, preset: Preset, task: Task) -> tuple[Any, ...]:
    target = gr.update(
        **shown(preset, "target"), choices=list(preset.labels), value=task.target or preset.target or None
    )
    instruction = gr.update(**shown(preset, "instruction"), value=task.instruction)
    reference = gr.update(**shown(preset, "reference"), value=task.reference)
    text = gr.update(value=task.input, label=shown(preset, "input")["label"])
    return (name, text, instruction, target, reference)
