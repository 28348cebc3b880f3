"""Server-sent events as bytes in, payloads out: incremental, pure. Knows no HTTP and no JSON.

The openai SDK has a parser of its own. It is not used because it says nothing when a stream is cut
or when a 200 answer is no event stream at all (both look like an empty answer), and because a
malformed payload leaves it as a bare JSON error. All three were tried with SDK 3.57.
"""

from __future__ import annotations

from dataclasses import dataclass

FIELDS = (b"data", b"event", b"id", b"retry", b"")


@dataclass(frozen=True)
class Frame:
    """One event: its name ("" where none was given) and the data lines it carried."""

    event: str
    lines: tuple[str, ...]

    @property
    def data(self) -> str:
        """The payload as the standard joins it."""
        return "\n".join(self.lines)


class Frames:
    """Cuts a byte stream into frames, whatever the cuts between the pieces and the line ends."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[str] = []
        self._event = ""
        self._other: list[bytes] = []

    @property
    def other(self) -> str:
        """Everything that was no event stream: the body, where a server sent plain JSON."""
        return b"\n".join(self._other).decode("utf-8", "replace").strip()

    def feed(self, piece: bytes) -> list[Frame]:
        """The frames that this piece completes."""
        text = self._rest + piece
        # A CR at the very end may be half of a CRLF: it waits for the next piece.
        held = b"\r" if text.endswith(b"\r") else b""
        lines = text.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop() + held
        return [frame for line in lines if (frame := self._line(line))]

    def close(self) -> list[Frame]:
        """The frame that the end of the stream completes, if any."""
        return self.feed(b"\n\n")

    def _line(self, line: bytes) -> Frame | None:
        if not line:
            return self._flush()
        name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        if name not in FIELDS:
            self._other.append(line)
        elif name == b"data":
            self._lines.append(value.removeprefix(b" ").decode("utf-8", "replace"))
        elif name == b"event":
            self._event = value.strip().decode("utf-8", "replace")
        return None

    def _flush(self) -> Frame | None:
        frame = Frame(self._event, tuple(self._lines)) if self._lines else None
        self._lines, self._event = [], ""
        return frame
