"""What is asked of an endpoint, and what is asked instead once it has refused something. Pure.

Every adaptation is one name: what the endpoint was found to refuse. Each is made at most once, so
a server that refuses everything ends in an error, not in a loop.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from core.domain import Message, Sampling, Usage
from core.models.endpoint.chunks import mend
from core.models.endpoint.faults import Fault

Body = dict[str, object]

NOTES = {
    "logprobs": "This endpoint refuses logprobs: asked without, so there are no token scores.",
    "top_logprobs": "This endpoint refuses top_logprobs: asked without, so tokens have no alternatives.",
    "n": "This endpoint does not write several answers at once: each was asked for by itself.",
    "seed": "This endpoint refuses a seed: asked without, so the same request may give another text.",
    "stream_options": "This endpoint refuses stream_options: asked without, so token counts may be missing.",
    "temperature": "This endpoint refuses temperature: asked without, so the model's default holds.",
    "top_p": "This endpoint refuses top_p: asked without, so the model's default holds.",
    "max_tokens": "This endpoint refuses max_tokens: asked with max_completion_tokens instead.",
    "stream": "This endpoint refuses to stream: the answer came in one piece.",
    "merge turns": "This endpoint wants turns to alternate: consecutive turns of one role were merged.",
    "fold system": "This endpoint refuses a system turn: its text was put before the first user turn.",
}
PARAMETERS = (
    "max_tokens",
    "top_logprobs",
    "logprobs",
    "stream_options",
    "seed",
    "temperature",
    "top_p",
    "n",
    "stream",
)
REFUSED = re.compile(
    r"unsupported|not (currently )?(support|allow|permit|available|implemented|accept|enabled)"
    r"|unrecogni[sz]ed|unknown|unexpected|does(n't| not) (support|allow|accept)|extra (inputs?|fields?)"
    r"|deprecated|invalid (param|arg|field)|cannot be|can't be|only (the )?default|incompatible"
    r"|only (one|1|n=1)\b|must be (1|one)\b",
    re.IGNORECASE,
)
OUT_OF_RANGE = re.compile(
    r"must be (between|in|less|at most|<|≤)|out of range|greater than|exceed|at most|too (large|high|many)",
    re.IGNORECASE,
)
FREE = frozenset({"logprobs", "top_logprobs", "stream_options", "n", "seed"})
"""What can go whatever the reason; the others, wrong in value, are for a person to put right."""
ONE_LETTER = re.compile(r"(?<![\w\\'’])n(?![\w'’])|(['\"`])n\1|multiple (choices|completions)")
ORDER = re.compile(r"alternat|\broles?\b|system (message|prompt|turn|instruction)", re.IGNORECASE)


def body_for(
    model: str, messages: Sequence[Message], n: int, sampling: Sampling, adapted: Collection[str]
) -> Body:
    """The request, as far as the endpoint is known to take it."""
    wanted: Body = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_completion_tokens" if "max_tokens" in adapted else "max_tokens": sampling.max_tokens,
        "n": n if n > 1 else None,
        "stream": True,
        "stream_options": None if "stream" in adapted else {"include_usage": True},
        "logprobs": True if sampling.top_logprobs >= 0 else None,
        "top_logprobs": min(sampling.top_logprobs, 20) if sampling.top_logprobs > 0 else None,
    }
    dropped = set(adapted) | ({"top_logprobs"} if "logprobs" in adapted else set())
    chosen = {key: value for key, value in wanted.items() if value is not None and key not in dropped}
    return {"model": model, "messages": turns(messages, adapted), **chosen}


def turns(messages: Sequence[Message], adapted: Collection[str]) -> list[dict[str, str]]:
    """The chat turns in the order and with the roles that the endpoint takes."""
    rows = [{"role": str(message.role), "content": mend(message.content)} for message in messages]
    if "fold system" in adapted:
        rows = _folded(rows)
    return _merged(rows) if "merge turns" in adapted else rows


def _folded(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """System text put before the first user turn's own, or made a user turn where there is none."""
    system = [row["content"] for row in rows if row["role"] == "system"]
    rest = [row for row in rows if row["role"] != "system"]
    if not system:
        return rest
    first = rest[0]["content"] if rest and rest[0]["role"] == "user" else ""
    text = "\n\n".join(filter(None, [*system, first]))
    return [{"role": "user", "content": text}, *(rest[1:] if first else rest)]


def _merged(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    merged: list[dict[str, str]] = []
    for row in rows:
        if merged and merged[-1]["role"] == row["role"]:
            merged[-1] = {**row, "content": f"{merged[-1]['content']}\n\n{row['content']}"}
        else:
            merged.append(row)
    return merged


def adaptation(fault: Fault, body: Body) -> str | None:
    """What to do without after this refusal; None where nothing is left to try.

    Only what the refused request holds is named, so each is named at most once.
    """
    if fault.status not in (400, 422, 501) or fault.context_exceeded:
        return None
    return _parameter(fault, body) or (_order(fault, body) if ORDER.search(fault.detail) else None)


def notes_for(messages: Sequence[Message], n: int, sampling: Sampling, adapted: Iterable[str]) -> list[str]:
    """What a person should know of the adaptations that changed this request."""
    plain = body_for("", messages, n, sampling, ())

    def changed(name: str) -> bool:
        return name in plain or turns(messages, {name}) != plain["messages"]

    return [NOTES[name] for name in adapted if changed(name)]


def _parameter(fault: Fault, body: Body) -> str | None:
    """The sent parameter that the refusal names, if it is one that we can do without."""
    said = f"{fault.code} {fault.detail}"
    named = fault.param.split(".")[0]
    if named in PARAMETERS and named in body and (named in FREE or REFUSED.search(said)):
        return named
    if REFUSED.search(said):
        return next((name for name in PARAMETERS if name in body and _mentions(fault.detail, name)), None)
    if OUT_OF_RANGE.search(said):
        return _out_of_range(fault.detail, body)
    return None


def _out_of_range(said: str, body: Body) -> str | None:
    """A count beyond the server's limit: the request makes sense with fewer alternatives or one answer."""
    if "top_logprobs" in body and re.search(r"logprobs\b", said):
        return "top_logprobs"
    return "n" if "n" in body and _mentions(said, "n") else None


def _mentions(said: str, name: str) -> bool:
    if name == "n":
        return bool(ONE_LETTER.search(said))
    if name == "stream":
        return bool(re.search(r"\bstream(ing)?\b", said, re.IGNORECASE))
    return bool(re.search(rf"\b{name}\b", said))


def _order(fault: Fault, body: Body) -> str | None:
    """Which change of the turns to try next; a refusal that names the system turn is taken at its word."""
    roles = [str(row.get("role")) for row in _rows(body)]
    can = {
        "merge turns": any(a == b for a, b in pairwise(roles)),
        "fold system": "system" in roles,
    }
    names = ["merge turns", "fold system"]
    if re.search(r"system", fault.detail, re.IGNORECASE):
        names.reverse()
    return next((name for name in names if can[name]), None)


def _rows(body: Body) -> list[dict[str, str]]:
    rows = body.get("messages")
    return rows if isinstance(rows, list) else []


def front_dropped(messages: Sequence[Message], usage: Usage) -> str:
    """A warning where the server counted far fewer prompt tokens than were sent, "" where all is well.

    An estimate (a quarter token an ASCII character, 0.6 any other), as tokenizers differ; so it
    warns and does not block.
    """
    text = "".join(message.content for message in messages)
    plain = sum(char < "\x80" for char in text)
    estimate = plain / 4 + (len(text) - plain) * 0.6
    counted = usage.prompt_tokens
    if counted is None:
        return UNTOLD.format(round(estimate)) if estimate > 4096 else ""
    return DROPPED.format(counted, round(estimate)) if estimate > 1500 and counted < 0.65 * estimate else ""


DROPPED = (
    "The model probably did not see the whole prompt: the server counted {} tokens where about {} were sent. "
    "Raise the server's context length, or shorten the text."
)
UNTOLD = (
    "The server reports no token counts, so it can't be told whether it saw the whole of this long prompt "
    "(about {} tokens)."
)
