"""A figure in words, and a table of words. Knows no figure of any study."""

from __future__ import annotations

from dataclasses import dataclass

from core.studies.figures import Estimate, Interval, Undefined

Figure = int | float | str | Interval | Estimate | Undefined | None


@dataclass(frozen=True)
class Table:
    """A heading, the columns, rows of words, and what has to be known to read them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def say(value: Figure, percent: bool = False) -> str:
    """A figure in words: four digits of a share, three of another number; never NaN."""
    if value is None:
        return "–"
    if isinstance(value, Undefined):
        return f"undefined: {value.why}"
    if isinstance(value, Interval):
        return f"{say(value.low, percent)} to {say(value.high, percent)}"
    if isinstance(value, Estimate):
        return f"{say(value.value, percent)} (SE {say(value.se, percent)}; {say(value.interval, percent)})"
    if isinstance(value, float):
        return f"{100 * value:.1f} %" if percent else f"{value + 0.0:.3f}".replace("-0.000", "0.000")
    return f"{value:,}" if isinstance(value, int) else value


def say_p(value: float | Undefined) -> str:
    """A p value; one that rounds to nothing is not called nothing."""
    return "< 0.001" if isinstance(value, float) and value < 0.0005 else say(value)


def named(*rows: tuple[str, Figure]) -> tuple[tuple[str, ...], ...]:
    """Figures, each under its name, as the rows of a table."""
    return tuple((name, say(value)) for name, value in rows)
