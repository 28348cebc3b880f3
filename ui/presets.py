"""The Presets page: the list; one preset's text, versions, values as a form, and requests as a chat.

The YAML text is the one truth and always in sight, with line numbers and a mark on the line of a mistake.
The form beside it shows the values that the text holds; a value changed there is put into the text by the
server (core/preset_editing.py), so that comments and wording stay. What has no field, the templates above
all, is changed in the text alone. A frame only: assets/web/presets.js fills it from ui/preset_routes.py.
"""

from __future__ import annotations

import gradio as gr

from ui.frames import framed


def build() -> gr.Blocks:
    """The page."""
    return framed("presets", "Presets", "presets.html", "redraftPresets")
