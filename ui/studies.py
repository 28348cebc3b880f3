"""The Studies page, for the owner of studies: make one, watch it, read its report.

A frame only: assets/web/studies.js fills it from ui/study_routes.py. Knows no study.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from ui import navigation

TEMPLATE = Path(__file__).parent.parent / "assets" / "web" / "studies.html"


def build() -> gr.Blocks:
    """The page."""
    page: gr.Blocks
    with gr.Blocks(title="Redraft: studies", analytics_enabled=False, fill_width=True) as page:
        navigation.bar("Studies")
        gr.HTML(
            None,
            html_template=TEMPLATE.read_text(encoding="utf-8"),
            js_on_load="""
                const start = () => window.redraftStudies ? window.redraftStudies(element)
                                                          : setTimeout(start, 20);
                start();
            """,
            apply_default_css=False,
            elem_id="studies",
        )
    return page
