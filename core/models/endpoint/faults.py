"""What can go wrong between us and an endpoint, as one value; and the plain words for it.

Knows the shapes of error bodies and the meaning of HTTP statuses. Knows no client library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

Kind = Literal["status", "network", "refused", "timeout", "cut", "malformed", "foreign"]
RETRIED = frozenset({408, 409, 425, 429})
NOT_RETRIED = frozenset({501, 505})
CONTEXT = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|too many tokens|prompt is too long"
    r"|(exceed|larger|longer)\w*\b.{0,40}\bcontext|input (is )?too long",
    re.IGNORECASE | re.DOTALL,
)
WORDS = (
    (("rate_limit", "too_many", "quota", "throttl"), 429),
    (("auth", "api_key", "permission"), 401),
    (("not_found",), 404),
    (("invalid", "bad_request", "unsupported", "context_length"), 400),
    (("overloaded", "unavailable"), 503),
)


@dataclass(frozen=True)
class Fault:
    """One failed call: HTTP status (or the error object's), the provider's words, the wait it asks for.

    `wait` is in seconds; None where the provider asked for none.
    """

    kind: Kind
    detail: str = ""
    status: int | None = None
    code: str = ""
    param: str = ""
    wait: float | None = None

    @property
    def context_exceeded(self) -> bool:
        """Whether the prompt did not fit into the model's context."""
        refused = self.status in (400, 413, 422)
        return refused and bool(CONTEXT.search(f"{self.code} {self.detail}"))

    @property
    def out_of_money(self) -> bool:
        """Whether the provider will refuse until somebody pays, whatever status it says so with."""
        return self.status == 402 or "insufficient_quota" in self.code

    @property
    def retryable(self) -> bool:
        """Whether the same request may well succeed a little later."""
        if self.kind != "status":
            return self.kind != "foreign"
        if self.out_of_money or self.status is None:
            return False
        return self.status in RETRIED or (self.status >= 500 and self.status not in NOT_RETRIED)


class Failed(Exception):
    """A fault on its way to the one place that decides what to do about it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


def reported(body: object, status: int | None, headers: Mapping[str, str]) -> Fault:
    """The fault that an error body tells of; `status` is that of the HTTP reply, if it was an error."""
    error = _error(body)
    code, kind = _text(error.get("code")), _text(error.get("type"))
    said = _text(error.get("message")) or _text(error.get("detail")) or _details(error.get("detail"))
    return Fault(
        kind="status",
        detail=_tidy(said or _text(error.get("error")) or code or kind),
        status=status if status is not None and status >= 400 else _status(error, f"{code} {kind}"),
        code=f"{code} {kind}".strip(),
        param=_text(error.get("param")),
        wait=asked_wait(headers),
    )


def _error(body: object) -> Mapping[str, object]:
    if isinstance(body, str):
        return {"message": body}
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    if isinstance(inner, Mapping):
        return inner
    return {"message": inner} if isinstance(inner, str) and "message" not in body else body


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _details(detail: object) -> str:
    """FastAPI's list of refused fields in words; what was sent there is left out."""
    if not isinstance(detail, list):
        return ""
    rows = [row for row in detail if isinstance(row, Mapping)]
    return "; ".join(f"{'.'.join(map(str, _list(row.get('loc'))))}: {row.get('msg')}" for row in rows)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _status(error: Mapping[str, object], words: str) -> int:
    for name in ("code", "status", "status_code", "http_status"):
        number = _text(error.get(name))
        if number.isdecimal() and 400 <= int(number) < 600:
            return int(number)
    found = (status for marks, status in WORDS if any(mark in words.lower() for mark in marks))
    return next(found, 500)


def _tidy(text: str) -> str:
    """A provider's words on one line, a web page reduced to its title."""
    title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    line = " ".join((title.group(1) if title else text).split())
    return line if len(line) <= 400 else line[:400] + " …"


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that Retry-After asks for: a number, or a date (measured against the reply's own Date)."""
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        return _until(asked, headers.get("date", ""))
    return max(seconds, 0.0) if seconds == seconds else None


def _until(asked: str, now: str) -> float | None:
    try:
        wait = parsedate_to_datetime(asked) - parsedate_to_datetime(now)
    except (TypeError, ValueError):
        return None
    return max(wait.total_seconds(), 0.0)


def reason(fault: Fault) -> str:
    """What happened, short enough for a line that is shown while waiting."""
    # A library's words for a lost connection ("incomplete chunked read") help nobody who is waiting.
    ours = {
        "network": "the server could not be reached",
        "refused": "nothing listens at its address",
        "timeout": "the server sent nothing in time",
        "cut": "the connection broke off",
    }
    usual = {
        "status": "the server gave no reason",
        "malformed": "the server sent something unreadable",
        "foreign": "the server speaks another language",
    }
    said = ours.get(fault.kind) or fault.detail or usual[fault.kind]
    return f"{said} ({fault.status})" if fault.status else said


def explain(fault: Fault, *, where: str, model: str, keyed: bool) -> str:
    """What happened, in the provider's words too, and what a person can do about it."""
    said = f": {fault.detail}" if fault.detail else ""
    if fault.kind != "status":
        return _explain_line(fault.kind, where, said)
    code = f"({fault.status})"
    if fault.context_exceeded:
        return (
            f"The prompt does not fit into the context of {model} {code} at {where}{said}. "
            "Shorten the text, keep less history, or choose a model with a larger context."
        )
    if fault.out_of_money:
        return f"The account has no credit left {code} at {where}{said}. Top it up or use another key."
    return _explain_status(fault.status or 0, f"{code} by {where}{said}", model, keyed)


def _explain_line(kind: Kind, where: str, said: str) -> str:
    if kind == "network":
        return f"{where} could not be reached{said}. Check that the server runs and the address is right."
    if kind == "refused":
        return (
            f"{where} could not be reached: nothing listens there. Start the server or correct the address."
        )
    if kind == "timeout":
        return f"{where} sent nothing in time{said}. Try again, or allow more time for this endpoint."
    if kind == "cut":
        return f"The connection to {where} broke off before the answer was complete{said}. Try again."
    return f"{where} sent something unreadable{said}. Check that this is the base URL of an OpenAI-style API."


def _explain_status(status: int, by: str, model: str, keyed: bool) -> str:
    if status == 401 and not keyed:
        return f"A key is asked for {by}. Set OPENAI_API_KEY or enter a key for this endpoint."
    if status == 401:
        return f"The key was refused {by}. Set OPENAI_API_KEY or enter another key."
    if status == 403:
        return f"Access was refused {by}. Check that this key may use {model}."
    if status == 404:
        return f"{model} was not found {by}. Check the model's name and the base URL (it often ends in /v1)."
    if status == 429:
        return f"Too many requests were made, said {by}. Wait a while, or use another key or model."
    if status >= 500:
        return f"The request failed on the server's side {by}. Try again later."
    return f"The request was refused {by}. Check the model's name and the settings of this endpoint."
