"""Numbers for texts that recur, of which the oldest are forgotten."""

from kwokctl.measure.record.record_lines import RecordText
from kwokctl.measure.watching.numbered_texts import Emit, Texts

MOST_TEXTS = 10_000
"""Texts that are kept: the messages of a scheduler name pods and claims, and grow without end."""


class ForgettingTexts(Texts):
    """Texts as those of a record; when there are too many, all are forgotten and get new numbers."""

    def __init__(self, emit: Emit) -> None:
        super().__init__(emit)
        self._given = 0

    def number(self, text: str) -> int:
        """Return the number of a text; it never was that of another."""
        if len(self._numbers) >= MOST_TEXTS:
            self._numbers = {"": 0}
        found = self._numbers.get(text)
        if found is None:
            self._given += 1
            found = self._numbers[text] = self._given
            self._emit(RecordText(found, text))
        return found
