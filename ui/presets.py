"""The Presets page: the list; one preset's text, versions, values as a form, and requests as a chat.

The YAML text is the one truth and always in sight, with line numbers and a mark on the line of a mistake.
The form beside it shows the values that the text holds; a value changed there is put into the text by the
server (core/preset_editing.py), so that comments and wording stay. What has no field, the templates above
all, is changed in the text alone. A frame only: assets/web/presets.js fills it from ui/preset_routes.py.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from ui import navigation

TEMPLATE = Path(__file__).parent.parent / "assets" / "web" / "presets.html"


def build() -> gr.Blocks:
    """The page."""
    page: gr.Blocks
    with gr.Blocks(title="Redraft: presets", analytics_enabled=False, fill_width=True) as page:
        navigation.bar("Presets")
        gr.HTML(
            None,
            html_template=TEMPLATE.read_text(encoding="utf-8"),
            js_on_load="""
                const start = () => window.redraftPresets ? window.redraftPresets(element)
                                                          : setTimeout(start, 20);
                start();
            """,
            apply_default_css=False,
            elem_id="presets",
        )
    return page
