"""What templates of presets may be made of, so that none can run long or grow large, whoever wrote it.

A template that comes with an imported file is a program of somebody else. Left are values, if, for, and
filters and methods that make nothing much longer than it was: no loop in a loop, no multiplication, no names
for values, no macros. Knows Jinja2 and no preset.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from itertools import islice

import jinja2
from jinja2 import nodes
from jinja2.runtime import Context

UNTIL = " until"
"""The name (no template can say it) of the moment at which filling in ends, by time.monotonic."""
SECONDS = 10.0
"""So long may one template take to be filled in."""
LONGEST = 8_000_000
"""Characters of the longest text that is made of a template."""
MOST_ITEMS = 10_000
MOST_PARTS = 100
DEEPEST = 40
LARGEST_NUMBER = 100_000
LONGEST_JOINT = 100

FILTERS = ("capitalize", "count", "default", "first", "format", "int", "join", "last", "last_turns", "length",
           "list", "lower", "reverse", "sort", "string", "title", "trim", "truncate", "unique", "upper",
           "wordcount")  # fmt: skip
METHODS = ("capitalize", "count", "endswith", "find", "lower", "lstrip", "removeprefix", "removesuffix",
           "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper")  # fmt: skip
_STATEMENTS = (nodes.Template, nodes.Output, nodes.If, nodes.For)
_EXPRESSIONS = (nodes.TemplateData, nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Compare,
                nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Test, nodes.CondExpr,
                nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Concat, nodes.Add, nodes.Sub,
                nodes.Div, nodes.FloorDiv, nodes.Filter, nodes.Call, nodes.Keyword)  # fmt: skip
_CALLED = {"Mul": "*", "Pow": "**", "Mod": "%", "Assign": "set",
           "AssignBlock": "set", "CallBlock": "call", "FilterBlock": "filter", "FromImport": "import",
           "ScopedEvalContextModifier": "autoescape"}  # fmt: skip


class TooMuch(ValueError):
    """A template may not do this; `line` is the line of the template, from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


class TooLarge(ValueError):
    """Filling in a template takes too long, or makes too long a text."""


def check_bounds(tree: nodes.Template) -> None:
    """Raises TooMuch where the template uses what could run long or grow large."""
    waiting: list[tuple[nodes.Node, int, bool]] = [(tree, 0, False)]
    while waiting:
        node, depth, looped = waiting.pop()
        _check(node, depth, looped)
        inside = looped or isinstance(node, nodes.For)
        waiting += ((child, depth + 1, inside) for child in node.iter_child_nodes())


def _check(node: nodes.Node, depth: int, looped: bool) -> None:
    if depth > DEEPEST:
        raise TooMuch(node.lineno, "this is nested too deeply. Make it simpler.")
    if isinstance(node, nodes.For) and (looped or node.recursive):
        raise TooMuch(node.lineno, "a loop can't stand inside a loop here.")
    if not isinstance(node, (*_STATEMENTS, *_EXPRESSIONS)):
        name = _CALLED.get(type(node).__name__, type(node).__name__.lower())
        raise TooMuch(node.lineno, f'templates can\'t use "{name}". They can use values, if, for and "~".')
    if isinstance(node, _STATEMENTS):
        _check_size(node)
    elif problem := _problem(node):
        raise TooMuch(node.lineno, problem)


def _check_size(statement: nodes.Node) -> None:
    """Raises TooMuch for an expression of this statement that has too many parts."""
    for child in statement.iter_child_nodes():
        if isinstance(child, nodes.Expr) and _parts(child) > MOST_PARTS:
            problem = f"one expression has more than {MOST_PARTS} parts. Make it shorter."
            raise TooMuch(child.lineno, problem)


def _parts(expression: nodes.Node) -> int:
    found, waiting = 0, [expression]
    while waiting and found <= MOST_PARTS:
        node = waiting.pop()
        found += 1
        waiting += node.iter_child_nodes()
    return found


def _problem(node: nodes.Node) -> str:
    """Why this part of an expression can't be used, or ""."""
    if isinstance(node, nodes.Const):
        large = isinstance(node.value, int | float) and abs(node.value) > LARGEST_NUMBER
        return f"the number {str(node.value)[:20]} is too large here." if large else ""
    if isinstance(node, nodes.Call):
        return _problem_of_call(node)
    return _problem_of_filter(node) if isinstance(node, nodes.Filter) else ""


def _problem_of_call(node: nodes.Call) -> str:
    if isinstance(node.node, nodes.Getattr) and node.node.attr in METHODS:
        return ""
    called = getattr(node.node, "attr", getattr(node.node, "name", "this"))
    return f'"{called}" can\'t be called here. What can be called is {", ".join(METHODS)}.'


def _problem_of_filter(node: nodes.Filter) -> str:
    if node.name not in FILTERS:
        return f'there is no filter "{node.name}" here. Known are {", ".join(FILTERS)}.'
    if node.name == "join" and not all(map(_short, _arguments(node))):
        return '"join" takes a text of a few characters in quotes here.'
    if node.name == "format" and not _plain_format(node.node):
        return '"format" takes a text in quotes here, with plain places such as %s and %d.'
    return ""


def _arguments(node: nodes.Filter) -> list[nodes.Expr | None]:
    more = [each for each in (node.dyn_args, node.dyn_kwargs) if each is not None]
    return [*node.args, *(pair.value for pair in node.kwargs), *more]


def _short(node: nodes.Expr | None) -> bool:
    return isinstance(node, nodes.Const) and len(str(node.value)) <= LONGEST_JOINT


def _plain_format(node: nodes.Expr | None) -> bool:
    """Whether no place in the text can be made wide."""
    return isinstance(node, nodes.Const) and not re.search(r"%[^a-zA-Z%]*(\*|\d{3})", str(node.value))


# -- while it is filled in ------------------------------------------------------------------------


@jinja2.pass_context
def few(context: Context, items: Iterable[object]) -> Iterator[object]:
    """The items of a loop, as long as they are few and there is time. Raises TooLarge."""
    found = list(islice(items, MOST_ITEMS + 1))
    if len(found) > MOST_ITEMS:
        raise TooLarge(f"a loop goes over more than {MOST_ITEMS:,} items")
    for item in found:
        if time.monotonic() > context.get(UNTIL, float("inf")):
            raise TooLarge(f"it takes longer than {SECONDS:g} seconds")
        yield item


def bounded(tree: nodes.Template, environment: jinja2.Environment) -> nodes.Template:
    """The template with its loops watched by `few`, a filter of the environment."""
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, "few", [], [], None, None, lineno=loop.lineno)
    return tree.set_environment(environment)  # type: ignore[return-value]


def filled(template: jinja2.Template, values: dict[str, object]) -> str:
    """The text that the template makes of the values. Raises TooLarge, and what Jinja2 raises."""
    parts: list[str] = []
    length = 0
    for part in template.generate({**values, UNTIL: time.monotonic() + SECONDS}):
        parts.append(part)
        length += len(part)
        if length > LONGEST:
            raise TooLarge(f"it makes a text of more than {LONGEST:,} characters")
    return "".join(parts)
