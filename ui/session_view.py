"""The page of one session, step by step: what was asked and answered, texts compared, played through.

A frame only: assets/web/session_view.js fills it from ui/session_view_routes.py. Knows no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.frames import framed

if TYPE_CHECKING:
    import gradio as gr


def build() -> gr.Blocks:
    """The page."""
    return framed("a session", "", "session_view.html", "redraftSession")
