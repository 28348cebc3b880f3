"""Models as judges of a text by the preset's rubric: every verdict kept, the total computed here.

A judge sees the task and the text and nothing else: not who wrote it, not which of several it is, not what
others said. A verdict counts only when every dimension has a rating that can be read for certain. Ratings
are read by core.ratings; the words are the preset's.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.domain import Message, Sampling, Score, Settings, Task
from core.models.protocol import Model, ModelError
from core.presets import Preset, Prompts
from core.ratings import Ratings, parse_ratings
from core.rubric import Rubric
from core.scoring.agreement import agreement
from core.scoring.together import together

EMPTY = "The text is empty: there is nothing to score."
WARMTH = 0.7
"""The temperature of a judge who is asked more than once; asked once it says what it finds likeliest."""
ROOM, ROOM_EACH = 100, 80
"""Tokens that a verdict may take at least, and for each dimension more."""


@dataclass(frozen=True)
class Opinion:
    """One verdict of one judge, as it came and as it was read."""

    judge: str
    number: int
    raw: str
    ratings: Ratings

    @property
    def total(self) -> float | None:
        """The sum of its ratings; None where it could not be read."""
        return self.ratings.total


class Judge:
    """The mean over all readable verdicts of the sum of their ratings; unknown where there is none."""

    name = "judge"

    def __init__(self, preset: Preset, judges: Sequence[Model], settings: Settings) -> None:
        self._prompts, self._rubric = Prompts(preset), preset.rubric
        self._judges, self._samples = tuple(judges), max(settings.judge_samples, 1)
        self._base = settings

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order, all verdicts asked for side by side.

        Raises ModelError where a call failed that may succeed later.
        """
        if self._rubric is None:
            why = f"The preset {self._prompts.preset.name} has no rubric to judge by."
            return tuple(Score(self.name, None, why) for _ in texts)
        rubric = self._rubric
        found = await together(self._judged(rubric, task, text) for text in texts)
        heard = [opinions for opinions in found if not isinstance(opinions, str)]
        agreed = self._agreement(heard)
        return tuple(
            Score(self.name, None, one) if isinstance(one, str) else self._score(rubric, one, agreed)
            for one in found
        )

    async def _judged(self, rubric: Rubric, task: Task, text: str) -> list[Opinion] | str:
        """All verdicts on a text, judge by judge; or why there are none."""
        if not text.strip():
            return EMPTY
        asked = self._prompts.judge_prompt(task, text)
        try:
            return await together(
                self._opinion(rubric, judge, asked, number)
                for judge in self._judges
                for number in range(self._samples)
            )
        except ModelError as error:
            if error.retryable:
                raise
            return str(error)

    async def _opinion(self, rubric: Rubric, judge: Model, asked: Sequence[Message], number: int) -> Opinion:
        reply = await judge.complete(asked, n=1, sampling=self._sampling(rubric, number))
        raw = reply.completions[0].text if reply.completions else ""
        return Opinion(judge.name, number, raw, parse_ratings(raw, rubric))

    def _sampling(self, rubric: Rubric, number: int) -> Sampling:
        """Asked again with another seed; no token scores, which nobody would look at."""
        seed, limit = self._base.sampling.seed, self._base.critique_sampling.max_tokens
        return Sampling(
            temperature=WARMTH if self._samples > 1 else 0.0,
            max_tokens=limit and max(limit, ROOM + ROOM_EACH * len(rubric.dimensions)),
            seed=None if seed is None else seed + number,
            top_logprobs=-1,
        )

    def _score(self, rubric: Rubric, opinions: Sequence[Opinion], agreed: str) -> Score:
        replies = tuple(one.raw for one in opinions)
        read = [one for one in opinions if one.total is not None]
        condition = self._condition(
            rubric, {one.judge for one in read} or {judge.name for judge in self._judges}
        )
        if not read:
            why = f"None of the {len(opinions)} verdicts could be read."
            return Score(self.name, None, why, condition, replies=replies)
        value, details = _numbers(rubric, read, len(self._judges))
        notes = [*_flags(opinions), *([agreed] if agreed else []), *_reasons(rubric, read, len(opinions))]
        return Score(self.name, value, "", condition, details, notes=tuple(notes), replies=replies)

    def _condition(self, rubric: Rubric, heard: set[str]) -> str:
        """Scores compare by one rubric in one wording, and by the same judges alone."""
        names = [judge.name for judge in self._judges if judge.name in heard]
        scales = ", ".join(f"{one.name} {one.low:g} to {one.high:g}" for one in rubric.dimensions)
        worded = repr((rubric, self._prompts.preset.templates.judge)).encode()
        asked = f", {self._samples} verdicts each" if self._samples > 1 else ""
        mark = hashlib.sha256(worded).hexdigest()[:8]
        return f"sum of {scales} (rubric {mark}), judged by {' and '.join(names)}{asked}"

    def _agreement(self, texts: Sequence[Sequence[Opinion]]) -> str:
        """How far the judges agree, or the verdicts of the only one, in words; "" where there is but one."""
        several = len(self._judges) > 1
        count = len(self._judges) if several else self._samples
        if count < 2 or not texts:
            return ""
        rows = _by_judge(texts, self._samples) if several else _by_number(texts)
        found = agreement(rows)
        if found.apart is None:
            return ""
        who = f"The {count} {'judges' if several else 'verdicts'}"
        alpha = f"undefined: {found.why}" if found.alpha is None else f"{found.alpha:.2f}"
        return f"{who} are {found.apart:.3g} apart on average; Krippendorff's alpha (interval) is {alpha}."


def _by_judge(texts: Sequence[Sequence[Opinion]], samples: int) -> list[list[float | None]]:
    """Each judge's mean total for each text."""
    starts = range(0, len(texts[0]), samples)
    return [[_mean([one.total for one in text[at : at + samples]]) for text in texts] for at in starts]


def _by_number(texts: Sequence[Sequence[Opinion]]) -> list[list[float | None]]:
    """Each verdict's total for each text."""
    return [[text[at].total for text in texts] for at in range(len(texts[0]))]


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return statistics.fmean(known) if known else None


def _numbers(
    rubric: Rubric, read: Sequence[Opinion], judges: int
) -> tuple[float, tuple[tuple[str, float], ...]]:
    """The mean total of verdicts that were read, and its parts: dimensions, spread, judges."""
    totals = _known(one.total for one in read)
    columns = zip(*(_known(one.ratings.values) for one in read), strict=True)
    named = zip(rubric.dimensions, columns, strict=True)
    details = [(one.name, statistics.fmean(column)) for one, column in named]
    if len(totals) > 1:
        details.append(("spread", statistics.stdev(totals)))
    if judges > 1:
        for name in dict.fromkeys(one.judge for one in read):
            own = _known(one.total for one in read if one.judge == name)
            details.append((f"by {name}", statistics.fmean(own)))
    return statistics.fmean(totals), tuple(details)


def _flags(opinions: Sequence[Opinion]) -> list[str]:
    """What is amiss with the verdicts."""
    unread = [one for one in opinions if one.total is None]
    flags = []
    if unread:
        whose = ", ".join(dict.fromkeys(one.judge for one in unread))
        flags.append(f"{len(unread)} of {len(opinions)} verdicts could not be read ({whose}).")
    for one in opinions:
        stated = one.ratings.stated_total
        if one.total is not None and stated is not None and abs(stated - one.total) > 1e-6:
            said = f"the stated total {stated:g} differs from the sum {one.total:g}"
            flags.append(f"{_who(one, len(opinions))}{said}")
    return flags


def _reasons(rubric: Rubric, read: Sequence[Opinion], count: int) -> list[str]:
    """Each rating that has a reason, with it."""
    return [
        f"{_who(one, count)}{dimension.name} {value:g}: {reason}"
        for one in read
        for dimension, value, reason in zip(
            rubric.dimensions, one.ratings.values, one.ratings.reasons, strict=True
        )
        if reason and value is not None
    ]


def _who(one: Opinion, count: int) -> str:
    return f"{one.judge}, verdict {one.number + 1}: " if count > 1 else ""
