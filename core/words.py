"""Texts as a search sees them: `plain` folds text and query alike, so that plain spelling finds either.

For copies that are searched, never for a text that is kept or shown. Knows no store and no page.
"""

from __future__ import annotations

import re
import unicodedata

from core.domain import Task

# Letters with their accents, and what stands in for a plain quote or dash in a word processor.
_ACCENTS = re.compile("[\u0300-\u036f]")
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′‹›`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‒–—―−", "-"),
    }
)
# Format, control and private characters, and the selectors that only choose a letter's look.
_UNSEEN = ("Cf", "Cc", "Cs", "Co")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def plain(text: str) -> str:
    """The text in small letters, without accents, unseen characters and typography, on one line."""
    one_line = " ".join(text.translate(_TYPOGRAPHY).split())
    if one_line.isascii() and one_line.isprintable():
        return one_line.lower()
    apart = unicodedata.normalize("NFKD", one_line)
    bare = _SELECTORS.sub("", _ACCENTS.sub("", apart))
    seen = "".join(char for char in bare if unicodedata.category(char) not in _UNSEEN)
    folded = unicodedata.normalize("NFKC", seen.casefold()).translate(_TYPOGRAPHY)
    return " ".join(folded.split())


def searchable(title: str, task: Task) -> str:
    """What a search through sessions looks at: the task's texts and the title, each on its own line."""
    texts = (title, task.instruction, task.target, task.input, task.reference)
    return "\n".join(filter(None, map(plain, texts)))
