"""Texts as a search sees them: `plain` folds text and query alike, so that plain spelling finds either.

For copies that are searched, never for a text that is kept or shown. Knows no store and no page.
"""

from __future__ import annotations

import re
import unicodedata

from core.domain import Task

# A letter's accents, and what stands in for a plain quote or dash in a word processor.
_ACCENTS = re.compile("[\u0300-\u036f]")
_TYPOGRAPHY = (
    (re.compile("[‘’‚‛′‹›`´]"), "'"),
    (re.compile("[“”„‟″«»]"), '"'),
    (re.compile("[‐‒–—―−]"), "-"),
)
# Format, control and private characters, and the selectors that only choose a letter's look.
_UNSEEN = ("Cf", "Cc", "Cs", "Co")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")

MOST_TERMS = 20
_TERM = re.compile(r'"([^"]+)"(?= |$)|(\S+)')


def plain(text: str) -> str:
    """The text in small letters, without accents, unseen characters and typography, on one line."""
    one_line = " ".join(_typed(text).split())
    if one_line.isascii() and one_line.isprintable():
        return one_line.lower()
    apart = unicodedata.normalize("NFKD", one_line)
    bare = _SELECTORS.sub("", _ACCENTS.sub("", apart))
    unseen = {ord(char): None for char in set(bare) if unicodedata.category(char) in _UNSEEN}
    seen = bare.translate(unseen) if unseen else bare
    return " ".join(_typed(unicodedata.normalize("NFKC", seen.casefold())).split())


def _typed(text: str) -> str:
    """The text with the quotes and dashes of a keyboard."""
    for fancy, usual in _TYPOGRAPHY:
        text = fancy.sub(usual, text)
    return text


def searchable(title: str, task: Task) -> str:
    """What a search through sessions looks at: the task's texts and the title, each on its own line."""
    texts = (title, task.instruction, task.target, task.input, task.reference)
    return "\n".join(filter(None, map(plain, texts)))


def terms_of(query: str) -> tuple[str, ...]:
    """What a query asks for, all of it: its words, and what stands in "quotes" as it stands there.

    Every other character is an ordinary one; there is no query with a mistake in it.
    """
    found = [(quoted or word).strip() for quoted, word in _TERM.findall(plain(query))]
    return tuple(dict.fromkeys(filter(None, found)))[:MOST_TERMS]
