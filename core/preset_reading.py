"""Reads a preset from its YAML text and checks all of it. Knows no folder and makes no request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import TypeVar, get_args

from core.domain import HistoryRule, Task
from core.parsing import ParseRule
from core.preset_schema import Entry, each, read_entry, words
from core.preset_templates import TASK, USUAL, checked, fill
from core.preset_values import STOPS, Field, Preset, StopRule, Templates
from core.rubric import Dimension, Rubric

_KEYS = ("name", "title", "description", "caution", "parse", "stop", "scorer", "verifier", "rubric",
         "rounds", "history", "labels", "target", "fields", "max_tokens", "templates", "examples",
         "page_examples")  # fmt: skip
_NEEDED = ("name", "title", "fields", "templates")
_TEMPLATES = ("system", "draft", "critique", "revise", "revise_again", "kept")
MOST_EXAMPLES = 50
_Choice = TypeVar("_Choice", bound=str)


def values_of(task: Task, labels: tuple[str, ...]) -> dict[str, object]:
    """What every template gets of a task."""
    return {**asdict(task), "labels": labels}


@lru_cache(maxsize=64)
def load_preset(text: str, source: str = "preset") -> Preset:
    """The preset that the YAML text holds. Raises PresetError, which names `source` and the line."""
    root = read_entry(text, source)
    found = root.mapping(_KEYS, _NEEDED)
    parse = _one_of(found, "parse", get_args(ParseRule), "points")
    labels = _labels(root, found, parse)
    templates = _templates(found["templates"])
    return Preset(
        name=found["name"].word(),
        title=found["title"].word(),
        text=text,
        templates=templates,
        fields=_fields(found["fields"]),
        description=_prose(found, "description"),
        caution=_prose(found, "caution"),
        parse=parse,
        stop=_stop(found, parse),
        labels=labels,
        target=found["target"].word(labels) if "target" in found else "",
        scorers=found["scorer"].one_or_more() if "scorer" in found else (),
        verifier=found["verifier"].word() if "verifier" in found else "",
        rubric=_rubric(found["rubric"]) if "rubric" in found else None,
        rounds=found["rounds"].number(1, 20) if "rounds" in found else 3,
        history=_one_of(found, "history", get_args(HistoryRule), "full"),
        examples=_examples(found.get("examples"), templates.draft, labels),
        page_examples=each(found.get("page_examples"), _page_example),
        **_limits(found.get("max_tokens")),
    )


def _one_of(found: Mapping[str, Entry], name: str, choices: tuple[_Choice, ...], default: _Choice) -> _Choice:
    written = found[name].word(choices) if name in found else default
    return next(choice for choice in choices if choice == written)


def _prose(found: Mapping[str, Entry], name: str) -> str:
    """A text of several lines as one paragraph."""
    return " ".join(found[name].text().value.split()) if name in found else ""


def _stop(found: Mapping[str, Entry], parse: ParseRule) -> StopRule:
    """The stop rule, one of those that go with the parse rule."""
    return _one_of(found, "stop", STOPS[parse], STOPS[parse][0])


def _templates(entry: Entry) -> Templates:
    found = entry.mapping((*_TEMPLATES, "draft_step_by_step", *USUAL), _TEMPLATES)
    critique = found.pop("critique").mapping(("specific", "generic"), ("specific", "generic"))
    found |= {f"critique_{name}": part for name, part in critique.items()}
    written = {name: checked(name, part.text(), entry.source) for name, part in found.items()}
    return Templates(**{**USUAL, **written})


def _labels(root: Entry, found: Mapping[str, Entry], parse: ParseRule) -> tuple[str, ...]:
    """The labels in their order, checked against the parse rule that needs them."""
    entry = found.get("labels")
    labels = each(entry, Entry.word)
    if entry and (len(labels) < 2 or len({label.lower() for label in labels}) < len(labels)):
        entry.fail('"labels" must hold at least two labels, each of them once.')
    if parse == "label_and_points" and not entry:
        found.get("parse", root).fail('"label_and_points" needs "labels". Add the list of labels, in order.')
    return labels


def _rubric(entry: Entry) -> Rubric:
    dimensions = each(entry, _dimension)
    names = {" ".join(re.split(r"[\s_-]+", one.name.lower())) for one in dimensions}
    if not dimensions or len(names) < len(dimensions):
        entry.fail('"rubric" must hold at least one dimension, each name once.')
    return Rubric(dimensions)


def _dimension(entry: Entry) -> Dimension:
    found = entry.mapping(("name", "question", "low", "high"), ("name", "question"))
    name = found["name"].word()
    if not re.fullmatch(r"\w[\w -]*", name) or name.lower() in ("total", "sum"):
        found["name"].fail("A dimension's name is made of letters, digits and blanks, and is not the total.")
    low, high = (
        found[key].number(-1000, 1000) if key in found else usual for key, usual in (("low", 0), ("high", 10))
    )
    if low >= high:
        entry.fail(f'"low" must be less than "high", but they are {low} and {high}.')
    return Dimension(name, found["question"].word(), low, high)


def _fields(entry: Entry) -> tuple[Field, ...]:
    found = entry.mapping(TASK, ("input",))
    return tuple(Field(name, label.word()) for name, label in found.items())


def _task(found: Mapping[str, Entry]) -> Task:
    return Task(**{"input": "", **dict(words(found, TASK))})


def _page_example(entry: Entry) -> Task:
    return _task(entry.mapping(TASK, ("input",)))


def _limits(entry: Entry | None) -> dict[str, int]:
    found = entry.mapping(("draft", "critique")) if entry else {}
    return {f"{name}_max_tokens": limit.number(1, 100_000) for name, limit in found.items()}


def _examples(entry: Entry | None, draft: str, labels: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if entry and len(entry.items()) > MOST_EXAMPLES:
        entry.fail(f'"examples" holds more than {MOST_EXAMPLES}. Leave some out: every request repeats them.')
    return each(entry, lambda one: _example(one, draft, labels))


def _example(entry: Entry, draft: str, labels: tuple[str, ...]) -> tuple[str, str]:
    """A worked example: its task worded by the draft template, and the answer."""
    found = entry.mapping((*TASK, "answer"), ("input", "answer"))
    asked = fill(draft, values_of(_task(found), labels), entry.source, entry.line)
    return asked, found["answer"].text().value
