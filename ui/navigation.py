"""The bar of links that every page begins with. Knows the pages' names and addresses, nothing of them."""

from __future__ import annotations

import gradio as gr

PAGES = (
    ("Refine", "/"),
    ("Candidates", "/candidates/"),
    ("Presets", "/presets/"),
    ("History", "/history/"),
    ("Insight", "/insight/"),
    ("Studies", "/studies/"),
)


def bar(here: str) -> gr.HTML:
    """The bar on the page whose name is `here`."""
    links = "".join(f'<a href="{path}"{_mark(name == here)}>{name}</a>' for name, path in PAGES)
    template = f'<nav class="rd-nav" aria-label="Pages">{links}</nav>'
    return gr.HTML(None, html_template=template, apply_default_css=False, elem_id="nav")


def _mark(current: bool) -> str:
    return ' aria-current="page"' if current else ""
