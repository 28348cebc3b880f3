"""A session as a document: JSON (everything), Markdown and HTML (to read). Knows no file."""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict
from string import Template
from typing import Any, Literal

from core.domain import Draft, Outcome
from core.engine import Finished, Place
from core.history import Attempt, Round, Story, story_of
from core.interchange import SESSION, VERSION, Kept
from core.pools import Pool
from core.sessions import Session

Form = Literal["json", "md", "html"]


def export(session: Session, place: Place | None, form: Form, kept: Kept | None = None) -> str:
    """The session in that form; `place` is None where it can only be read any more.

    JSON tells with `kept` when each step was recorded; without it an import takes the session's moment.
    """
    story = story_of(session, place)
    outcome = place.outcome if isinstance(place, Finished) else None
    if form == "json":
        return to_json(document(session, place, story, kept))
    return to_markdown(session, outcome, story) if form == "md" else to_html(session, outcome, story)


def document(session: Session, place: Place | None, story: Story, kept: Kept | None = None) -> dict[str, Any]:
    """Everything that is kept of the session, and where it stands, as JSON values that can be imported."""
    outcome = place.outcome if isinstance(place, Finished) else None
    times = [{"at": at.isoformat()} for at in kept.times] if kept else [{} for _ in session.steps]
    return {
        "format": SESSION,
        "version": VERSION,
        "session": session.id,
        "title": session.title,
        "created_at": session.created_at.isoformat(),
        "parent": session.parent,
        "task": asdict(session.task),
        "recipe": asdict(session.recipe),
        "mode": session.mode,
        "steps": [{"position": i, **times[i], **asdict(step)} for i, step in enumerate(session.steps)],
        "spent": asdict(story.spent),
        "notes": [note for _, note in story.notes],
        "problem": session.problem,
        "ending": kept.ending if kept else outcome.reason if outcome else "",
        **(asdict(kept.marks) if kept else {}),
        "outcome": asdict(outcome) if outcome else None,
    }


def to_json(document: dict[str, Any]) -> str:
    """Strict JSON, ASCII only, so that no reader of lines or of old encodings stumbles."""
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)


def to_markdown(session: Session, outcome: Outcome | None, story: Story) -> str:
    """The session to read, texts in fences that no text can close."""
    lines = [f"# {_inline(session.title)}", "", f"Model {_inline(session.recipe.model)}, "
             f"strategy {session.recipe.strategy}, {session.created_at:%Y-%m-%d %H:%M} UTC.", ""]  # fmt: skip
    for heading, text, remark in _passages(session, outcome, story):
        lines += [f"## {_inline(heading)}", ""]
        lines += [_fenced(text), ""] if text is not None else []
        lines += [_inline(remark), ""] if remark else []
    return "\n".join(lines)


def to_html(session: Session, outcome: Outcome | None, story: Story) -> str:
    """The session as one HTML file without scripts or foreign resources."""
    parts = [f"<h1>{_safe(session.title)}</h1>"]
    for heading, text, remark in _passages(session, outcome, story):
        parts.append(f"<h2>{_safe(heading)}</h2>")
        if text is not None:
            # A reader drops one line end right after <pre>: this one, not the text's own.
            parts.append(f"<pre>\n{_safe(text)}</pre>")
        if remark:
            parts.append(f"<p>{_safe(remark)}</p>")
    return _PAGE.substitute(title=_safe(session.title), body="\n".join(parts))


def _safe(text: str) -> str:
    """The text as HTML that reads as exactly the text; a bare \\r would be read as \\n."""
    return html.escape(text).replace("\r", "&#13;")


_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:16px/1.55 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
h1,h2,pre,p{overflow-wrap:anywhere}pre,p{white-space:pre-wrap}
pre{border-left:3px solid #0f766e;padding-left:1rem;font:inherit}
@media (prefers-color-scheme:dark){body{background:#1c1917;color:#f5f5f4}}</style></head>
<body>
$body
</body></html>
""")


Passage = tuple[str, str | None, str]


def _passages(session: Session, outcome: Outcome | None, story: Story) -> list[Passage]:
    """(heading, text, remark) from the task to the outcome."""
    passages: list[Passage] = [("Task", session.task.input, session.task.instruction or session.task.target)]
    if story.first is not None and not story.pools:
        passages.append(("First draft", story.first.text, _scores(story.first)))
    for pool in story.pools:
        passages += [] if pool.final else _pool(pool)
    for each in story.rounds:
        passages += _round(each)
    for pool in story.pools:
        passages += [("The choice among all that was seen", None, _choice(pool))] if pool.final else []
    if outcome is not None and outcome.draft is not None:
        passages.append(
            ("Outcome", outcome.draft.text, f"Ended because {outcome.reason}. {outcome.why_best}")
        )
    elif outcome is not None:
        passages.append(("Outcome", None, f"Ended because {outcome.reason}. {outcome.why_best}"))
    else:
        passages.append(("Not ended", None, session.problem or "It can be gone on with."))
    return passages


def _pool(pool: Pool) -> list[Passage]:
    name = f"Round {pool.number}: " if pool.number else ""
    passages: list[Passage] = []
    for number, each in pool.candidates.items():
        by = " (written from the others)" if each.made == "synthesis" else ""
        remark = " ".join(filter(None, [_scores(each.draft), each.critique and f"After: {each.critique}"]))
        if each.made != "kept":
            passages.append((f"{name}candidate {number + 1}{by}", each.draft.text, remark))
    if pool.grouped is not None:
        votes = (f"{pool.grouped.answers[c[0]]}: {len(c)}" for c in pool.grouped.classes)
        passages.append((f"{name}votes", "\n".join(votes), ""))
    passages.append((f"{name}choice", pool.written.text if pool.written else None, _choice(pool)))
    return passages


def _choice(pool: Pool) -> str:
    reason = pool.choice.reason if pool.choice else "Nothing is chosen yet."
    decision = pool.decision
    if decision is None:
        return reason
    which = ", ".join(str(number + 1) for number in decision.picks)
    return f"{reason} {decision.ruling} {which} by {decision.by}. {decision.note}".strip()


def _round(each: Round) -> list[Passage]:
    passages: list[Passage] = []
    if each.replaced:
        by = f"Round {each.number}: written by {each.base.by}"
        passages.append((by, each.base.text, _scores(each.base)))
    if each.raw_critique:
        agreed = f"Ruled on by {each.agreed.by}." if each.agreed else ""
        passages.append((f"Round {each.number}: critique", each.raw_critique, agreed))
        if each.agreed and each.agreed.points is not None:
            points = "\n".join(f"- {p.quote} {p.problem} {p.action}" for p in each.agreed.points)
            passages.append((f"Round {each.number}: points agreed on", points, ""))
    return passages + [p for attempt in each.attempts for p in _attempt(each.number, attempt)]


def _attempt(number: int, attempt: Attempt) -> list[Passage]:
    verdict = attempt.verdict.reason if attempt.verdict else ""
    decision = attempt.decision
    ruled = f" {decision.ruling} by {decision.by}. {decision.note or decision.why}" if decision else ""
    scores = _scores(attempt.proposed)
    remark = f"{scores} {verdict}{ruled}".strip()
    passages: list[Passage] = [(f"Round {number}: revision", attempt.proposed.text, remark)]
    if attempt.written is not None:
        written = attempt.written
        passages.append((f"Round {number}: written by {written.by}", written.text, _scores(written)))
    return passages


def _scores(draft: Draft) -> str:
    known = (
        f"{s.scorer} {s.value:.4g}" if s.value is not None else f"{s.scorer} not scored" for s in draft.scores
    )
    return ", ".join([*known, *draft.flags])


def _fenced(text: str) -> str:
    """A fence longer than any run of backticks in the text."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _inline(text: str) -> str:
    """One line of Markdown that shows the text as it is."""
    line = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>~$&" else c for c in line)
