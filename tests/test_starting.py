"""The quicker import of Gradio changes nothing but the time it takes."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
from pathlib import Path

from ui.starting import _no_collecting, _no_source_files

ROOT = Path(__file__).parent.parent


class OfGradio:
    """A class that says it is of the package."""

    __module__ = "gradio.somewhere"


def test_only_the_packages_classes_are_hidden_and_only_for_a_while() -> None:
    before = inspect.getfile
    with _no_source_files("gradio."):
        try:
            inspect.getfile(OfGradio)
            hidden = False
        except OSError:
            hidden = True
        assert hidden and inspect.getfile(Path).endswith("pathlib.py")
    assert inspect.getfile is before


def test_components_have_their_events_and_what_is_imported_is_not_looked_through_again() -> None:
    code = (
        "from ui.starting import load_gradio; load_gradio(); import gc, gradio as gr\n"
        "with gr.Blocks(): print(callable(gr.Button('x').click), callable(gr.Textbox().change))\n"
        "print(gc.isenabled(), gc.get_freeze_count() > len(gc.get_objects()))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"] * 4


def test_collecting_goes_on_as_it_was() -> None:
    before = gc.isenabled()
    try:
        for wanted in (False, True):
            (gc.enable if wanted else gc.disable)()
            with _no_collecting():
                assert not gc.isenabled()
            assert gc.isenabled() is wanted
    finally:
        (gc.enable if before else gc.disable)()
