"""The words that pages have for what the core calls by a short name."""

from __future__ import annotations

STRATEGY_NAMES = {"self_refine": "Draft, critique, revise", "direct": "One draft only (the baseline)"}


def strategy_name(name: str) -> str:
    """The strategy in words; one that has none goes by its own name."""
    return STRATEGY_NAMES.get(name, name.replace("_", " "))
