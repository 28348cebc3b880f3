"""What a preset is, as values: its templates, the fields of its form, its rules. Knows no YAML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.domain import HistoryRule, Task
from core.parsing import ParseRule
from core.rubric import Rubric

StopRule = Literal["verdict", "label", "complete", "none"]
"""Whose word ends a session before its rounds are used up: the critic's verdict; the label that it states,
when it is the target (its verdict where it states none); `complete`: its verdict, but only when code finds
no concept missing; nobody's."""

STOPS: dict[ParseRule, tuple[StopRule, ...]] = {
    "points": ("verdict", "none"),
    "one_point": ("verdict", "none"),
    "label_and_points": ("label", "none"),
    "concepts_and_points": ("complete", "verdict", "none"),
}
"""The stop rules that go with each parse rule, the usual one first."""


@dataclass(frozen=True)
class Templates:
    """The Jinja2 source of each request; an empty text means that the preset has none of that kind."""

    system: str
    draft: str
    critique_specific: str
    critique_generic: str
    revise: str
    revise_again: str
    kept: str
    judge: str
    synthesise: str
    audit: str
    draft_step_by_step: str = ""


@dataclass(frozen=True)
class Field:
    """A field of the task form: which part of the task it fills, and its label."""

    name: str
    label: str


@dataclass(frozen=True)
class Preset:
    """The prompts and rules of a kind of task; `text` is the whole file it was read from.

    `scorers` are names in the order of choice: the first that can be had for a task is its gate's.
    `verifier` is a scorer that gates compare by first. `caution` is what a person should know before they
    refine such a task. `examples` are turns (user, assistant) before the task in every draft prompt.
    """

    name: str
    title: str
    text: str
    templates: Templates
    fields: tuple[Field, ...]
    description: str = ""
    caution: str = ""
    parse: ParseRule = "points"
    stop: StopRule = "verdict"
    labels: tuple[str, ...] = ()
    target: str = ""
    scorers: tuple[str, ...] = ()
    verifier: str = ""
    rubric: Rubric | None = None
    rounds: int = 3
    history: HistoryRule = "full"
    draft_max_tokens: int | None = None
    critique_max_tokens: int | None = None
    examples: tuple[tuple[str, str], ...] = ()
    page_examples: tuple[Task, ...] = ()

    @property
    def default_scorer(self) -> str:
        """The scorer of first choice, "" where the preset names none."""
        return self.scorers[0] if self.scorers else ""
