"""The models drawer: what models there are, endpoints to add, a test of each, who plays which role.

A static template that assets/web/models.js fills from the model routes. Knows neither the form nor any
session: it fires `chosen` with {"name"} when a person takes a model for what is started next.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

# It holds no <form>: were the script missing, a browser would send the fields, the key among them, as
# part of an address.
TEMPLATE = Path(__file__).parent.parent / "assets" / "web" / "models.html"
USUAL = (
    ("http://127.0.0.1:11434/v1", "Ollama", "ollama"),
    ("http://127.0.0.1:8080/v1", "llama.cpp", "llama-cpp"),
    ("http://127.0.0.1:1234/v1", "LM Studio", "lm-studio"),
    ("http://127.0.0.1:8000/v1", "vLLM", "vllm"),
    ("https://api.openai.com/v1", "OpenAI", "my-openai"),
    ("https://openrouter.ai/api/v1", "OpenRouter", "openrouter"),
)
"""Addresses that endpoints usually have: whose, and a name to suggest."""
RECOMMENDED = "unsloth/Qwen3-4B-Instruct-2507-GGUF/Qwen3-4B-Instruct-2507-Q4_K_M.gguf"
"""A small instruct model that answers without thinking first; 2.5 GB."""
ROLES = (
    ("draft", "Writes the draft"),
    ("critique", "Criticises"),
    ("revise", "Revises"),
    ("judge", "Judges"),
    ("score", "Scores"),
)


def drawer() -> gr.HTML:
    """The drawer. Fires `chosen` with {"name": model}."""
    usual = "".join(
        f'<option value="{url}" data-name="{name}">{whose}</option>' for url, whose, name in USUAL
    )
    roles = "".join(
        f'<label>{words} <select data-role="{role}"><option value="">same model</option></select></label>'
        for role, words in ROLES
    )
    template = TEMPLATE.read_text(encoding="utf-8").replace("@usual@", usual).replace("@roles@", roles)
    return gr.HTML(
        None,
        html_template=template.replace("@recommended@", RECOMMENDED),
        js_on_load="""
            const start = () => window.redraftModels ? window.redraftModels(element, trigger)
                                                     : setTimeout(start, 20);
            start();  // fires "chosen"
        """,
        apply_default_css=False,
        elem_id="models",
    )
