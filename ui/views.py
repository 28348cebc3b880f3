"""What the board shows of a session, as plain JSON values: words and order are decided here.

Knows no widget. Texts of models and people stay texts; the board puts them into the page as such.
"""

from __future__ import annotations

import time
from typing import Any

from core.diff import diff
from core.domain import Critique, Decision, Draft, Outcome, Point, Score
from core.engine import Finished, HistoryMismatch, Pending, Place
from core.history import Attempt, Round, Story, tell
from core.preset_schema import PresetError
from core.runs import Live
from core.scoring.catalog import SCORERS
from core.sessions import Session
from core.spending import Spent
from core.steps import Ask, CritiqueGate, Measure, Request, RevisionGate
from core.workbench import Workbench

View = dict[str, Any]

LABELS = {
    "logprob": "logprob",
    "generation_logprob": "logprob as generated",
    "self_evaluation": "self-check",
    "heuristic": "heuristic",
}
HELP = {
    **SCORERS,
    "generation_logprob": "how likely its tokens were when they were written (mean); never used by a gate",
}
DOING = {"draft": "Drafting", "critique": "Reading critically", "revise": "Revising", "judge": "Judging"}


def session_view(bench: Workbench, session: Session, live: Live) -> View:
    """Everything that the board shows of the session as it stands now."""
    place, problem = _place(bench, session)
    waiting = place.request if isinstance(place, Pending) else None
    price = session.recipe.settings.price
    story = tell(session.steps, waiting, source=session.task.input, price=price)
    rows = _rows(story, session, waiting)
    return {
        "title": session.title,
        "mode": session.mode,
        "state": _state(place, live),
        "problem": problem or live.problem or session.problem,
        "notice": live.notice,
        "doing": _doing(session, place, live),
        "running_seconds": time.monotonic() - live.began if live.doing else 0,
        "figures": _figures(story.spent, price is not None),
        "position": len(session.steps),
        "passage": live.passage,
        "round": _round(waiting),
        "streaming": waiting.role if live.running and isinstance(waiting, Ask) else None,
        "gate": _gate(waiting),
        "notes": list(dict.fromkeys(note for _, note in story.notes)),
        "rows": rows,
        "outcome": _outcome(place.outcome) if isinstance(place, Finished) else None,
    }


def _place(bench: Workbench, session: Session) -> tuple[Place | None, str]:
    try:
        return bench.place(session), ""
    except (HistoryMismatch, PresetError) as error:
        return None, str(error)


def _state(place: Place | None, live: Live) -> str:
    if isinstance(place, Finished):
        return "ended"
    if live.running:
        return "running"
    if isinstance(place, Pending):
        return "paused" if isinstance(place.request, Ask | Measure) else "waiting"
    return "unreadable"


def _round(waiting: Request | None) -> int | None:
    return waiting.round if waiting is not None else None


def _doing(session: Session, place: Place | None, live: Live) -> str:
    if isinstance(place, Finished):
        return f"Ended: {place.outcome.reason}."
    if place is None:
        return "This session can be read but not continued."
    rounds = session.recipe.settings.rounds
    where = f"round {place.request.round} of {rounds}" if place.request.round else "first draft"
    return f"{_activity(session, place.request, live)} · {where}"


def _activity(session: Session, request: Request, live: Live) -> str:
    if isinstance(request, CritiqueGate):
        return "Waiting for you: which points shall the revision follow?"
    if isinstance(request, RevisionGate):
        return "Waiting for you: accept the revision?"
    if not live.running:
        return "Not running. Continue goes on at this step"
    if isinstance(request, Measure):
        return f"Scoring ({', '.join(LABELS.get(name, name) for name in request.scorers)})"
    return f"{DOING[request.role]} with {session.recipe.model_for(request.role)}"


def _figures(spent: Spent, priced: bool) -> str:
    calls = _count(spent.calls, "call")
    tokens = f"{spent.prompt_tokens:,} tokens read ({spent.cached_tokens:,} from cache), "
    tokens += f"{spent.completion_tokens:,} written"
    uncounted = f" ({spent.uncounted} calls reported none)" if spent.uncounted else ""
    money = f" · cost {spent.money:.4f}" if priced else ""
    return f"{calls} · {tokens}{uncounted} · {spent.seconds:.1f} s of model time{money}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


# -- rows ---------------------------------------------------------------------------------------


def _rows(story: Story, session: Session, waiting: Request | None) -> list[View]:
    rounds = list(story.rounds)
    begins = waiting is not None and waiting.round and (not rounds or rounds[-1].number != waiting.round)
    if begins and waiting is not None:
        rounds.append(Round(waiting.round, _standing(story)))
    if not rounds:
        name = "Draft" if session.recipe.strategy == "direct" else "Round 1"
        single = session.recipe.strategy == "direct"
        return [_row_of(1, name, story.first, None, [], single=single)]
    return [_row(r, session) for r in rounds]


def _standing(story: Story) -> Draft:
    """The draft that is current after all that happened."""
    current = story.first or Draft("")
    for attempt in (attempt for r in story.rounds for attempt in r.attempts):
        if attempt.decision is not None and attempt.decision.ruling in ("accept", "edit"):
            current = attempt.settled
    return current


def _row(r: Round, session: Session) -> View:
    attempts = [_attempt(attempt, r.base) for attempt in r.attempts]
    return _row_of(r.number, f"Round {r.number}", r.base, _critique(r), attempts)


def _row_of(
    number: int,
    name: str,
    base: Draft | None,
    critique: View | None,
    attempts: list[View],
    *,
    single: bool = False,
) -> View:
    return {
        "number": number,
        "name": name,
        "single": single,
        "base": _draft(base) if base else None,
        "critique": critique,
        "attempts": attempts,
    }


def _draft(draft: Draft, before: Draft | None = None) -> View:
    return {
        "text": draft.text,
        "by": draft.by,
        "flags": list(draft.flags),
        "scores": [_score(score, before) for score in draft.scores],
    }


def _score(score: Score, before: Draft | None) -> View:
    old = before.score(score.scorer) if before else None
    same = old is not None and old.condition == score.condition
    known = same and old is not None and old.value is not None and score.value is not None
    change = (
        score.value - old.value
        if known and old and old.value is not None and score.value is not None
        else None
    )
    details = ", ".join(f"{name} {value:.4g}" for name, value in score.details)
    return {
        "label": LABELS.get(score.scorer, score.scorer),
        "help": f"{HELP.get(score.scorer, score.scorer)}.",
        "value": score.value,
        "change": change,
        "why": score.why,
        "condition": score.condition,
        "details": f"({details})" if details else "",
    }


def _attempt(attempt: Attempt, base: Draft) -> View:
    proposed = _draft(attempt.proposed, base)
    pieces = diff(base.text, attempt.proposed.text)
    return {
        "proposed": {**proposed, "diff": [[piece.kind, piece.text] for piece in pieces]},
        "verdict": f"Gate: {attempt.verdict.reason}" if attempt.verdict else "",
        "ruling": attempt.decision.ruling if attempt.decision else "",
        "ruled": _ruled(attempt.decision) if attempt.decision else "",
        "written": _draft(attempt.written, base) if attempt.written else None,
    }


RULINGS = {
    "accept": "Accepted",
    "reject": "Not accepted",
    "edit": "Replaced by a text of their own",
    "retry": "Asked again",
    "stop": "Stopped",
}


def _ruled(decision: Decision) -> str:
    why = f": {decision.note or decision.why}" if decision.note or decision.why else ""
    return f"{RULINGS[decision.ruling]} by {decision.by}{why}"


def _critique(r: Round) -> View | None:
    if r.critique is None:
        return {"raw": r.raw_critique, "points": [], "verdict": "", "ruled": ""} if r.raw_critique else None
    agreed = r.agreed.points if r.agreed else None
    kept = r.critique.points if agreed is None else agreed
    points = [_point(p, kept=p in kept) for p in r.critique.points]
    points += [_point(p, kept=True) for p in kept if p not in r.critique.points]
    return {
        "raw": r.critique.raw,
        "points": points,
        "verdict": _verdict_words(r.critique),
        "ruled": _critique_ruling(r.agreed) if r.agreed else "",
    }


def _critique_ruling(decision: Decision) -> str:
    if decision.ruling != "accept":
        return _ruled(decision)
    chosen = "" if decision.points is None else f": {_count(len(decision.points), 'point')} followed"
    return f"Agreed by {decision.by}{chosen}"


def _verdict_words(critique: Critique) -> str:
    verdict = {
        True: "The critic says: done.",
        False: "The critic says: revise.",
        None: "The critic gave no verdict.",
    }
    form = "" if critique.structured else " Its free text was taken as one point."
    return verdict[critique.done] + form


def _point(point: Point, *, kept: bool) -> View:
    return {
        "problem": point.problem,
        "action": point.action,
        "quote": point.quote,
        "severity": point.severity,
        "by": point.by,
        "kept": kept,
    }


# -- gates and the end --------------------------------------------------------------------------


def _gate(waiting: Request | None) -> View | None:
    if isinstance(waiting, CritiqueGate):
        critique = waiting.critique
        hint = "Tick the points that the revision shall follow. You can edit them and add your own."
        return {
            "kind": "critique",
            "done": bool(critique.done),
            "hint": f"{_verdict_words(critique)} {hint}",
            "points": [_point(point, kept=True) for point in critique.points],
        }
    if isinstance(waiting, RevisionGate):
        return {"kind": "revision", "text": waiting.proposed.text}
    return None


def _outcome(outcome: Outcome) -> View:
    text = outcome.draft.text if outcome.draft else None
    return {"text": text, "why": f"Ended because {outcome.reason}. {outcome.why_best}"}
