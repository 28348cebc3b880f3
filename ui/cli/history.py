"""`history`: list sessions, show one, export and import them, make training data of them."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from ui.cli.common import DONE, USAGE, Tools, exported, print_session, say
from ui.cli.training import training
from ui.cli.transfer import export_many, import_files


def history(tools: Tools, args: argparse.Namespace) -> int:
    """List sessions, show one, export or import some, or make training data."""
    if args.action == "list":
        return _list(tools, args)
    if args.action == "show":
        print_session(tools, args.id, args.json)
        return DONE
    if args.action == "import":
        return import_files(tools, args)
    if args.action == "training":
        return training(tools, args)
    return _export(tools, args)


def _export(tools: Tools, args: argparse.Namespace) -> int:
    ways = sum([bool(args.id), args.all, args.query is not None])
    if ways != 1:
        say("error: name a session, or --all, or --query WORDS" + (", only one of them" if ways else ""))
        return USAGE
    many = len(args.id) != 1
    if args.format == "jsonl" or (many and args.format is None):
        return export_many(tools, args)
    if many:
        say(f"error: {args.format} is for one session; --format jsonl holds many")
        return USAGE
    text = exported(tools, args.id[0], args.format or "json")
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
