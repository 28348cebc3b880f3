"""A candidate as it grows: ids become text, tokens and what a listener is shown. Knows no torch."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import Any

from core.domain import Alternative, Completion, Finish, Token
from core.models.answers import ThinkingFilter, split_thinking
from core.models.decoding import Draw
from core.models.pieces import Pieces
from core.models.protocol import Delta
from core.models.tokens import readable, tokens_of_part, usable


@dataclass
class Writer:
    """Candidate `index` of a call."""

    index: int
    pieces: Pieces
    tokens: list[Token] = field(default_factory=list)
    finish: Finish = "length"
    drawn: int = 0
    shown: ThinkingFilter = field(default_factory=ThinkingFilter)
    decoder: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))

    def add(self, draw: Draw) -> Delta:
        """The text that this token completes."""
        self.drawn += 1
        text = self.decoder.decode(self.pieces.piece(draw.id, first=not self.tokens))
        others = tuple(Alternative(readable(self.pieces.piece(i)), usable(lp)) for i, lp in draw.top)
        self.tokens.append(Token(text, usable(draw.logprob), others))
        shown = self.shown.feed(text)
        return Delta(self.index, shown, (self.tokens[-1],) if shown == text else ())

    def stop(self) -> None:
        """The model ended the text with a token that is no part of it."""
        self.drawn += 1
        self.finish = "stop"

    def end(self) -> Delta | None:
        """What is left when a text ends inside a character or was held back."""
        rest = self.decoder.decode(b"", True)
        if rest:
            last = self.tokens[-1]
            self.tokens[-1] = Token(last.text + rest, last.logprob, last.alternatives)
        shown = self.shown.feed(rest) + self.shown.rest()
        return Delta(self.index, shown) if shown else None

    def completion(self) -> Completion:
        """The finished candidate, its thinking apart from its answer."""
        thinking, answer = split_thinking("".join(token.text for token in self.tokens))
        tokens = tokens_of_part(self.tokens, answer) if thinking else tuple(self.tokens)
        return Completion(answer, self.finish, tokens, thinking)
