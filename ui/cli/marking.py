"""`history tag`, `star`, `delete` and `undo`: the marks and bulk actions of the History page."""

from __future__ import annotations

import argparse
import json

from core.listing import Chosen, Done
from ui.cli.choosing import chosen_by
from ui.cli.common import DONE, FAILED, Tools, say


def tag(tools: Tools, args: argparse.Namespace) -> int:
    """Put a tag on sessions, or take it off."""
    chosen = _there(tools, chosen_by(args))
    return _told(tools.bench.store.listing.tag(chosen, args.tag_name, on=not args.off), args.json)


def star(tools: Tools, args: argparse.Namespace) -> int:
    """Put a star on a session or on a candidate of it, or take it off."""
    tools.bench.store.listing.star(args.id, args.step, on=not args.off)
    return DONE


def delete(tools: Tools, args: argparse.Namespace) -> int:
    """Leave sessions out of lists; they are kept."""
    return _told(tools.bench.store.listing.delete(_there(tools, chosen_by(args))), args.json)


def undo(tools: Tools, args: argparse.Namespace) -> int:
    """Undo a bulk action by the name that it gave."""
    count = tools.bench.store.listing.undo(args.name)
    say(f"{count} sessions are as before.")
    if args.json:
        print(json.dumps({"sessions": count}))
    return DONE if count else FAILED


def _there(tools: Tools, chosen: Chosen) -> Chosen:
    """The same. Raises UnknownSession for an id that there is not."""
    tools.bench.store.archive.count(chosen)
    return chosen


def _told(done: Done, as_json: bool) -> int:
    say(f"{done.sessions} sessions. Undo: history undo '{done.undo}'")
    if as_json:
        print(json.dumps({"sessions": done.sessions, "undo": done.undo}))
    return DONE
