"""What the session view shows of each step: one line for the timeline, and everything on demand.

Plain JSON values. Knows no widget; words and order are decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.domain import Completion, Decision, Draft, Message, Recipe, Sampling, Score
from core.spending import Spent
from core.steps import (
    Ask,
    CritiqueGate,
    Gate,
    Group,
    Grouped,
    Measure,
    Measured,
    PickGate,
    Replied,
    RevisionGate,
    Ruled,
    Step,
    stopped_by,
)
from core.timeline import draft_of
from ui.rows import FLAG_WORDS, LABELS, critic_verdict, point_view, ruled

View = dict[str, Any]
EXCERPT, REMARK = 160, 90
ROLES = {
    "draft": "Draft",
    "critique": "Critique",
    "revise": "Revision",
    "synthesise": "One text from several",
    "judge": "Check of the points",
    "score": "Score",
    "reward": "Reward",
}
FINISHES = {
    "stop": "ended by itself",
    "length": "cut off at the limit of tokens",
    "content_filter": "stopped by a filter",
    "stopped": "stopped by a person",
    "unknown": "the backend gave no reason",
}
GATES = {
    "critique gate": "Decision on the critique",
    "revision gate": "Decision on the revision",
    "pick gate": "Choice among candidates",
}
SAMPLING = {
    "temperature": "temperature",
    "top_p": "top p",
    "max_tokens": "at most tokens",
    "seed": "seed",
    "top_logprobs": "alternatives a token",
}


def line(position: int, step: Step, recipe: Recipe, source: str) -> View:
    """The step in one line: who was asked for what, what came back, what it took."""
    spent = Spent().after(step.answer)
    return {
        "position": position,
        "kind": _kind(step),
        "round": step.request.round,
        "title": _title(step),
        "who": _who(step, recipe),
        "excerpt": _excerpt(step, source),
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "cached_tokens": spent.cached_tokens,
        "seconds": round(spent.seconds, 2),
        "money": spent.money if spent.priced else None,
        "remarks": [_cut(remark, REMARK) for remark in _remarks(step, source)],
    }


def _kind(step: Step) -> str:
    """One of "model", "score", "decision": what the timeline can be narrowed to."""
    if isinstance(step.request, Ask):
        return "model"
    return "decision" if isinstance(step.request, Gate) else "score"


def _title(step: Step) -> str:
    request = step.request
    if isinstance(request, Ask):
        part = f" {request.part + 1}" if request.part else ""
        return f"{ROLES.get(request.role, request.role)}{part}"
    if isinstance(request, Measure):
        return "Scores"
    return "Answers compared" if isinstance(request, Group) else GATES[request.kind]


def _who(step: Step, recipe: Recipe) -> str:
    if isinstance(step.request, Ask):
        return recipe.model_for(step.request.role)
    return step.answer.decision.by if isinstance(step.answer, Ruled) else ""


def _excerpt(step: Step, source: str) -> str:
    answer = step.answer
    if isinstance(answer, Ruled):
        return _cut(ruled(answer.decision))
    if isinstance(answer, Measured):
        return _cut("; ".join(", ".join(map(_value, scores)) for scores in answer.scores))
    if isinstance(answer, Grouped):
        return _cut(", ".join(f"{answer.answers[c[0]]}: {len(c)}" for c in answer.classes))
    draft = draft_of(step, source)
    return _cut(draft.text if draft else answer.reply.completions[0].text)


def _cut(text: str, most: int = EXCERPT) -> str:
    whole = " ".join(text[: most * 4].split())
    return whole if len(whole) <= most else f"{whole[:most]}…"


def _value(score: Score) -> str:
    label = LABELS.get(score.scorer, score.scorer.replace("_", " "))
    return f"{label} {score.value:.4g}" if score.value is not None else f"{label}: not scored"


def _remarks(step: Step, source: str) -> list[str]:
    """What a person should not overlook: notes and retries, cuts, flags."""
    answer, request = step.answer, step.request
    found = list(request.notes) if isinstance(request, Ask) else []
    if isinstance(answer, Replied):
        finish = answer.reply.completions[0].finish
        found += [*answer.reply.notes, *([FINISHES[finish]] if finish not in ("stop", "stopped") else [])]
        draft = draft_of(step, source)
        found += [FLAG_WORDS.get(flag, flag) for flag in draft.flags] if draft else []
    who = stopped_by(answer)
    return list(dict.fromkeys([*found, *([f"stopped by {who}"] if who else [])]))


# -- everything of one step ---------------------------------------------------------------------


def whole(position: int, step: Step, recipe: Recipe, source: str) -> View:
    """All that was asked and answered at the step."""
    return {
        **line(position, step, recipe, source),
        "facts": _facts(step, recipe),
        "notes": _remarks(step, source),
        "prompt": _prompt(step),
        "parts": _parts(step),
        "gate": isinstance(step.request, Gate),
    }


def _facts(step: Step, recipe: Recipe) -> list[list[str]]:
    """Names and values."""
    request, answer = step.request, step.answer
    found: list[list[str]] = []
    if isinstance(request, Ask) and isinstance(answer, Replied):
        named, reply = recipe.model_for(request.role), answer.reply
        found += [["model", named], ["role", request.role]]
        found += [["the server calls it", reply.model]] if reply.model not in ("", named) else []
        found += _sampling(request.sampling)
        found += [["texts asked for", str(request.n)]] if request.n != 1 else []
        found += [["ended", FINISHES[reply.completions[0].finish]]]
    if isinstance(request, Measure):
        found += [["scorers", ", ".join(LABELS.get(name, name) for name in request.scorers)]]
    return found


def _sampling(sampling: Sampling) -> list[list[str]]:
    values = asdict(sampling)
    return [[words, f"{values[name]:g}"] for name, words in SAMPLING.items() if values[name] is not None]


def _prompt(step: Step) -> list[View]:
    """The turns of the chat exactly as they were sent."""
    if not isinstance(step.request, Ask | Measure):
        return []
    messages: Sequence[Message] = (
        step.request.messages if isinstance(step.request, Ask) else step.request.prompt
    )
    return [{"role": message.role, "content": message.content} for message in messages]


def _parts(step: Step) -> list[View]:
    """What came back, piece by piece: {"heading", "text"} or with "scores", "points" in place of a text."""
    request, answer = step.request, step.answer
    if isinstance(answer, Replied):
        return [part for each in answer.reply.completions for part in _completion(each)]
    if isinstance(answer, Measured) and isinstance(request, Measure):
        pairs = zip(request.texts, answer.scores, strict=False)
        return [
            {"heading": "Text", "text": t, "scores": [score_view(s) for s in found]} for t, found in pairs
        ]
    if isinstance(answer, Grouped) and isinstance(request, Group):
        pairs_ = zip(request.texts, answer.answers, strict=False)
        return [{"heading": f"Answer: {said or 'none found'}", "text": text} for text, said in pairs_]
    assert isinstance(answer, Ruled)
    return [*_shown_at(request), *_decided(answer.decision)]


def _completion(completion: Completion) -> list[View]:
    thinking = [{"heading": "Thinking", "text": completion.thinking}] if completion.thinking else []
    return [*thinking, {"heading": "Reply", "text": completion.text}]


def score_view(score: Score) -> View:
    """A score with its reasons, and a judge's replies as they came."""
    return {
        "label": LABELS.get(score.scorer, score.scorer.replace("_", " ")),
        "value": score.value,
        "why": score.why,
        "condition": score.condition,
        "details": [[name, value] for name, value in score.details],
        "notes": list(score.notes),
        "replies": list(score.replies),
    }


def _shown_at(gate: object) -> list[View]:
    """What was to be ruled on."""
    if isinstance(gate, CritiqueGate):
        points = [point_view(point, kept=True) for point in gate.critique.points]
        words = critic_verdict(gate.critique)
        return [
            {
                "heading": "The critique",
                "points": points,
                "text": "" if points else gate.critique.raw,
                "remark": words,
            }
        ]
    if isinstance(gate, RevisionGate):
        return [{"heading": "The policy's view", "remark": _view_of(gate)}]
    if isinstance(gate, PickGate):
        reason = [{"heading": "The policy's view", "remark": gate.reason}]
        return [*reason, *(_numbered(i, draft) for i, draft in enumerate(gate.candidates))]
    return []


def _view_of(gate: RevisionGate) -> str:
    would = {True: "It would accept.", False: "It would not accept.", None: "It can't tell."}
    return f"{would[gate.verdict.accept]} {gate.verdict.reason}"


def _numbered(number: int, draft: Draft) -> View:
    return {"heading": f"Candidate {number + 1}", "text": draft.text}


def _decided(decision: Decision) -> list[View]:
    part: View = {"heading": "The decision", "remark": ruled(decision)}
    if decision.points is not None:
        part["points"] = [point_view(point, kept=True) for point in decision.points]
    if decision.text is not None:
        part["text"] = decision.text
    if decision.picks:
        part["remark"] += f" (candidate {', '.join(str(n + 1) for n in decision.picks)})"
    return [part]
