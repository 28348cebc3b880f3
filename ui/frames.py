"""A page that is the bar of links and one static template, which one script fills. Knows no session.

The template is a file of assets/web; the script puts a function under a name on `window`, and is loaded by
the page's head (ui/server.py).
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from ui import navigation

WEB = Path(__file__).parent.parent / "assets" / "web"
_START = """
const start = () => window.@function@ ? window.@function@(element) : setTimeout(start, 20);
start();
"""


def framed(title: str, here: str, template: str, function: str, **numbers: int) -> gr.Blocks:
    """The page called `title`; `here` is its name in the bar, "" where it has none.

    Each of the `numbers` stands in the template by its name between two @.
    """
    page: gr.Blocks
    html = (WEB / template).read_text(encoding="utf-8")
    for name, number in numbers.items():
        html = html.replace(f"@{name}@", str(number))
    with gr.Blocks(title=f"Redraft: {title}", analytics_enabled=False, fill_width=True) as page:
        navigation.bar(here)
        gr.HTML(
            None,
            html_template=html,
            js_on_load=_START.replace("@function@", function),
            apply_default_css=False,
            elem_id=Path(template).stem,
        )
    return page
