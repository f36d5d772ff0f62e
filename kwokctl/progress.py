"""The port through which long work reports its progress. Silent unless a listener is set."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Step(Protocol):
    """One named piece of work under way."""

    def say(self, what: str) -> None:
        """Report what is being done right now; it replaces the previous text."""
        ...

    def expect(self, total: int | None) -> None:
        """Set the total of a step that began before it was known."""
        ...

    def advance(self, amount: int = 1) -> None:
        """Add to the work done of the step's total."""
        ...


class Progress(Protocol):
    """A listener for the progress of long work."""

    def step(
        self, title: str, *, total: int | None = None, unit: str = ""
    ) -> AbstractContextManager[Step]:
        """Open a step: ticked when left normally, crossed when left by an exception.

        `total` is in `unit`s; "B" means bytes.
        """
        ...

    def note(self, text: str) -> None:
        """Write one line that the user should read."""
        ...

    def warn(self, text: str) -> None:
        """Write one line that the user must not miss."""
        ...

    def set_aside(self) -> AbstractContextManager[None]:
        """Leave the screen to a program of the user meanwhile, which writes to it by itself."""
        ...


class Silent:
    """The listener that ignores everything, and each of its steps."""

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        """Open a step that is not shown."""
        yield self

    def say(self, what: str) -> None:
        """Say nothing."""

    def expect(self, total: int | None) -> None:
        """Expect nothing."""

    def advance(self, amount: int = 1) -> None:
        """Count nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def warn(self, text: str) -> None:
        """Say nothing."""

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Have nothing on the screen."""
        yield
