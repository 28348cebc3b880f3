"""What a study asks and by which rules: a value that is frozen, with its SHA-256, when the study opens.

Knows neither items nor raters. System names stand in it (pairs, the closing question), so it is the owner's:
raters get only what core.studies.blinding lets through.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from core.studies.votes import Choice

ExclusionRule = Literal["gold", "attention", "retest", "one_sided", "too_fast", "unfinished"]
EXCLUSION_RULES: dict[ExclusionRule, str] = {
    "gold": "right answers to gold items, at least this share (0 to 1)",
    "attention": "attention items missed, at most this many",
    "retest": "same answers when asked again, at least this share (0 to 1)",
    "one_sided": "answers for one side, at most this share of ten or more (0.5 to 1)",
    "too_fast": "active time of a vote, at least this many seconds",
    "unfinished": "answers of a rater, at least this many",
}
_SHARES = ("gold", "retest", "one_sided")


class BadStudy(ValueError):
    """A study can't be made, changed or read like this; the message says what to do."""


@dataclass(frozen=True)
class Exclusion:
    """A rule, said beforehand, by which votes are marked; `limit` as in EXCLUSION_RULES."""

    rule: ExclusionRule
    limit: float


@dataclass(frozen=True)
class StudyProtocol:
    """Everything that shapes what raters are asked and how it is counted.

    `target` votes are wanted for each pairing. `pairs` are pairs of system names (none: all pairs). Shares
    are of a rater's answers. `per_rater` and `stop_votes` are limits (0: none), `stop_at` a moment in ISO
    form with its zone. A pair that is not answered within `reserve_minutes` goes back. `closing_question` is
    asked about one pair at the end; its right answer is the side of `closing_system`. `preference` and
    `power` are what was planned for; `seed` drives every order that is not secret.
    """

    question: str = "Which text is better?"
    instructions: str = ""
    consent: str = ""
    criteria: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ("left", "right", "tie", "both_bad", "skip")
    ask_strength: bool = False
    ask_reason: bool = False
    target: int = 3
    pairs: tuple[tuple[str, str], ...] = ()
    per_rater: int = 0
    gold_share: float = 0.0
    attention_share: float = 0.0
    retest_share: float = 0.0
    reserve_minutes: float = 30.0
    exclusions: tuple[Exclusion, ...] = ()
    stop_votes: int = 0
    stop_at: str = ""
    aliases: tuple[str, ...] = ()
    completion_code: str = ""
    return_url: str = ""
    closing_question: str = ""
    closing_system: str = ""
    preference: float = 0.6
    power: float = 0.8
    both_bad: Literal["tie", "dropped"] = "tie"
    draws: int = 1000
    seed: int = 0


def canonical(protocol: StudyProtocol) -> str:
    """The protocol as JSON that is the same wherever it is written: keys sorted, ASCII, no spaces."""
    return json.dumps(asdict(protocol), sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def protocol_hash(protocol: StudyProtocol) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal digits."""
    return fingerprint(canonical(protocol))


def read_protocol(values: Mapping[str, Any]) -> StudyProtocol:
    """The protocol with these settings, the others as usual. Raises BadStudy, naming the setting."""
    from pydantic import TypeAdapter, ValidationError

    unknown = set(values) - {field.name for field in fields(StudyProtocol)}
    if unknown:
        known = ", ".join(field.name for field in fields(StudyProtocol))
        raise BadStudy(f"The protocol has no setting {min(unknown)!r}. There are: {known}.")
    try:
        protocol: StudyProtocol = TypeAdapter(StudyProtocol).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadStudy(f"The protocol's setting {place} can't be read: {first['msg']}.") from error
    check_protocol(protocol)
    return protocol


def load_protocol(text: str) -> StudyProtocol:
    """The protocol that is written in this JSON. Raises BadStudy."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise BadStudy(f"The protocol is no JSON: {error}.") from error
    if not isinstance(values, dict):
        raise BadStudy("The protocol must be one JSON object of settings.")
    return read_protocol(values)


def check_protocol(protocol: StudyProtocol) -> None:
    """Raises BadStudy for settings that make no study."""
    if not protocol.question.strip():
        raise BadStudy("The protocol has no question. Say what raters are to judge.")
    if not {"left", "right"} <= set(protocol.choices) or len(set(protocol.choices)) < len(protocol.choices):
        raise BadStudy("The choices need left and right, and each of them once.")
    _check_texts(protocol)
    _check_numbers(protocol)
    for exclusion in protocol.exclusions:
        _check_exclusion(exclusion)
    _check_stop(protocol.stop_at)
    url = urlsplit(protocol.return_url)
    if protocol.return_url and (url.scheme not in ("http", "https") or not url.netloc):
        raise BadStudy("The return URL must begin with https:// or http://.")
    if bool(protocol.closing_question) != bool(protocol.closing_system):
        raise BadStudy("The closing question needs the system that it is about, and the other way round.")


def _check_texts(protocol: StudyProtocol) -> None:
    """No database holds these, and half a pair has no UTF-8 to make a hash of."""
    for name, value in asdict(protocol).items():
        if any(re.search("[\x00\ud800-\udfff]", text) for text in _strings(value)):
            raise BadStudy(f"The protocol's setting {name} has a NUL character or half of a surrogate pair.")
    for name in ("criteria", "aliases"):
        values = getattr(protocol, name)
        if any(not value.strip() for value in values) or len(set(values)) < len(values):
            raise BadStudy(f"The {name} must be different and not empty.")


def _strings(value: object) -> Iterator[str]:
    """The texts in a setting."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _strings(part)


def _check_numbers(protocol: StudyProtocol) -> None:
    least = {"target": 1, "per_rater": 0, "stop_votes": 0, "draws": 0}
    for name, limit in least.items():
        if getattr(protocol, name) < limit:
            raise BadStudy(f"The protocol's setting {name} must be {limit} at least.")
    shares = (protocol.gold_share, protocol.attention_share, protocol.retest_share)
    if not all(0 <= share < 1 for share in shares) or sum(shares) > 0.5:
        raise BadStudy("The shares of gold, attention and retest items must be from 0 to 0.5 together.")
    if not 0 < protocol.reserve_minutes <= 7 * 24 * 60:
        raise BadStudy("A pair must stay reserved for more than 0 minutes and a week at most.")
    if not 0.5 < protocol.preference < 1 or not 0 < protocol.power < 1:
        raise BadStudy("The planned preference must lie between 0.5 and 1, the power between 0 and 1.")


def _check_exclusion(exclusion: Exclusion) -> None:
    fits = math.isfinite(exclusion.limit) and exclusion.limit >= (0.5 if exclusion.rule == "one_sided" else 0)
    if not fits or (exclusion.rule in _SHARES and exclusion.limit > 1):
        raise BadStudy(f"The limit of {exclusion.rule} can't be {exclusion.limit}: it counts "
                       f"{EXCLUSION_RULES[exclusion.rule]}.")  # fmt: skip


def _check_stop(moment: str) -> None:
    try:
        if moment and datetime.fromisoformat(moment).tzinfo is None:
            raise ValueError("no time zone")
    except ValueError as error:
        raise BadStudy(
            f"stop_at must be a moment such as 2026-12-24T18:00:00+01:00, not {moment!r} ({error})."
        ) from error
