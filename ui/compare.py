"""The page on which sessions stand beside each other, aligned by round, or as the rows of a table.

A frame only: assets/web/compare.js fills it from ui/compare_routes.py. Knows no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.frames import framed

if TYPE_CHECKING:
    import gradio as gr


def build() -> gr.Blocks:
    """The page."""
    return framed("compare", "", "compare.html", "redraftCompare")
