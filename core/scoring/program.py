"""Programs measured by running them in the sandbox: do they pass their tests, how fast are they?

Conventions. Task.reference holds the tests, in one of two forms:
- JSON: a list of {"input": "...", "output": "..."}; the program reads its input and prints its output,
  which is compared line by line without blanks at the ends;
- Python: each function test_* and each assert at the outermost level is a test; whatever else stands there
  (imports, helpers) precedes each of them. The program's names are known to the tests.
Each test runs in a process of its own, so that one that hangs or breaks things fails alone. Task.input holds
the original program, which timing compares with. A program may stand in a fenced block of a longer text.

A test is passed when it has said so with a word made up for the run: a program that merely ends is not taken
for one that passed. It knows no model, and no way to run anything itself.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import secrets
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.domain import Message, Score, Task
from core.scoring.sandbox import NoIsolation, Ran, run
from core.scoring.shut_off import Limits

MOST = 200
"""Tests that one program is put to."""
REPEATS = 5
Runner = Callable[..., Ran]
_BLOCK = re.compile(r"^(```+|~~~+)[ \t]*(?:python3?|py)?[ \t]*\n(.*?)\n\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CASE = """
import sys
sys.argv = ["program"]
_names = {{"__name__": "program", "__file__": "program.py"}}
exec(compile(open("/input/program.py", encoding="utf-8").read(), "program.py", "exec"), _names)
_tests = open("/input/test.py", encoding="utf-8").read()
exec(compile(_tests, "test.py", "exec"), _names)
sys.stdout.flush()
print("\\n{word}", flush=True)
"""


class BadTests(ValueError):
    """The tests can't be used; the message says what to change."""


@dataclass(frozen=True)
class Case:
    """One test: its name, and either Python code or an input with the output that is expected."""

    name: str
    code: str = ""
    input: str = ""
    output: str = ""


@dataclass(frozen=True)
class Passed:
    """How many tests passed, and what the first that did not said."""

    passed: int
    total: int
    first_failure: str = ""


def program_in(text: str) -> str:
    """The program of a reply: its longest fenced block, else the whole text."""
    blocks = [found[2] for found in _BLOCK.finditer(text.replace("\r\n", "\n"))]
    return max(blocks, key=len) if blocks else text


def read_cases(tests: str) -> tuple[Case, ...]:
    """The tests of a task, in order. Raises BadTests."""
    if not tests.strip():
        raise BadTests("The task has no tests. Put them into its reference.")
    cases = _pairs(tests) if tests.lstrip().startswith("[") else _code(tests)
    if not cases:
        raise BadTests("There is no test: neither a function test_... nor an assert, nor a pair.")
    if len(cases) > MOST:
        raise BadTests(f"There are {len(cases)} tests; {MOST} is the most.")
    return cases


def _pairs(tests: str) -> tuple[Case, ...]:
    try:
        rows = json.loads(tests)
        return tuple(
            Case(f"pair {number}", input=row["input"] + "", output=row["output"] + "")
            for number, row in enumerate(rows, 1)
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadTests(
            f'Tests as pairs are a JSON list of {{"input": "...", "output": "..."}} texts ({error}).'
        ) from error


def _code(tests: str) -> tuple[Case, ...]:
    try:
        body = ast.parse(tests).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadTests(f"The tests are no Python: {error}.") from error
    common = "\n".join(_source(tests, node) for node in body if not isinstance(node, ast.Assert))
    cases = []
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            cases.append(Case(node.name, f"{common}\n{node.name}()"))
        elif isinstance(node, ast.Assert):
            code = _source(tests, node)
            cases.append(Case(" ".join(code.split())[:120], f"{common}\n{code}"))
    return tuple(cases)


def _source(tests: str, node: ast.stmt) -> str:
    return ast.unparse(node)


def check(program: str, cases: Sequence[Case], limits: Limits, runner: Runner = run) -> Passed:
    """Put the program to all its tests. Raises NoIsolation."""
    failures = [(case, words) for case in cases if (words := _failure(program, case, limits, runner))]
    first = f"{failures[0][0].name}: {failures[0][1]}" if failures else ""
    return Passed(len(cases) - len(failures), len(cases), first)


def _failure(program: str, case: Case, limits: Limits, runner: Runner) -> str:
    """What is wrong with the program by this test; empty when nothing is."""
    if not case.code:
        ran = runner({"main.py": program}, stdin=case.input, limits=limits)
        if ran.outcome != "finished":
            return ran.said
        return "" if _lines(ran.output) == _lines(case.output) else _unlike(case.output, ran.output)
    word = secrets.token_hex(16)
    files = {"main.py": _CASE.format(word=word), "program.py": program, "test.py": case.code}
    ran = runner(files, limits=limits)
    if ran.outcome != "finished":
        return "It is not so." if ran.said == "It failed: AssertionError" else ran.said
    ended = ran.output.rstrip("\n").rpartition("\n")[2] == word
    return "" if ended else "The program ended before the test did."


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _unlike(wanted: str, given: str) -> str:
    """The first line in which two outputs differ, in words."""
    pairs = zip([*_lines(wanted), ""], [*_lines(given), ""], strict=False)
    number, (want, got) = next((place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {number} of the output should be {want[:80]!r} and is {got[:80]!r}"


class UnitTests:
    """The share of the task's tests that the program passes, from 0 to 1, the first failure in words."""

    name = "unit_tests"

    def __init__(self, limits: Limits | None = None, runner: Runner = run) -> None:
        self._limits = limits or Limits()
        self._runner = runner

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order; none has one where programs can't be shut off."""
        return tuple([await asyncio.to_thread(self._score, task, text) for text in texts])

    def _score(self, task: Task, text: str) -> Score:
        if not text.strip():
            return Score(self.name, None, "There is no program: the text is empty.")
        try:
            found = check(program_in(text), read_cases(task.reference), self._limits, self._runner)
        except (BadTests, NoIsolation) as error:
            return Score(self.name, None, str(error))
        details = (("passed", float(found.passed)), ("total", float(found.total)))
        return Score(self.name, found.passed / found.total, found.first_failure, "the task's tests", details)


@dataclass(frozen=True)
class Times:
    """Medians of the seconds of CPU that the original and the program took over all inputs."""

    original: float
    program: float

    @property
    def ratio(self) -> float:
        """How many times as fast the program is as the original."""
        return self.original / self.program


def times(
    original: str,
    program: str,
    inputs: Sequence[str],
    limits: Limits,
    repeats: int = REPEATS,
    runner: Runner = run,
) -> Times | str:
    """The times of the two, taken by turns so that a busy machine slows both; or why there are none.

    Python's own start is part of both. Raises NoIsolation.
    """
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for which, code in enumerate((original, program)):
            ran = [runner({"main.py": code}, stdin=text, limits=limits) for text in inputs]
            bad = next((one for one in ran if one.outcome != "finished" or one.cpu_seconds is None), None)
            if bad:
                return f"{('The original', 'The program')[which]} could not be timed. {bad.said}"
            taken[which].append(sum(one.cpu_seconds or 0.0 for one in ran))
    return Times(statistics.median(taken[0]), statistics.median(taken[1]))


class Speed:
    """How many times as fast as the original (Task.input) the program is; only where it passes all tests."""

    name = "speed"

    def __init__(self, limits: Limits | None = None, repeats: int = REPEATS, runner: Runner = run) -> None:
        self._limits = limits or Limits()
        self._repeats = repeats
        self._runner = runner

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order. The tests must be pairs of input and output: those inputs are timed."""
        return tuple([await asyncio.to_thread(self._score, task, text) for text in texts])

    def _score(self, task: Task, text: str) -> Score:
        if not text.strip():
            return Score(self.name, None, "There is no program: the text is empty.")
        try:
            return self._timed(program_in(task.input), program_in(text), read_cases(task.reference))
        except (BadTests, NoIsolation) as error:
            return Score(self.name, None, str(error))

    def _timed(self, original: str, program: str, cases: Sequence[Case]) -> Score:
        inputs = [case.input for case in cases if not case.code]
        if not inputs:
            return Score(self.name, None, "Speed needs tests that are pairs of input and output.")
        found = check(program, cases, self._limits, self._runner)
        if found.passed < found.total:
            return Score(self.name, None, f"Not timed, since it is wrong. {found.first_failure}")
        measured = times(original, program, inputs, self._limits, self._repeats, self._runner)
        if isinstance(measured, str):
            return Score(self.name, None, measured)
        details = (("original seconds", measured.original), ("seconds", measured.program))
        return Score(self.name, measured.ratio, "", "against the original program", details)
