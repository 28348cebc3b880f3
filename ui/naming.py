"""The words that pages have for what the core calls by a short name."""

from __future__ import annotations

STRATEGY_NAMES = {
    "self_refine": "Draft, critique, revise",
    "direct": "One draft only (the baseline)",
    "best_of_n": "Several drafts, the best by score",
    "self_consistency": "Several drafts, the answer that most give",
    "synthesise": "Several drafts, one new text from all",
    "beam": "Several lines of revision, the best kept (beam)",
    "best_of_n+self_refine": "The best of several drafts, then refined",
    "self_consistency+self_refine": "The answer that most give, then refined",
    "synthesise+self_refine": "One new text from several, then refined",
}


def strategy_name(name: str) -> str:
    """The strategy in words; one that has none goes by its own name."""
    return STRATEGY_NAMES.get(name, name.replace("_", " "))
