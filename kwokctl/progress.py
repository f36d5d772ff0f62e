"""The port through which long work tells what it is doing. Silent unless somebody listens."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Step(Protocol):
    """One named piece of work under way."""

    def say(self, what: str) -> None:
        """Tell what is being done right now; replaces what was said before."""
        ...

    def advance(self, amount: int = 1) -> None:
        """Count work done towards the step's total."""
        ...


class Progress(Protocol):
    """Who listens to long work."""

    def step(
        self, title: str, *, total: int | None = None, unit: str = ""
    ) -> AbstractContextManager[Step]:
        """Open a step: ticked when left normally, crossed when left by an exception.

        `total` is in `unit`s; "B" means bytes.
        """
        ...

    def note(self, text: str) -> None:
        """Tell one line that the user should read."""
        ...

    def warn(self, text: str) -> None:
        """Tell one line that the user must not miss."""
        ...


class Silent:
    """The listener that is not there, and each of its steps."""

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        """Open a step that nobody sees."""
        yield self

    def say(self, what: str) -> None:
        """Say nothing."""

    def advance(self, amount: int = 1) -> None:
        """Count nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def warn(self, text: str) -> None:
        """Say nothing."""
