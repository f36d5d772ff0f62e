"""The cluster in which a set is scaled, what writes it, and where progress is reported."""

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext

import msgspec

from kwokctl.clusters.etcd_quota import EtcdQuota
from kwokctl.clusters.scaling.cluster_reader import ClusterReader
from kwokctl.clusters.scaling.objects.networks import Book
from kwokctl.clusters.scaling.objects.render import BUILT_IN, NO_KUBELET
from kwokctl.clusters.scaling.objects.stored_texts import TextStore
from kwokctl.config.data_path import Choice
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.dataplane.port import DataPlane, DirectWriter
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.kube.collections.server_metrics import EndedWatches
from kwokctl.kube.resource import PODS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.progress import Progress

Turn = Callable[[str, str], AbstractAsyncContextManager[object]]
"""Waits for its turn to change the named set; the text describes the change to come."""


def without_turns(_set: str, _doing: str) -> AbstractAsyncContextManager[object]:
    """Do not wait for other commands."""
    return nullcontext()


NamesLike = Callable[[str | None, str], Awaitable[Collection[str]]]
"""Returns the names of all pods of a namespace that begin with a prefix, and costs little."""


class Supervision(msgspec.Struct, frozen=True, kw_only=True):
    """The means to supervise writes past the API server: whether they are allowed, and how far watches lag."""

    direct: DirectWriter
    """Is given the kinds that must go through the API, and says how far watches are behind."""
    pool: Pool
    """Leads to the API server: webhooks, policies and quotas are watched there."""
    ended: EndedWatches
    pod_names: NamesLike
    controller: ControllerClient | None = None
    """The controller, which reports the Stages that it plays."""


class ScaleContext(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster in which a set is scaled."""

    reader: ClusterReader
    plane: DataPlane
    progress: Progress
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""
    choice: Choice
    """The way to write objects, according to the cluster's options."""
    supervision: Supervision | None = None
    """The supervision of writes past the API server; None if everything goes through it."""
    managed_fields: str = "auto"
    """The copies that have managed fields: with on all, with off none, with auto all but pods."""
    etcd_quota: EtcdQuota | None = None
    """The space of the cluster's etcd, if it can be asked."""
    book: Book | None = None
    """Stores the positions of nodes; None if that is not possible."""
    parameters: TextStore | None = None
    """Stores the parameters of sets; None if that is not possible."""
    kubelet: Kubelet = NO_KUBELET
    """The address at which the API server reaches the controller in place of the kubelets, as far as known."""
    faults: FaultCatalogue = BUILT_IN
    """The dialects in which nodes can say that they are healthy."""
    keeps_taints: bool = False
    """Whether no kube-controller-manager runs, which would remove the not-ready taint from nodes that are Ready."""
    insists: bool = False
    """Whether etcd is written to though that bypasses webhooks, policies or quotas."""
    tells_path: bool = False
    """Whether the data path is reported though nothing prevents direct writes."""
    turn: Turn = without_turns
    """Keeps other runs from changing the same set at the same time."""

    def has_managed_fields(self, resource: Resource) -> bool:
        """Return whether copies of a kind record which client owns which of their fields."""
        return self.managed_fields == "on" or (self.managed_fields == "auto" and resource != PODS)

    def note_api(self, why: str) -> None:
        """Report why objects are written through the API."""
        self.progress.note(str(Choice(path="api", why=why)))


def amount(number: int, resource: Resource, *, more: bool = False) -> str:
    """Return a number of objects of a kind, or of `more` objects, in words."""
    noun = resource.kind.lower() if number == 1 else resource.plural
    return f"{number:,} more {noun}" if more else f"{number:,} {noun}"
