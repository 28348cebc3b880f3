"""Shapes and words of a picture as SVG text; words are made safe here. Knows nothing of what is drawn."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable

WIDTH = 720
INK, SOFT, LINE = "#1c1917", "#57534e", "#d6d3d1"
ACCENT, OTHER, THIRD = "#0f766e", "#b45309", "#a8a29e"


def scale_of(values: tuple[float, float], pixels: tuple[float, float]) -> Callable[[float], float]:
    """A function from values to pixels; what lies outside is put at the end."""
    (low, high), (begin, end) = values, pixels
    return lambda value: begin + (min(max(value, low), high) - low) / (high - low) * (end - begin)


def line(
    x1: float, y1: float, x2: float, y2: float, colour: str = LINE, width: float = 1, dash: str = ""
) -> str:
    """A line."""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line {place} stroke="{colour}" stroke-width="{width}"{dashed}/>'


def rect(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> str:
    """A rectangle."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}"/>'


def circle(x: float, y: float) -> str:
    """A point."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#fff" stroke="{ACCENT}" stroke-width="2"/>'


def path(d: str) -> str:
    """A line along a path."""
    return f'<path d="{d}" fill="none" stroke="{ACCENT}" stroke-width="2"/>'


def text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    colour: str = INK,
    size: float = 12,
    full: str = "",
) -> str:
    """Words; `full` is told on pointing where they were cut."""
    told = f"<title>{plain(full)}</title>" if full and full != words else ""
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size:.0f}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{told}{plain(words)}</text>'


def plain(words: str) -> str:
    """Words without markup; XML has no place for most control characters."""
    kept = (char if char >= " " and char not in "\ufffe\uffff" else " " for char in words)
    return html.escape("".join(kept))


def short(words: str, most: int) -> str:
    """The words, cut to so many characters."""
    return words if len(words) <= most else words[: max(most - 1, 1)] + "…"


def document(title: str, height: float, parts: Iterable[str]) -> str:
    """The whole picture, on white, under its title."""
    size = f'width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{plain(title)}" '
        f'font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="#fff"/>'
        f"{text(10, 24, title, 'start', INK, 15)}{''.join(parts)}</svg>"
    )
