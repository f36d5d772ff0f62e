"""A cluster, for Python programs."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from kwokctl.clusters.delete import delete_cluster
from kwokctl.clusters.forking.fork import ForkRequest, fork_cluster
from kwokctl.clusters.forking.fork_target import ForkPlace
from kwokctl.clusters.launching.launch import Patience
from kwokctl.clusters.logs import LineRange, component_logs
from kwokctl.clusters.objects.manifests import Manifest, objects_of
from kwokctl.clusters.objects.wait import Condition, ObjectWait
from kwokctl.clusters.scale import scale
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
from kwokctl.clusters.start import start_cluster
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.stop import stop_cluster
from kwokctl.clusters.time_travel.make_mark import drop_marks, list_marks, mark_cluster
from kwokctl.clusters.time_travel.rest import WITHIN as REST_WITHIN
from kwokctl.clusters.time_travel.rest import wait_at_rest
from kwokctl.clusters.time_travel.rewind import ChangedObject, Rewound, foreseen, rewind_cluster
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.host.paths import ClusterPaths, WorkDir, cache_dir, default_workdir, expanded
from kwokctl.json_value import Json
from kwokctl.library.calls import call
from kwokctl.library.cluster_creation import CreationRequest, create
from kwokctl.library.faults.fault_injector import FaultInjector
from kwokctl.library.keywords import ForkWords, Option, SetWords, WhichWords
from kwokctl.library.node_repairs import NodeRepairs
from kwokctl.library.objects import ClusterObjects
from kwokctl.library.progress_log import LoggedProgress
from kwokctl.model import ClusterName
from kwokctl.waits import USUAL, Standstill

if TYPE_CHECKING:
    from kwokctl.library.measuring.measure_words import MeasureWords
    from kwokctl.library.measuring.measurement import Measurement


async def log_lines(
    home: Home, name: ClusterName, component: str, tail: int | None, since: datetime | None
) -> str:
    """Return the wanted lines; NotFoundError if there is no such component."""
    wanted = LineRange(tail=tail, since=since)
    parts = component_logs(home, name, component, follow=False, wanted=wanted)
    return b"".join([part async for part in parts]).decode(errors="replace")


__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""
GivenPath = str | PathLike[str]
"""A file or folder; a leading `~` is the home folder."""
Paused = Callable[[], AbstractContextManager[object]]
"""Makes what keeps a program away from a cluster while it is rewound."""
_OBJECTS = Standstill(30.0)


class Cluster:
    """One cluster of this user.

    Every method returns when its work is done, and raises the errors of `kwokctl.errors`; none
    prints. It can be used from any thread. As a context manager it deletes a cluster that it has
    made, and leaves one that was there before.
    """

    def __init__(self, home: Home, name: str, *, is_own: bool = False) -> None:
        """Reach a cluster that exists: use `create` or `open`."""
        self._home = home
        self._name = cluster_name(name)
        self._is_own = is_own
        self._kubeconfig: Path | None = None
        self._objects = ClusterObjects(self._paths.own_kubeconfig)
        self.faults = FaultInjector(home, self._name)
        """Breaks what breaks in fleets, and undoes it."""
        self.repairs = NodeRepairs(home, self._name)
        """Repairs nodes, and ends their faults."""

    @classmethod
    def create(
        cls,
        name: str = "kwok",
        *,
        wait: float | None = USUAL,
        config: Sequence[GivenPath] = (),
        kubeconfig: GivenPath | None = None,
        workdir: GivenPath | None = None,
        **options: Option,
    ) -> Self:
        """Create a cluster, or find one with the same settings.

        `options` are those of `kwokctl create cluster`: `runtime="docker"`, `nodes=10`,
        `kube_version="v1.34.1"`. `wait` is how long, in seconds, the components, and each set of objects,
        have to become ready once they have been started or made; None does not wait for them. Unless it
        is given, the wait ends when nothing more has become ready for minutes. Only a `kubeconfig` that is given gets a context. Raises
        ConflictError if the cluster exists with other settings.
        """
        cluster = cls(_home(workdir), name)
        wanted = CreationRequest(
            name=cluster._name,
            options=options,
            config=config,
            kubeconfig=_path(kubeconfig) if kubeconfig else None,
            wait=wait,
        )
        cluster._is_own = call(create(cluster._home, wanted))
        cluster._kubeconfig = wanted.kubeconfig
        return cluster

    @classmethod
    def open(cls, name: str = "kwok", *, workdir: GivenPath | None = None) -> Self:
        """Reach a cluster that exists, running or not; NotFoundError if there is none."""
        cluster = cls(_home(workdir), name)
        load(cluster._paths, cluster._name)
        return cluster

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, for other programs: the value of KUBECONFIG."""
        return self._paths.kubeconfig

    @property
    def components(self) -> tuple[str, ...]:
        """The names of its components."""
        return load(self._paths, self._name).names

    def start(self, *, wait: float | None = USUAL) -> None:
        """Start the components that do not run."""
        call(start_cluster(self._home, self._name, wait=wait))

    def stop(self) -> None:
        """Stop it; its data stays."""
        self.close()
        call(stop_cluster(self._home, self._name))

    def delete(self) -> None:
        """Delete it, if it is there."""
        self.close()
        call(delete_cluster(self._home, self._name, kubeconfig=self._kubeconfig, force=False))

    def close(self) -> None:
        """Let connections go; the next call makes new ones."""
        call(self._objects.close())

    def scale(
        self, kind: str, replicas: int, *, wait: float | None = USUAL, **more: Unpack[SetWords]
    ) -> ScaleResult:
        """Give a set of nodes, pods or other objects its size, as `kwokctl scale` does."""
        request = ScaleRequest(kind=kind, replicas=replicas, wait=wait, **more)
        return call(scale(self._home, self._name, request, documents=()))

    def apply(
        self, manifests: Manifest | Sequence[Manifest], *, namespace: str = "default"
    ) -> list[dict[str, Json]]:
        """Apply objects from files, folders or mappings; return them as they are stored.

        Kinds and namespaces come first, webhooks last, whatever the order.
        """
        return call(self._objects.apply(objects_of(manifests), namespace))

    def get(self, what: str, *, namespace: str = "default") -> dict[str, Json]:
        """Return the object `KIND/NAME`; ApiError with the status 404 if there is none."""
        return call(self._objects.get(what, namespace))

    def find(
        self, kind: str, *, namespace: str | None = "default", selector: str = ""
    ) -> list[dict[str, Json]]:
        """Return the objects of a kind; those of all namespaces if that is None."""
        return call(self._objects.find(kind, namespace, selector))

    def remove(self, what: str, *, namespace: str = "default") -> None:
        """Delete the object `KIND/NAME`, if it is there."""
        call(self._objects.remove(what, namespace))

    def wait_for(
        self,
        what: str,
        condition: Condition = "exists",
        *,
        timeout: float = _OBJECTS,
        **which: Unpack[WhichWords],
    ) -> list[dict[str, Json]]:
        """Wait until objects are as wanted, and return them; TimedOutError names those that are not.

        `what` is `KIND/NAME`, or `KIND` for all objects that `selector` selects: at least one, or
        exactly `count`. `timeout` are seconds in all; unless it is given, the wait ends when nothing has
        moved for half a minute. `condition` is `exists`, `deleted`, the type of a condition as `Ready` or
        `Ready=False`, a jq expression that begins with a dot, or a function of an object.
        """
        wanted = ObjectWait(what=what, condition=condition, **which)
        return call(self._objects.wait_for(wanted, timeout))

    def mark(self, name: str = "mark", *, rest: float = 0.0) -> Mark:
        """Keep what the cluster holds now, to rewind to it.

        `rest` waits until nothing was written for this number of seconds: what is about to be changed at
        the mark will be changed after each rewind.
        """
        if rest:
            waiting = wait_at_rest(self._home, self._name, seconds=rest, within=REST_WITHIN + rest)
            call(waiting)
        return call(mark_cluster(self._home, self._name, name))

    def rewind(
        self, name: str = "", *, keep_events: bool = False, paused: Paused = nullcontext
    ) -> Rewound:
        """Put everything back as it was at a mark, the latest without a name.

        `paused` makes a context manager around the rewind: it keeps the caller's own controller away,
        which would act on caches of objects that no longer exist.
        """
        with paused():
            done = call(rewind_cluster(self._home, self._name, name, keep_events=keep_events))
        self._objects.forget_kinds()
        return done

    def marks(self) -> list[Mark]:
        """Return its marks, the latest last."""
        return call(list_marks(self._home, self._name))

    def drop(self, name: str) -> None:
        """Remove a mark; the cluster stays as it is."""
        call(drop_marks(self._home, self._name, name, every=False))

    def changes(self, name: str = "") -> Sequence[ChangedObject]:
        """Return the objects that a rewind would put back or delete."""
        return call(foreseen(self._home, self._name, name)).objects

    def fork(self, name: str, **more: Unpack[ForkWords]) -> "Cluster":
        """Create a cluster that begins with what this one holds."""
        return self.forks([name], **more)[0]

    def forks(self, names: Sequence[str], **more: Unpack[ForkWords]) -> "list[Cluster]":
        """Create several at once, from one snapshot.

        Raises CapacityError, before anything is made, if this machine has not the memory for them.
        """
        request = ForkRequest(
            source=self._name,
            names=tuple(cluster_name(each) for each in names),
            kubeconfig=None,
            has_own_authorities=more.get("new_pki", False),
            place=ForkPlace(runtime=more.get("runtime", "")),
            ignores_memory=more.get("ignore_memory", False),
            patience=Patience(None, more.get("wait", USUAL)),
        )
        made = call(fork_cluster(self._home, request))
        return [Cluster(self._home, each.name, is_own=True) for each in made]

    def measure(self, **words: Unpack["MeasureWords"]) -> "Measurement":
        """Return a measurement of what a `with` block does, as `kwokctl measure` does for a command.

        `with cluster.measure() as run:` records until the block has ended and nothing of the run moves any more; then
        `run.pods.created_to_bound.p99` and all other figures are there. The words are the options of `kwokctl measure run`. Raises
        UsageError and ConfigError for what cannot be understood.
        """
        from kwokctl.library.measuring.measurement import Measurement

        return Measurement(self._home, self._name, words)

    def logs(
        self, component: str, *, tail: int | None = None, since: datetime | None = None
    ) -> str:
        """Return what a component has written: all of it, the last lines, or those since a time."""
        return call(log_lines(self._home, self._name, component, tail, since))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Delete it if it was made here."""
        if self._is_own:
            self.delete()
        else:
            self.close()

    def __repr__(self) -> str:
        return f"Cluster({self._name!r})"

    @property
    def _paths(self) -> ClusterPaths:
        return self._home.paths(self._name)


def _home(workdir: GivenPath | None) -> Home:
    root = _path(workdir) if workdir else default_workdir()
    return Home(workdir=WorkDir(root), cache=cache_dir(), progress=LoggedProgress())


def _path(given: GivenPath) -> Path:
    return expanded(fspath(given)).absolute()
