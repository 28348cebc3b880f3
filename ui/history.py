"""The History page: every session made here, to search, filter, sort, mark, open, fork and delete with undo.

A frame only: assets/web/history.js fills it from ui/history_routes.py. Knows no session.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from ui import navigation
from ui.history_filter import LONGEST_QUERY

LIST = Path(__file__).parent.parent / "assets" / "web" / "history.html"


def build() -> gr.Blocks:
    """The page."""
    page: gr.Blocks
    frame = LIST.read_text(encoding="utf-8").replace("@longest@", str(LONGEST_QUERY))
    with gr.Blocks(title="Redraft: history", analytics_enabled=False, fill_width=True) as page:
        navigation.bar("History")
        gr.HTML(
            None,
            html_template=frame,
            js_on_load="""
                const start = () => window.redraftHistory ? window.redraftHistory(element)
                                                          : setTimeout(start, 20);
                start();
            """,
            apply_default_css=False,
            elem_id="history",
        )
    return page
