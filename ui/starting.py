"""A quicker start: imports Gradio without the type stubs that it writes for its components, or collecting.

At every start Gradio reads the source of each component and compares or writes a .pyi file beside it,
for editors of code that uses it; that is near half of its import. It passes over classes whose source
file can't be found, so for the time of the import that is what it is told.

What is imported stays. Python's collector does not know: it looks through all of it again and again
meanwhile, and later stops the server for a quarter of a second each time it looks at old objects.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def load_gradio() -> None:
    """Import Gradio, once, without stubs; all objects there are then count as staying."""
    with _no_source_files("gradio."), _no_collecting():
        import gradio  # noqa: F401
    gc.freeze()


@contextmanager
def _no_collecting() -> Iterator[None]:
    """For as long as it lasts, nothing is collected, unless that was so before."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


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
