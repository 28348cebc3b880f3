"""The Jinja2 templates of presets: checked when a preset is read, filled in when a request is made.

Knows no preset. Runs in Jinja2's sandbox; values are put in as they are and never read as templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.preset_schema import PresetError, Text

TASK = ("input", "instruction", "reference", "target")
"""The parts of a task that templates get."""

_COMMON = (*TASK, "labels")
_VARIABLES = {
    "system": _COMMON,
    "draft": _COMMON,
    "draft_step_by_step": _COMMON,
    "critique_specific": _COMMON,
    "critique_generic": _COMMON,
    "revise": (*_COMMON, "feedback", "points"),
    "revise_again": (*_COMMON, "feedback", "points", "note"),
    "kept": ("reason", "current"),
}
_FAILURES = (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError)
_JINJA = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
)


def fill(template: str, values: Mapping[str, object], source: str, line: int | None = None) -> str:
    """The template with the values put in. Raises PresetError where it can't take them."""
    try:
        return _compiled(template).render(values)
    except _FAILURES as error:
        problem = f"a template can't be filled in: {error}. Correct the template."
        raise PresetError(source, line, problem) from None


@lru_cache(maxsize=256)
def _compiled(template: str) -> jinja2.Template:
    """A template compiled once: compiling takes longer than everything else that a request needs."""
    return _JINJA.from_string(template)


def checked(name: str, template: Text, source: str) -> str:
    """The template's text when it can be rendered. Raises PresetError with the line in the file."""
    try:
        tree = _JINJA.parse(template.value)
        _JINJA.from_string(template.value)
    except jinja2.TemplateSyntaxError as error:
        line = template.line + (error.lineno or 1) - 1
        raise PresetError(source, line, f"Jinja2 can't read this template: {error.message}.") from None
    _check_names(name, tree, template, source)
    _try(name, template, source)
    return template.value


def _check_names(name: str, tree: nodes.Template, template: Text, source: str) -> None:
    known = _VARIABLES[name]
    unknown = meta.find_undeclared_variables(tree) - set(known) - set(_JINJA.globals)
    used = [node for node in tree.find_all(nodes.Name) if node.name in unknown]
    if used:
        first = min(used, key=lambda node: node.lineno)
        problem = f'"{first.name}" is not a value that this template gets. Use {", ".join(known)}.'
        raise PresetError(source, template.line + first.lineno - 1, problem)


def _try(name: str, template: Text, source: str) -> None:
    """Fill in made-up values once: what fails for them would fail in mid-session."""
    values: dict[str, object] = dict.fromkeys(_VARIABLES[name], "text")
    if "labels" in values:
        values["labels"] = ("text",)
    fill(template.value, values, source, template.line)
