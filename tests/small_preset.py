"""A small preset, one with everything in it, and texts that templates must leave as they are."""

from __future__ import annotations

SMALL = """\
name: small
title: A small one
fields:
  input: Text
templates:
  system: You edit.
  draft: |
    Do: {{ instruction }}
    {{ input }}
  draft_step_by_step: "Think first. {{ input }}"
  critique:
    specific: What is wrong? For example - "some words" | their fault | better words
    generic: Could it be better?
  revise: Again, {{ feedback }}.
  revise_again: Again, and {{ note }}.
  kept: "{% if reason %}Not kept: {{ reason }}.{% endif %}{% if current %} Now: {{ current }}{% endif %}"
examples:
  - input: Long text.
    instruction: cut
    answer: Text.
"""
RICH = SMALL.replace(
    "fields:",
    """\
scorer: [judge, logprob]
verifier: coverage
caution: >
  It seldom
  helps.
stop: none
history: by_score
rubric:
  - name: plain words
    question: Are they?
  - name: short
    question: Is it?
    low: 1
    high: 5
fields:""",
)
HOSTILE = ["{{7*7}}", "${x}", r"\u0041", r"C:\new\table", "{% for %}", "{# no #}", "<b>&amp;",
           "a\n\n  b  ", "\ud800\x00"]  # fmt: skip
