"""The command line: the use cases of the pages. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from errno import ENOSPC

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
        return _left(DONE)
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        say(f"error: the output can't be written: {error.strerror}")
        return _left(FAILED)
    except KeyboardInterrupt:
        say("Interrupted. What was recorded is kept.")
        return FAILED


def _left(code: int) -> int:
    """Nobody takes more of the output (`head` has seen enough, a disk is full): the rest goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _study(tools: Tools, args: argparse.Namespace) -> int:
    """Studies bring numpy along, and the other commands start quicker without it."""
    from ui.cli.study import study

    return study(tools, args)
