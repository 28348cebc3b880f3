"""How many of the wanted concepts a text uses, whatever their form: by lemma, so that "ran" is "run".

Convention: the concepts stand in Task.target, else in Task.reference, else in Task.input, as a JSON list or
separated by commas, semicolons or lines. A concept of several words must stand in the text as such, word by
word. It knows no meaning: that a text makes sense is for others to judge.

A word matches a concept when one of its lemmas is one of the concept's; a word has itself as a lemma too,
and both spellings of English count (colour, color).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.domain import Message, Score, Task

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class Coverage:
    """The concepts that a text uses and those that it does not, each in the order given."""

    found: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return len(self.found) / (len(self.found) + len(self.missing))


def read_concepts(text: str) -> tuple[str, ...]:
    """The concepts of a list as people write it, each once."""
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            rows = json.loads(stripped)
        except (ValueError, RecursionError):
            rows = None
        if isinstance(rows, list) and all(isinstance(row, str) for row in rows):
            return _once(rows)
    return _once(re.split(r"[,;\n]", stripped))


def _once(concepts: Sequence[str]) -> tuple[str, ...]:
    words = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", concept).strip() for concept in concepts)
    return tuple(dict.fromkeys(word for word in words if word))


def coverage(concepts: Sequence[str], text: str, language: str = "en") -> Coverage:
    """Which of the concepts (at least one) the text uses."""
    words = [_lemmas(word, language) for word in _words(text)]
    used = [bool(_places(concept, words, language)) for concept in concepts]
    found = tuple(concept for concept, is_used in zip(concepts, used, strict=True) if is_used)
    return Coverage(found, tuple(concept for concept in concepts if concept not in found))


def _words(text: str) -> list[str]:
    """The words of a text; one with a hyphen as a whole and in its parts."""
    words = []
    for found in _WORD.findall(text):
        word = re.sub(r"['’]s?$", "", re.sub(r"['’](?:s|re|ll|ve|d|m)$", "", found))
        words += [word, *(word.split("-") if "-" in word else ())]
    return words


def _places(concept: str, words: Sequence[frozenset[str]], language: str) -> list[int]:
    """Where the concept's words stand one after the other."""
    wanted = [_lemmas(word, language) for word in _WORD.findall(concept)]
    if not wanted:
        return []
    return [
        place
        for place in range(len(words) - len(wanted) + 1)
        if all(lemmas & words[place + offset] for offset, lemmas in enumerate(wanted))
    ]


@lru_cache(maxsize=50_000)
def _lemmas(word: str, language: str) -> frozenset[str]:
    """What the word may be a form of, in small letters, itself included."""
    from simplemma import lemmatize

    small = word.casefold()
    lemma = lemmatize(small, lang=language).casefold()
    if language != "en":
        return frozenset({small, lemma})
    known = {small, lemma, *_leaf(small), *(_verbs(small) if lemma == small else ())}
    return frozenset(known | {_american(form) for form in known})


def _leaf(word: str) -> tuple[str, ...]:
    """What leaves, knives may be the plural of, where the dictionary knows them as verbs."""
    return (f"{word[:-3]}f", f"{word[:-3]}fe") if re.fullmatch(r"\w{2,}ves", word) else ()


def _verbs(word: str) -> tuple[str, ...]:
    """What wrapped, plastering are forms of: such words stand in the dictionary as adjectives and nouns."""
    found = re.fullmatch(r"(\w*[aeiouy]\w*?)(?:ed|ing)", word)
    if not found:
        return ()
    stem = found[1]
    if re.search(r"([bdgklmnprt])\1$", stem):
        return stem, stem[:-1]
    # One short syllable would have had its last letter doubled: caring is of care, not of car.
    short = re.fullmatch(r"[^aeiouy]*[aeiouy][^aeiouywx]", stem)
    return (f"{stem}e",) if short else (stem, f"{stem}e", re.sub("i$", "y", stem))


def _american(word: str) -> str:
    """One spelling for colour and color, realise and realize."""
    longer = len(word) > 4
    word = re.sub(r"our$", "or", word) if longer else word
    return re.sub(r"ise$", "ize", word) if len(word) > 6 else word


class ConceptCoverage:
    """The share of the task's concepts that a text uses, from 0 to 1; the missing ones are named."""

    name = "coverage"

    def __init__(self, language: str = "en") -> None:
        self._language = language

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order."""
        return tuple([await asyncio.to_thread(self._score, task, text) for text in texts])

    def _score(self, task: Task, text: str) -> Score:
        given = next((part for part in (task.target, task.reference, task.input) if part.strip()), "")
        concepts = read_concepts(given)
        if not concepts:
            return Score(self.name, None, "The task names no concepts.")
        if not text.strip():
            return Score(self.name, None, "The text is empty: there is nothing to score.")
        found = coverage(concepts, text, self._language)
        why = f"missing: {', '.join(found.missing)}" if found.missing else ""
        details = (("found", float(len(found.found))), ("concepts", float(len(concepts))))
        return Score(self.name, found.share, why, "the task's concepts", details)
