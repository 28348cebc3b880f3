"""What a strategy may do: ask a model, once or side by side, have texts scored, have a gate ruled.

Counts what it costs, ends at the budget's limit and at a person's stop. Knows no draft's fate: that is
core.work's and core.candidates'.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from core import conversation
from core.conversation import Exchange
from core.domain import Decision, Draft, Message, Role, Sampling, Settings, Task
from core.drafts import with_scores
from core.models.protocol import Reply
from core.prompting import Prompting
from core.spending import Spent
from core.steps import Answer, Ask, Fan, Gate, Measure, Measured, Replied, Request, Ruled

T = TypeVar("T")
Verb = Generator[Request | Fan, Answer | tuple[Answer, ...], T]


class Ended(Exception):
    """The session ends here, for this reason; `stopped` when a person stopped it."""

    def __init__(self, reason: str, *, stopped: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.stopped = reason, stopped


def stopped(by: str) -> Ended:
    """The end that a person made."""
    return Ended(f"stopped by {by}", stopped=True)


class Asking:
    """The world as one run of a strategy meets it."""

    def __init__(self, task: Task, prompting: Prompting, settings: Settings) -> None:
        self.task, self.prompting, self.settings = task, prompting, settings
        self.head = prompting.system_and_task(task, settings.step_by_step)
        self.exchanges: tuple[Exchange, ...] = ()
        self.spent = Spent()
        self.seen: tuple[Draft, ...] = ()

    def _sampling(self, base: Sampling, ahead: int = 0) -> Sampling:
        """A seed of its own for every call, so that asking again is not the same call again."""
        return base if base.seed is None else replace(base, seed=base.seed + self.spent.calls + ahead)

    def ask(self, role: Role, number: int, prompt: conversation.Prompt) -> Verb[Reply]:
        """Ask once; once more when nothing came back. Raises Ended when stopped or out of budget."""
        reply = yield from self.ask_once(role, number, prompt)
        if not reply.completions[0].text.strip():
            reply = yield from self.ask_once(role, number, prompt)
        return reply

    def ask_once(self, role: Role, number: int, prompt: conversation.Prompt) -> Verb[Reply]:
        """Ask once. Raises Ended when stopped or out of budget."""
        if spent := self.spent.over(self.settings.budget):
            raise Ended(spent)
        sampling = self._sampling(self._base(role))
        answer = yield Ask(role, number, prompt.messages, sampling, notes=prompt.notes)
        assert isinstance(answer, Replied)
        self.spent = self.spent.after(answer)
        if answer.stopped_by:
            raise stopped(answer.stopped_by)
        return answer.reply

    def side_by_side(
        self, role: Role, number: int, prompts: Mapping[int, conversation.Prompt]
    ) -> Verb[tuple[Replied, ...]]:
        """One answer a prompt, asked at the same time; the prompts are by the number of their candidate.

        As many as the budget has calls for, at least one; else raises Ended. Those that were cut short by a
        person are among them.
        """
        if spent := self.spent.over(self.settings.budget):
            raise Ended(spent)
        calls = self.settings.budget.calls
        left = len(prompts) if calls is None else min(len(prompts), calls - self.spent.calls)
        cut = f"{left} of {len(prompts)} candidates were asked for: the budget has no more calls."
        cuts = (cut,) if left < len(prompts) else ()
        asks = []
        for ahead, (part, prompt) in enumerate(list(prompts.items())[:left]):
            sampling, notes = self._sampling(self._base(role), ahead), (*prompt.notes, *cuts)
            asks.append(Ask(role, number, prompt.messages, sampling, notes=notes, part=part))
        answers = yield Fan(tuple(asks))
        assert isinstance(answers, tuple)
        replied = tuple(answer for answer in answers if isinstance(answer, Replied))
        for answer in replied:
            self.spent = self.spent.after(answer)
        return replied

    def _base(self, role: Role) -> Sampling:
        return self.settings.critique_sampling if role == "critique" else self.settings.sampling

    def stop_when_cut(self, answers: Sequence[Replied]) -> None:
        """Raises Ended when a person cut any of them short."""
        if by := next((answer.stopped_by for answer in answers if answer.stopped_by), ""):
            raise stopped(by)

    def prompt(self, current: str, turns: Sequence[Message]) -> conversation.Prompt:
        """The chat so far with `current` as the text that stands, and these turns after it."""
        return conversation.assemble(
            self.head,
            self.exchanges,
            current,
            turns,
            history=self.settings.history,
            limit=self.prompt_limit(),
        )

    def prompt_limit(self) -> int | None:
        """Tokens that a prompt may have, with room left for the reply; None where no window is known."""
        window = self.settings.context_tokens
        reserve = self.settings.sampling.max_tokens or conversation.REPLY_RESERVE
        return None if window is None else max(window - reserve, window // 2)

    # -- measuring and ruling ---------------------------------------------------------------

    def scored(self, draft: Draft) -> Verb[Draft]:
        """The draft with its scores, measured afresh; an empty one is not measured."""
        return (yield from self.all_scored((draft,), draft.round))[0]

    def all_scored(self, drafts: Sequence[Draft], number: int) -> Verb[tuple[Draft, ...]]:
        """The drafts with their scores, measured together; equal texts are measured once."""
        scorers = self.settings.scorers
        texts = tuple(dict.fromkeys(draft.text for draft in drafts if draft.text.strip()))
        if not scorers or not texts:
            return tuple(drafts)
        answer = yield Measure(scorers, number, self.task, self.head, texts)
        assert isinstance(answer, Measured)
        self.spent = self.spent.after(answer)
        if answer.stopped_by:
            raise stopped(answer.stopped_by)
        self.seen = with_scores(self.seen, texts, answer)
        return with_scores(drafts, texts, answer)

    def comparable(self, draft: Draft, proposed: Draft) -> Verb[Draft]:
        """The draft, measured again where its score is under another condition than the revision's.

        That is so after a person gave the scoring to another model.
        """
        scorer = self.settings.gate_scorer or ""
        old, new = draft.score(scorer), proposed.score(scorer)
        if old is None or new is None or new.value is None or old.condition == new.condition:
            return draft
        return (yield from self.scored(draft))

    def rule(self, gate: Gate) -> Verb[Decision]:
        """The ruling at a gate. Raises Ended for a stop."""
        answer = yield gate
        assert isinstance(answer, Ruled)
        if answer.decision.ruling == "stop":
            raise stopped(answer.decision.by)
        return answer.decision
