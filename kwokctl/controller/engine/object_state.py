"""The engine's state of one object: small, because there may be a hundred thousand.

Only the engine changes it: other modules return what they have found or written.
"""

from typing import Protocol

import msgspec
import orjson

from kwokctl.controller.engine.conduct_turn import ConductTurn
from kwokctl.controller.engine.decoded import UNKNOWN
from kwokctl.controller.engine.setbacks import Setbacks
from kwokctl.controller.plans import Plans
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_choice import Basis
from kwokctl.json_value import Json
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.specialization.shape import ObjectForm


class StateOwner(Protocol):
    """The engine that plays an object."""

    def ready(self, state: "ObjectState") -> None:
        """Note that the delay of an object's Stage is over."""
        ...


class WrittenObject(msgspec.Struct, frozen=True):
    """The result of a write, or the object before it."""

    version: int
    form: ObjectForm | None = None
    """The object as a plan has made it."""
    value: Json = None
    """The object as a response shows it."""


def answered(value: ObjectInJson) -> WrittenObject:
    """Return the object of a response."""
    return WrittenObject(int(value["metadata"].get("resourceVersion", UNKNOWN)), value=value)


class ObjectState:
    """One object: its identity, the known content, and the Stage that it waits for."""

    __slots__ = (
        "awaited",
        "basis",
        "busy",
        "due",
        "engine",
        "form",
        "key",
        "name",
        "namespace",
        "news",
        "node",
        "parked",
        "plays_at_once",
        "queued",
        "raw",
        "setbacks",
        "step",
        "tries",
        "uid",
        "value",
        "version",
    )

    def __init__(self, engine: StateOwner, key: str, metadata: Metadata, node: str) -> None:
        """Start with only the name of an object, and the node of a pod."""
        self.engine = engine
        self.key = key
        self.name = metadata.name
        self.namespace = metadata.namespace
        self.uid = metadata.uid
        self.node = node
        self.version = UNKNOWN
        self.raw: bytes | None = None
        """The object as JSON; None if the object waits for nothing, and while only `value` has this version."""
        self.value: ObjectInJson | None = None
        """The object decoded, while it is matched and played."""
        self.form: ObjectForm | None = None
        """The object as a form; None if its shape is not known."""
        self.basis: Basis | None = None
        self.awaited: Stage | ConductTurn | None = None
        """The Stage, or the turn, to play next; None if the object waits for nothing."""
        self.step = self.tries = self.plays_at_once = 0
        """The first step of the Stage that has not succeeded yet, its number of failures, and the number of
        plays without delay that have followed each other."""
        self.setbacks: Setbacks | None = None
        """The results of the Stages that were tried; None while all succeed."""
        self.due = 0.0
        """The time of the next play, or of the last one."""
        self.busy = self.news = False
        """Whether a player works on it, and whether it was changed, or woken, meanwhile."""
        self.queued = self.parked = False
        """Whether it is in the queue, and whether it is left alone because this controller may not write to it."""

    @property
    def is_known(self) -> bool:
        """Whether the content is known: it is not kept for an object that waits for nothing."""
        return self.raw is not None or self.value is not None or self.form is not None

    def opened(self) -> ObjectInJson:
        """Return the object decoded; the decoded form is kept until `fold` or `rest`."""
        if self.value is None:
            if self.raw is None and self.form is not None:
                self.value = self.form.opened(self.version)
            else:
                self.value = orjson.loads(self.raw or b"{}")
        return self.value

    def liken(self, plans: Plans | None) -> None:
        """Look up the object's shape in `plans`."""
        if plans is not None and self.form is None and self.raw is not None:
            self.form = plans.form(self.raw, (self.name, self.uid, self.node), self.version)

    def show(self, raw: bytes) -> None:
        """Take the object's content from JSON."""
        self.raw, self.value, self.form = raw, None, None

    def follow(self, written: WrittenObject) -> bool:
        """Take the object's content from a write; False if a newer version was seen."""
        if written.version <= self.version:
            return False
        self.version, self.form, self.value = written.version, written.form, written.value
        self.raw = None
        return True

    def waits_for(self, stage: Stage | None, found: Basis) -> bool:
        """Return whether it already waits for a Stage, until the same time."""
        return stage is self.awaited and self.basis is not None and self.basis.times == found.times

    def fold(self) -> None:
        """Keep the object as JSON or as a form while it waits: decoded it takes far more memory.

        The JSON is copied, because the encoder's result is at the front of a larger buffer that was shrunk:
        the remainder is too small for the next object, so that thousands of results would take three times
        their size.
        """
        if self.form is not None:
            self.raw = None
        elif self.raw is None and self.value is not None:
            self.raw = bytes(memoryview(orjson.dumps(self.value)))
        self.value = None

    def release(self) -> None:
        """Drop the content of the object."""
        self.raw = self.value = self.form = None

    def rest(self) -> None:
        """Wait for nothing until the object is seen again."""
        self.release()
        self.basis = self.awaited = self.setbacks = None
        self.step = self.tries = 0

    def on_due(self) -> None:
        """Notify the engine that the delay is over."""
        self.engine.ready(self)
