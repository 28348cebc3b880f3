"""Reads numbers from the command line, within limits."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers in these limits."""
    wanted = f"a whole number from {least} {'on' if most is None else f'to {most}'}"

    def read(text: str) -> int:
        value = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else least - 1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
        return value

    return read


def number(text: str) -> float:
    """A number that can be written down: JSON has neither infinity nor not-a-number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value
