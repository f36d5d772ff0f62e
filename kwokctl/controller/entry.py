"""What is kept of every object: little, since there may be a hundred thousand."""

from typing import Any, Protocol

from kwokctl.controller.choice import Basis
from kwokctl.controller.objects import UNKNOWN, Metadata
from kwokctl.controller.stages import Stage


class Home(Protocol):
    """Who plays an object."""

    def ready(self, entry: "Entry") -> None:
        """Be told that the time of an object's stage has come."""
        ...


class Entry:
    """One object: who it is, how far it is known, and what is to happen to it next."""

    __slots__ = (
        "basis",
        "busy",
        "due",
        "engine",
        "key",
        "name",
        "namespace",
        "news",
        "node",
        "parked",
        "queued",
        "raw",
        "stage",
        "step",
        "tries",
        "uid",
        "value",
        "version",
    )

    def __init__(self, engine: Home, key: str, metadata: Metadata) -> None:
        """Begin with an object of which nothing is known but its name."""
        self.engine = engine
        self.key = key
        self.name = metadata.name
        self.namespace = metadata.namespace
        self.uid = metadata.uid
        self.version = UNKNOWN
        self.node = ""
        """The node that it lies on, for pods."""
        self.raw: bytes | None = None
        """The object as JSON; None at rest."""
        self.value: Any = None
        """The same decoded, for the moment between being chosen and being played."""
        self.basis: Basis | None = None
        self.stage: Stage | None = None
        """What is to be played next; None at rest."""
        self.step = 0
        """The first of the stage's steps that has not succeeded yet."""
        self.tries = 0
        self.due = 0.0
        self.busy = False
        self.news = False
        """Seen anew, or woken, while a player was at work on it."""
        self.queued = False
        self.parked = False
        """Not looked at, because this controller may not write to it."""

    def rest(self) -> None:
        """Let nothing happen to it until it is seen again."""
        self.raw = self.value = self.basis = self.stage = None
        self.step = self.tries = 0

    def on_due(self) -> None:
        """Tell the engine that the stage's time has come."""
        self.engine.ready(self)
