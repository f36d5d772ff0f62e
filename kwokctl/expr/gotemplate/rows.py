"""The lines of translated templates, and the rows of texts that they write."""

import msgspec


class Translation(msgspec.Struct):
    """Python source; `places` has, for each of its lines, the offset it was made from."""

    lines: list[str] = msgspec.field(default_factory=list)
    places: list[int] = msgspec.field(default_factory=list)
    entry: str = ""
    required: dict[str, int] = msgspec.field(default_factory=dict)
    """The functions that the caller has to give, and the offset at which each is called first."""

    def add(self, depth: int, at: int, line: str) -> None:
        """Append a line."""
        self.lines.append(" " * depth + line)
        self.places.append(at)


class TextRow:
    """Texts and values that are written one after the other; each has a line, for its place."""

    def __init__(self, translation: Translation) -> None:
        self._translation = translation
        self._text = ""
        self._lines: list[tuple[int, str]] = []
        self._at = 0
        self.has_values = False
        """Whether anything in it depends on variables."""

    def text(self, at: int, text: str) -> None:
        """Add a text; texts that follow each other are one."""
        self._at = at
        self._text += text

    def value(self, at: int, code: str) -> None:
        """Add the text that an expression gives."""
        self._take_text()
        self._lines.append((at, code))
        self.has_values = True

    def end(self, depth: int) -> None:
        """Write the row, and begin the next one."""
        self._take_text()
        if self._lines:
            add = self._translation.add
            add(depth, self._lines[0][0], "w((")
            for at, code in self._lines:
                add(depth + 1, at, f"{code},")
            add(depth, self._lines[-1][0], "))")
        self._lines = []
        self.has_values = False

    def _take_text(self) -> None:
        if self._text:
            self._lines.append((self._at, repr(self._text)))
            self._text = ""
