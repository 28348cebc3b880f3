"""A Hugging Face tokenizer's tokens as the bytes they stand for, and a text as its tokens' texts.

Knows two spellings of tokens, byte-level BPE (GPT-2's printable stand-ins for bytes) and SentencePiece
("▁" for a space, <0xNN> for a byte); any other is placed by the tokenizer's offsets. Knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.models.protocol import ModelError
from core.models.tokens import join_bytes

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _stand_ins() -> dict[str, int]:
    """The character that byte-level BPE writes for each byte, as a map back to the byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTES = _stand_ins()


def _byte_level(token: str) -> bytes:
    if all(character in _BYTES for character in token):
        return bytes(_BYTES[character] for character in token)
    return token.encode()


def _sentencepiece(token: str) -> bytes:
    found = _BYTE.fullmatch(token)
    return bytes([int(found[1], 16)]) if found else token.replace("▁", " ").encode()


class Pieces:
    """What each id of a tokenizer stands for."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self._byte_level = "ByteLevel" in str(getattr(backend, "decoder", ""))
        self._added = {i: str(token) for i, token in tokenizer.added_tokens_decoder.items()}
        probe = tokenizer("a", add_special_tokens=False)["input_ids"]
        # SentencePiece models put a space before a text that has none; it is not the text's.
        self._dummy_space = bool(probe) and self._piece(probe[0]).startswith(b" ")

    def _piece(self, token_id: int) -> bytes:
        if token_id in self._added:
            return self._added[token_id].encode()
        token = self._tokenizer.convert_ids_to_tokens(token_id)
        if token is None:  # a row of the output matrix that pads it to a round size
            return b""
        return _byte_level(token) if self._byte_level else _sentencepiece(token)

    def piece(self, token_id: int, *, first: bool = False) -> bytes:
        """The bytes of one token; `first` says that it begins a text."""
        piece = self._piece(token_id)
        return piece.removeprefix(b" ") if first and self._dummy_space else piece

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        """The ids of a text, with no special token added, and their texts, which join to it.

        Raises ModelError where the tokenizer loses part of the text.
        """
        try:
            coded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        except (UnicodeEncodeError, TypeError) as error:
            raise ModelError(
                "the text holds half of a character (a lone surrogate); remove it and score again"
            ) from error
        ids = [int(i) for i in coded["input_ids"]]
        spelt = join_bytes(self.piece(i, first=not place) for place, i in enumerate(ids))
        if "".join(spelt) != text:
            spelt = _by_offsets(text, [end for _, end in coded["offset_mapping"]])
        return ids, spelt


def _by_offsets(text: str, ends: Sequence[int]) -> list[str]:
    """The text cut where the tokens end; of tokens that share an end the last has the text."""
    spelt: list[str] = []
    begin = 0
    for place, end in enumerate(ends):
        stop = begin if end in ends[place + 1 : place + 2] else end
        spelt.append(text[begin:stop])
        begin = stop
    if "".join(spelt) != text:
        raise ModelError("this model's tokenizer loses part of the text: it can't be scored token by token")
    return spelt
