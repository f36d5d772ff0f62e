"""Progress that records steps, notes and warnings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kwokctl.progress import Step


@dataclass(slots=True)
class ToldStep:
    """One recorded step."""

    title: str
    total: int | None
    unit: str
    done: int = 0
    said: list[str] = field(default_factory=list)
    has_failed: bool = False
    on_advance: Callable[[int], object] = lambda done: None

    def say(self, what: str) -> None:
        self.said.append(what)

    def expect(self, total: int | None) -> None:
        self.total = total

    def advance(self, amount: int = 1) -> None:
        self.done += amount
        self.on_advance(self.done)


@dataclass(slots=True)
class Listener:
    """A Progress that remembers its steps, notes and warnings."""

    steps: list[ToldStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    on_advance: Callable[[int], object] = lambda done: None
    """Is called with how much of a step is done, whenever that grows."""

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        step = ToldStep(title, total, unit, on_advance=self.on_advance)
        self.steps.append(step)
        step.has_failed = True
        yield step
        step.has_failed = False

    def note(self, text: str) -> None:
        self.notes.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        yield
