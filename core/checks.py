"""What a person may enter, checked where it comes in. Knows no page: messages say what to do."""

from __future__ import annotations

import re

from core.conversation import estimate_tokens
from core.diff import apply_hunks
from core.domain import Decision, Message, Task
from core.merging import merge
from core.steps import CritiqueGate, Gate, PickGate, Request, RevisionGate

MAX_CHARACTERS = 1_000_000


class BadTask(ValueError):
    """The task can't be worked on as it was entered."""


class BadDecision(ValueError):
    """The ruling does not fit the gate that is open."""


def check_text(text: str, what: str) -> None:
    """Raises BadTask, naming the place, for text that no model or database can hold."""
    bad = re.search("[\x00\ud800-\udfff]", text)
    if bad:
        name = "a NUL character" if bad.group() == "\0" else "half of a surrogate pair"
        raise BadTask(f"{what} has {name} at character {bad.start() + 1}. Remove it and try again.")
    if len(text) > MAX_CHARACTERS:
        raise BadTask(
            f"{what} has {len(text):,} characters; {MAX_CHARACTERS:,} is the most. Work on a part of it."
        )


def check_task(task: Task, context_tokens: int | None) -> None:
    """Raises BadTask for a task that is empty, unreadable or too long for the model's context."""
    if not task.input.strip():
        raise BadTask("There is no text to work on. Enter or paste one.")
    parts = {
        "The text": task.input,
        "The instruction": task.instruction,
        "The reference": task.reference,
        "The target": task.target,
    }
    for what, text in parts.items():
        check_text(text, what)
    size = estimate_tokens([Message("user", text) for text in parts.values()])
    if context_tokens is not None and size > context_tokens:
        raise BadTask(
            f"The task has about {size:,} tokens, but the model reads {context_tokens:,} at most. "
            "Work on a part of the text, or choose a model with a larger context."
        )


def check_decision(request: Request | None, decision: Decision) -> None:
    """Raises BadDecision for a ruling that this request can't be answered with, BadTask for its texts."""
    if not isinstance(request, Gate):
        raise BadDecision("The session is waiting for a model, not for a decision.")
    if decision.text is not None:
        check_text(decision.text, "The text")
    for point in decision.points or ():
        check_text(f"{point.problem}{point.action}{point.quote}", "The critique")
    check_text(decision.note, "The note")
    if decision.ruling == "edit" and not (decision.text or "").strip():
        raise BadDecision("The edited text is empty. Write it, or reject the revision instead.")
    among_many = decision.ruling in ("pick", "merge", "synthesise")
    if among_many and not isinstance(request, PickGate):
        raise BadDecision("There are no candidates to choose from here.")
    if isinstance(request, PickGate):
        _check_pick(request, decision)
    if decision.ruling in ("hunks", "reject") and isinstance(request, CritiqueGate):
        raise BadDecision("A critique is accepted (with the points you choose), asked for again, or stopped.")
    if decision.ruling == "hunks" and isinstance(request, RevisionGate):
        _check_hunks(request, decision)


def _check_pick(gate: PickGate, decision: Decision) -> None:
    ruling, picks = decision.ruling, decision.picks
    if ruling in ("accept", "reject", "hunks"):
        raise BadDecision("Pick one of the candidates, put several together, or ask for more.")
    if any(not 0 <= number < len(gate.candidates) for number in picks) or len(set(picks)) < len(picks):
        raise BadDecision("There is no such candidate; reload the page.")
    if ruling == "pick" and (not picks or len(picks) > gate.keep):
        raise BadDecision(f"Pick {'one' if gate.keep == 1 else f'one to {gate.keep}'} of the candidates.")
    if ruling == "pick" and any(not gate.candidates[number].text.strip() for number in picks):
        raise BadDecision("This candidate is empty. Pick another, or ask for more.")
    if ruling == "synthesise" and not any(gate.candidates[number].text.strip() for number in picks):
        raise BadDecision("Tick the candidates that the new text is to be written from.")
    if ruling == "merge":
        merged_text(gate, decision)


def merged_text(gate: PickGate, decision: Decision) -> str:
    """The picked candidate with the chosen changes of others. Raises BadDecision."""
    if len(decision.picks) != 1 or not decision.merged:
        raise BadDecision("Choose the candidate to begin with, and changes of others to put into it.")
    others = {number: draft.text for number, draft in enumerate(gate.candidates)}
    try:
        text = merge(gate.candidates[decision.picks[0]].text, others, decision.merged)
    except ValueError as error:
        raise BadDecision(str(error)) from error
    if not text.strip():
        raise BadDecision("Nothing is left of the text with these changes.")
    return text


def _check_hunks(gate: RevisionGate, decision: Decision) -> None:
    if not decision.hunks:
        raise BadDecision("No change is ticked. Tick those to take over, or reject the revision.")
    try:
        apply_hunks(gate.current.text, gate.proposed.text, set(decision.hunks))
    except ValueError as error:
        raise BadDecision(str(error)) from error


def title_of(task: Task, longest: int = 80) -> str:
    """A session's title: what was asked and the beginning of the text, on one line."""
    parts = (" ".join(part.split()) for part in (task.instruction or task.target, task.input))
    words = " · ".join(part for part in parts if part)
    return words if len(words) <= longest else words[: longest - 1] + "…"
