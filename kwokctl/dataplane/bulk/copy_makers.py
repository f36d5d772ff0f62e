"""Makes the copies of an object: as it was created, or as fake kubelets leave it right after creation."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

import msgspec
import orjson

from kwokctl.dataplane.copies.json_stamp import Copy
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.copies.symbolic_object import now_of
from kwokctl.dataplane.port import FakeKubelet
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.kube.statuses import check_change

Make = Callable[[Copy], bytes]


class UncertainCopyError(Exception):
    """The API server might refuse a copy, so the object has to be created through it."""


class PlaceNeeds(Enum):
    """The facts about the nodes of pods that are needed before copies are made."""

    NOTHING = auto()
    NODES = auto()
    """The addresses of the nodes, and whether they are held."""
    ADDRESSES = auto()
    """Also an address for each pod."""


class CopyMaker(Protocol):
    """Makes copies of one kind of object."""

    @property
    def needs(self) -> PlaceNeeds:
        """The facts that it needs about the nodes of pods."""
        ...

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is stored; UncertainCopyError if the API server must create it."""
        ...

    def shown(self, copy: Copy) -> Json | None:
        """Return what the API server must show for the copy that was made last; None if unknown."""
        ...


def _is_sound(_copy: Copy) -> bool:
    return True


class AsCreated(msgspec.Struct, frozen=True):
    """Copies of an object as it was created: the fake kubelets of the cluster do the rest."""

    in_json: Make
    as_stored: Make
    is_sound: Callable[[Copy], bool] = _is_sound
    """Whether the API server accepts a copy, as it has accepted the object."""
    needs: PlaceNeeds = PlaceNeeds.NOTHING

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is stored; UncertainCopyError if that is not certain."""
        self.check(copy)
        return self.as_stored(copy)

    def check(self, copy: Copy) -> None:
        """Raise UncertainCopyError unless the API server accepts a copy."""
        if not self.is_sound(copy):
            raise UncertainCopyError(f"'{copy.name}' might be refused")

    def shown(self, copy: Copy) -> Json:
        """Return the copy as JSON."""
        return orjson.loads(self.in_json(copy))


def _as_it_is(body: Json) -> Json:
    return body


class EachPlayed:
    """Copies on which Stages are played one by one, each with its own values and random choices."""

    def __init__(
        self, resource: Resource, kubelet: FakeKubelet, created: AsCreated, needs: PlaceNeeds
    ) -> None:
        """Let `kubelet` play the copies that `created` makes."""
        self.finish: Callable[[Json], Json] = _as_it_is
        """Applies to a played copy what the rest of the cluster would do to it."""
        self.needs = needs
        self._resource = resource
        self._kubelet = kubelet
        self._created = created

    def make(self, copy: Copy) -> bytes:
        """Return a copy as its Stages leave it, or as created if they do nothing or cannot be played."""
        self._created.check(copy)
        played = self.played(copy) if copy.is_held and self._kubelet.is_current else None
        return (
            self._created.as_stored(copy) if played is None else orjson.dumps(self.finish(played))
        )

    def played(self, copy: Copy) -> Json | None:
        """Return a copy as its Stages leave it; None if they do nothing or cannot be played."""
        body = self._created.shown(copy)
        own = OwnValues(now=now_of(copy), pod_ips=copy.pod_ips, host_ips=copy.host_ips)
        played = self._kubelet.play(body, own)
        if played is body or check_change(self._resource, body, played) is not None:
            return None
        return played

    def shown(self, copy: Copy) -> Json | None:
        """Return None: random choices differ, and the API server writes times in its own form."""
        return None


class AllPlayed:
    """Copies of an object that was played, where Stages treat all copies alike."""

    def __init__(
        self,
        kubelet: FakeKubelet,
        played: AsCreated,
        each: EachPlayed,
        *,
        is_alike: Callable[[Copy], bool],
    ) -> None:
        """Copy the object that was `played`; play copies that are not alike one by one."""
        self.needs = each.needs
        self._kubelet = kubelet
        self._played = played
        self._each = each
        self._is_alike = is_alike

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is stored."""
        return self._of(copy).make(copy)

    def shown(self, copy: Copy) -> Json | None:
        """Return the copy as JSON; None if it was played by itself."""
        return self._of(copy).shown(copy)

    def _of(self, copy: Copy) -> CopyMaker:
        if copy.is_held and self._kubelet.is_current and self._is_alike(copy):
            return self._played
        return self._each
