"""Widgets as gr.HTML with static templates: what they show is drawn by assets/web with textContent."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

import gradio as gr

MODES = (
    ("Ask me at every step", "ask"),
    ("Ask me only when the score falls or is unknown", "ask_on_fall"),
    ("Run without me", "auto"),
)

_BOARD = (Path(__file__).parent.parent / "assets" / "web" / "board.html").read_text(encoding="utf-8")


WELCOMES = {
    "Refine": (
        "Refine a text, step by step",
        "Paste a text on the left and say what to do with it. A model writes a first draft, criticises it "
        "and revises it, round by round, side by side with scores. You decide which points of a critique "
        "count, and which revision is kept. Every step is saved.",
    ),
    "Candidates": (
        "Several drafts of one text, side by side",
        "Paste a text on the left and say what to do with it. Several drafts are written at the same time. "
        "Sort them by their scores, compare them, put parts of several together, have one text written from "
        "all, or refine the one that you pick. Every step is saved.",
    ),
}


def board(examples: Sequence[tuple[str, str]], page: str) -> gr.HTML:
    """The board of one session; its value is {"session": id} or None. Fires `example` with an index.

    Without a session it says what the page of that name is for.

    An example is the name of its kind of task and its label; those of the first kind are shown at first.
    """
    buttons = "".join(_example(i, *example, shown=examples[0][0]) for i, example in enumerate(examples))
    modes = "".join(f'<option value="{value}">{_text(label)}</option>' for label, value in MODES)
    heading, what = WELCOMES[page]
    template = _BOARD.replace("@examples@", buttons).replace("@modes@", modes)
    return gr.HTML(
        None,
        html_template=template.replace("@heading@", heading).replace("@what@", what),
        js_on_load="""
            const start = () => window.redraftBoard ? window.redraftBoard(element, props, trigger, watch)
                                                    : setTimeout(start, 20);
            start();  // fires "example"
        """,
        apply_default_css=False,
        elem_id="board",
    )


def _example(index: int, preset: str, label: str, *, shown: str) -> str:
    hidden = "" if preset == shown else " hidden"
    data = f'data-index="{index}" data-preset="{_text(preset)}"{hidden}'
    return f'<button type="button" class="rd-example" {data}>{_text(label)}</button>'


def _text(text: str) -> str:
    """Text for the static template, safe from HTML, Handlebars and JavaScript template syntax."""
    escaped = html.escape(text)
    for character in "{}$`\\":
        escaped = escaped.replace(character, f"&#{ord(character)};")
    return escaped


def caution() -> gr.HTML:
    """What to know of the choices in the form; its value is the text, and nothing of it is markup."""
    return gr.HTML(
        "",
        html_template='<div class="rd-caution" role="note"></div>',
        js_on_load="""
            const box = element.querySelector('.rd-caution');
            const show = () => { box.textContent = props.value || ''; box.hidden = !props.value; };
            watch('value', show);
            show();
        """,
        apply_default_css=False,
        elem_id="caution",
    )


def form_message() -> gr.HTML:
    """Where the form says what is wrong; its value is the text, and nothing of it is markup."""
    return gr.HTML(
        "",
        html_template='<div class="rd-form-message" role="alert"></div>',
        js_on_load="""
            const box = element.querySelector('.rd-form-message');
            const show = () => {
              box.textContent = props.value || '';
              if (box.textContent) box.scrollIntoView({ block: 'nearest' });
            };
            watch('value', show);
            show();
        """,
        apply_default_css=False,
        elem_id="message",
    )
