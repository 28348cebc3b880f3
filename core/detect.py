"""Flags a reply that is not the text that was asked for. Knows no model; reads English remarks only.

A remark is looked for at the start of the first and the last sentences of a reply, never inside one, and it
counts only when the source text does not itself hold such a remark: a text about reviews or a letter that
declines something is no remark about the text. A reply in another language is never flagged for its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain import Finish, Flag
from core.fences import is_cut

LOOK = 4
"""Sentences read at either end of a reply; remarks stand at its ends."""

_TEXT = (
    r"(?:(?:(?:product|customer|user) )?review|text|sentence|paragraph|message|e-?mail|letter|passage"
    r"|draft|version"
    r"|rewrite|rewriting|revision|rewording|statement|wording|input|prompt)"
)
_MADE = (
    r"(?:re-?written|revised|edited|corrected|shortened|shorter|improved|polished|rephrased|reworded"
    r"|re-?worked"
    r"|updated|modified|simplified|refined|paraphrased|transformed|proofread|formal|polite)"
)
_WRITE = r"(?:re-?write|revise|edit|rephrase|reword|paraphrase|proofread|shorten|analy[sz]e|re-?work|polish)"
_WRITTEN = rf"(?:{_MADE}|analy[sz]ed|changed|improved upon|made|turned into)"
_FEEL = (
    r"(?:(?:very|extremely|overwhelmingly|quite|highly|incredibly|overall) )*(?:positive|negative"
    r"|neutral)"
)
_TONE = r"(?:polite|formal|concise|positive|negative|professional|readable|clear)"
_AI = (
    r"as an? (?:ai|artificial intelligence|(?:large )?language model)(?: (?:language )?model"
    r"| assistant)?[,.]"
)
_CAN_NOT = r"(?:can(?:not|'t| not)|am (?:not able|unable) to|won't|will not)"
_APOLOGY = r"(?:(?:i'?m|i am) (?:very |really |so )?sorry|sorry|i apologi[sz]e|my apologies|unfortunately)"
_SORRY = rf"{_APOLOGY}[,.;]? (?:but )?"
_YES = r"(?:sure|certainly|of course|absolutely|great|okay|ok|understood)[,!.]? "
_Q = "[\"“*']*"

_REFUSAL = (
    # I cannot write such a thing
    rf"(?:{_SORRY})?(?:as \w+[^.]{{0,60}}, )?i (?:still )?{_CAN_NOT} "
    r"(?:comply|fulfil|assist|help|engage in|generate|create|produce|provide|complete|write|re-?write"
    r"|revise|rephrase)"
    r"(?: with| in)? (?:(?:that|this|your|the|any|an?|such)(?: \w+){0,3} "
    r"(?:request|task|prompt|output|content|rewrite|revision|review|text)s?\b"
    r"|fake|harmful|explicit|hateful|offensive|illegal|content|feedback)",
    rf"(?:{_SORRY})?i {_CAN_NOT} (?:assist|help|comply)(?: you)?(?: with (?:that|this))?[.!]",
    # As an AI language model, I cannot
    rf"{_AI}[^.]*\bi (?:{_CAN_NOT}|do not|don't|must|have to)",
    r"cannot (?:provide|generate|give|produce) (?:an? )?(?:output|review|rewrite|text|feedback|response)",
    rf"{_SORRY}(?:it (?:is|would be) (?:not possible|inappropriate|impossible)|i must decline)",
)
_META = (
    # Here is the revised text:
    rf"(?:{_YES})?here(?:'s| is| are) (?:the|a|an|your|my|one|another|some|two|three"
    rf"|what)(?: [\w-]+){{0,4}}? "
    rf"(?:{_MADE}\b|version|rewrite\b|revision|{_TEXT}s?(?: [\w ]+)?:)",
    # The revised text is, this rewritten review uses
    rf"(?:the|this|that|your|my)(?: [\w-]+)? ?{_MADE} {_TEXT}\b[^.]{{0,40}}? (?:is|was|has|does|sounds"
    rf"|should|now|uses"
    r"|keeps|maintains|conveys|still|contains|includes|could|can|effectively|successfully|already)\b",
    # The text is already good, sounds positive, cannot be improved
    rf"(?:the|this|your)(?: (?:original|given|above|previous|provided|current|first))? {_TEXT} "
    rf"(?:(?:provided )?is (?:(?:already|indeed|now|still|currently|really|also)\b|{_Q}{_FEEL}|grammatically"
    r"|well[- ]written|not (?:about|appropriate|a review)|clear and|correct as|fine as)"
    r"|already |has (?:already|now) been|(?:does not|doesn't) (?:need|require|contain|have|mention)"
    rf"|(?:already )?sounds {_Q}{_FEEL}"
    rf"|(?:cannot|can't|can|could|should|must|needs to"
    rf"|does not need to) (?:not )?(?:already )?be(?: further)? {_WRITTEN})",
    rf"(?:as|since|because) the (?:\w+ )?{_TEXT} (?:is already|has already|already)",
    rf"the sentiment (?:is|of|has|was|remains)\b[^.]*(?:{_FEEL}|review|text|transformed)",
    # There is no need to rewrite, no text was provided, no changes needed
    rf"there(?:'s| is| was)(?: absolutely)? no(?: need| reason)(?: for (?:me|you|us))? to "
    rf"(?:{_WRITE}\b|(?:change|improve|alter|modify) (?:the|this|your) (?:\w+ )?{_TEXT})",
    rf"there(?:'s| is| was) no (?:\w+ )?{_TEXT}(?: or \w+)? (?:provided|given|supplied|to (?:work|{_WRITE}))",
    rf"no (?:further |more |other |additional )?(?:output|changes?|edits?|revisions?|rewrit\w+"
    rf"|improvements?|{_TEXT})"
    r"(?: (?:is|are|was|were|has been))? (?:needed|necessary|required|provided|given)",
    # Please provide a text for me to rewrite
    r"(?:i )?(?:can you )?please (?:provide|share|send|paste|give|supply)(?: me)?(?: with)? "
    rf"(?:an?|the|your|another|more|some)(?: [\w-]+){{0,2}} (?:{_TEXT}|context)\b[^.?!]*?"
    rf"(?:\bto (?:work|continue|be|{_WRITE})|\bfor me\b|you(?:'d| would)? (?:like|want)|so (?:that )?i can"
    rf"|needs to be {_WRITTEN})",
    rf"i (?:still )?need (?:an?|the|more) (?:{_TEXT}|information|context)[^.]{{0,40}}? to (?:provide"
    rf"|work|{_WRITE})",
    rf"(?:{_SORRY})?there (?:seems|appears) to be (?:an?|some) (?:error|mistake|confusion) (?:in"
    rf"|with) (?:your|the) "
    r"(?:request|prompt|input)",
    rf"{_SORRY}(?:there is|i (?:still )?(?:need|don't (?:see|have|understand)|do not (?:see|have))) "
    rf"(?:no|any|an?|the) (?:\w+ ){{0,3}}?{_TEXT}\b",
    rf"{_SORRY}as (?:i )?mentioned (?:earlier|before|above), the",
    # Labels and lines that belong to other turns
    _AI,
    r"n/a\b",
    r"(?:feedback|critique|explanation|analysis|rationale|verdict|instruction|(?:(?:final|new"
    r"|my) )?output)\s?:",
    rf"(?:the )?{_Q}(?:{_MADE}|original|final|new)(?: \w+)? (?:{_TEXT})?(?: is)?{_Q}:",
    r"- ?\[(?:major|minor)\]",
    r"great job[!.,] (?:this|the|your) ",
    # I removed the unnecessary words; this change makes the text clearer
    r"(?:and )?i(?:'ve| have)? (?:also )?(?:removed|changed|replaced|shortened|rewrote|rewritten|revised"
    r"|rephrased"
    r"|reworded|simplified|corrected|kept|condensed|combined|maintained|added|made)\b[^.]{0,60}?\b"
    r"(?:(?:the|this|your|original) (?:\w+ )?(?:text|sentence|paragraph|wording|tone|phrasing|grammar"
    r"|meaning|spelling)"
    r"|sentence structure|(?:unnecessary|redundant|extra) \w+|(?:words?|commas|phrases) (?:to|so|that"
    r"|and)\b)",
    r"(?:this|these|the) (?:revisions?|changes?|edits?|rewrite|rewording|revised|version)\b[^.]{0,60}? "
    rf"(?:the (?:text|sentence|tone|meaning|message|original)|more {_TONE}|clearer and)",
    r"(?:please )?(?:let me know|feel free)[^.]{0,40} (?:further|more|other|any|additional) "
    r"(?:revisions|edits|rewrites|adjustments|changes to the text)",
    rf"i hope (?:this|the) (?:{_MADE} |new )?(?:version|revision|rewrite|text|rewritten|revised)",
    rf"why is (?:the|this) (?:{_MADE} )?{_TEXT} not",
    rf"to (?:make|render) (?:it|this|the (?:{_MADE} )?{_TEXT}) (?:sound )?(?:more )?{_Q}(?:{_FEEL}|{_TONE})",
)

_REFUSALS = tuple(re.compile(pattern, re.I) for pattern in _REFUSAL)
_METAS = tuple(re.compile(pattern, re.I) for pattern in _META)
_ONLY_LABEL = re.compile(rf"\W*(?:{_FEEL}|(?:verdict\W+)?done|revised?|no changes?)\W*", re.I)
_BREAK = re.compile(r"(?<=[.!?:;])[\"”’')\]*_]*\s+|(?<=[.!?][\"”])\s+|\n+")
_LEAD = re.compile(r"^[\s\"“'‘(\[*_>#]*(?:(?:n/a|feedback|note|p\.?s\.?)(?: that)?\s?[:;,.\-–]+\s*)?", re.I)
_INVISIBLE = re.compile(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+")


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("\u00a0", " ")


def _starts(text: str) -> Iterator[str]:
    """The first and last sentences from their start on, each with and without its lead."""
    places = [0, *(found.end() for found in _BREAK.finditer(text) if found.end() < len(text))]
    for place in dict.fromkeys(places[:LOOK] + places[-LOOK:]):
        sentence = text[place : place + 400]
        bare = sentence[_LEAD.match(sentence).end() :]  # type: ignore[union-attr]
        yield sentence
        if bare != sentence:
            yield bare


def _says(patterns: tuple[re.Pattern[str], ...], text: str, source: str) -> bool:
    """Whether a sentence of the text is such a remark, of a kind that the source does not have too."""
    own = list(_starts(source))
    for sentence in _starts(text):
        for pattern in patterns:
            if pattern.match(sentence) and not any(pattern.match(other) for other in own):
                return True
    return False


def _only_label(text: str, source: str) -> bool:
    return bool(_ONLY_LABEL.fullmatch(text)) and not _ONLY_LABEL.fullmatch(source)


def _ends(text: str, finish: Finish, source: str) -> Iterator[Flag]:
    if not _INVISIBLE.sub("", text):
        yield "empty"
    if finish in ("length", "stopped") or (is_cut(text) and not is_cut(source)):
        yield "cut off"
    if finish == "content_filter":
        yield "filtered"


def flags(text: str, *, finish: Finish, source: str) -> tuple[Flag, ...]:
    """What is wrong with a reply as a text; `source` is the text that it was written from.

    "cut off" covers a length limit, a person's stop and a code fence left open.
    """
    reply, origin = _plain(text), _plain(source)
    found: list[Flag] = list(_ends(text, finish, source))
    if _says(_REFUSALS, reply, origin):
        found.append("refusal")
    if _only_label(reply, origin) or _says(_METAS, reply, origin):
        found.append("meta-text")
    return tuple(found)
