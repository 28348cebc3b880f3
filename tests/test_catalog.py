"""Names to models and scorers; naming one loads no library."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core.config import Config, Endpoint
from core.domain import Recipe, Task
from core.models.catalog import Models, UnknownModel
from core.models.protocol import Capabilities, Model
from core.models.scripted import ScriptedModel
from core.presets import BUILT_IN
from core.scoring.catalog import IN_CODE, SCORERS, UnknownScorer, open_scorer, usual_scorer

ROOT = Path(__file__).parent.parent
ENDPOINTS = (
    Endpoint("openai", "https://host/v1", "OPENAI_API_KEY"),
    Endpoint("local", "http://127.0.0.1:9/v1", models=("a:1b", "b"), context_tokens=8192),
)
NAMES = {
    "starter": "Starter",
    "openai:gpt": "OpenAICompatible",
    "local:a:1b": "OpenAICompatible",
    "hf:owner/model": "TransformersModel",
    "hf:/a/folder": "TransformersModel",
    "gguf:/a/file.gguf": "GgufModel",
    "gguf:owner/repo/file.gguf": "GgufModel",
}


def models(folder: Path) -> Models:
    """The models of a configuration with two endpoints."""
    return Models(Config(folder, "sqlite://", ENDPOINTS), {"OPENAI_API_KEY": "sk-x"})


@pytest.mark.parametrize(("name", "kind"), NAMES.items())
def test_a_name_opens_its_backend(tmp_path: Path, name: str, kind: str) -> None:
    model = models(tmp_path).open(name)
    assert (type(model).__name__, model.name) == (kind, name)


def test_there_is_one_model_of_a_name(tmp_path: Path) -> None:
    opened = models(tmp_path)
    assert opened.open("local:b") is opened.open("local:b")
    assert opened.open("local:b") is not opened.open("local:a:1b")


@pytest.mark.parametrize("name", ["", "starters", "local", "local:", "hf:", "gguf:", "gpt", ":x", "Local:b"])
def test_other_names_are_refused_with_those_that_there_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownModel, match="starter, openai:MODEL, local:MODEL, hf:ID-or-path") as caught:
        models(tmp_path).open(name)
    assert repr(name) in str(caught.value)


def test_the_names_to_offer(tmp_path: Path) -> None:
    assert models(tmp_path).names() == ("starter", "local:a:1b", "local:b")


def test_opening_every_kind_loads_no_library(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from tests.test_catalog import NAMES, models
opened = models(Path({str(tmp_path)!r}))
for name in NAMES:
    opened.open(name)
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert "core" in loaded
    assert not loaded & {"torch", "transformers", "openai", "xllamacpp", "gradio", "sqlalchemy"}


PRESET = (BUILT_IN / "rewrite.yaml").read_text(encoding="utf-8")
RECIPE = Recipe("direct", PRESET, "writer", models=(("judge", "judge"), ("score", "reader")))
ASKED = {"logprob": ["reader"], "self_evaluation": ["judge"], "judge": ["judge"], "label": ["judge"]}


def opened(name: str, recipe: Recipe) -> list[str]:
    """The models that a scorer is opened with."""
    asked: list[str] = []

    def open_model(model: str) -> Model:
        asked.append(model)
        return ScriptedModel([])

    assert open_scorer(name, recipe, open_model).name == name
    return asked


@pytest.mark.parametrize("name", SCORERS)
def test_every_scorer_opens_with_the_model_of_its_role(name: str) -> None:
    assert opened(name, RECIPE) == ASKED.get(name, [])


def test_several_judges_are_opened_each_once() -> None:
    assert opened("judge", replace(RECIPE, judges=("a", "b", "a"))) == ["a", "b"]


def test_a_model_that_writes_never_stands_in_for_a_reward_model() -> None:
    scorer = open_scorer("reward_model", RECIPE, lambda _: ScriptedModel([]))
    (score,) = asyncio.run(scorer.measure(Task("?"), (), ["text"]))
    assert score.value is None and score.why.startswith("Name a reward model")


@pytest.mark.parametrize("name", IN_CODE)
def test_no_scorer_makes_up_what_the_task_does_not_bring(name: str) -> None:
    """Without reference, target and rules there is a score only where none of them is needed."""
    scorer = open_scorer(name, RECIPE, lambda _: ScriptedModel([]))
    (score,) = asyncio.run(scorer.measure(Task(""), (), ["some words"]))
    assert (score.value is None) == bool(score.why)
    assert (score.value is None) == (name != "heuristic")


def test_an_unknown_scorer_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownScorer, match=r"'vibes'.*logprob, self_evaluation"):
        open_scorer("vibes", Recipe("direct", "", "m"), lambda _: ScriptedModel([]))


@pytest.mark.parametrize(
    ("wanted", "scoring", "used"),
    [
        ("logprob", True, "logprob"),
        ("logprob", False, "self_evaluation"),
        ("heuristic", False, "heuristic"),
        ("heuristic", True, "heuristic"),
    ],
)
def test_the_usual_scorer_is_one_that_the_model_can_do(wanted: str, scoring: bool, used: str) -> None:
    can = Capabilities(None, None, scoring, None, None, True)
    assert usual_scorer(wanted, can) == used
