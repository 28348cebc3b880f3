"""How readable a Python program is, by what can be counted in it: names, comments, lengths of functions.

Three parts from 0 to 1, of which the score is the mean:
- names: the share of the names that the program gives (each once) which are words. i, j, k, n and _ are fine
  as the variable of a loop; x1, tmp, foo, aaa, or single letters elsewhere are not;
- comments: comments and docstrings, in lines, for each line of code; one for six lines is full marks, and
  more than one for each line is none;
- functions: the mean over functions of 20 / its lines of code, at most 1; what stands outside functions
  counts as one.
The program is read, never run. Knows no model; whether a name means the right thing is for others to judge.
"""

from __future__ import annotations

import ast
import asyncio
import io
import re
import statistics
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain import Message, Score, Task
from core.scoring.program import program_in

ENOUGH, TOO_MUCH = 1 / 6, 1.0
"""Lines of comment for a line of code: full marks from the one on, none beyond the other."""
LONG = 20
"""Lines of code up to which a function is short."""
LARGEST = 200_000
"""Characters of a program that is read: it takes about a second."""
_COUNTERS = frozenset("ijkn_")
_EMPTY_WORDS = frozenset({
    "tmp", "temp", "foo", "bar", "baz", "qux", "spam", "eggs", "var", "val", "vals", "res", "ret", "obj",
    "thing", "stuff", "func", "aux",
})  # fmt: skip
_SHORT_WORDS = frozenset({"id", "ok", "pi", "dx", "dy", "up", "to", "by"})
_FILLING = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
})  # fmt: skip
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_DEFINITIONS, ast.ClassDef, ast.Module)


class NotPython(ValueError):
    """The text can't be read as a program; the message says where."""


@dataclass(frozen=True)
class Readability:
    """What was counted: the share of names that are words, comment lines for a code line, lines of functions.

    `names` are those that are no words; `functions` holds the lines of code of each function, then those
    outside of functions where there are any.
    """

    share: float
    names: tuple[str, ...]
    comments: float
    functions: tuple[int, ...]

    @property
    def parts(self) -> tuple[float, float, float]:
        """Names, comments and functions, each from 0 to 1."""
        commented = 0.0 if self.comments > TOO_MUCH else min(1.0, self.comments / ENOUGH)
        return self.share, commented, statistics.fmean(min(1.0, LONG / lines) for lines in self.functions)


def readability(program: str) -> Readability:
    """What can be counted in a program that holds any code. Raises NotPython."""
    tree, comments, code = _read(program)
    docs = [node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED) and ast.get_docstring(node)]
    documented = {line for node in docs for line in _lines(node.body[0])}
    code -= documented
    if not code:
        raise NotPython("There is no code in it.")
    given = dict.fromkeys(_names(tree))
    empty = tuple(name for name, counts in given if not _is_word(name, counts))
    share = 1 - len(empty) / len(given) if given else 1.0
    return Readability(share, empty, (len(comments) + len(documented)) / len(code), _lengths(tree, code))


def _read(program: str) -> tuple[ast.Module, set[int], set[int]]:
    """The program, its lines with comments, its lines with code. Raises NotPython."""
    if len(program) > LARGEST:
        raise NotPython(f"It has {len(program):,} characters; {LARGEST:,} at most are read.")
    if "\0" in program:  # which versions of Python refuse in different ways
        raise NotPython("It is no Python program: there are null bytes in it.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape in the text, for instance
            tree = ast.parse(program)
        tokens = list(tokenize.generate_tokens(io.StringIO(program).readline))
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise NotPython(f"It is no Python program: {where}{error.msg}.") from error
    except (ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise NotPython("It is no Python program that can be read.") from error
    comments = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    spans = [token for token in tokens if token.type not in _FILLING]
    return tree, comments, {line for token in spans for line in range(token.start[0], token.end[0] + 1)}


def _lines(node: ast.AST) -> range:
    return range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", None) or 0) + 1)


def _lengths(tree: ast.Module, code: set[int]) -> tuple[int, ...]:
    """Lines of code of each function, one inside another counted with both; then those outside."""
    functions = [node for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)]
    lengths = [max(1, len(code.intersection(_lines(node)))) for node in functions]
    outside = len(code.difference(*map(_lines, functions)))
    return (*lengths, outside) if outside else tuple(lengths)


def _names(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The names that the program gives, with whether each is the variable of a loop."""
    loops = [
        node.target for node in ast.walk(tree) if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension))
    ]
    counting = {id(name) for target in loops for name in ast.walk(target) if isinstance(name, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, id(node) in counting
        elif isinstance(node, ast.arg):
            yield node.arg, False
        elif isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
            yield node.name, False


def _is_word(name: str, counts: bool) -> bool:
    """Whether it can mean something to a reader: it holds a word that is none of the empty ones."""
    bare = name.strip("_").lower()
    if name == "_" or name in ("self", "cls") or (counts and bare in _COUNTERS):
        return True
    words = [word for word in re.findall(r"[^\W\d_]+", bare) if len(word) > 2 and word not in _EMPTY_WORDS]
    return any(len(set(word)) > 1 for word in words) or bare in (
        "id",
        "ok",
        "pi",
        "dx",
        "dy",
        "up",
        "to",
        "by",
    )


class CodeReadability:
    """The mean of a program's marks for names, comments and short functions, from 0 to 1."""

    name = "readability"

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order; a text that is no Python program has none."""
        return tuple([await asyncio.to_thread(self._score, text) for text in texts])

    def _score(self, text: str) -> Score:
        if not text.strip():
            return Score(self.name, None, "There is no program: the text is empty.")
        try:
            found = readability(program_in(text))
        except NotPython as error:
            return Score(self.name, None, str(error))
        names, comments, functions = found.parts
        details = (
            ("names", names),
            ("comments", comments),
            ("functions", functions),
            ("comment lines for a line of code", found.comments),
            ("longest function, lines", float(max(found.functions))),
        )
        notes = (f"names that say little: {', '.join(found.names[:20])}",) if found.names else ()
        condition = "names, comments and lengths of functions"
        return Score(self.name, statistics.fmean(found.parts), "", condition, details, notes=notes)
