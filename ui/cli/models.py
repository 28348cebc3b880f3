"""`models`: list them, get a local one's files, check one."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from typing import Any

from core.models.check import check_model
from core.models.protocol import ModelError
from ui.cli.common import DONE, FAILED, Tools, say, say_notice


def models(tools: Tools, args: argparse.Namespace) -> int:
    """List models, or check one."""
    if args.action == "list":
        _print_models(tools, args.json)
        return DONE
    try:
        model, first = tools.models.open(args.name), tools.models.impatient(args.name)
        report = asyncio.run(check_model(model, first=first, listen=say_notice)).as_json()
    except ModelError as error:
        say(f"error: {error}")
        return FAILED
    print(json.dumps(report, allow_nan=False) if args.json else _readable(report))
    return DONE


def _print_models(tools: Tools, as_json: bool) -> None:
    endpoints = [{"name": e.name, "models": list(e.models)} for e in tools.models.endpoints()]
    if as_json:
        print(json.dumps({"models": list(tools.models.names()), "endpoints": endpoints}))
        return
    print("\n".join(tools.models.names()))
    for endpoint in tools.models.endpoints():
        print(f"{endpoint.name}:MODEL")
    print("hf:ID-or-path\ngguf:PATH-or-REPO/FILE")


def fetch(get: Callable[[Callable[[str], None]], None]) -> int:
    """Get a local model's files, reporting as it goes."""
    try:
        get(say)
    except ModelError as error:
        say(f"error: {error}")
        return FAILED
    return DONE


def _readable(report: dict[str, Any]) -> str:
    lines = [
        f"{report['model']} answers as {report['reached_as']} in {report['seconds']} s: {report['reply']!r}"
    ]
    words = {True: "yes", False: "no", None: "not known before it is tried"}
    lines += [
        f"  {name}: {value if isinstance(value, int) and not isinstance(value, bool) else words[value]}"
        for name, value in report["capabilities"].items()
    ]
    scored = " ".join(f"{text!r}:{logprob:.2f}" for text, logprob in report["tokens"] if logprob is not None)
    lines.append(f"  scored line: {scored or 'no token scores'}")
    return "\n".join([*lines, *(f"  note: {note}" for note in report["notes"])])
