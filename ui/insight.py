"""The Insight page: what sessions show in the mass, a chart a question.

A frame only: assets/web/insight.js fills it from ui/insight_routes.py. Knows no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.frames import framed

if TYPE_CHECKING:
    import gradio as gr


def build() -> gr.Blocks:
    """The page."""
    return framed("insight", "Insight", "insight.html", "redraftInsight")
