"""How far a long command is, on stderr: a bar on a terminal, and nothing where no one watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
WIDTH = 24
EVERY = 0.2
"""Seconds between two looks."""


def shown(items: Iterable[T], what: str, share: Callable[[int], float]) -> Iterator[T]:
    """The items as they come; `share` says how much is done, from 0 to 1, after so many of them."""
    watched, last, count = sys.stderr.isatty(), 0.0, 0
    try:
        for count, item in enumerate(items, 1):
            yield item
            if watched and time.monotonic() - last > EVERY:
                last = time.monotonic()
                _draw(what, count, min(max(share(count), 0.0), 1.0))
    finally:
        if watched and last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _draw(what: str, count: int, share: float) -> None:
    bar = "#" * round(share * WIDTH)
    print(f"\r{what} [{bar:-<{WIDTH}}] {share:4.0%} {count:,}", end="", file=sys.stderr, flush=True)
