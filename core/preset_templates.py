"""The Jinja2 templates of presets: checked when a preset is read, filled in when a request is made.

Knows no preset. Runs in Jinja2's sandbox; values are put in as they are and never read as templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.preset_bounds import TooMuch, bounded, check_bounds, few, filled
from core.preset_schema import PresetError, Text

USUAL = {
    "judge": """\
Rate a text. This is what was asked:

{{ asked }}

This is the text to rate:

{{ text }}

Rate it in each of these ways:
{% for one in dimensions %}
- {{ one.name }}, from {{ one.low }} to {{ one.high }}: {{ one.question }}
{% endfor %}

Write for each a line with the number and, after the sign |, the reason. Write nothing else:
{% for one in dimensions %}
{{ one.name }}: NUMBER | REASON
{% endfor %}
TOTAL: SUM OF THE NUMBERS""",
    "synthesise": """\
{% if candidates | length == 1 %}
Here is one answer to what is asked above:
{% else %}
Here are {{ candidates | length }} different answers to what is asked above:
{% endif %}

{% for one in candidates %}
[Answer {{ loop.index }}{{ ", given %d times" | format(one.count) if one.count > 1 }}]
{{ one.text }}

{% endfor %}
{% if candidates | length == 1 %}
Look for what is wrong or weak in it, then write an answer of your own. Keep what is right;
if all of it is wrong, write something else.
{% else %}
Compare them, then write one answer of your own. Take what is right from each;
if all of them are wrong, write something else.
{% endif %}
Reply with your answer alone: no remarks, no title, and do not mention the answers above.""",
    "audit": """\
Does your new text meet these points?
{% for point in points %}
{{ loop.index }}. {{ point }}
{% endfor %}

Write one line for each point: its number and yes, or its number and no with the reason, like this:
NUMBER: yes
NUMBER: no | REASON""",
}
"""The templates that a preset need not have. Sessions that used one replay only while it is worded so."""

TASK = ("input", "instruction", "reference", "target")
"""The parts of a task that templates get."""

_COMMON = (*TASK, "labels")
_VARIABLES = {
    "system": _COMMON,
    "draft": _COMMON,
    "draft_step_by_step": _COMMON,
    "critique_specific": _COMMON,
    "critique_generic": _COMMON,
    "revise": (*_COMMON, "feedback", "points", "missing"),
    "revise_again": (*_COMMON, "feedback", "points", "missing", "note"),
    "kept": ("reason", "current"),
    "judge": (*_COMMON, "asked", "text", "dimensions"),
    "synthesise": (*_COMMON, "candidates"),
    "audit": (*_COMMON, "points"),
}
_SOME: dict[str, object] = {
    "labels": ("text",),
    "dimensions": ({"name": "text", "question": "text", "low": "0", "high": "10"},),
    "candidates": ({"text": "text", "count": 1}, {"text": "text", "count": 2}),
}
"""Made-up values of the kinds that are no texts."""
_FAILURES = (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError)
_JINJA = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
)


def last_turns(conversation: str, count: int) -> str:
    """The last turns of a conversation. One begins at a line with `Name:`; where none does, it is a line."""
    lines = conversation.strip().splitlines()
    starts = [place for place, line in enumerate(lines) if re.match(r"\s*\w[\w .'-]{0,30}:\s", line)]
    places = starts or list(range(len(lines)))
    return "\n".join(lines[places[-count] :]) if len(places) > count > 0 else conversation.strip()


_JINJA.filters.update(last_turns=last_turns, few=few)


def fill(template: str, values: Mapping[str, object], source: str, line: int | None = None) -> str:
    """The template with the values put in. Raises PresetError where it can't take them."""
    try:
        return filled(_compiled(template), dict(values))
    except _FAILURES as error:
        problem = f"a template can't be filled in: {error}. Correct the template."
        raise PresetError(source, line, problem) from None


@lru_cache(maxsize=256)
def _compiled(template: str) -> jinja2.Template:
    """A template compiled once: compiling takes longer than everything else that a request needs."""
    return _JINJA.from_string(bounded(_JINJA.parse(template), _JINJA))


def checked(name: str, template: Text, source: str) -> str:
    """The template's text when it can be rendered. Raises PresetError with the line in the file."""
    try:
        tree = _JINJA.parse(template.value)
        check_bounds(tree)
        _JINJA.from_string(template.value)
    except jinja2.TemplateSyntaxError as error:
        line = template.line + (error.lineno or 1) - 1
        raise PresetError(source, line, f"Jinja2 can't read this template: {error.message}.") from None
    except TooMuch as error:
        raise PresetError(source, template.line + error.line - 1, str(error)) from None
    except RecursionError:
        raise PresetError(source, template.line, "this template is nested too deeply.") from None
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
    values = {key: _SOME.get(key, "text") for key in _VARIABLES[name]}
    if name == "audit":
        values["points"] = ("text",)
    fill(template.value, values, source, template.line)
