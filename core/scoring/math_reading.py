r"""A short answer's text as what it says: a value with its unit and name, a tuple, a set, a choice, a word.

It reads spelling only and computes nothing; that an answer stands here already, without a sentence around
it, is taken for granted. LaTeX and plain writing are both read:

- 12,450 and 12\,450 and 12 450 are one number (groups of exactly three); any other comma separates a list.
- 7 3/4 and 7\frac{3}{4} are mixed numbers, their sign covers the whole.
- \pm makes two answers of one. A single letter before = names an answer; any other = makes an equation.
- A unit is what follows a number in words or as a degree sign; money stands before or after. The noun of an
  ordinal (12th grade) counts as one; words of size before it (5 million dollars) belong to the number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["value", "tuple", "set", "list", "matrix", "word", "choice", "clock", "ratio", "relation"]

LONGEST, DEEPEST, MOST = 4_000, 40, 64
"""Characters, nested brackets and parts that an answer may have; longer ones are not answers."""


@dataclass(frozen=True)
class Reading:
    """What an answer says. `body` is LaTeX without unit and name, `brackets` the pair around a tuple."""

    kind: Kind
    body: str
    parts: tuple[Reading, ...] = ()
    brackets: str = ""
    unit: str = ""
    percent: bool = False
    base: str = ""
    name: str = ""
    ordinal: bool = False


class Unreadable(ValueError):
    """This is no short answer; the message says what is wrong with it."""


_SAID = {
    "−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "÷": "/", "π": r"\pi ", "∞": r"\infty ",
    "±": r"\pm ", "≤": r"\le ", "≥": r"\ge ", "∪": r"\cup ", "∈": r"\in ", "°": r"^\circ", "√": r"\sqrt ",
    "\u00a0": " ",    "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "²": "^{2}", "³": "^{3}",
}  # fmt: skip
_NOISE = re.compile(
    r"\\(?:left|right|bigg?[lrm]?|Bigg?[lrm]?|displaystyle|limits)(?![A-Za-z])\.?"
    r"|(?<!\\)\\[!,;:]|\\(?:quad|qquad)(?![A-Za-z])"
)
_FONT = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt)?|mathrm|mathbf|mathit|mbox|hbox|textnormal)\s*\{([^{}]*)\}")
_WORDS_FOLLOW = r"(?:\\text\{[^{}]*\}|[A-Za-zµ€£¥]+)"
_UNIT = re.compile(
    rf"^(?P<value>.*?[\d)}}\]ie.])(?P<unit>\s*(?:\^\s*\{{?\s*\\circ\s*\}}?|\\degree|\\text\{{[^{{}}]*\}}"
    rf"|\s(?:[A-Za-z]{{2,}}|[mgshLNJWVK](?![A-Za-z]))\.?|(?<=\d)(?:cm|mm|km|kg|ft|am|pm|m|g|s|h))"
    rf"(?:[\s/]*{_WORDS_FOLLOW})*(?:\s*\^\s*\{{?\d\}}?)?)\s*$"
)
_MONEY = {r"\$": "dollar", "$": "dollar", "€": "euro", "£": "pound sterling", "¥": "yen"}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d+)?")
_MIXED = re.compile(r"(?<![\d.}^_])(\d+)\s*(?:\\frac\{(\d+)\}\{(\d+)\}|(?<=\d)\s+(\d+)\s*/\s*(\d+))")
_BASE = re.compile(r"([0-9A-F]+)_\{?\s*(\d+|(?:\\text\{)?[a-z]+\}?)\s*\}?")
_NAMED = re.compile(r"((?:\\?[A-Za-z]|\\[a-z]+)(?:_\{?\w+\}?)?(?:\([a-z]\))?)\s*=(?!=)\s*([^=<>]+)")
_RELATION = re.compile(r"=|<|>|\\(?:leq?|geq?|lt|gt|neq?|approx)(?![A-Za-z])")
_MATRIX = re.compile(r"\\begin\{([pbvBV]?matrix|array)\}(?:\{[lcr|]*\})?(.*)\\end\{\1\}", re.DOTALL)
_ORDINAL = re.compile(
    r"(\d+)\s*(?:\^\s*\{?\s*)?(?:\\text\{\s*)?(?:st|nd|rd|th)(?![A-Za-z])(?:\s*\})*"
    r"(?:\s*(?:\\text\{)?\s*(?P<noun>[A-Za-z]{2,}(?: [A-Za-z]{2,}){0,2})\s*\}?)?"
)
_OPEN, _CLOSE = "([{", ")]}"


def clean(text: str) -> str:
    """The text without what only spaces, sizes or fonts it, in LaTeX. Raises Unreadable."""
    if len(text) > LONGEST:
        raise Unreadable(f"too long: {len(text):,} characters, {LONGEST:,} is the most")
    for sign, latex in _SAID.items():
        text = text.replace(sign, latex)
    text = re.sub(r"(?<!\\)\\ |~", " ", _FONT.sub(r"\\text{\1}", _NOISE.sub("", text)))
    text = _undelimited(text.strip().rstrip(".").strip())
    text = re.sub(r"\\[dtc]frac(?![A-Za-z])", r"\\frac", text)
    text = re.sub(r"\\frac\s*(\d|\{[^{}]*\})\s*(\d|\{[^{}]*\})", _frac, text)
    if "\\" not in text:
        text = _from_plain(text)
    _check_brackets(text)
    return text.strip()


def _frac(found: re.Match[str]) -> str:
    return "\\frac" + "".join("{" + part.strip("{}") + "}" for part in found.groups())


def _undelimited(text: str) -> str:
    """Without the signs that say: here is mathematics."""
    for start, end in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(start) and text.endswith(end) and len(text) > len(start + end):
            inner = text[len(start) : -len(end)]
            return text if re.search(r"(?<!\\)" + re.escape(start), inner) else inner.strip()
    return text


def _from_plain(text: str) -> str:
    """Writing of calculators and programs as LaTeX."""
    text = text.replace("**", "^").replace("*", r"\cdot ").replace("<=", r"\le ").replace(">=", r"\ge ")
    text = re.sub(r"\^(-?\d+|\((-?[\w./+-]+)\))", lambda m: "^{" + (m[2] or m[1]) + "}", text)
    text = re.sub(r"\bsqrt\(([^()]*)\)", r"\\sqrt{\1}", text)
    return re.sub(r"(?<![A-Za-z])(pi|inf|infinity)(?![A-Za-z])", lambda m: "\\" + _PLAIN[m[1]] + " ", text)


_PLAIN = {"pi": "pi", "inf": "infty", "infinity": "infty"}


def _check_brackets(text: str) -> None:
    """Braces pair, and nothing nests too deeply."""
    depth = deepest = braces = 0
    for sign in text:
        depth += (sign in _OPEN) - (sign in _CLOSE)
        braces += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
        if braces < 0:
            break
    if braces:
        raise Unreadable("braces that have no partner")
    if deepest > DEEPEST:
        raise Unreadable("nested too deeply")


def read(text: str) -> Reading:
    """What the answer says. Raises Unreadable."""
    body = clean(text)
    if not body:
        raise Unreadable("empty")
    return _read(body)


def _read(body: str) -> Reading:
    body = re.sub(r"^[A-Za-z]\s*\\in(?![A-Za-z])\s*", "", body.strip())
    for reader in (_choice, _word, _clock, _matrix, _listed, _bracketed, _named):
        found = reader(body)
        if found:
            return found
    return _value(body)


def _choice(body: str) -> Reading | None:
    inner = _inside_text(body).strip()
    found = re.fullmatch(r"\(?([A-J])\)?\.?|\(([a-j])\)", inner)
    return Reading("choice", (found[1] or found[2]).upper()) if found else None


def _inside_text(body: str) -> str:
    return re.sub(r"\\text\{([^{}]*)\}", r"\1", body)


def _word(body: str) -> Reading | None:
    """Words of a language: written as text, or letters that no formula has side by side."""
    inner = " ".join(_inside_text(body).split())
    as_text = (
        inner != body and re.fullmatch(r"(?:\\text\{[^{}]*\}\s*)+", body) and not re.search(r"\d", inner)
    )
    plain = re.fullmatch(r"[^\W\d_]{2,}(?:[ '’-][^\W\d_]+)*", inner) and re.search(r"[a-z]{3}", inner)
    if not as_text and not plain:
        return None
    return Reading("word", re.sub(r"^(?:the|an?) ", "", inner.casefold().strip(" .")))


def _clock(body: str) -> Reading | None:
    found = re.fullmatch(r"(\d+)\s*:\s*(\d+)((?::\d+)*)\s*((?:[ap]\.?m\.?)?)", _inside_text(body), re.I)
    if not found:
        return None
    if len(found[2]) == 2 and int(found[2]) < 60 and int(found[1]) < 25:
        return Reading(
            "clock", f"{int(found[1])}:{found[2]}{found[3]}", unit=found[4].lower().replace(".", "")
        )
    parts = tuple(_value(part) for part in [found[1], found[2], *found[3].split(":")[1:]])
    return Reading("ratio", body, parts)


def _matrix(body: str) -> Reading | None:
    found = _MATRIX.fullmatch(body)
    if not found:
        return None
    rows = [row for row in re.split(r"\\\\", found[2]) if row.strip()]
    parts = [Reading("tuple", row, tuple(_read(cell) for cell in row.split("&"))) for row in rows]
    return Reading("matrix", body, tuple(parts))


def _pieces(body: str) -> list[str]:
    """The text at its outermost commas, semicolons and the words and, or."""
    pieces, depth, start, place = [], 0, 0, 0
    for found in re.finditer(
        r"\\[{}]|[()\[\]{},;]|\\text\{\s*,?\s*(?:and|or)\s*\}|(?<=\s)(?:and|or)(?=\s)", body
    ):
        sign, place = found.group(), found.start()
        if sign[-1] in _OPEN or (sign[-1] in _CLOSE and "text" not in sign):
            depth += 1 if sign[-1] in _OPEN else -1
        elif depth == 0:
            pieces.append(body[start:place])
            start = found.end()
    return [piece.strip() for piece in [*pieces, body[start:]] if piece.strip()]


def _listed(body: str) -> Reading | None:
    if _THOUSANDS.fullmatch(body.lstrip("\\$ ")):
        return None
    pieces = _pieces(body)
    if len(pieces) == 1:
        both = _both_signs(body)
        return Reading("list", body, tuple(_read(one) for one in both)) if both else None
    if not pieces or len(pieces) > MOST:
        raise Unreadable(f"{len(pieces)} parts")
    return Reading("list", body, _parts(pieces))


def _parts(pieces: list[str]) -> tuple[Reading, ...]:
    """Each piece read, one with both signs as two."""
    found: list[Reading] = []
    for piece in pieces:
        found.extend(_read(one) for one in _both_signs(piece) or [piece])
    return tuple(found)


def _both_signs(body: str) -> list[str]:
    """The two answers that one with a sign for both stands for, outside of sets and tuples."""
    places = [found.start() for found in re.finditer(r"\\pm(?![A-Za-z])", body)]
    if len(places) != 1 or (body[:1] in "([" and body[-1:] in ")]") or body.startswith("\\{"):
        return []
    return [body[: places[0]] + sign + body[places[0] + 3 :] for sign in "+-"]


def _bracketed(body: str) -> Reading | None:
    r"""A tuple, an interval or a set: one pair of brackets around everything."""
    for start, end, kind in (("\\{", "\\}", "set"), ("(", ")", "tuple"), ("[", "]", "tuple")):
        if body.startswith(start) and body[-1] in ")]}" and (end in ")]" or body.endswith(end)):
            closing = len(end) if kind == "set" else 1
            inner = body[len(start) : -closing]
            if _depth_holds(inner) and (kind == "set" or body[-1] in ")]"):
                return _inner(body, inner, kind, start[-1] + body[-1])
    return None


def _depth_holds(inner: str) -> bool:
    """Whether no bracket closes in it that has not opened in it."""
    depth = 0
    for sign in inner:
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth < 0:
            return False
    return depth == 0


def _inner(body: str, inner: str, kind: str, brackets: str) -> Reading | None:
    pieces = _pieces(inner)
    if kind == "set":
        return Reading("set", body, _parts(pieces))
    if len(pieces) < 2:
        return _read(inner) if inner.strip() and brackets == "()" else None
    return Reading("tuple", body, tuple(_read(piece) for piece in pieces), brackets)


def _named(body: str) -> Reading | None:
    found = _NAMED.fullmatch(body)
    if found:
        return replace(_read(found[2]), name=found[1].replace("{", "").replace("}", ""))
    return Reading("relation", body) if _RELATION.search(body) else None


def _value(body: str) -> Reading:
    """A single value: its sign, unit and notation told apart."""
    body, unit = _without_money(body.strip())
    ordinal = _ORDINAL.fullmatch(body)
    if ordinal:
        return Reading("value", ordinal[1], unit=ordinal["noun"] or unit, ordinal=True)
    body, percent = _without_percent(body)
    found = _UNIT.match(body)
    if found and not percent:
        body, words = _scaled(found["value"].strip(), _unit(found["unit"]))
        unit = unit or words
    base = _BASE.fullmatch(body)
    if base:
        return Reading("value", base[1], base=re.sub(r"\\text\{|\}", "", base[2]))
    return Reading("value", _number(body), unit=unit, percent=percent)


def _without_money(body: str) -> tuple[str, str]:
    sign = re.match(r"([-+]?)\s*(\\\$|[$€£¥])\s*", body)
    return (sign[1] + body[sign.end() :], _MONEY[sign[2]]) if sign else (body, "")


def _without_percent(body: str) -> tuple[str, bool]:
    bare = re.sub(r"\s*(?:\\?%|\\text\{\s*(?:%|percent)\s*\}|\bpercent)\s*$", "", body)
    return bare, bare != body


def _unit(text: str) -> str:
    words = re.sub(r"\^\s*\{?\s*\\circ\s*\}?|\\degree", " degree ", text)
    return " ".join(re.sub(r"[{}]|\s*(?=\^)", "", _inside_text(words)).replace("^ ", "^").split()).strip(".")


def _scaled(body: str, words: str) -> tuple[str, str]:
    """A number times the size that words after it name (5 million), and the words that are left: the unit."""
    first, _, rest = words.partition(" ")
    power = _SCALES.get(first.lower())
    return (body, words) if power is None else _scaled(rf"({body}) \cdot 10^{{{power}}}", rest)


def _number(body: str) -> str:
    if _THOUSANDS.fullmatch(body):
        return body.replace(",", "").replace(" ", "")
    if (re.search(r"\d\s+\d", body) and not _MIXED.search(body)) or re.search(r"\d\.\d*\.", body):
        raise Unreadable("numbers side by side")
    body = re.sub(r"(?<!\d)(\d{1,3}(?:,\d{3})+)(?!\d)", lambda found: found[1].replace(",", ""), body)
    return _MIXED.sub(_mixed, body)


def _mixed(found: re.Match[str]) -> str:
    over, under = found[2] or found[4], found[3] or found[5]
    if int(over) >= int(under):
        return found[0]
    return rf"({found[1]}+\frac{{{over}}}{{{under}}})"
