"""Scores from a model's own probabilities: of a given text, of a text as it was written, of a yes.

Three kinds that must never be compared with each other; each says in its condition what its number
depends on. Knows no backend.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.domain import Message, Sampling, Score, Task, Token
from core.models.protocol import Model, ModelError
from core.models.tokens import usable

GIVEN_PROMPT = "given the task prompt alone"
"""The condition under which any text, whoever wrote it, compares with any other."""
EMPTY = "nothing to score: the text is empty"
AFTER_SAMPLING = "probabilities after sampling, not comparable"
QUESTION = (
    "Does the answer above meet the task in every respect? Reply with exactly one word, yes or no, "
    "and nothing else."
)


@dataclass(frozen=True)
class Summary:
    """The usable logprobs of a text's tokens; `mean` is None when there are none."""

    total: float
    count: int
    left_out: int

    @property
    def mean(self) -> float | None:
        """The natural logprob of a token on average."""
        return self.total / self.count if self.count else None

    @property
    def details(self) -> tuple[tuple[str, float], ...]:
        """The numbers behind the mean, by name."""
        return (("sum", self.total), ("tokens", self.count), ("left out", self.left_out))


def summary(tokens: Sequence[Token]) -> Summary:
    """The sum over the tokens that have a usable logprob, and how many have none."""
    known = [value for token in tokens if (value := usable(token.logprob)) is not None]
    return Summary(math.fsum(known), len(known), len(tokens) - len(known))


def token_score(scorer: str, tokens: Sequence[Token], condition: str) -> Score:
    """The mean logprob of the tokens as a score that carries them, so that the unlikely ones can be found."""
    found = summary(tokens)
    why = ""
    if not tokens:
        why = EMPTY
    elif found.mean is None:
        why = f"none of the {len(tokens)} tokens has a usable probability"
    return Score(scorer, found.mean, why, condition, found.details, tuple(tokens))


def generation_logprob(tokens: Sequence[Token], condition: str) -> Score:
    """The mean logprob of a text as it was sampled, under the condition named: comparable only within it."""
    name = "generation_logprob"
    if not tokens:
        return Score(name, None, "the backend gave no probabilities for this text", condition)
    if all(token.logprob == 0.0 for token in tokens):
        return Score(name, None, AFTER_SAMPLING, condition, tokens=tuple(tokens))
    return token_score(name, tokens, condition)


class LogprobScorer:
    """How likely the model finds each text after the task prompt alone: mean natural logprob, <= 0."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        return "logprob"

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order; a text that can't be scored does not keep the others from it.

        Raises ModelError where trying again may help.
        """
        try:
            return self._scores(await self._model.score(prompt, texts))
        except ModelError as error:
            if len(texts) > 1 and not error.retryable:  # the fault may be one text's alone
                return tuple([(await self.measure(task, prompt, [text]))[0] for text in texts])
            if error.retryable:
                raise
            return tuple(Score(self.name, None, str(error), self._condition) for _ in texts)

    @property
    def _condition(self) -> str:
        """Models differ in what they find likely: scores compare by one model only."""
        return f"{GIVEN_PROMPT}, by {self._model.name}"

    def _scores(self, scored: Iterable[Sequence[Token]]) -> tuple[Score, ...]:
        return tuple(token_score(self.name, tokens, self._condition) for tokens in scored)


class SelfEvaluation:
    """P(yes) from the likeliest first words of the model's reply to: does this answer meet the task?"""

    def __init__(self, model: Model, *, alternatives: int = 5) -> None:
        self._model = model
        # One seed for all, so that a session's seed gives the same session again. At temperature 1 with
        # nothing cut off, a backend that reports the probabilities after sampling reports the model's own.
        # More alternatives than five are refused by some endpoints.
        self._sampling = Sampling(temperature=1.0, top_p=1.0, max_tokens=1, seed=0, top_logprobs=alternatives)

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        return "self_evaluation"

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text between 0 and 1, in order. Raises ModelError where trying again may help."""
        return tuple([await self._evaluate(prompt, text) for text in texts])

    async def _evaluate(self, prompt: Sequence[Message], text: str) -> Score:
        condition = f"asked of {self._model.name} after the task prompt and the text"
        if not text.strip():
            return Score(self.name, None, EMPTY, condition)
        asked = (*prompt, Message("assistant", text), Message("user", QUESTION))
        try:
            reply = await self._model.complete(asked, n=1, sampling=self._sampling)
        except ModelError as error:
            if error.retryable:
                raise
            return Score(self.name, None, str(error), condition)
        first = reply.completions[0].tokens[:1] if reply.completions else ()
        return self._score(first, condition)

    def _score(self, first: Sequence[Token], condition: str) -> Score:
        heard = _heard(first[0]) if first else {}
        if not heard:
            return Score(self.name, None, "the model gave no probabilities for its first word", condition)
        yes, no = _mass(heard, "yes"), _mass(heard, "no")
        if not yes + no:
            words = ", ".join(repr(word) for word in heard)
            return Score(self.name, None, f"neither yes nor no is among its first words: {words}", condition)
        return Score(self.name, yes / (yes + no), "", condition, (("yes", yes), ("no", no)))


def _heard(token: Token) -> dict[str, float]:
    """The probability of each word that may come first, the one that came among them."""
    told = [(other.text, usable(other.logprob)) for other in token.alternatives]
    told.append((token.text, usable(token.logprob)))
    return {text: math.exp(value) for text, value in told if value is not None}


def _mass(heard: dict[str, float], word: str) -> float:
    return math.fsum(odds for text, odds in heard.items() if text.strip().lower() == word)
