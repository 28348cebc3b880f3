"""The command line: the use cases of the pages. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from core.checks import BadTask
from core.models.catalog import UnknownModel
from core.preset_schema import PresetError
from core.scoring.catalog import UnknownScorer
from core.sessions import StoreBusy, UnknownSession
from ui.cli.common import DONE, FAILED, USAGE, Tools, say
from ui.cli.history import history
from ui.cli.models import models
from ui.cli.refine import refine
from ui.cli.terminal import inert_output

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
        with inert_output():
            return commands[args.command](tools, args)
    except BAD_USAGE as error:
        say(f"error: {error}")
        return USAGE
    except StoreBusy as error:
        say(f"error: {error}")
        return FAILED
    except BrokenPipeError:
        return _left()
    except KeyboardInterrupt:
        say("Interrupted. What was recorded is kept.")
        return FAILED


def _left() -> int:
    """Whoever reads the output has seen enough, as `head` does; the rest is written nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


def _study(tools: Tools, args: argparse.Namespace) -> int:
    """Studies bring numpy along, and the other commands start quicker without it."""
    from ui.cli.study import study

    return study(tools, args)
