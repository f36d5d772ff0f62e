"""Makes the copies of an object: as it was created, or as fake kubelets leave it at once."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

import msgspec
import orjson

from kwokctl.dataplane.copies.json_stamp import Copy
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.copies.symbolic_object import now_of
from kwokctl.dataplane.port import FakeKubelet
from kwokctl.dataplane.shapes import check_status
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource

Make = Callable[[Copy], bytes]


class PlaceNeeds(Enum):
    """What must be known of the nodes of pods before copies are made."""

    NOTHING = auto()
    NODES = auto()
    """The addresses of the nodes, and whether they are held."""
    ADDRESSES = auto()
    """Beside that an address for each pod."""


class CopyMaker(Protocol):
    """Makes copies of one kind of object."""

    @property
    def needs(self) -> PlaceNeeds:
        """What it must know of the places of pods."""
        ...

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is stored."""
        ...

    def shown(self, copy: Copy) -> Json | None:
        """Return what the API server must show of what was made last; None if that is not known."""
        ...


class AsCreated(msgspec.Struct, frozen=True):
    """Copies of an object as it was created: the fake kubelets of the cluster do the rest."""

    in_json: Make
    as_stored: Make
    needs: PlaceNeeds = PlaceNeeds.NOTHING

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is stored."""
        return self.as_stored(copy)

    def shown(self, copy: Copy) -> Json:
        """Return the copy itself."""
        return orjson.loads(self.in_json(copy))


def _as_it_is(body: Json) -> Json:
    return body


class EachPlayed:
    """Copies that are played one by one, each with its own values and its own random choices."""

    def __init__(
        self, resource: Resource, kubelet: FakeKubelet, created: AsCreated, needs: PlaceNeeds
    ) -> None:
        """Play what was `created` by `kubelet`."""
        self.finish: Callable[[Json], Json] = _as_it_is
        """Returns what was played as the rest of the cluster leaves it."""
        self.needs = needs
        self._resource = resource
        self._kubelet = kubelet
        self._created = created

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is left at once, or as created where that is nothing, or not certain."""
        if not copy.is_held or not self._kubelet.is_current:
            return self._created.make(copy)
        played = self.played(copy)
        if played is None:
            return self._created.make(copy)
        status = orjson.dumps(played.get("status") or {})
        if check_status(self._resource, status) is not None:
            return self._created.make(copy)
        return orjson.dumps({**self.finish(played), "status": orjson.Fragment(status)})

    def played(self, copy: Copy) -> Json | None:
        """Return a copy as its Stages leave it at once; None if they do nothing."""
        body = self._created.shown(copy)
        own = OwnValues(now=now_of(copy), pod_ips=copy.pod_ips, host_ips=copy.host_ips)
        played = self._kubelet.play(body, own)
        return None if played is body else played

    def shown(self, copy: Copy) -> Json | None:
        """Return None: random choices differ, and the API server writes times in its own form."""
        return None


class AllPlayed:
    """Copies of an object that was played: Stages do the same with all of them."""

    def __init__(
        self,
        kubelet: FakeKubelet,
        played: AsCreated,
        each: EachPlayed,
        *,
        is_alike: Callable[[Copy], bool],
    ) -> None:
        """Copy what was `played`; play those that differ one by one."""
        self.needs = each.needs
        self._kubelet = kubelet
        self._played = played
        self._each = each
        self._is_alike = is_alike

    def make(self, copy: Copy) -> bytes:
        """Return a copy as it is stored."""
        return self._of(copy).make(copy)

    def shown(self, copy: Copy) -> Json | None:
        """Return the copy itself if it was not played by itself."""
        return self._of(copy).shown(copy)

    def _of(self, copy: Copy) -> CopyMaker:
        if copy.is_held and self._kubelet.is_current and self._is_alike(copy):
            return self._played
        return self._each
