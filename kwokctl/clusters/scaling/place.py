"""Where a set is scaled, and what is told of it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from kwokctl.clusters.scaling.direct import Direct
from kwokctl.clusters.scaling.mould import NO_KUBELET
from kwokctl.clusters.scaling.positions import Book
from kwokctl.clusters.scaling.reading import Reader
from kwokctl.clusters.scaling.room import Room
from kwokctl.config.data_path import Choice
from kwokctl.controller.stages.functions import Kubelet
from kwokctl.dataplane.port import DataPlane
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress

Turn = Callable[[str, str], AbstractAsyncContextManager[object]]
"""Waits for its turn to change a set, which is named; the text says what is done with it then."""


def at_once(_set: str, _doing: str) -> AbstractAsyncContextManager[object]:
    """Wait for no other command."""
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The cluster in which a set is scaled, and who listens."""

    reader: Reader
    plane: DataPlane
    progress: Progress
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""
    choice: Choice
    """How is written, as far as the cluster's options tell."""
    direct: Direct | None = None
    """What is needed to write to etcd; None if that is not to be."""
    room: Room | None = None
    """The space of the cluster's etcd, if it can be asked."""
    book: Book | None = None
    """Where the positions of nodes are remembered; None where that is not possible."""
    kubelet: Kubelet = NO_KUBELET
    """Where the API server reaches the controller in place of the kubelets, as far as it is known."""
    insists: bool = False
    """Whether etcd is written to though webhooks, policies or quotas are passed by."""
    tells_path: bool = False
    """Whether it is said how is written though nothing is in the way."""
    turn: Turn = at_once
    """Keeps other runs from changing the same set at the same time."""


def amount(number: int, resource: Resource, *, more: bool = False) -> str:
    """Return so many objects of a kind, or so many `more`, in words."""
    noun = resource.kind.lower() if number == 1 else resource.plural
    return f"{number:,} more {noun}" if more else f"{number:,} {noun}"
