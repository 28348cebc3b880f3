"""A row of drafts made elsewhere as a session that replays: its strategy is played with what the file holds.

The requests of such a session are those of a preset of its own; the prompts that were really sent are in no
such file, and a note on every reply says so. What the original run went on with is what was accepted, by the
policy's name; a repeated text, at which Redraft's policy would end, carries the name `THE_RUN` instead. Knows
no file's format and no store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.checks import BadTask, check_task, title_of
from core.domain import Completion, Decision, Recipe, Sampling, Score, Settings, Task, Usage
from core.engine import Finished, Pending, begin, take
from core.gates import POLICY
from core.importing.words import preset_text
from core.interchange import MAX_TEXT, ImportProblem, Kept, check_texts
from core.models.protocol import Reply
from core.presets import Prompts, load_preset
from core.sessions import Session
from core.steps import Answer, Ask, CritiqueGate, Measure, Measured, Replied, RevisionGate, Ruled, Step
from core.strategies import self_refine

THE_RUN = "the original run"
NO_CRITIQUE = "(The file holds no critique of this draft.)"
_NO_PROMPT = "The prompt that was really sent is not in the file."


@dataclass(frozen=True)
class Attempt:
    """One text of a trajectory, with what the file says of it; `place` is its row.

    `decision` is "accept" or "reject", or "" where the file only shows that it was gone on with.
    """

    text: str
    place: str
    critique: str = ""
    score: Score | None = None
    decision: str = ""
    by: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trajectory:
    """A draft and its revisions, in their order. `key` tells it from all others of the same `source`."""

    source: str
    key: str
    task: Task
    attempts: tuple[Attempt, ...]
    model: str
    labels: tuple[str, ...] = ()


def session_of(trajectory: Trajectory, at: datetime) -> Kept:
    """The session, as if it had been made at that moment. Raises ImportProblem."""
    first = trajectory.attempts[0].place
    _check(trajectory)
    recipe = _recipe(trajectory)
    moves = self_refine(trajectory.task, Prompts(load_preset(recipe.preset)), recipe.settings)
    teller, place, steps = _Teller(trajectory), begin(moves), list[Step]()
    while isinstance(place, Pending) and not teller.silent(place):
        steps.append(teller.step(place))
        place = take(moves, place, steps[-1])
    if not isinstance(place, Finished) or teller.left:
        raise ImportProblem(first, "its texts can't be told as drafts and revisions of one session.")
    session = Session(
        id=identity(trajectory),
        title=title_of(trajectory.task),
        created_at=at,
        task=trajectory.task,
        recipe=recipe,
        mode="auto",
        steps=tuple(steps),
    )
    return Kept(session, (at,) * len(steps), place.outcome.reason)


def identity(trajectory: Trajectory) -> str:
    """The session's id: the same for the same source and key, so that a second import finds it."""
    said = f"{trajectory.source}\0{trajectory.key}".encode()
    return hashlib.sha256(said).hexdigest()[:32]


def _check(trajectory: Trajectory) -> None:
    first = trajectory.attempts[0].place
    try:
        check_task(trajectory.task, None)
    except BadTask as error:
        raise ImportProblem(first, str(error)) from None
    for each in trajectory.attempts:
        check_texts(each.place, {"text": each.text, "critique": each.critique})
        if not each.text.strip():
            raise ImportProblem(each.place, "the text is empty.")
    if sum(len(each.text) + len(each.critique) for each in trajectory.attempts) > MAX_TEXT:
        raise ImportProblem(first, f"its texts have more than {MAX_TEXT:,} characters together.")


def _recipe(trajectory: Trajectory) -> Recipe:
    attempts = trajectory.attempts
    scored = next((each.score.scorer for each in attempts if each.score), None)
    sampling = Sampling(temperature=None, top_logprobs=0)
    settings = Settings(
        rounds=len(attempts) - 1,
        feedback="specific" if any(each.critique.strip() for each in attempts[:-1]) else "none",
        history="latest",
        scorers=(scored,) if scored else (),
        gate_scorer=scored,
        gate="always",
        patience=0,
        sampling=sampling,
        critique_sampling=sampling,
    )
    return Recipe("self_refine", preset_text(trajectory.labels), trajectory.model, settings)


@dataclass
class _Teller:
    """Answers a strategy's requests with what the file holds, attempt by attempt."""

    trajectory: Trajectory
    told: int = 0
    seen: set[str] = field(default_factory=set)

    @property
    def left(self) -> bool:
        return self.told < len(self.trajectory.attempts)

    @property
    def last(self) -> Attempt:
        return self.trajectory.attempts[self.told - 1]

    def silent(self, place: Pending) -> bool:
        """Whether a text is asked for that there is not."""
        request = place.request
        return isinstance(request, Ask) and request.role != "critique" and not self.left

    def step(self, place: Pending) -> Step:
        request = place.request
        if isinstance(request, Ask):
            return Step(request, self._reply(request))
        if isinstance(request, Measure):
            return Step(request, self._measured(request))
        assert isinstance(request, CritiqueGate | RevisionGate)
        return Step(request, self._ruled(request))

    def _reply(self, ask: Ask) -> Answer:
        if ask.role == "critique":
            critique = self.last.critique
            return self._said(critique if critique.strip() else NO_CRITIQUE, self.last, ())
        self.told += 1
        unfollowed = (
            () if self.left or not self.last.critique else (f"Nothing followed: {self.last.critique}",)
        )
        return self._said(self.last.text, self.last, (*self.last.notes, *unfollowed))

    def _said(self, text: str, attempt: Attempt, notes: Sequence[str]) -> Replied:
        told = (f"From {self.trajectory.source}, {attempt.place}. {_NO_PROMPT}", *notes)
        return Replied(Reply((Completion(text),), Usage(), 0.0, self.trajectory.model, told))

    def _measured(self, request: Measure) -> Measured:
        unknown = Score(request.scorers[0], None, "the file holds no score of this text")
        return Measured(tuple((self.last.score or unknown,) for _ in request.texts))

    def _ruled(self, gate: CritiqueGate | RevisionGate) -> Ruled:
        if isinstance(gate, CritiqueGate):
            self.seen.add(gate.draft.text)
            return Ruled(Decision("accept", POLICY, "The run went on with this critique."))
        repeated = gate.proposed.text in self.seen | {gate.current.text}
        self.seen |= {gate.current.text, gate.proposed.text}
        by = self.last.by or (THE_RUN if repeated else POLICY)
        if self.last.decision:
            verb = "accept" if self.last.decision == "accept" else "reject"
            return Ruled(Decision(verb, by, "The file says so."))  # type: ignore[arg-type]
        if gate.proposed.text == gate.current.text:
            return Ruled(Decision("reject", by, "It is the text that stood already."))
        return Ruled(Decision("accept", by, "The run went on with this text."))


def sessions_of(trajectories: Sequence[Trajectory], clock: Iterator[datetime]) -> Iterator[tuple[str, Kept]]:
    """Each trajectory's session with the place of its first row. Raises ImportProblem."""
    for trajectory, at in zip(trajectories, clock, strict=False):
        yield trajectory.attempts[0].place, session_of(trajectory, at)
