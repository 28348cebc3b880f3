"""The Studies page, for the owner of studies: make one, watch it, read its report.

A frame only: assets/web/studies.js fills it from ui/study_routes.py. Knows no study.
"""

from __future__ import annotations

import gradio as gr

from ui.frames import framed


def build() -> gr.Blocks:
    """The page."""
    return framed("studies", "Studies", "studies.html", "redraftStudies")
