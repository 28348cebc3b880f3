"""The History page: every session made here, to search, filter, sort, mark, open, fork and delete with undo.

A frame only: assets/web/history.js fills it from ui/history_routes.py. Knows no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.frames import framed
from ui.history_filter import LONGEST_QUERY

if TYPE_CHECKING:
    import gradio as gr


def build() -> gr.Blocks:
    """The page."""
    return framed("history", "History", "history.html", "redraftHistory", longest=LONGEST_QUERY)
