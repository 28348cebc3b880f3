"""A quicker start: imports Gradio without the type stubs that it writes for its components.

At every start Gradio reads the source of each component and compares or writes a .pyi file beside it,
for editors of code that uses it; that is near half of its import. It passes over classes whose source
file can't be found, so for the time of the import that is what it is told.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def load_gradio() -> None:
    """Import Gradio, once, without stubs."""
    with _no_source_files("gradio."):
        import gradio  # noqa: F401


@contextmanager
def _no_source_files(package: str) -> Iterator[None]:
    """For as long as it lasts, classes of the package have no source file. Not for use in threads."""
    real = inspect.getfile

    def getfile(of: Any) -> str:
        if isinstance(of, type) and of.__module__.startswith(package):
            raise OSError("not looked for")
        return real(of)

    inspect.getfile = getfile  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = real
