"""`history`: sessions listed, shown, exported; its other actions are in modules of their own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path

from core.export import Form
from core.listing import NotAllowed, Order, Sort
from core.sessions import Summary
from core.spreadsheet import csv_lines
from ui.cli.choosing import filter_by, given
from ui.cli.common import DONE, USAGE, Tools, exported, print_session, say
from ui.cli.marking import delete, star, tag, undo
from ui.cli.output import written
from ui.cli.steps import differ, steps
from ui.cli.training import training
from ui.cli.transfer import ManyForm, export_many, import_files
from ui.history_filter import BadFilter

AnyForm = Form | ManyForm
Action = Callable[[Tools, argparse.Namespace], int]
LISTED_COLUMNS = tuple(field.name for field in fields(Summary))


def history(tools: Tools, args: argparse.Namespace) -> int:
    """Run one action on sessions."""
    actions: dict[str, Action] = {
        "list": _list,
        "show": _show,
        "steps": steps,
        "diff": differ,
        "compare": _compare,
        "insight": _insight,
        "tag": tag,
        "star": star,
        "delete": delete,
        "undo": undo,
        "export": _export,
        "import": import_files,
        "training": training,
    }
    try:
        return actions[args.action](tools, args)
    except (BadFilter, NotAllowed) as error:
        say(f"error: {error}")
        return USAGE


def _insight(tools: Tools, args: argparse.Namespace) -> int:
    """Figures bring numpy along, and the other actions start quicker without it."""
    from ui.cli.figures import answers

    return answers(tools, args)


def _compare(tools: Tools, args: argparse.Namespace) -> int:
    from ui.cli.figures import compare

    return compare(tools, args)


def _show(tools: Tools, args: argparse.Namespace) -> int:
    print_session(tools, args.id, args.json)
    return DONE


def _export(tools: Tools, args: argparse.Namespace) -> int:
    one = len(args.id) == 1 and not args.all and not given(args)
    form: AnyForm = args.format or ("json" if one else "jsonl")
    if form == "jsonl" or form == "csv":
        return export_many(tools, args, form)
    if not one:
        say(f"error: {form} is for one session; --format jsonl or csv holds many")
        return USAGE
    text = exported(tools, args.id[0], form)
    if args.output:
        return DONE if written(Path(args.output), [text]) else USAGE
    print(text)
    return DONE


def _list(tools: Tools, args: argparse.Namespace) -> int:
    sort: Sort = args.sort
    order = Order(sort, ascending=args.ascending)
    rows = tools.bench.store.listing.find(filter_by(args), order, args.limit, args.after)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], default=datetime.isoformat))
    elif args.csv:
        sys.stdout.writelines(csv_lines(LISTED_COLUMNS, map(_cells, rows)))
    elif rows:
        print("\n".join(map(_in_words, rows)))
    if not rows:
        say("No session is like this." if given(args) else
            "There are no sessions yet. `python app.py refine TEXT` makes one.")  # fmt: skip
    return DONE


def _cells(row: Summary) -> list[object]:
    values = {**vars(row), "created_at": row.created_at.isoformat(), "changed_at": row.changed_at.isoformat(),
              "parent": row.parent[0] if row.parent else "", "tags": ", ".join(row.tags),
              "starred": int(row.starred)}  # fmt: skip
    return ["" if values[name] is None else values[name] for name in LISTED_COLUMNS]


def _in_words(row: Summary) -> str:
    state = row.ending or row.problem or "open"
    marks = [*(["*"] if row.starred else []), *(f"#{tag}" for tag in row.tags)]
    parts = [row.id, f"{row.created_at:%Y-%m-%d %H:%M}", row.model, f"{row.steps} steps", state, row.title]
    return "  ".join([*parts, *marks])
