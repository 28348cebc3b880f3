"""The label a model finds in a text, and how near it is to the target."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import Score, Task
from core.models.protocol import ModelError
from core.models.scripted import Line, ScriptedModel
from core.presets import BUILT_IN, read_preset
from core.scoring.label import LabelDistance

PRESET = replace(
    read_preset(Path(BUILT_IN) / "sentiment_reversal.yaml"),
    labels=("very negative", "negative", "neutral", "positive", "very positive"),
    target="very positive",
)
TASK = Task("The soup was cold.", target="very positive")


def measure(model: ScriptedModel, task: Task = TASK, texts: Sequence[str] = ("Lovely soup.",)) -> list[Score]:
    return list(asyncio.run(LabelDistance(model, PRESET).measure(task, (), texts)))


def said(*lines: Line, task: Task = TASK) -> Score:
    return measure(ScriptedModel(lines, name="m"), task)[0]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("very positive", 1.0),
        ("LABEL: positive", 0.75),
        ("Neutral.", 0.5),
        ("label: Very Negative", 0.0),
    ],
)
def test_the_value_is_the_distance_on_the_scale(reply: str, value: float) -> None:
    score = said(reply)
    assert score.value == value
    assert score.replies == (reply,)


def test_the_target_may_stand_anywhere_on_the_scale() -> None:
    assert said("positive", task=replace(TASK, target="Negative ")).value == 0.5
    assert said("very positive", task=replace(TASK, target="")).value == 1.0


def test_a_reply_without_one_label_is_unknown_and_kept() -> None:
    score = said("label: positive\nOn second thought:\nlabel: neutral")
    assert score.value is None and "no label" in score.why
    assert len(score.replies) == 1


def test_a_target_that_is_no_label_is_named() -> None:
    score = measure(ScriptedModel([]), replace(TASK, target="furious"))[0]
    assert score.value is None
    assert score.why.startswith("The target 'furious' is none of the labels: very negative, negative")


def test_a_preset_without_labels_has_no_such_score() -> None:
    scorer = LabelDistance(ScriptedModel([]), replace(PRESET, labels=()))
    (score,) = asyncio.run(scorer.measure(TASK, (), ["text"]))
    assert (score.value, score.why) == (None, "This preset has no labels.")


def test_the_model_is_told_neither_the_task_nor_the_target() -> None:
    model = ScriptedModel(["positive"], name="m")
    measure(model, replace(TASK, instruction="Make it negative", target="negative"))
    asked = " ".join(message.content for message in model.asks[0].messages)
    assert "Lovely soup." in asked
    assert "Make it negative" not in asked and "The soup was cold." not in asked
    assert model.asks[0].sampling.temperature == 0.0


ODDS = {"very negative": 0.1, "negative": 0.2, "neutral": 0.2, "positive": 0.4, "very positive": 0.1}


def scoring(odds: Mapping[str, float]) -> ScriptedModel:
    """A model that finds each label so likely; a label of two words has two tokens."""
    means = {label: math.log(odds[label]) / len(label.split()) for label in odds}
    return ScriptedModel([], name="m", scores=means)


def test_a_model_that_scores_is_asked_for_the_likeliest_label_and_writes_nothing() -> None:
    model = scoring({label: odds / 2 for label, odds in ODDS.items()})
    (score,) = measure(model)
    assert score.value == 0.75
    assert dict(score.details) == pytest.approx(ODDS)
    assert score.notes == ("label: positive",)
    assert model.asks == []


def test_labels_that_are_equally_likely_are_unknown() -> None:
    even = ScriptedModel([], scores={label: -2.0 / len(label.split()) for label in ODDS})
    (score,) = measure(even)
    assert (score.value, score.why) == (None, "two labels are equally likely")


def test_labels_without_usable_probabilities_are_unknown() -> None:
    (score,) = measure(ScriptedModel([], scores=dict.fromkeys(ODDS, -9999.0)))
    assert (score.value, score.why) == (None, "the labels have no usable probabilities")


def test_the_two_ways_and_the_targets_are_never_compared() -> None:
    conditions = {
        measure(scoring(ODDS))[0].condition,
        said("positive").condition,
        said("positive", task=replace(TASK, target="neutral")).condition,
    }
    assert len(conditions) == 3
    assert any("likeliest" in condition and "by m" in condition for condition in conditions)


def test_a_call_that_failed_is_unknown_or_asked_again_later() -> None:
    assert said(ModelError("no such model")).why == "no such model"
    with pytest.raises(ModelError, match="busy"):
        said(ModelError("busy", retryable=True))


def test_an_empty_text_has_no_label() -> None:
    model = ScriptedModel(["positive"])
    empty, full = measure(model, texts=(" ", "text"))
    assert (empty.value, full.value) == (None, 0.75)
