"""`history`: list sessions, show one, export one."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from ui.cli.common import DONE, USAGE, Tools, exported, print_session, say


def history(tools: Tools, args: argparse.Namespace) -> int:
    """List sessions, show one, or export one."""
    if args.action == "list":
        return _list(tools, args)
    if args.action == "show":
        print_session(tools, args.id, args.json)
        return DONE
    text = exported(tools, args.id, args.format)
    if args.output:
        return _write(Path(args.output), text)
    print(text)
    return DONE


def _write(path: Path, text: str) -> int:
    try:
        path.write_bytes(text.encode("utf-8"))
    except OSError as error:
        say(f"error: {path} can't be written: {error.strerror}")
        return USAGE
    return DONE


def _list(tools: Tools, args: argparse.Namespace) -> int:
    rows = tools.bench.store.recent(args.limit)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], default=datetime.isoformat))
        return DONE
    for row in rows:
        state = row.ending or row.problem or "open"
        print(
            f"{row.id}  {row.created_at:%Y-%m-%d %H:%M}  {row.model}  {row.steps} steps  {state}  {row.title}"
        )
    if not rows:
        say("There are no sessions yet. `python app.py refine TEXT` makes one.")
    return DONE
