"""Gives texts that recur their numbers in the record."""

from collections.abc import Callable

from kwokctl.measure.record.record_lines import Lines, RecordText

Emit = Callable[[Lines], None]
"""Writes a line."""


class Texts:
    """The texts that were written so far; 0 is the number of the empty one."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """Return the number of a text; the first time a line says which it is."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._numbers)
            self._emit(RecordText(number, text))
        return number
