"""Reward models, on tiny ones made here: what counts, what is read, and what is no reward model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.domain import Message, Score, Task
from core.models.protocol import ModelError
from core.models.reward_local import Reward
from core.scoring.reward import RewardScore
from tests.tiny_model import write_classifier, write_model

PROMPT = (Message("user", "hello world, the food"),)
TASK = Task("hello")


def measure(model: str, *texts: str, prompt: Sequence[Message] = PROMPT) -> tuple[Score, ...]:
    return asyncio.run(RewardScore(model).measure(TASK, prompt, texts))


def by_hand(folder: Path, text: str, second: str | None = None) -> list[float]:
    """The logits of a text, or of a pair of texts, by the library alone."""
    import torch
    import transformers

    auto: Any = transformers
    tokenizer = auto.AutoTokenizer.from_pretrained(folder)
    network = auto.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = tokenizer(text, second, return_tensors="pt", add_special_tokens=second is not None)
    with torch.inference_mode():
        found: list[float] = network(**inputs).logits[0].tolist()
    return found


def chat(text: str) -> str:
    said = "".join(f"<|im_start|>{m.role}\n{m.content}<|im_end|>\n" for m in PROMPT)
    return f"{said}<|im_start|>assistant\n{text}<|im_end|>\n"


@pytest.fixture(scope="module")
def one_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_classifier(tmp_path_factory.mktemp("reward"), ("reward",))


def test_the_only_output_is_the_reward_as_it_is(one_output: Path) -> None:
    good, other = measure(f"hf:{one_output}", "The food was really fantastic.", "slow")
    assert good.value == pytest.approx(
        by_hand(one_output, chat("The food was really fantastic."))[0], abs=1e-5
    )
    assert good.value != other.value
    assert good.condition == f"given the task prompt, by hf:{one_output}"


def test_the_reward_depends_on_the_prompt(one_output: Path) -> None:
    (here,) = measure(f"hf:{one_output}", "slow")
    (there,) = measure(f"hf:{one_output}", "slow", prompt=(Message("user", "another task"),))
    assert here.value != there.value


def test_without_a_chat_template_prompt_and_text_are_a_pair(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, ("reward",), chat=False)
    (score,) = measure(f"hf:{folder}", "slow")
    assert score.value == pytest.approx(by_hand(folder, PROMPT[0].content, "slow")[0], abs=1e-5)


def test_of_several_classes_the_good_one_counts_by_its_probability(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, ("negative", "neutral", "Positive"))
    (score,) = measure(f"hf:{folder}", "slow")
    assert score.value is not None and 0 < score.value < 1
    assert score.value == dict(score.details)["Positive"]
    assert sum(dict(score.details).values()) == pytest.approx(1.0)


def test_a_class_that_cannot_be_guessed_must_be_named(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path, ("LABEL_0", "LABEL_1"))
    (unsaid,) = measure(f"hf:{folder}", "slow")
    assert unsaid.value is None
    assert "classes LABEL_0, LABEL_1" in unsaid.why and "hf:NAME#LABEL_1" in unsaid.why
    (wrong,) = measure(f"hf:{folder}#other", "slow")
    assert wrong.value is None and "no class 'other'" in wrong.why
    (named,) = measure(f"hf:{folder}#label_0", "slow")
    assert named.value == dict(named.details)["LABEL_0"]


def test_a_model_that_writes_is_no_reward_model(tmp_path: Path) -> None:
    """The library would put a head of random numbers on it."""
    (score,) = measure(f"hf:{write_model(tmp_path)}", "slow")
    assert score.value is None and "its weights lack score.weight" in score.why


def test_what_is_longer_than_the_model_reads_has_no_score_alone(one_output: Path) -> None:
    long, short = measure(f"hf:{one_output}", "long " * 200, "slow")
    assert long.value is None and "reads 160" in long.why
    assert short.value is not None


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("", "Name a reward model"),
        ("starter", "'starter' is no reward model. Name"),
        ("openai:gpt", "'openai:gpt' is no reward model"),
        ("hf:", "'hf:' is no reward model"),
    ],
)
def test_without_a_reward_model_it_says_how_to_name_one(model: str, said: str) -> None:
    (score,) = measure(model, "text")
    assert score.value is None and said in score.why


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    (score,) = measure(f"hf:{tmp_path}", "text")
    assert score.value is None and "could not be loaded" in score.why


class Rater:
    """Rates by a table; what is not in it is not to be had now."""

    async def rate(self, messages: Sequence[Message], text: str) -> Reward:
        if text == "offline":
            raise ModelError("offline", retryable=True)
        return Reward(1.5)


def test_an_empty_text_is_not_rated_and_an_outage_fails_the_measure() -> None:
    scorer = RewardScore("hf:x", Rater())
    (empty,) = asyncio.run(scorer.measure(TASK, PROMPT, [" "]))
    assert empty.value is None and "empty" in empty.why
    with pytest.raises(ModelError, match="offline"):
        asyncio.run(scorer.measure(TASK, PROMPT, ["good", "offline"]))
