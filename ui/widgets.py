"""Widgets as gr.HTML with static templates: what they show is drawn by assets/web with textContent."""

from __future__ import annotations

import html
from collections.abc import Sequence

import gradio as gr

MODES = (
    ("Ask me at every step", "ask"),
    ("Ask me only when the score falls or is unknown", "ask_on_fall"),
    ("Run without me", "auto"),
)

_BOARD = """
<div class="rd-board" data-state="empty">
  <div class="rd-connection" role="status"></div>
  <div class="rd-message" role="alert"></div>
  <div class="rd-welcome">
    <h2>Refine a text, step by step</h2>
    <p>Paste a text on the left and say what to do with it. A model writes a first draft, criticises it and
    revises it, round by round, side by side with scores. You decide which points of a critique count, and
    which revision is kept. Every step is saved.</p>
    <p>Try one of these. They run on the starter model, which is small: it shows how Redraft works, not how
    well a text can be refined.</p>
    <div class="rd-examples">@examples@</div>
  </div>
  <div class="rd-head">
    <h1 class="rd-title"></h1>
    <div class="rd-doing" aria-live="polite"></div>
    <div class="rd-notice" aria-live="polite"></div>
    <div class="rd-problem" role="alert"></div>
    <div class="rd-figures"></div>
    <div class="rd-controls">
      <button type="button" class="rd-stop">Stop</button>
      <button type="button" class="rd-continue rd-primary">Continue</button>
      <label>Who decides <select class="rd-mode">@modes@</select></label>
    </div>
    <ul class="rd-notes"></ul>
  </div>
  <div class="rd-rounds"></div>
  <section class="rd-outcome" aria-label="Outcome"></section>
</div>
"""


def board(examples: Sequence[str]) -> gr.HTML:
    """The board of one session; its value is {"session": id} or None. Fires `example` with an index."""
    buttons = "".join(
        f'<button type="button" class="rd-example" data-index="{i}">{_text(label)}</button>'
        for i, label in enumerate(examples)
    )
    modes = "".join(f'<option value="{value}">{_text(label)}</option>' for label, value in MODES)
    return gr.HTML(
        None,
        html_template=_BOARD.replace("@examples@", buttons).replace("@modes@", modes),
        js_on_load="""
            const start = () => window.redraftBoard ? window.redraftBoard(element, props, trigger, watch)
                                                    : setTimeout(start, 20);
            start();  // fires "example"
        """,
        apply_default_css=False,
        elem_id="board",
    )


def _text(text: str) -> str:
    """Text for the static template, safe from HTML, Handlebars and JavaScript template syntax."""
    escaped = html.escape(text)
    for character in "{}$`\\":
        escaped = escaped.replace(character, f"&#{ord(character)};")
    return escaped
