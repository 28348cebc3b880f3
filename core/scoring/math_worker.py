"""A process that compares two LaTeX expressions and can be killed, and the client that talks to it.

Some expressions never come to an end in a computer algebra system, and no exception reaches them there;
so the work is done in a process of its own, one JSON line in and one out, which is killed when it takes
too long. It knows nothing of answers, units or policies: two expressions come in, each without words.

The file is also the program of that process and imports nothing of Redraft. Nothing in it evaluates text
as Python: the expressions go through latex2sympy's grammar, never through sympy's own text parser.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from threading import Lock
from typing import Any, Literal

Answer3 = Literal["same", "different", "unknown"]
TOO_LONG = "took too long"
TOO_LARGE = "needed too much memory"
UNREADABLE = "not readable as mathematics"
MEMORY = 2_000_000_000
"""Bytes of address space that the process may use."""
START = 60.0
"""Seconds for it to start; loading the algebra system takes one or two."""
CLOSE, FAR = "1e-20", "1e-9"
"""Relative differences: below the one two numbers are taken as equal, above the other as different."""
DECIMALS = 6
"""A decimal fraction with at least so many places stands for the number that it is the rounding of."""


class WorkerError(RuntimeError):
    """The process can't be started; the message says why."""


class Worker:
    """The process, started when first needed, killed when it overruns, closed with its owner."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process's number while there is one."""
        return self._process.pid if self._process else None

    def compare(self, gold: str, answer: str, *, seconds: float) -> tuple[Answer3, str]:
        """Whether two LaTeX expressions are the same, and the rule that decided. Raises WorkerError."""
        request = {"gold": gold, "answer": answer, "seconds": seconds}
        with self._lock:
            process = self._process or self._start()
            reply = self._reply(process, json.dumps(request), seconds)
        verdict, rule = reply
        return verdict, rule

    def close(self) -> None:
        """End the process; the next comparison starts a new one."""
        with self._lock:
            self._kill()

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-I", "-X", "utf8", __file__]
        try:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise WorkerError(f"The process for mathematics can't be started: {error.strerror}.") from error
        if self._line(self._process, START) is None:
            self._kill()
            raise WorkerError("The process for mathematics did not start. Is math-verify installed?")
        return self._process

    def _reply(self, process: subprocess.Popen[bytes], line: str, seconds: float) -> tuple[Answer3, str]:
        assert process.stdin is not None
        started = time.monotonic()
        try:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            reply = self._line(process, seconds)
        except BrokenPipeError:
            reply = b""
        if reply:
            found = json.loads(reply)
            return found["verdict"], found["rule"]
        self._kill()
        late = reply is None or time.monotonic() - started >= seconds
        return "unknown", TOO_LONG if late else "the comparison failed"

    @staticmethod
    def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """The next line it writes; empty when it has ended, None when the time is up."""
        assert process.stdout is not None
        read, end = b"", time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            while not read.endswith(b"\n"):
                if not waiting.select(max(0.0, end - time.monotonic())):
                    return None
                piece = os.read(process.stdout.fileno(), 65536)
                if not piece:
                    return b""
                read += piece
        return read

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what was still to be sent has nobody to read it


@cache
def shared_worker() -> Worker:
    """The worker that all comparisons share; it ends with this process."""
    import atexit

    worker = Worker()
    atexit.register(worker.close)
    return worker


# From here on: what runs inside the process.


def _parsed(latex: str) -> Any:
    """The expression as a sympy value, None where it can't be read. math-verify's reader catches all."""
    from latex2sympy2_extended.latex2sympy2 import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse
    from sympy import Basic, MatrixBase

    cleaning = NormalizationConfig(
        basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="none", equations=False
    )
    reading = LatexExtractionConfig(boxed_match_priority=-1, normalization_config=cleaning)
    found = parse(f"${latex}$", [reading], fallback_mode="no_fallback", parsing_timeout=None)
    return found[0] if found and isinstance(found[0], Basic | MatrixBase) else None


def _exact(value: Any) -> Any:
    """The expression with decimal fractions as exact ones, i as the imaginary unit, and worked out."""
    from sympy import Float, I, Rational, UnevaluatedExpr

    if hasattr(value, "replace"):
        value = value.replace(UnevaluatedExpr, lambda inner: inner)
        value = value.xreplace({number: Rational(str(number)) for number in value.atoms(Float)})
        value = value.xreplace({symbol: I for symbol in value.free_symbols if str(symbol) == "i"})
    return value.doit()


def _places(latex: str) -> int | None:
    """How many decimal places the text has when it is a decimal fraction and nothing else."""
    whole, point, fraction = latex.strip().lstrip("+-").partition(".")
    plain = point and (whole + fraction).isascii() and (whole + fraction).isdigit()
    return len(fraction) if plain else None


def _rounds_to(value: Any, decimal: Any, places: int | None) -> bool:
    """Whether the decimal fraction with so many places is the rounding of the value."""
    from sympy import Rational

    if places is None or places < DECIMALS or not value.is_real:
        return False
    return bool(abs((value - decimal).evalf(30)) <= Rational(1, 2 * 10**places))


def _apart(gold: Any, answer: Any) -> Any:
    """The distance of two numbers relative to the larger, with thirty digits."""
    left, right = gold.evalf(40), answer.evalf(40)
    size = max(abs(left), abs(right), key=lambda number: number.evalf(10))
    return abs(left - right) / size if size != 0 else size


def _numbers(gold: Any, answer: Any, texts: tuple[str, str]) -> tuple[Answer3, str]:
    """Two numbers: exactly, else by forty digits, else a long decimal by rounding."""
    from sympy import Float, nan, oo, zoo

    endless = {nan, zoo, oo, -oo}
    if gold == answer:
        return ("unknown", "not a number") if gold in (nan, zoo) else ("same", "equal numbers")
    if gold in endless or answer in endless:
        return "different", "unequal numbers"
    distance = _apart(gold, answer)
    if _rounds_to(gold, answer, _places(texts[1])) or _rounds_to(answer, gold, _places(texts[0])):
        return "same", "rounded decimal"
    if not distance.is_comparable:
        return "unknown", "not comparable numbers"
    if distance < Float(CLOSE):
        return "same", "equal numbers"
    return ("different", "unequal numbers") if distance > Float(FAR) else ("unknown", "too close to tell")


def _points(names: list[str]) -> Iterator[dict[str, Any]]:
    """Places at which expressions are tried: fractions of both signs, none of them special."""
    from sympy import Rational

    for turn in range(8):
        sign = (-1) ** turn
        yield {
            name: sign**place * Rational(2 * turn + 3 * place + 5, 7 + 2 * place) * (-1) ** (turn // 2)
            for place, name in enumerate(names)
        }


def _sampled(gold: Any, answer: Any) -> tuple[Answer3, str] | None:
    """Two expressions with variables, tried at several places; None where no place is defined for both."""
    from sympy import Float

    names = sorted({str(symbol) for symbol in gold.free_symbols | answer.free_symbols})
    tried = 0
    for point in _points(names):
        left, right = (
            side.subs({s: point[str(s)] for s in side.free_symbols}).doit() for side in (gold, answer)
        )
        if not (abs(left).evalf(20).is_comparable and abs(right).evalf(20).is_comparable):
            continue
        tried += 1
        if left != right and _apart(left, right) > Float(FAR):
            return "different", "unequal at a point"
    return ("same", "equal at every point tried") if tried >= 3 else None


def _is_expression(value: Any) -> bool:
    from sympy import Expr

    return isinstance(value, Expr) and not value.is_Matrix


def _compared(gold: str, answer: str) -> tuple[Answer3, str]:
    left, right = _parsed(gold), _parsed(answer)
    if left is None or right is None:
        return "unknown", UNREADABLE
    if _is_expression(left) and _is_expression(right):
        try:
            exact = _exact(left), _exact(right)
            if exact[0].is_number and exact[1].is_number:
                return _numbers(*exact, (gold, answer))
            tried = _sampled(*exact)
        except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError):
            tried = None
        if tried:
            return tried
    return _verified(left, right)


def _verified(left: Any, right: Any) -> tuple[Answer3, str]:
    """math-verify's own comparison in both directions: it is not symmetric."""
    from math_verify import verify

    either = any(
        verify(*pair, timeout_seconds=None, allow_set_relation_comp=True)
        for pair in ((left, right), (right, left))
    )
    return ("same" if either else "different"), "math-verify"


def _limit_time(seconds: float) -> None:
    """A process whose owner has died in mid-comparison ends by itself."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _serve() -> None:
    import logging
    import resource

    logging.disable(logging.CRITICAL)
    # Writing out huge numbers is refused by default, which would make sympy fail at reading them.
    sys.set_int_max_str_digits(100_000)
    import math_verify  # noqa: F401  (loads it before the clock of a comparison runs)

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        _limit_time(request["seconds"])
        try:
            verdict, rule = _compared(request["gold"], request["answer"])
        except MemoryError:
            verdict, rule = "unknown", TOO_LARGE
        except RecursionError:
            verdict, rule = "unknown", "nested too deeply"
        print(json.dumps({"verdict": verdict, "rule": rule}), flush=True)


if __name__ == "__main__":
    _serve()
