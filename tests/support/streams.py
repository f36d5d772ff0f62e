"""Streams that act as a terminal, or signal when something has been written."""

import io
import threading


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


class Awaited(io.StringIO):
    """A stream that tells when a text has been written."""

    def __init__(self, text: str, *, is_terminal: bool = False) -> None:
        """Wait for `text`."""
        super().__init__()
        self._text = text
        self._is_terminal = is_terminal
        self.seen = threading.Event()

    def isatty(self) -> bool:
        """Say what it was made to be."""
        return self._is_terminal

    def write(self, text: str) -> int:
        """Write, and notice what is waited for."""
        if self._text in text:
            self.seen.set()
        return super().write(text)
