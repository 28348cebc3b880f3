"""`history steps` and `history diff`: what was sent and came back at each step, and how two texts differ."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from core.diff import diff
from core.sessions import Session
from core.timeline import texts_of
from ui.cli.common import DONE, USAGE, Tools, say
from ui.session_steps import line, whole

_SIGNS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
View = dict[str, Any]


def steps(tools: Tools, args: argparse.Namespace) -> int:
    """A line a step, or everything of one."""
    session = tools.bench.store.load(args.id)
    if args.step is not None and args.step >= len(session.steps):
        say(
            f"error: the session has {len(session.steps)} steps, counted from 0; there is no step {args.step}"
        )
        return USAGE
    if args.step is None:
        views = [_line(session, position) for position in range(len(session.steps))]
        print(json.dumps(views) if args.json else "\n".join(map(_in_a_line, views)))
        return DONE
    source = session.task.input
    view = whole(args.step, session.steps[args.step], session.recipe, source)
    print(json.dumps(view) if args.json else "\n".join(_in_full(view)))
    return DONE


def _line(session: Session, position: int) -> View:
    return line(position, session.steps[position], session.recipe, session.task.input)


def _in_a_line(view: View) -> str:
    took = f"{view['prompt_tokens']}+{view['completion_tokens']} tokens, {view['seconds']} s"
    took = took if view["calls"] else ""
    parts = [f"round {view['round']}", view["title"], view["who"], took, view["excerpt"], *view["remarks"]]
    return f"{view['position']:>3}  {'  '.join(filter(None, parts))}"


def _in_full(view: View) -> Iterator[str]:
    yield _in_a_line({**view, "excerpt": "", "remarks": []})
    yield from (f"{name}: {value}" for name, value in view["facts"])
    yield from (f"note: {note}" for note in view["notes"])
    for message in view["prompt"]:
        yield f"\n--- sent as {message['role']}\n{message['content']}"
    for part in view["parts"]:
        yield f"\n--- {part['heading']}"
        yield from (part[name] for name in ("text", "remark") if part.get(name))
        yield from (point_line(point) for point in part.get("points", ()))
        yield from (_score(score) for score in part.get("scores", ()))


def point_line(point: View) -> str:
    """A point of a critique on one line."""
    return f"- {' '.join(filter(None, (point['quote'], point['problem'], point['action'])))}"


def _score(score: View) -> str:
    value = "not scored" if score["value"] is None else f"{score['value']:.4g}"
    reasons = filter(None, (score["why"], *score["notes"]))
    return f"{score['label']}: {value} {' '.join(reasons)}".rstrip()


def differ(tools: Tools, args: argparse.Namespace) -> int:
    """The text of one step against that of another; changes as `git diff --word-diff` writes them."""
    texts = {text.step: text for text in texts_of(tools.bench.store.load(args.id))}
    if lacking := [step for step in (args.old, args.new) if step not in texts]:
        known = ", ".join(f"{step} ({text.name})" for step, text in texts.items())
        say(f"error: step {lacking[0]} brought no text; these did: {known or 'none'}")
        return USAGE
    found = diff(texts[args.old].draft.text, texts[args.new].draft.text)
    if args.json:
        print(json.dumps([[piece.kind, piece.text] for piece in found]))
    else:
        print("".join(f"{_SIGNS[p.kind][0]}{p.text}{_SIGNS[p.kind][1]}" for p in found))
    return DONE
