"""How remarks about a text are worded in English: refusals, and talk about the text in place of it.

Knows only single sentences; core.detect decides where in a reply they count. Every pattern is matched at the
start of a sentence, in any case, with straight apostrophes. Each wants a word for a text, for writing or for
the request beside the phrase itself: what a customer, a friend or a law may also say is left alone, so that
some remarks without such a word are missed rather than texts flagged.
"""

from __future__ import annotations

import re

_TEXT = (
    r"(?:(?:(?:product|customer|user) )?review|text|sentence|paragraph|message|e-?mail|letter|passage|draft"
    r"|version|rewrite|rewriting|revision|rewording|statement|wording|input|prompt)"
)
_WORK = (
    r"(?:code|function|program|response|reply|acronym|answer|solution|essay|poem|story|article|summary|post"
    r"|description)"
)
_MADE = (
    r"(?:re-?written|revised|edited|corrected|shortened|shorter|improved|polished|rephrased|reworded"
    r"|re-?worked|updated|modified|simplified|refined|paraphrased|transformed|proofread|formal|polite)"
)
_WRITE = r"(?:re-?write|revise|edit|rephrase|reword|paraphrase|proofread|shorten|analy[sz]e|re-?work|polish)"
_WRITTEN = rf"(?:{_MADE}|analy[sz]ed|changed|improved upon|made|turned into)"
_FEEL = (
    r"(?:(?:very|extremely|overwhelmingly|quite|highly|incredibly|overall) )*(?:positive|negative|neutral)"
)
_TONE = (
    r"(?:polite|formal|concise|positive|negative|professional|readable|clear|direct|engaging|friendly"
    r"|natural)"
)
_AI = (
    r"as an? (?:ai|artificial intelligence|(?:large )?language model)(?: (?:language )?model"
    r"| assistant)?[,.]"
)
_I_CANNOT = (
    r"i(?:(?: still)? (?:can(?:not|'t| not)|won't|will not)(?: be able to)?(?: in good conscience)?"
    r"|(?: am|'m) (?:still )?(?:not able|unable|not going) to)"
)
_APOLOGY = (
    r"(?:(?:i'?m|i am) (?:very |really |so )?(?:sorry|afraid)|sorry|i apologi[sz]e|my apologies"
    r"|unfortunately)"
)
_SORRY = rf"{_APOLOGY}[,.;]? (?:but )?"
_YES = r"(?:sure|certainly|of course|absolutely|great|okay|ok|understood|got it|as requested)[,!.]? "
_Q = "[\"“*']*"
_THIS = r"(?:this|that|such|your)"
_WRITING = r"(?:writing|re-?writing|revising|creating|generating|producing|rephrasing|helping with)"
_NOTHING_GIVEN = (
    rf"[^.]*\b(?:there(?:'s| is| was) no|no|without (?:an?|any|the|your|more)) (?:\w+ ){{0,2}}?"
    rf"(?:{_TEXT}|information|context)\b"
)
"""The rest of a sentence that says what is missing: it asks for something and refuses nothing."""

_REFUSAL = (
    # I cannot write such a thing
    rf"(?:{_SORRY})?(?:as \w+[^.]{{0,60}}, )?{_I_CANNOT} (?!{_NOTHING_GIVEN})"
    r"(?:comply|fulfill?|assist|help|engage in|generate|create|produce|provide|complete|write|re-?write"
    r"|revise|rephrase)(?: with| in)? "
    r"(?:(?:that|this|your|the|any|an?|such)(?: \w+){0,3} "
    r"(?:request|task|prompt|output|content|rewrite|revision|review|text)s?\b"
    r"|fake|harmful|explicit|hateful|offensive|illegal|content|feedback|(?:this|that)[.,])",
    rf"(?:{_SORRY})?{_I_CANNOT} (?!{_NOTHING_GIVEN})(?:{_WRITE}|write) {_THIS} (?:\w+ )?{_TEXT}\b",
    rf"(?:{_SORRY})?{_I_CANNOT} (?:assist|help|comply)(?: you)?(?: with (?:that|this)(?: one)?)?[.!]",
    rf"{_SORRY}{_I_CANNOT} (?:do|continue with|generate|write|create) (?:that|this|so)[.!]",
    rf"i(?:'d| would) (?:rather|prefer) not (?:to )?(?:{_WRITE}|write|generate|create|produce) {_THIS}\b",
    rf"i(?:'m not| am not| do not feel| don't feel) comfortable (?:with )?{_WRITING} {_THIS}\b",
    r"i(?:(?: must|'ll| will)? have to|'m going to have to| must)(?: respectfully)? decline "
    r"(?:(?:this|that) (?:request|task|prompt|one)\b|to (?:write|re-?write|generate|create|produce)\b)",
    rf"(?:{_SORRY})?(?:{_THIS} (?:request|prompt|task|content|text) |this )(?:would )?"
    r"(?:violates?|goes against|go against|is against|conflicts with) my "
    r"(?:\w+ )?(?:policy|policies|guidelines|principles|programming)",
    r"i (?:do not|don't|cannot|can't|will not|won't) (?:condone|promote) (?:or \w+ )?such "
    r"(?:language|content|texts?|material)\b",
    # As an AI language model, I cannot
    rf"{_AI}[^.]*\b(?:{_I_CANNOT}|i (?:do not|don't|must|have to))(?!{_NOTHING_GIVEN})",
    rf"cannot (?!{_NOTHING_GIVEN})(?:provide|generate|give|produce) (?:an? )?"
    r"(?:output|review|rewrite|text|feedback|response)",
    rf"{_SORRY}(?:it (?:is|would be) (?:not possible|inappropriate|impossible)|i must decline)",
    # It would not be ethical to promote a positive sentiment; it cannot be rewritten without being untrue
    r"(?:(?:however|therefore), )?it (?:(?:is|would be) (?:unethical|inappropriate|irresponsible|dishonest"
    r"|misleading)|(?:is not|isn't|would not be|wouldn't be) (?:ethical|appropriate|responsible|honest"
    r"|right))(?: (?:or|and) \w+)? (?:for me )?to (?:promote|create|generate|present|turn|make|write|"
    rf"{_WRITE}) [^.]{{0,60}}?\b(?:{_TEXT}|sentiment)\b",
    r"(?:(?:however|therefore), )?it (?:is|would be) (?:not possible|impossible) (?:for me )?to "
    rf"(?:turn|make|{_WRITE}) {_THIS} (?:\w+ )?{_TEXT}\b",
    rf"(?:(?:however|therefore), )?(?:it|(?:the|this|your)(?: \w+)? {_TEXT})\b[^.]{{0,60}}? ?"
    rf"(?:cannot|can't|can not|could not) be (?:{_WRITTEN}|turned)\b[^.]{{0,80}}? without "
    r"(?:\w+ )?(?:changing|altering|losing|distorting|misrepresenting|being)\b",
)
_LEAD_INS = (
    # Here is the revised text:
    rf"(?:{_YES})?here(?:'s| is| are) (?:the|a|an|your|my|one|another|some|two|three"
    rf"|what)(?: [\w-]+){{0,4}}? "
    rf"(?:{_MADE}\b|version|rewrite\b|revision|{_TEXT}s?(?: [\w ]+)?:)",
    rf"(?:{_YES})?here(?:'s| is) (?:my|another|a (?:new|second)) (?:try|attempt|go)\b",
    rf"(?:{_YES})?below (?:is|are|you(?:'ll| will)? find) (?:the|an?|your|my|one|two|three)"
    rf"(?: [\w-]+){{0,3}}? (?:{_MADE} (?:\w+ )?{_TEXT}|versions?\b|rewrite\b|revision\b)",
    r"here (?:you go|it is)\s?:\s*\n",
    rf"(?:{_YES})?i(?:'ve| have) (?:also |now )?(?:{_MADE}|condensed|adjusted) (?:the|this|your) "
    rf"(?:\w+ )?{_TEXT}\b",
    rf"(?:{_YES})?i(?:'ve| have)? made (?:the|this|your) {_TEXT} (?:more|less|sound|shorter|easier)\b",
)
_JUDGEMENTS = (
    # The revised text is, this rewritten review uses
    rf"(?:the|this|that|your|my)(?: [\w-]+)? ?{_MADE} {_TEXT}\b[^.]{{0,40}}? (?:is|was|has|does|sounds"
    rf"|should|now|uses"
    r"|keeps|maintains|conveys|still|contains|includes|could|can|effectively|successfully|already)\b",
    # The text is already good, sounds positive, cannot be improved
    rf"(?:the|this|your)(?: (?:original|given|above|previous|provided|current|first))? {_TEXT} "
    rf"(?:(?:provided )?is (?:(?:already|indeed|now|still|currently|really|also)\b|{_Q}{_FEEL}|grammatically"
    r"|well[- ]written|not (?:about|appropriate|a review)|clear and|correct as|fine as"
    r"|(?:good|fine|perfect|polite|concise)(?: as (?:it )?is)?[.,!])"
    r"|already |has (?:already|now) been|(?:does not|doesn't) (?:need|require|contain|have|mention)"
    rf"|(?:already )?sounds {_Q}{_FEEL}"
    r"|(?:looks|reads|sounds|seems) (?:good|great|fine|well|perfect|polished)\b"
    rf"|(?:cannot|can't|can|could|should|must|needs to"
    rf"|does not need to) (?:not )?(?:already )?be(?: further)? {_WRITTEN})",
    rf"(?:the|this|your)(?: \w+)? {_WORK} is already (?:clear|concise|correct|efficient|optimal|optimi[sz]ed"
    r"|readable|good|perfect|well[- ](?:written|structured|optimi[sz]ed))\b",
    rf"(?:the|this|your)(?: \w+)? {_TEXT} (?:now |already )?(?:meets|addresses|satisfies|fulfill?s|follows"
    r"|incorporates) (?:all|the|every|your)(?: of)?(?: the| your)? ?"
    r"(?:requirements?|instructions?|feedback|points?|critique|criteria|suggestions?|comments?)\b",
    rf"(?:as|since|because) the (?:\w+ )?{_TEXT} (?:is already|has already|already)",
    rf"the sentiment (?:is|of|has|was|remains)\b[^.]*(?:{_FEEL}|review|text|transformed)",
    # There is no need to rewrite, no text was provided, no changes needed
    rf"there(?:'s| is| was)(?: absolutely)? no(?: need| reason)(?: for (?:me|you|us))? to "
    rf"(?:{_WRITE}\b|(?:change|improve|alter|modify) (?:the|this|your) (?:\w+ )?{_TEXT})",
    r"no (?:further |more |other |additional )?(?:output|changes?|edits?|revisions?|rewrit\w+"
    rf"|improvements?|{_TEXT})"
    r"(?: (?:is|are|was|were|has been))? (?:needed|necessary|required|provided|given)",
    r"nothing (?:needs to|should|has to) be (?:(?:edited|revised|re-?written)[.!]"
    rf"|changed (?:further|in (?:the|this|your) {_TEXT})[.!])",
    rf"why is (?:the|this) (?:{_MADE} )?{_TEXT} not",
    rf"to (?:make|render) (?:it|this|the (?:{_MADE} )?{_TEXT}) (?:sound )?(?:more )?{_Q}(?:{_FEEL}|{_TONE})",
    r"great job[!.,] (?:this|the|your) ",
    r"i agree with (?:the|your) (?:feedback|critique)\b",
)
_ASKING = (
    rf"there(?:'s| is| was) no (?:\w+ )?{_TEXT}(?: or \w+)? (?:provided|given|supplied|to (?:work|{_WRITE}))",
    rf"there (?:does not|doesn't) (?:appear|seem) to be (?:an?|any) (?:\w+ )?{_TEXT}\b",
    # Please provide a text for me to rewrite
    r"(?:i )?(?:(?:can|could|would) you )?please (?:provide|share|send|paste|give|supply)(?: me)?(?: with)? "
    rf"(?:an?|the|your|another|more|some)(?: [\w-]+){{0,2}} (?:{_TEXT}|context)\b[^.?!]*?"
    rf"(?:\bto (?:work|continue|be|{_WRITE})|\bfor me\b|you(?:'d| would)? (?:like|want)|so (?:that )?i can"
    rf"|needs to be {_WRITTEN})",
    r"(?:can|could|would) you (?:please )?(?:provide|share|send|paste) (?:an?|the|your)(?: \w+)? "
    rf"(?:{_TEXT}[^.?!]{{0,20}} you(?:'d| would)? (?:like|want) me\b|(?:text|paragraph|passage|sentence)\?)",
    rf"what(?: {_TEXT})? would you like me to {_WRITE}\b",
    rf"i (?:still )?need (?:an?|the|more) (?:{_TEXT}|information|context)[^.]{{0,40}}? to (?:provide"
    rf"|work|{_WRITE})",
    rf"(?:{_SORRY})?there (?:seems|appears) to be (?:an?|some) (?:error|mistake|confusion) (?:in"
    rf"|with) (?:your|the) "
    r"(?:request|prompt|input)",
    rf"{_SORRY}(?:there is|i (?:still )?(?:need|don't (?:see|have|understand)|do not (?:see|have))) "
    rf"(?:no|any|an?|the) (?:\w+ ){{0,3}}?{_TEXT}\b",
    rf"i (?:do not|don't) see (?:any|an?|the) (?:\w+ )?{_TEXT}\b",
    rf"(?:{_SORRY})?(?:it (?:looks|seems|appears)(?: like| as if| as though| that)? )?"
    r"you (?:have not|haven't|did not|didn't|forgot to) (?:yet )?"
    r"(?:provided?|included?|shared?|given?|pasted?|attach(?:ed)?) (?:me )?(?:with )?(?:an?|any|the|your) "
    rf"(?:\w+ )?{_TEXT}\b",
    rf"it (?:looks|seems|appears)(?: like| as if| as though| that)? (?:there is no|no|the|your) (?:\w+ )?"
    rf"{_TEXT} (?:is missing|was missing|was (?:provided|included|given)|is empty|to (?:{_WRITE}|work))",
    rf"(?:{_SORRY})?(?:{_I_CANNOT}|cannot) (?:provide|give|generate|write|proceed|{_WRITE})\b"
    rf"{_NOTHING_GIVEN}",
    rf"{_SORRY}as (?:i )?mentioned (?:earlier|before|above), the",
)
_LABELS = (
    # Labels and lines that belong to other turns
    _AI,
    r"n/a\b",
    r"(?:feedback|critique|explanation|analysis|rationale|verdict|instruction|(?:(?:final|new"
    r"|my) )?output)\s?:",
    rf"(?:the )?{_Q}(?:{_MADE}|original|final|new)(?: \w+)? (?:{_TEXT})?(?: is)?{_Q}:",
    rf"(?:the )?{_MADE} {_TEXT}{_Q}\s*\n",
    r"- ?\[(?:major|minor)\]",
    r"(?:(?:key|main|summary of|list of)(?: the)? (?:changes|edits)(?: made)?|changes(?: made)?)[*_]*:",
    r"word count\s?:",
)
_CHANGES = (
    # I removed the unnecessary words; this change makes the text clearer
    r"(?:and )?i(?:'ve| have)? (?:also )?(?:removed|changed|replaced|shortened|rewrote|rewritten|revised"
    r"|rephrased"
    r"|reworded|simplified|corrected|kept|condensed|combined|maintained|added|made)\b[^.]{0,60}?\b"
    r"(?:(?:the|this|your|original) (?:\w+ )?(?:text|sentence|paragraph|wording|tone|phrasing|grammar"
    r"|meaning|spelling)"
    r"|sentence structure|(?:unnecessary|redundant|extra) \w+|(?:words?|commas|phrases) (?:to|so|that"
    r"|and)\b)",
    r"i(?:'ve| have)? made the following (?:changes|edits|adjustments|revisions|improvements)\b",
    r"i tried to (?:keep|preserve|maintain) (?:the|your) (?:\w+ )?(?:tone|meaning|style|voice|message)\b",
    r"(?:i(?:'ve| have)? addressed|all(?: of)?) (?:all )?(?:the |your )?(?:points|issues|comments|suggestions"
    r"|feedback)(?: (?:of|from|in) (?:the|your) (?:feedback|critique|comments))?"
    r"(?: (?:have|has) been (?:addressed|incorporated))?[.!]",
    r"i(?:'ve| have)? addressed [^.]{0,40}\b(?:critique|feedback)\b",
    r"the (?:suggested|requested) changes have been (?:made|applied|incorporated)[.!]",
    r"(?:this|these|the) (?:revisions?|changes?|edits?|rewrite|rewording|revised|version)\b[^.]{0,60}? "
    rf"(?:the (?:text|sentence|tone|meaning|message|original)|more {_TONE}|clearer and)",
    rf"this (?:revision|rewrite|rewording|version) is (?:now )?(?:shorter|clearer|more {_TONE}|easier to read"
    r"|friendlier)\b",
    rf"(?:{_MADE}|changed|adjusted) to (?:be|sound|make (?:it|the))\b",
    r"(?:please )?(?:let me know|feel free)[^.]{0,40} (?:further|more|other|any|additional) "
    r"(?:revisions|edits|rewrites|adjustments|changes to the text)",
    rf"(?:please )?let me know if you(?:'d| would) like (?:me to (?:make|change|adjust|{_WRITE})\b"
    r"|any (?:further |other |more )?(?:changes|tweaks)[.!])",
    rf"would you like me to (?:change|adjust|{_WRITE}|make [^?]{{0,30}}(?:changes|adjustments|version))\b",
    rf"is there anything else (?:that )?you(?:'d| would) like (?:me )?to (?:change|adjust|{_WRITE})\b",
    rf"i hope (?:this|the) (?:{_MADE} |new )?(?:version|revision|rewrite|text|rewritten|revised)",
)


def _all(*groups: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.I) for group in groups for pattern in group)


REFUSALS = _all(_REFUSAL)
"""Beginnings of sentences that decline to write what was asked for."""
REMARKS = _all(_LEAD_INS, _JUDGEMENTS, _ASKING, _LABELS, _CHANGES)
"""Beginnings of sentences about the text, its changes, or the request."""
ONLY_LABEL = re.compile(
    rf"\W*(?:{_FEEL}|(?:verdict\W+)?done|revised?|no changes?|understood"
    r"|(?:overall )?(?:score|rating)\W+\d+(?:\.\d+)?(?:\s*(?:/|out of)\s*\d+)?)\W*",
    re.I,
)
"""A whole reply that is a mere label."""
