"""Votes for tests of the statistics, made by rules that are known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.studies.votes import Choice, Vote


def ballots(first: str, second: str, results: str, rater: str = "r", **more: object) -> list[Vote]:
    """One vote a letter: W for the first, L for the second, T a tie, B both bad, S a skip; sides alternate.

    Items are numbered; every vote has the same rater unless the letters are split by "/": a rater a part.
    """
    choices: Mapping[str, Choice] = {"T": "tie", "B": "both_bad", "S": "skip"}
    found = []
    for number, part in enumerate(results.split("/")):
        for item, letter in enumerate(part):
            left, right = (first, second) if item % 2 == 0 else (second, first)
            side: Choice = "left" if (letter == "W") == (left == first) else "right"
            choice = choices.get(letter, side)
            name = f"{rater}{number}"
            found.append(Vote(name, f"i{item}", left, right, choice, **more))  # type: ignore[arg-type]
    return found


def simulated(
    raters: int, items: int, lean: float, side: float, *, taste: float = 0.0, ties: float = 0.0, seed: int = 0
) -> list[Vote]:
    """X against Y: log odds of X are lean, plus side where X stands on the left, plus a rater's own taste."""
    rng = np.random.default_rng(seed)
    votes = []
    for rater in range(raters):
        own = lean + rng.normal() * taste
        for item in range(items):
            on_left = (rater + item) % 2 == 0
            odds = own + (side if on_left else -side)
            prefers_x = rng.random() < 1 / (1 + np.exp(-odds))
            choice: Choice = "left" if prefers_x == on_left else "right"
            if rng.random() < ties:
                choice = "tie"
            left, right = ("X", "Y") if on_left else ("Y", "X")
            votes.append(Vote(f"r{rater:03}", f"i{item:03}", left, right, choice, stratum="ab"[item % 2]))
    return votes
