"""Promise: a reply that is about the text is told from a text, and hardly a text is taken for such a reply.

Usage: python benchmarks/detectors.py. Flags against labels given by reading: attempts of published
Self-Refine runs in two halves (all 1140 where REDRAFT_TEST_DATA names the folder with their files, else the
342 that are checked in), and wordings of our own that no pattern was written for. The last line holds
precision and recall on the held-out half.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.detector_labels import KINDS, Agreement, Labelled, agreement, attempts, corpus, wordings


def show(name: str, texts: Sequence[Labelled]) -> Agreement:
    """A line for each kind of flag; the figures of all kinds together."""
    for kind in KINDS:
        one = agreement(texts, kind)
        print(
            f"{name:9} {kind:9} precision {one.right}/{one.flagged} = {one.precision:.3f}"
            f"  recall {one.found}/{one.labelled} = {one.recall:.3f}  of {len(texts)} texts"
        )
    return agreement(texts, "any")


def main() -> None:
    """The figures of each set, the held-out half last."""
    folder = os.environ.get("REDRAFT_TEST_DATA")
    texts = corpus(Path(folder)) if folder else attempts()
    show("wordings", wordings())
    show("seen", [one for one in texts if one.half == "seen"])
    held = show("held out", [one for one in texts if one.half == "held out"])
    print(f"precision {held.precision:.3f}, recall {held.recall:.3f}")


if __name__ == "__main__":
    main()
