"""Programs put to tests and timed; most with a stand-in for the sandbox, a few in it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.domain import Score, Task
from core.scoring.program import BadTests, Speed, UnitTests, program_in, read_cases, times
from core.scoring.sandbox import NoIsolation, Ran, isolation
from core.scoring.shut_off import Limits

LIMITS = Limits(seconds=10.0, cpu_seconds=1)
DOUBLE = json.dumps([{"input": "2\n", "output": "4\n"}, {"input": "5", "output": "10"}])


@pytest.fixture
def shut_off() -> None:
    try:
        isolation()
    except NoIsolation as error:
        pytest.skip(str(error))


def unit_tests(program: str, tests: str) -> Score:
    return asyncio.run(UnitTests(LIMITS).measure(Task("?", reference=tests), (), [program]))[0]


@pytest.mark.usefixtures("shut_off")
@pytest.mark.parametrize(
    ("program", "value", "why"),
    [
        ("print(int(input()) * 2)", 1.0, ""),
        ("Faster:\n```python\nprint(int(input()) * 2)\n```\nDone.", 1.0, ""),
        ("print(int(input()) + 2)", 0.5, "pair 2: line 1 of the output should be '10' and is '7'"),
        ("while True: pass", 0.0, "pair 1: It was stopped after"),
        ("print(", 0.0, "pair 1: It failed: SyntaxError"),
    ],
)
def test_pairs(program: str, value: float, why: str) -> None:
    found = unit_tests(program, DOUBLE)
    assert found.value == value
    assert found.why.startswith(why)
    assert bool(why) == bool(found.why)


CODE = """
import math
def near(a, b): return math.isclose(a, b)
assert double(2) == 4
def test_halves():
    assert near(double(0.5), 1.0)
assert double(-1) == -2
"""


@pytest.mark.usefixtures("shut_off")
@pytest.mark.parametrize(
    ("program", "value", "why"),
    [
        ("def double(x): return x * 2", 1.0, ""),
        ("def double(x): return abs(x) * 2", 2 / 3, "assert double(-1) == -2: It is not so."),
        ("def double(x): raise SystemExit(0)", 0.0, "assert double(2) == 4: The program ended before"),
        ("import os\ndef double(x): os._exit(0)", 0.0, "assert double(2) == 4: The program ended before"),
        ("def triple(x): return 3", 0.0, "assert double(2) == 4: It failed: NameError"),
        ("def double(x):\n while True: pass", 0.0, "assert double(2) == 4: It was stopped after"),
    ],
)
def test_code(program: str, value: float, why: str) -> None:
    found = unit_tests(program, CODE)
    assert found.value == pytest.approx(value)
    assert found.why.startswith(why)
    assert dict(found.details)["total"] == 3.0


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("", "no tests"),
        ("x = 1", "no test"),
        ("[]", "no test"),
        ("def (", "no Python"),
        ('[{"input": 1, "output": "2"}]', "JSON list"),
        ('[{"input": "1"}]', "JSON list"),
        ("[1, ", "JSON list"),
        ("assert 1\n" * 201, "201 tests; 200"),
    ],
)
def test_bad_tests_say_what_to_change(tests: str, said: str) -> None:
    with pytest.raises(BadTests, match=said):
        read_cases(tests)
    found = unit_tests("print(1)", tests)
    assert found.value is None
    assert said in found.why


def test_the_program_of_a_reply() -> None:
    assert program_in("x = 1") == "x = 1"
    assert program_in("a\n```\nshort\n```\nb\n~~~py\nlonger one\n~~~\n") == "longer one"
    assert program_in("```python\r\nx = 1\r\n```") == "x = 1"


def test_where_nothing_is_shut_off_there_is_no_score() -> None:
    def refuse(*given: Any, **named: Any) -> Ran:
        raise NoIsolation("can't be shut off here")

    for scorer in (UnitTests(runner=refuse), Speed(runner=refuse)):
        found = asyncio.run(scorer.measure(Task("?", reference=DOUBLE), (), ["print(1)"]))[0]
        assert (found.value, found.why) == (None, "can't be shut off here")


def stand_in(seconds: dict[str, list[float]], output: str = "4") -> Any:
    """A sandbox in which each program takes the next of its seconds."""

    def runner(files: dict[str, str], *, stdin: str = "", limits: Limits) -> Ran:
        return Ran("finished", "", output, "", 9.0, seconds[files["main.py"]].pop(0))

    return runner


def test_times_are_medians_of_turns() -> None:
    runner = stand_in({"slow": [4.0, 100.0, 4.2], "fast": [2.0, 0.1, 2.1]})
    found = times("slow", "fast", [""], LIMITS, 3, runner)
    assert not isinstance(found, str)
    assert (found.original, found.program) == (4.2, 2.0)
    assert found.ratio == pytest.approx(2.1)


def test_speed_is_a_ratio_to_the_original() -> None:
    task = Task("slow", reference=json.dumps([{"input": "2", "output": "4"}]))
    runner = stand_in({"slow": [3.0], "fast": [9.0, 1.5]})
    assert asyncio.run(Speed(LIMITS, 1, runner).measure(task, (), ["fast"]))[0].value == pytest.approx(2.0)
    wrong = stand_in({"slow": [3.0], "fast": [9.0, 1.5]}, output="5")
    found = asyncio.run(Speed(LIMITS, 1, wrong).measure(task, (), ["fast"]))[0]
    assert found.value is None
    assert found.why.startswith("Not timed, since it is wrong. pair 1")


@pytest.mark.usefixtures("shut_off")
def test_more_work_takes_more_time() -> None:
    found = times("print(sum(i for i in range(3_000_000)))", "print(4499998500000)", [""], LIMITS, 3)
    assert not isinstance(found, str)
    assert found.ratio > 1.5


@pytest.mark.usefixtures("shut_off")
def test_an_original_that_fails_is_no_measure() -> None:
    found = times("1/0", "print(1)", [""], LIMITS, 1)
    assert found == "The original could not be timed. It failed: ZeroDivisionError: division by zero"


@pytest.mark.usefixtures("shut_off")
def test_real_programs_pass_what_their_originals_print() -> None:
    folder = os.environ.get("REDRAFT_TEST_DATA")
    if not folder:
        pytest.skip("REDRAFT_TEST_DATA is not set")
    lines = (Path(folder) / "pie_python_sample.jsonl").read_text(encoding="utf-8").split("\n")
    rows = {row["problem_id"]: row for row in map(json.loads, filter(None, lines))}
    row = rows["p03371"]
    pair = json.dumps([{"input": "1500 2000 1600 3 2\n", "output": "7900\n"}])
    task = Task(row["input"], reference=pair)
    assert unit_tests(row["target"], pair).value == 1.0
    found = asyncio.run(Speed(LIMITS, 3).measure(task, (), [row["target"]]))[0]
    assert found.value is not None and dict(found.details)["original seconds"] > 0
    change = json.dumps([{"input": "1900\n", "output": "2900\n"}])
    assert unit_tests(rows["p02612"]["target"], change).value == 0.0
