"""What a module prints: kept up to a cap, the rest dropped."""

import io

CUT = "\n[the rest of the output was dropped]\n"


class BoundedOutput(io.TextIOBase):
    """A text stream that keeps the first `cap` characters of a worker's life."""

    def __init__(self, cap: int) -> None:
        self._left = cap
        self._cut = False
        self._pieces: list[str] = []

    def writable(self) -> bool:
        """See `io.IOBase.writable`."""
        return True

    def write(self, text: str, /) -> int:
        """Keep what still fits; always claims to have written everything."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if len(text) <= self._left:
            self._pieces.append(text)
            self._left -= len(text)
        elif not self._cut:
            self._pieces += [text[: self._left], CUT]
            self._left, self._cut = 0, True
        return len(text)

    def take(self) -> str:
        """The text since the last call."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text
