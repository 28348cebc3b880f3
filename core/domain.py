"""The words of refinement as frozen values.

Knows no model, no web, no SQL, no clock. Ids and timestamps belong to storage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

Role = Literal["draft", "critique", "revise", "synthesise", "judge", "score", "reward"]
Speaker = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "content_filter", "stopped", "unknown"]
Flag = Literal["empty", "cut off", "filtered", "refusal", "meta-text"]
Severity = Literal["minor", "major", "unstated"]


@dataclass(frozen=True)
class Message:
    """One turn of a chat prompt."""

    role: Speaker
    content: str


@dataclass(frozen=True)
class Alternative:
    """A token the model could have chosen instead, for display."""

    text: str
    logprob: float | None


@dataclass(frozen=True)
class Token:
    """One model token of a text.

    The texts of a text's tokens join to exactly that text. A token that ends inside a character
    has the text ""; the token that completes the character carries it whole. `logprob` is a
    natural logarithm <= 0, or None where the backend gave no usable number.
    """

    text: str
    logprob: float | None
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Usage:
    """Token counts as the backend reported them; None where it did not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn; None leaves the choice to the backend."""

    temperature: float | None = 0.7
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    top_logprobs: int = 5


@dataclass(frozen=True)
class Completion:
    """One text a model wrote; `tokens` is empty or joins to exactly `text`."""

    text: str
    finish: Finish = "stop"
    tokens: tuple[Token, ...] = ()
    thinking: str = ""


@dataclass(frozen=True)
class Task:
    """What is asked of the model, apart from the preset that words it."""

    input: str
    instruction: str = ""
    reference: str = ""
    target: str = ""


@dataclass(frozen=True)
class Score:
    """A measurement of one text, or (value None) the reason why there is none.

    `condition` says what the number is conditioned on; scores compare only under one condition.
    `details` are its parts by name, `notes` what a person should know of it in words, such as a
    judge's reasons; `replies` are a judge's replies as they came, those that can't be read too.
    """

    scorer: str
    value: float | None
    why: str = ""
    condition: str = ""
    details: tuple[tuple[str, float], ...] = ()
    tokens: tuple[Token, ...] = ()
    notes: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()

    def bare(self) -> Score:
        """The score without what it was read from, which stays with the measurement."""
        return replace(self, tokens=(), replies=())


@dataclass(frozen=True)
class Draft:
    """A text on its way, with who wrote it and what is known of it.

    Its scores are bare (Score.bare): tokens stay with the replies and measurements they came from.
    """

    text: str
    by: str = "model"
    round: int = 0
    flags: tuple[Flag, ...] = ()
    scores: tuple[Score, ...] = ()

    def score(self, scorer: str) -> Score | None:
        """The score of that name, or None when it was not measured."""
        return next((s for s in self.scores if s.scorer == scorer), None)

    def value(self, scorer: str) -> float | None:
        """The number of that score, or None when it is unknown."""
        found = self.score(scorer)
        return found.value if found else None


@dataclass(frozen=True)
class Point:
    """One thing a critic found, with what to do about it."""

    problem: str
    action: str = ""
    quote: str = ""
    severity: Severity = "unstated"
    by: str = "model"


@dataclass(frozen=True)
class Critique:
    """What a critic said of a draft.

    `done` is the structured verdict: True (nothing left to do), False, or None (not stated).
    `structured` is False when a free text had to be taken as one point.
    """

    points: tuple[Point, ...]
    done: bool | None
    raw: str
    structured: bool = True
    by: str = "model"


@dataclass(frozen=True)
class Verdict:
    """What the gate's policy says of a revision; accept None means that it cannot tell."""

    accept: bool | None
    reason: str


Ruling = Literal["accept", "reject", "edit", "hunks", "retry", "stop", "pick", "merge", "synthesise"]


@dataclass(frozen=True)
class Decision:
    """A ruling at a gate.

    `text` is the person's own text (edit), `points` the critique points agreed on, `hunks` the
    numbers of the changes that are taken over (core.diff.hunks of the two texts) with the resulting `text`.
    Among candidates, `picks` are the numbers of those chosen; `merged` are the changes that were taken
    over into the picked one, as (candidate, number of the change), with the resulting `text`.
    """

    ruling: Ruling
    by: str
    why: str = ""
    text: str | None = None
    points: tuple[Point, ...] | None = None
    note: str = ""
    hunks: tuple[int, ...] = ()
    picks: tuple[int, ...] = ()
    merged: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """Where a session ended: the best draft (None before the first), why it ended, why it is the best."""

    draft: Draft | None
    reason: str
    why_best: str


@dataclass(frozen=True)
class Cost:
    """What one call to a model took; money is None where the model has no price."""

    usage: Usage
    seconds: float
    money: float | None = None


@dataclass(frozen=True)
class Price:
    """Money per million tokens, in the currency the person thinks in."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None


@dataclass(frozen=True)
class Budget:
    """Limits of one session; None is no limit. Money needs a Price."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None


GateRule = Literal["score", "margin", "always"]
Feedback = Literal["specific", "generic", "none"]
HistoryRule = Literal["full", "latest", "by_score"]
Mode = Literal["ask", "ask_on_fall", "auto"]


@dataclass(frozen=True)
class Settings:
    """Everything besides texts and models that shapes a strategy's requests.

    `candidates` drafts are written side by side; a beam keeps `width` drafts and gives each of them
    `children`. Where `verifier` names a scorer, gates compare by it first. `judge_samples` is how often
    each judge rates a text; `audit` asks the critic after each revision which points it meets.
    """

    rounds: int = 3
    feedback: Feedback = "specific"
    history: HistoryRule = "full"
    scorers: tuple[str, ...] = ()
    gate_scorer: str | None = None
    gate: GateRule = "score"
    margin: float = 0.0
    target_score: float | None = None
    patience: int = 2
    step_by_step: bool = False
    context_tokens: int | None = None
    candidates: int = 4
    width: int = 2
    children: int = 2
    lookahead: bool = False
    verifier: str | None = None
    judge_samples: int = 1
    audit: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    critique_sampling: Sampling = field(default_factory=Sampling)
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Recipe:
    """Everything that shapes a session's requests, so that it replays after files have changed.

    `preset` is the preset file's full text. `models` maps a role to a model name; a role that is
    not named is played by `model`. `judges` are the models that rate where there are several.
    """

    strategy: str
    preset: str
    model: str
    settings: Settings = field(default_factory=Settings)
    models: tuple[tuple[Role, str], ...] = ()
    judges: tuple[str, ...] = ()

    def model_for(self, role: Role) -> str:
        """The name of the model that plays this role."""
        return dict(self.models).get(role, self.model)
