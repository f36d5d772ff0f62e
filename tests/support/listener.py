"""A listener to long work that remembers what it was told."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kwokctl.progress import Step


@dataclass(slots=True)
class ToldStep:
    """One step, as it was told."""

    title: str
    total: int | None
    unit: str
    done: int = 0
    said: list[str] = field(default_factory=list)
    has_failed: bool = False

    def say(self, what: str) -> None:
        self.said.append(what)

    def advance(self, amount: int = 1) -> None:
        self.done += amount


@dataclass(slots=True)
class Listener:
    """A Progress that remembers its steps, notes and warnings."""

    steps: list[ToldStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        step = ToldStep(title, total, unit)
        self.steps.append(step)
        step.has_failed = True
        yield step
        step.has_failed = False

    def note(self, text: str) -> None:
        self.notes.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)
