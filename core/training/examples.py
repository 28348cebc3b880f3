"""What a row of training data is before it is written, and why one is left out. Knows no session, no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from core.domain import Message

Kind = Literal["sft", "dpo", "gsr"]
Way = Literal["direct", "refine"]
LONG_SHARED = 6_000
"""Characters of prompt and common beginning after which a trainer may cut the difference off."""


@dataclass(frozen=True)
class Origin:
    """Where a row comes from: session and step ("" and None for votes, `study` then names them), and why.

    `all_wrong`: whether every candidate in the prompt fails its verifier, None where that is unknown.
    """

    why: str
    session: str = ""
    step: int | None = None
    study: str = ""
    by: str = ""
    all_wrong: bool | None = None


@dataclass(frozen=True)
class Example:
    """One row: what is asked, the text to learn, and for preferences the one that it is better than.

    `task` is the task's own text, without a preset's words: by it tasks are told apart.
    """

    task: str
    prompt: tuple[Message, ...]
    chosen: str
    origin: Origin
    rejected: str | None = None
    way: Way = "direct"

    def row(self) -> dict[str, Any]:
        """The row in TRL's conversational form: prompt and completion, or prompt, chosen and rejected."""
        asked = [{"role": m.role, "content": m.content} for m in self.prompt]
        said = [{"role": "assistant", "content": self.chosen}]
        if self.rejected is None:
            return {"prompt": asked, "completion": said}
        other = [{"role": "assistant", "content": self.rejected}]
        return {"prompt": asked, "chosen": said, "rejected": other}


@dataclass(frozen=True)
class Preference:
    """One judged pair of texts for the same prompt, as from a study; "" in both texts is a tie."""

    prompt: str
    chosen: str
    rejected: str
    origin: Origin


@dataclass
class Tally:
    """How many rows there were, how many were left out and why, and what is to be known of the rest."""

    seen: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)


def from_votes(preferences: Iterable[Preference], kind: Kind) -> Iterator[Example]:
    """The votes as rows; for SFT the preferred texts alone, of pairs that were never judged the other way.

    Texts that differ by spaces alone were not told apart: nothing is learned of them.
    """
    found = list(preferences)
    judged = {(each.prompt.strip(), _bare(each.chosen), _bare(each.rejected)) for each in found}
    for each in found:
        prompt, chosen, rejected = each.prompt.strip(), _bare(each.chosen), _bare(each.rejected)
        if kind != "dpo" and (chosen == rejected or (prompt, rejected, chosen) in judged):
            continue
        other = each.rejected if kind == "dpo" else None
        yield Example(each.prompt, (Message("user", prompt),), each.chosen, each.origin, other)


def fit(
    examples: Iterable[Example], tally: Tally, *, least: int = 1, most: int | None = None
) -> Iterator[Example]:
    """Those that teach something and in which the boundary of the prompt is plain."""
    for example in examples:
        tally.seen += 1
        if why := _unfit(example, least, most):
            tally.left_out[why] += 1
            continue
        if example.rejected is not None and _shares_too_much(example):
            tally.warned[f"the texts differ only after {LONG_SHARED:,} characters, prompt included"] += 1
        yield replace(example, prompt=_plain(example.prompt))


def _unfit(example: Example, least: int, most: int | None) -> str:
    if not example.prompt or example.prompt[-1].role != "user" or not example.prompt[-1].content.strip():
        return "the prompt does not end with a person's turn"
    if example.rejected is not None:
        if not (example.chosen.strip() or example.rejected.strip()):
            return "a tie"
        if _bare(example.chosen) == _bare(example.rejected):
            return "chosen and rejected are the same but for spaces"
        if not example.rejected.strip():
            return "the rejected text is empty"
    if not example.chosen.strip():
        return "the text is empty"
    if len(example.chosen) < least or (most is not None and len(example.chosen) > most):
        return "shorter or longer than wanted"
    return ""


def _bare(text: str) -> str:
    return " ".join(text.split())


def _plain(prompt: Sequence[Message]) -> tuple[Message, ...]:
    """The prompt without spaces at its end, and without turns that say nothing."""
    kept = [message for message in prompt if message.content.strip()]
    return (*kept[:-1], replace(kept[-1], content=kept[-1].content.rstrip()))


def _shares_too_much(example: Example) -> bool:
    rejected = example.rejected or ""
    pairs = zip(example.chosen, rejected, strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(example.chosen), len(rejected)))
    return same + sum(len(message.content) for message in example.prompt) > LONG_SHARED


def undisputed(examples: Sequence[Example], tally: Tally) -> list[Example]:
    """Those whose pair was never judged the other way round."""
    judged = {(e.prompt, _bare(e.chosen), _bare(e.rejected)) for e in examples if e.rejected is not None}
    kept = []
    for example in examples:
        if example.rejected is None:
            kept.append(example)
        elif (example.prompt, _bare(example.rejected), _bare(example.chosen)) in judged:
            tally.left_out["the same pair was judged the other way round too"] += 1
        else:
            kept.append(example)
    return kept
