"""The state that is kept per object: little, since there may be a hundred thousand."""

from typing import Protocol

import orjson

from kwokctl.controller.engine.decoded import UNKNOWN
from kwokctl.controller.engine.setbacks import Setbacks
from kwokctl.controller.plans.plans import Plans
from kwokctl.controller.stages.choice import Basis
from kwokctl.controller.stages.model import Stage
from kwokctl.json_value import Json
from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.specialization.shape import ObjectForm


class StateOwner(Protocol):
    """The engine that plays an object."""

    def ready(self, state: "ObjectState") -> None:
        """Take note that the delay of an object's Stage is over."""
        ...


class ObjectState:
    """One object: its identity, how far it is known, and what must happen to it next."""

    __slots__ = (
        "basis",
        "busy",
        "due",
        "engine",
        "followed",
        "form",
        "key",
        "life",
        "name",
        "namespace",
        "news",
        "node",
        "parked",
        "plays_at_once",
        "queued",
        "raw",
        "setbacks",
        "stage",
        "step",
        "tries",
        "uid",
        "value",
        "version",
    )

    def __init__(self, engine: StateOwner, key: str, metadata: Metadata) -> None:
        """Begin with an object of which only the name is known."""
        self.engine = engine
        self.key = key
        self.name = metadata.name
        self.namespace = metadata.namespace
        self.uid = metadata.uid
        self.version = UNKNOWN
        self.node = self.life = ""
        """For pods, the node that it is on, and what its annotation says of whose rules it lives by."""
        self.raw: bytes | None = None
        """The object as JSON; None at rest, and as long as only `value` is of this version."""
        self.value: Json = None
        """The same decoded, while it is looked at and played."""
        self.form: ObjectForm | None = None
        """The same as what it has in common with others, and its own; None if it is like no others."""
        self.basis: Basis | None = None
        self.stage: Stage | None = None
        """What is to be played next; None at rest."""
        self.step = self.tries = self.plays_at_once = 0
        """The first of the stage's steps that has not succeeded yet, how often it has failed, and how
        many stages without delay have followed each other."""
        self.followed: list[str] | None = None
        """The stages that were slowed down, until one comes again."""
        self.setbacks: Setbacks | None = None
        """What has come of the stages that were tried; None as long as all goes well."""
        self.due = 0.0
        """When the stage is due, or when the last one was played."""
        self.busy = self.news = False
        """Whether a player is at work on it, and whether it was changed, or woken, meanwhile."""
        self.queued = self.parked = False
        """Whether it is in the queue, and whether it is not checked: this controller may not write to it."""

    @property
    def is_known(self) -> bool:
        """Whether there is an object to look at: none is kept at rest."""
        return self.raw is not None or self.value is not None or self.form is not None

    def opened(self) -> Json:
        """Return the object decoded; it is kept so, too, until it is folded or rests."""
        if self.value is None:
            if self.raw is None and self.form is not None:
                self.value = self.form.opened(self.version)
            else:
                self.value = orjson.loads(self.raw or b"{}")
        return self.value

    def liken(self, plans: Plans | None) -> None:
        """Find out whether the object is like others that `plans` knows."""
        if plans is not None and self.form is None and self.raw is not None:
            self.form = plans.form(self.raw, (self.name, self.uid, self.node), self.version)

    def show(self, raw: bytes) -> None:
        """Continue with the object as its JSON shows it."""
        self.raw, self.value, self.form = raw, None, None

    def waits_for(self, stage: Stage | None, found: Basis) -> bool:
        """Tell whether it waits for a stage already, until the same time."""
        return stage is self.stage and self.basis is not None and self.basis.times == found.times

    def take(self, value: Json) -> bool:
        """Continue with the object as a response shows it; False if a newer version was seen."""
        version = int(value["metadata"].get("resourceVersion", UNKNOWN))
        if version <= self.version:
            return False
        self.version, self.raw, self.value, self.form = version, None, value, None
        return True

    def follow(self, form: ObjectForm, version: int) -> None:
        """Do the same with the object as a plan has changed it."""
        if version > self.version:
            self.version, self.form = version, form
            self.raw = self.value = None

    def fold(self) -> None:
        """Keep the object as JSON or as a form, since it has to wait: decoded it takes far more memory.

        The encoded JSON is at the front of a larger piece of memory that was cut off: the rest is
        too small for the next one, so that thousands that are kept take three times their size. A
        copy takes no more than it needs.
        """
        if self.form is not None:
            self.raw = None
        elif self.raw is None and self.value is not None:
            self.raw = bytes(memoryview(orjson.dumps(self.value)))
        self.value = None

    def release(self) -> None:
        """Do not keep the object."""
        self.raw = self.value = self.form = None

    def rest(self) -> None:
        """Do nothing with it until it is seen again."""
        self.release()
        self.basis = self.stage = self.setbacks = None
        self.step = self.tries = 0

    def on_due(self) -> None:
        """Notify the engine that the delay of the Stage is over."""
        self.engine.ready(self)
