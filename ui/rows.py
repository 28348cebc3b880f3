"""The rounds of a session as the board shows them: drafts, critiques, revisions and their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.audit import quotes_changed
from core.diff import line_ends_only
from core.domain import Critique, Decision, Draft, Point, Score, Settings, Verdict
from core.gates import PUTS_IN_PLACE
from core.history import Attempt, Round, Story
from core.scoring.catalog import SCORERS
from core.steps import Ask, Measure, Request, Step
from ui.marks import pieces

View = dict[str, Any]

LABELS = {
    "logprob": "logprob",
    "generation_logprob": "logprob as generated",
    "self_evaluation": "self-evaluation",
    "math_equivalence": "equals the reference",
    "unit_tests": "tests passed",
}
HELP = {
    **SCORERS,
    "generation_logprob": "how likely its tokens were when they were written (mean); never used by a gate",
}
FLAG_WORDS = {"meta-text": "a remark about the text", "filtered": "stopped by a filter"}
LINE_ENDS = "Only the ends of lines differ (how a line break is written); no word is changed."
RULINGS = {
    "accept": "Accepted",
    "reject": "Not accepted",
    "edit": "Replaced by a text of their own",
    "hunks": "Accepted in part",
    "retry": "Asked again",
    "stop": "Stopped",
    "pick": "Picked",
    "merge": "Put together of several",
    "synthesise": "One text to be written from them: asked for",
}


@dataclass(frozen=True)
class Drawing:
    """What drafts need to know of their session to be shown."""

    settings: Settings
    steps: Sequence[Step]
    tokens: Mapping[str, tuple[tuple[int, int], ...]]

    def draft(self, draft: Draft, before: Draft | None = None) -> View:
        """A draft with its marks; scores change against `before`."""
        return {
            "text": draft.text,
            "by": draft.by,
            "flags": [FLAG_WORDS.get(flag, flag) for flag in draft.flags],
            "scores": [_score(score, before) for score in draft.scores],
            "heat": self._heat(draft),
        }

    def _heat(self, draft: Draft) -> list[View]:
        """Where its tokens are, under each label once: texts that are equal share theirs."""
        found = {self._source(step): (step, which) for step, which in reversed(self._tokens_of(draft))}
        return [{"step": s, "which": w, "label": label} for label, (s, w) in reversed(found.items())]

    def _tokens_of(self, draft: Draft) -> list[tuple[int, int]]:
        """Where this draft's tokens are; only a model's text has any from its writing."""
        by_model = draft.by == "model"
        found = self.tokens.get(draft.text, ())
        return [(s, w) for s, w in found if _measures(self.steps[s]) or (by_model and _writes(self.steps[s]))]

    def _source(self, step: int) -> str:
        measured = isinstance(self.steps[step].request, Measure)
        return "given the task alone" if measured else "as generated"

    def row(self, r: Round) -> View:
        """One round."""
        return {
            "number": r.number,
            "name": f"Round {r.number}",
            "single": False,
            "base": self.draft(r.base),
            "replaced": [self.draft(draft) for draft in r.replaced],
            "attempts": [self._attempt(attempt, r) for attempt in r.attempts],
        }

    def only(self, draft: Draft | None, name: str, *, single: bool) -> View:
        """A row that has no critique yet, or never will."""
        base = self.draft(draft) if draft else None
        return {
            "number": 1,
            "name": name,
            "single": single,
            "base": base,
            "replaced": [],
            "attempts": [],
        }

    def _attempt(self, attempt: Attempt, r: Round) -> View:
        written, base = attempt.written, r.base
        return {
            "proposed": {
                **self.draft(attempt.proposed, base),
                "pieces": pieces(base.text, attempt.proposed.text),
            },
            "remark": LINE_ENDS if line_ends_only(base.text, attempt.proposed.text) else "",
            "verdict": _verdict(attempt.verdict) if attempt.verdict else "",
            "ruling": attempt.decision.ruling if attempt.decision else "",
            "ruled": ruled(attempt.decision) if attempt.decision else "",
            "written": {**self.draft(written, base), "pieces": pieces(base.text, written.text)}
            if written
            else None,
            "gate": attempt.gate,
            "position": attempt.position,
            "audit": _audit(r, attempt),
        }

    def critique(self, r: Round) -> View | None:
        """The critique of a round, None where there is none yet; `position` is the step that brought it."""
        asked = [i for i, step in enumerate(self.steps) if _criticises(step, r.number)]
        found = _critique(r)
        return found and {**found, "position": asked[-1] if asked else None}


def _verdict(verdict: Verdict) -> str:
    would = {
        True: "The policy would accept it.",
        False: "The policy would not accept it.",
        None: "The policy can't tell.",
    }
    return f"{would[verdict.accept]} {verdict.reason[:1].upper()}{verdict.reason[1:]}"


def _audit(r: Round, attempt: Attempt) -> list[View]:
    """What became of each agreed point, by the critic's word and by the words that it quotes."""
    quotes = quotes_changed(r.points, r.base.text, attempt.proposed.text)
    said = attempt.audit or (None,) * len(quotes)
    words = zip(r.points, said, quotes, strict=False)
    return [
        {"point": point.problem or point.action, "met": met, "words": changed}
        for point, met, changed in words
        if met is not None or changed is not None
    ]


def _measures(step: Step) -> bool:
    return isinstance(step.request, Measure)


def _writes(step: Step) -> bool:
    return isinstance(step.request, Ask) and step.request.role in ("draft", "revise", "synthesise")


def _criticises(step: Step, number: int) -> bool:
    return isinstance(step.request, Ask) and (step.request.role, step.request.round) == ("critique", number)


def _score(score: Score, before: Draft | None) -> View:
    details = ", ".join(f"{name} {value:.4g}" for name, value in score.details)
    return {
        "label": LABELS.get(score.scorer, score.scorer),
        "help": f"{HELP.get(score.scorer, score.scorer)}.",
        "value": score.value,
        "change": _change(score, before.score(score.scorer) if before else None),
        "why": score.why,
        "condition": score.condition,
        "details": f"({details})" if details else "",
    }


def _change(new: Score, old: Score | None) -> float | None:
    """The difference, where both are known and the scorer's condition is one and the same for all texts."""
    if old is None or old.condition != new.condition or new.scorer == "generation_logprob":
        return None
    return None if new.value is None or old.value is None else new.value - old.value


def ruled(decision: Decision) -> str:
    """A ruling in words."""
    count = f" ({counted(len(decision.hunks), 'change')})" if decision.ruling == "hunks" else ""
    why = f": {decision.note or decision.why}" if decision.note or decision.why else ""
    return f"{RULINGS[decision.ruling]}{count} by {decision.by}{why}"


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _critique(r: Round) -> View | None:
    if r.critique is None:
        plain: View = {"raw": r.raw_critique, "points": [], "verdict": "", "ruled": "", "gate": None}
        return plain if r.raw_critique else None
    agreed = r.agreed.points if r.agreed else None
    kept = r.critique.points if agreed is None else agreed
    points = [point_view(p, kept=p in kept) for p in r.critique.points]
    points += [point_view(p, kept=True) for p in kept if p not in r.critique.points]
    return {
        "raw": r.critique.raw,
        "points": points,
        "verdict": critic_verdict(r.critique),
        "ruled": _agreement(r.agreed) if r.agreed else "",
        "gate": r.gate,
    }


def _agreement(decision: Decision) -> str:
    if decision.ruling != "accept":
        return ruled(decision)
    chosen = "" if decision.points is None else f": {counted(len(decision.points), 'point')} followed"
    return f"Agreed by {decision.by}{chosen}"


def critic_verdict(critique: Critique) -> str:
    """What the critic concluded, and how it said so."""
    verdict = {
        True: "The critic says: done.",
        False: "The critic says: revise.",
        None: "The critic gave no verdict.",
    }
    form = "" if critique.structured else " Its free text was taken as one point."
    return verdict[critique.done] + form


def point_view(point: Point, *, kept: bool) -> View:
    """A point of a critique."""
    return {
        "problem": point.problem,
        "action": point.action,
        "quote": point.quote,
        "severity": point.severity,
        "by": point.by,
        "kept": kept,
    }


def rows(drawing: Drawing, story: Story, waiting: Request | None, *, direct: bool) -> dict[str, View | None]:
    """Parts of the view: `row i` and `critique i` of every round, the one that is only beginning included."""
    rounds = list(story.rounds)
    among_candidates = bool(story.pools) and story.pools[-1].open
    new = waiting is not None and waiting.round and (not rounds or rounds[-1].number != waiting.round)
    begins = new and not among_candidates
    if begins and waiting is not None:
        rounds.append(Round(waiting.round, story.current or Draft("")))
    if not rounds and story.pools:
        return {}
    if not rounds:
        only = drawing.only(story.first, "Draft" if direct else "Round 1", single=direct)
        return {"row 0": only, "critique 0": None}
    parts: dict[str, View | None] = {}
    for i, each in enumerate(rounds):
        parts |= {f"row {i}": drawing.row(each), f"critique {i}": drawing.critique(each)}
    return parts


def chart(story: Story, scorer: str | None) -> View | None:
    """The gate's score by round: each text's value, and whether it stood."""
    if scorer is None or story.first is None:
        return None
    points = [] if story.pools else [{"round": 0, "value": story.first.value(scorer), "kept": True}]
    for pool in story.pools:
        stood = {draft.text for draft in pool.chosen}
        points += [
            {"round": pool.number, "value": each.draft.value(scorer), "kept": each.draft.text in stood}
            for each in pool.candidates.values()
            if not pool.final
        ]
    for r in story.rounds:
        if r.replaced:
            points.append({"round": r.number - 1, "value": r.base.value(scorer), "kept": True})
        for attempt in r.attempts:
            kept = attempt.decision is not None and attempt.decision.ruling in PUTS_IN_PLACE
            points.append({"round": r.number, "value": attempt.settled.value(scorer), "kept": kept})
    known = [point for point in points if point["value"] is not None]
    return {"scorer": LABELS.get(scorer, scorer), "points": known} if len(known) > 1 else None
