"""What stays on a terminal of a given width: a small part of ECMA-48, and an error for any other."""

import re

_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|(.)", re.DOTALL)


class Screen:
    """The rows that were written, however many."""

    def __init__(self, text: str, columns: int) -> None:
        self._columns = columns
        self._rows: list[list[str]] = [[]]
        self._goes_on: set[int] = set()
        self._x = self._y = 0
        for numbers, code, character in _TOKEN.findall(text):
            if code:
                self._obey(numbers, code)
            else:
                self._take(character)

    def lines(self) -> list[list[str]]:
        """Return each line as the rows that the terminal has made of it."""
        lines: list[list[str]] = []
        for number, row in enumerate(self._rows):
            if number and number - 1 in self._goes_on:
                lines[-1].append("".join(row))
            else:
                lines.append(["".join(row)])
        return lines

    def _obey(self, numbers: str, code: str) -> None:
        if code == "A":
            self._y -= int(numbers or 1)
            assert self._y >= 0, "the cursor leaves what was written"
        elif code == "K":
            assert numbers in ("", "0", "2")
            self._goes_on.discard(self._y)
            del self._rows[self._y][0 if numbers == "2" else self._x :]
        else:
            assert (code == "m" and not numbers.startswith("?")) or (numbers, code) in _CURSOR, (
                f"ESC [ {numbers} {code}"
            )

    def _take(self, character: str) -> None:
        if character == "\r":
            self._x = 0
        elif character == "\n":
            self._y += 1
        else:
            assert character.isprintable(), repr(character)
            if self._x == self._columns:
                self._goes_on.add(self._y)
                self._x, self._y = 0, self._y + 1
            self._reach()
            row = self._rows[self._y]
            row.extend(" " * (self._x - len(row)))
            row[self._x : self._x + 1] = [character]
            self._x += 1
        self._reach()

    def _reach(self) -> None:
        while len(self._rows) <= self._y:
            self._rows.append([])


_CURSOR = (("?25", "l"), ("?25", "h"))
"""Hides it, and shows it."""
