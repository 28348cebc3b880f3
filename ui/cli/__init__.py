"""The command line: the use cases of the pages. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from core.checks import BadTask
from core.models.catalog import UnknownModel
from core.preset_schema import PresetError
from core.scoring.catalog import UnknownScorer
from core.sessions import UnknownSession
from ui.cli.common import FAILED, USAGE, Tools, say
from ui.cli.history import history
from ui.cli.models import models
from ui.cli.refine import refine

BAD_USAGE = (BadTask, UnknownModel, UnknownScorer, UnknownSession, PresetError)


def run(tools: Tools, args: argparse.Namespace) -> int:
    """Run the chosen command and give its exit code."""
    commands: dict[str, Callable[[Tools, argparse.Namespace], int]] = {
        "refine": refine,
        "history": history,
        "models": models,
        "study": _study,
    }
    try:
        return commands[args.command](tools, args)
    except BAD_USAGE as error:
        say(f"error: {error}")
        return USAGE
    except KeyboardInterrupt:
        say("Interrupted. What was recorded is kept.")
        return FAILED


def _study(tools: Tools, args: argparse.Namespace) -> int:
    """Studies bring numpy along, and the other commands start quicker without it."""
    from ui.cli.study import study

    return study(tools, args)
