"""`models`: list them, get a local one's files, check one."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.domain import Message, Sampling
from core.models.protocol import Model, ModelError
from core.scoring.logprob import summary
from ui.cli.common import DONE, FAILED, Tools, say, say_notice


def models(tools: Tools, args: argparse.Namespace) -> int:
    """List models, or check one."""
    if args.action == "list":
        _print_models(tools, args.json)
        return DONE
    try:
        report = asyncio.run(check_model(tools.models.open(args.name)))
    except ModelError as error:
        say(f"error: {error}")
        return FAILED
    print(json.dumps(report, allow_nan=False) if args.json else _readable(report))
    return DONE


def _print_models(tools: Tools, as_json: bool) -> None:
    endpoints = [{"name": e.name, "models": list(e.models)} for e in tools.endpoints]
    if as_json:
        print(json.dumps({"models": list(tools.models.names()), "endpoints": endpoints}))
        return
    print("\n".join(tools.models.names()))
    for endpoint in tools.endpoints:
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


async def check_model(model: Model) -> dict[str, Any]:
    """Reach the model, say what it can do, and score one line. Raises ModelError."""
    prompt = (Message("user", "Reply with one short friendly sentence."),)
    reply = await model.complete(
        prompt, sampling=Sampling(temperature=0.0, max_tokens=24, seed=1), listen=say_notice
    )
    text = reply.completions[0].text
    capabilities = await model.capabilities()
    scored = await model.score(prompt, [text]) if capabilities.scoring and text else []
    return {
        "model": model.name,
        "reached_as": reply.model,
        "capabilities": asdict(capabilities),
        "reply": text,
        "seconds": round(reply.seconds, 3),
        "notes": list(reply.notes),
        "tokens": [
            [token.text, token.logprob] for token in (scored[0] if scored else reply.completions[0].tokens)
        ],
        "mean_logprob": summary(scored[0]).mean if scored else None,
    }


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
