r"""Whether two short answers of mathematics are the same: same, different or unknown, and by which rule.

Spelling is read here (core.scoring.math_reading), single expressions are compared in a process that can be
killed (core.scoring.math_worker). Nothing here asks a model. The arguments may be swapped: every rule is
symmetric. What is a matter of policy, and why it is settled so:

- A unit on one side only is left aside (3 cm, 3): the question named it. Two units must agree or convert
  (18 cm is not 18 m; 180 mm is 18 cm). Two labels that are no known units (apples, pupils): unknown.
- A percent sign on one side only may be the share or the number before the sign: 12% is 12, and 50% is 1/2.
  So percentages do not make classes: 50 and 1/2 are both 50% and still different from each other.
- A number base on one side only is left aside too (47_8, 47): the question named it, and digits that agree
  by chance are rarer than a base left out (all six such pairs of MATH-500 answers are right ones). Two bases
  must agree, and 39 is not 47_8: notation is what such a question asks for.
- Ordinals: 12th is 12; the question says which of the two it wants. A name on one side only (x=5, 5) is left
  aside, two names must agree. Parentheses on one side only keep the order: (1,3) is 1,3 but not 3,1.
- A list without brackets is a set: 1,3 is 3,1 and \{1,3\}. Part of an answer is not the answer.
- Decimal fractions are exact (0.33 is not 1/3), except those of six or more places that are the correct
  rounding of the other side.
- Letters A to J alone are choices; words compare without case, articles and full stops.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from core.domain import Message, Score, Task
from core.scoring.answers import Found, find_answer
from core.scoring.math_reading import Reading, Unreadable, read
from core.scoring.math_worker import TOO_LONG, UNREADABLE, Worker, WorkerError, shared_worker

SECONDS = 5.0
"""The longest that one pair of answers may take, the start of the worker not counted."""


@dataclass(frozen=True)
class Verdict3:
    """Whether two answers are the same, and the rule that decided."""

    verdict: Literal["same", "different", "unknown"]
    rule: str


def _table(dimension: str, **factors: str) -> dict[str, tuple[str, Fraction]]:
    names = {}
    for spelled, factor in factors.items():
        names.update({name: (dimension, Fraction(factor)) for name in spelled.split("_")})
    return names


_UNITS = {
    **_table(
        "length", mm_millimeter_millimetre="1/1000", cm_centimeter_centimetre="1/100", m_meter_metre="1",
        km_kilometer_kilometre="1000", inch_in_inches="127/5000", foot_feet_ft="381/1250",
        yard_yd="1143/1250", mile_mi="201168/125",
    ),
    **_table("mass", mg_milligram="1/1000", g_gram="1", kg_kilogram="1000", pound_lb="45359237/100000"),
    **_table("time", second_sec_s="1", minute_min="60", hour_hr_h="3600", day="86400", week="604800"),
    **_table("angle", degree_deg="1"),
    **_table("dollars", cent="1/100", dollar_usd="1"),
    **_table("euros", euro_eur="1"),
}  # fmt: skip


def equal(gold: str, answer: str, *, worker: Worker | None = None, seconds: float | None = None) -> Verdict3:
    """Whether the two answers say the same, and the rule that decided; blocks for SECONDS at most."""
    if gold.strip() == answer.strip():
        return Verdict3("same", "identical text") if gold.strip() else Verdict3("unknown", "both empty")
    try:
        pair = read(gold), read(answer)
    except Unreadable as error:
        return Verdict3("unknown", f"{UNREADABLE}: {error}")
    return _Comparison(worker or shared_worker(), SECONDS if seconds is None else seconds).compare(*pair)


class _Comparison:
    """One pair of answers under one time limit."""

    def __init__(self, worker: Worker, seconds: float) -> None:
        self._worker = worker
        self._left = seconds

    def compare(self, gold: Reading, answer: Reading) -> Verdict3:
        kinds = {gold.kind, answer.kind}
        if gold.name and answer.name and gold.name != answer.name:
            return Verdict3("different", "other name")
        if "relation" in kinds:
            return self._relations(gold, answer)
        if kinds <= {"word", "choice"}:
            return _words(gold, answer)
        if kinds == {"clock"}:
            return _clocks(gold, answer)
        if kinds == {"value"}:
            return self._values(gold, answer)
        if gold.parts and answer.parts:
            return self._several(gold, answer)
        return self._mixed(gold, answer)

    def _mixed(self, gold: Reading, answer: Reading) -> Verdict3:
        """Two kinds of answer, of which one may be a way to write the other."""
        if "∪" in _joined(gold, answer):
            return self._ask(gold.body, answer.body)
        letter, value = sorted((gold, answer), key=lambda side: side.kind != "choice")
        if letter.kind == "choice" and value.kind == "value" and "\\" not in value.body:
            return self._ask(letter.body, value.body)
        if gold.parts or answer.parts:
            return Verdict3("different", "one answer against several")
        return Verdict3("different", f"a {gold.kind} against a {answer.kind}")

    def _relations(self, gold: Reading, answer: Reading) -> Verdict3:
        """An equation or inequality: with another one, or as the interval that it describes."""
        other = answer if gold.kind == "relation" else gold
        if other.kind == "relation" or other.kind == "tuple" or "∪" in _joined(gold, answer):
            return self._ask(gold.body, answer.body)
        if other.name:
            sides = (replace(side, body=_unnamed(side)) for side in (gold, answer))
            return self._ask(*(side.body for side in sides))
        return Verdict3("different", "a relation against a value")

    def _values(self, gold: Reading, answer: Reading) -> Verdict3:
        if gold.base and answer.base and gold.base != answer.base:
            return Verdict3("different", "number base")
        units = _units(gold, answer)
        if isinstance(units, Verdict3):
            found = self._ask(gold.body, answer.body)
            return found if found.verdict == "different" and units.verdict == "unknown" else units
        if gold.percent != answer.percent:
            return self._percent(*((answer, gold) if answer.percent else (gold, answer)))
        found = self._ask(
            *(_times(side.body, factor) for side, factor in zip((gold, answer), units, strict=True))
        )
        left_out = _left_out(gold, answer)
        return (
            Verdict3("same", f"{found.rule}, {left_out}") if left_out and found.verdict == "same" else found
        )

    def _percent(self, share: Reading, plain: Reading) -> Verdict3:
        found = self._ask(share.body, plain.body)
        if found.verdict == "same":
            return Verdict3("same", f"{found.rule}, percent sign left out")
        again = self._ask(_times(share.body, Fraction(1, 100)), plain.body)
        return Verdict3("same", f"{again.rule}, percentage as a share") if again.verdict == "same" else again

    def _several(self, gold: Reading, answer: Reading) -> Verdict3:
        if len(gold.parts) != len(answer.parts):
            return Verdict3("different", "number of parts")
        kinds = {gold.kind, answer.kind}
        if kinds <= {"list", "set"}:
            return self._unordered(gold.parts, list(answer.parts))
        if kinds == {"tuple", "set"} or (len(kinds) > 1 and kinds & {"matrix", "ratio"}):
            return Verdict3("different", f"a {gold.kind} against a {answer.kind}")
        if gold.brackets != answer.brackets and gold.brackets and answer.brackets:
            return Verdict3("different", "other brackets")
        if "ratio" in kinds:
            return self._ratios(gold.parts, answer.parts)
        return self._ordered(gold.parts, answer.parts)

    def _ordered(self, gold: Sequence[Reading], answer: Sequence[Reading]) -> Verdict3:
        found = [self.compare(*pair) for pair in zip(gold, answer, strict=True)]
        return _all(found, "part by part")

    def _unordered(self, gold: Sequence[Reading], left: list[Reading]) -> Verdict3:
        found = []
        for part in gold:
            tried = [self.compare(part, other) for other in left]
            best = min(range(len(left)), key=lambda place: _ORDER.index(tried[place].verdict))
            found.append(tried[best])
            del left[best]
        return _all(found, "part by part in any order")

    def _ratios(self, gold: Sequence[Reading], answer: Sequence[Reading]) -> Verdict3:
        crossed = [
            self._ask(f"{one.body} \\cdot {answer[0].body}", f"{other.body} \\cdot {gold[0].body}")
            for one, other in zip(gold, answer, strict=True)
        ]
        return _all(crossed, "proportion")

    def _ask(self, gold: str, answer: str) -> Verdict3:
        """The worker's verdict within the time that is left."""
        if gold.replace(" ", "") == answer.replace(" ", ""):
            return Verdict3("same", "same spelling")
        if self._left <= 0:
            return Verdict3("unknown", TOO_LONG)
        started = time.monotonic()
        try:
            return Verdict3(*self._worker.compare(gold, answer, seconds=self._left))
        except WorkerError as error:
            return Verdict3("unknown", str(error))
        finally:
            self._left -= time.monotonic() - started


_ORDER = ("same", "unknown", "different")


def _joined(*sides: Reading) -> str:
    return " ".join(side.body for side in sides).replace(r"\cup", "∪")


def _unnamed(side: Reading) -> str:
    return f"{side.name} = {side.body}" if side.name else side.body


def _times(body: str, factor: Fraction) -> str:
    return body if factor == 1 else rf"({body}) \cdot \frac{{{factor.numerator}}}{{{factor.denominator}}}"


def _words(gold: Reading, answer: Reading) -> Verdict3:
    if gold.kind != answer.kind:
        return Verdict3("different", f"a {gold.kind} against a {answer.kind}")
    return Verdict3("same" if gold.body == answer.body else "different", gold.kind)


def _clocks(gold: Reading, answer: Reading) -> Verdict3:
    halves = gold.unit != answer.unit and gold.unit and answer.unit
    return Verdict3("different" if halves or gold.body != answer.body else "same", "clock")


def _all(found: Sequence[Verdict3], rule: str) -> Verdict3:
    """Same when all parts are; else the worst part's verdict with its rule."""
    worst = max(found, key=lambda one: _ORDER.index(one.verdict), default=Verdict3("same", "empty"))
    return worst if worst.verdict != "same" else Verdict3("same", rule)


def _left_out(gold: Reading, answer: Reading) -> str:
    """What only one side says, in words; empty when both say the same."""
    said = {
        "base left out": bool(gold.base) != bool(answer.base),
        "unit left out": bool(gold.unit) != bool(answer.unit),
        "ordinal as a number": gold.ordinal != answer.ordinal,
        "name left out": bool(gold.name) != bool(answer.name),
    }
    return ", ".join(words for words, differs in said.items() if differs)


def _known(unit: str) -> tuple[str, Fraction] | None:
    """The dimension and size of a unit, with its power."""
    word, _, power = unit.lower().partition("^")
    for prefix, exponent in (("square ", "2"), ("cubic ", "3"), ("sq ", "2"), ("cu ", "3")):
        if word.startswith(prefix):
            word, power = word.removeprefix(prefix), exponent
    found = _UNITS.get(word) or _UNITS.get(word.removesuffix("s"))
    if found is None or not (power or "1").isdigit():
        return None
    return f"{found[0]}^{power or 1}", found[1] ** int(power or 1)


def _units(gold: Reading, answer: Reading) -> tuple[Fraction, Fraction] | Verdict3:
    """What to multiply the two sides with, or the verdict that their units decide."""
    one = Fraction(1)
    if not gold.unit or not answer.unit or gold.unit.lower() == answer.unit.lower():
        return one, one
    known = _known(gold.unit), _known(answer.unit)
    if known[0] is None or known[1] is None:
        return Verdict3("unknown", f"units not known: {gold.unit}, {answer.unit}")
    if known[0][0] != known[1][0]:
        return Verdict3("different", "other kind of unit")
    return known[0][1], known[1][1]


class MathEquivalence:
    """1 when the text's answer is the reference's (Task.reference), 0 when it differs, else not scored.

    Of several boxed answers the last counts, unless the reference is a list: then all do.
    """

    name = "math_equivalence"

    def __init__(self, worker: Worker | None = None) -> None:
        self._worker = worker

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order, each with the rule that decided in `why`."""
        return tuple([await asyncio.to_thread(self._score, task.reference, text) for text in texts])

    def _score(self, reference: str, text: str) -> Score:
        gold = find_answer(reference)
        if not gold.answers:
            return Score(self.name, None, "The task has no reference answer to compare with.")
        found = find_answer(text)
        if not found.answers:
            return Score(self.name, None, "No answer was found in the text.")
        shown = _candidate(gold, found)
        verdict = equal(
            gold.answers[-1] if len(gold.answers) == 1 else ", ".join(gold.answers),
            shown,
            worker=self._worker,
        )
        words = f"{shown} is {_SAYS[verdict.verdict]} the reference (rule: {verdict.rule}; {found.rule})"
        value = {"same": 1.0, "different": 0.0, "unknown": None}[verdict.verdict]
        return Score(self.name, value, words, "the reference answer")


_SAYS = {"same": "the same as", "different": "different from", "unknown": "not comparable with"}


def _candidate(gold: Found, found: Found) -> str:
    """The answer to compare: all of several boxes for a list, else the last one."""
    if len(found.answers) == 1:
        return found.answers[0]
    try:
        wanted = read(", ".join(gold.answers))
    except Unreadable:
        return found.answers[-1]
    return ", ".join(found.answers) if wanted.kind in ("list", "set") else found.answers[-1]
