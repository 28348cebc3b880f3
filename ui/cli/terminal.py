"""Texts on their way to a terminal: none of them can command it. Files and pipes get exactly the texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOBase
from typing import TextIO

_CONTROL = re.compile("\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def inert(text: str) -> str:
    """The text with symbols in the place of control characters, but for line ends and tabs."""
    return _CONTROL.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"


class _Inert(TextIOBase):
    """Passes on what is written, made inert."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write the text, as far as a terminal may have it."""
        self._terminal.write(inert(text))
        return len(text)

    def flush(self) -> None:
        """Let the terminal show it."""
        self._terminal.flush()


@contextmanager
def inert_output() -> Iterator[None]:
    """While it lasts, standard output commands no terminal."""
    if not sys.stdout.isatty():
        yield
        return
    with redirect_stdout(_Inert(sys.stdout)):
        yield


def to_person(text: str, end: str = "\n") -> None:
    """Something for the person who watches, on stderr."""
    print(inert(text) if sys.stderr.isatty() else text, end=end, file=sys.stderr, flush=True)
