"""The ports that runtimes implement: only what differs from one runtime to another."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Protocol, runtime_checkable

from kwokctl.images import Images, NodeImages
from kwokctl.json_value import Json
from kwokctl.model import ClusterName, ComponentName, NodeAddress, Plan, State
from kwokctl.script.steps import Action, Call

HOST = "host.kwokctl.internal"
"""The host's name inside containers."""


class Site(Protocol):
    """Addresses and paths as a component sees them once a runtime has placed it.

    Component builders ask the site instead of asking which runtime they are in.
    """

    def bind(self, component: ComponentName) -> str:
        """The address that a component listens on."""
        ...

    def path(self, host_path: Path) -> PurePath:
        """The path at which components see `host_path` of the host, if it is mounted for them."""
        ...

    def socket(self, host_path: Path) -> PurePath | None:
        """The path at which components find a unix socket of the host, or None where it cannot be shared."""
        ...

    def address(
        self, component: ComponentName, port: int, *, dialler: ComponentName | None = None
    ) -> str:
        """The `host:port` at which `dialler` reaches this component; None is a client on the host.

        `port` is the one that the host knows.
        """
        ...

    def port(self, component: ComponentName, host_port: int) -> int:
        """The port that a component listens on, where this host knows it by `host_port`."""
        ...

    @property
    def has_own_nodes(self) -> bool:
        """Whether there are real nodes beside the fake ones.

        Then how they reach services and the API server, with which certificate, is the runtime's.
        """
        ...

    def node_address(self) -> NodeAddress:
        """The host at which the API server reaches the kubelet server, or a controller that is one."""
        ...


class Runtime(Protocol):
    """Installs, runs and removes components."""

    @property
    def name(self) -> str:
        """The name with which users choose it."""
        ...

    async def check(self) -> None:
        """Raise UnavailableError, with a hint, unless this runtime works on this machine."""
        ...

    def site(self, cluster: ClusterName) -> Site:
        """Return the addresses and paths as this cluster's components see them."""
        ...

    async def install(self, plan: Plan) -> None:
        """Make everything the plan needs exist, started or not. Safe to repeat."""
        ...

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Start these installed components together; no effect on a running one.

        It returns once they have been launched, not once they are ready.
        """
        ...

    async def stop(self, cluster: ClusterName, *names: ComponentName) -> None:
        """Stop these components together, gracefully, and return when they are gone."""
        ...

    async def states(self, cluster: ClusterName) -> Mapping[ComponentName, State]:
        """Return the state of every installed component; cheap enough to be polled."""
        ...

    def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        """Yield what the component has written, oldest first, and with `follow` what it writes.

        With `follow` an empty part may say that all that had been written has come.
        """
        ...

    async def uninstall(self, cluster: ClusterName) -> None:
        """Remove everything `install` made, stopping what runs. Safe to repeat."""
        ...


@runtime_checkable
class BringsKubernetes(Protocol):
    """A runtime that has another program make the cluster: some components come with that."""

    @property
    def maker(self) -> str:
        """The program, which is got as those of components are."""
        ...

    @property
    def brings(self) -> Collection[ComponentName]:
        """The components that come with it: no program is needed for them."""
        ...

    @property
    def documents(self) -> str:
        """The API group of the documents with which users configure it."""
        ...

    @property
    def node_images(self) -> NodeImages:
        """The images from which the program makes nodes."""
        ...

    async def published(self, cluster: ClusterName) -> Collection[ComponentName]:
        """Return the components whose ports are in use for them, whether or not they run."""
        ...


@runtime_checkable
class RegistersNodes(Protocol):
    """A runtime whose real nodes are registered once, when they are made: other data do not have them."""

    def registered(self, cluster: ClusterName) -> Sequence[Mapping[str, Json]]:
        """Return the objects of the nodes as they were registered; none before the nodes were made."""
        ...


@runtime_checkable
class RunsImages(Protocol):
    """A runtime that starts components from images, too."""

    @property
    def images(self) -> Images:
        """The images on this machine."""
        ...


@runtime_checkable
class HoldsComponents(Protocol):
    """A runtime that can start a component and keep it from acting for some time."""

    async def replace_held(self, cluster: ClusterName, *names: ComponentName) -> Callable[[], None]:
        """Stop these components, and start again at once those that can be held before they act.

        What it returns lets them act. One that is held ends if this process does so first. `start` is
        called in the end for all of them: it launches what could not be held, or has ended meanwhile.
        """
        ...


@runtime_checkable
class TellsMore(Protocol):
    """A runtime that can explain the state of components."""

    async def remarks(self, cluster: ClusterName) -> Mapping[ComponentName, str]:
        """Return, by component, why it has ended or was restarted; without the others."""
        ...


class RuntimeScript(Protocol):
    """The work of a runtime for one plan, as steps of a script; the methods are named like those of `Runtime`."""

    def install(self) -> Iterable[Action]:
        """Make everything the plan needs exist."""
        ...

    def start(self, *names: ComponentName) -> Iterable[Action]:
        """Start components together."""
        ...

    def stop(self, *names: ComponentName) -> Iterable[Action]:
        """Stop components together, and return when they are gone."""
        ...

    def uninstall(self) -> Iterable[Action]:
        """Remove everything `install` makes, stopping what runs."""
        ...

    def running(self, name: ComponentName) -> Call:
        """Return the call that fails unless a component runs."""
        ...


@runtime_checkable
class WritesScripts(Protocol):
    """A runtime whose work can be written as a script, for a dry run."""

    async def script(self, plan: Plan) -> RuntimeScript:
        """Return what it would do for this plan; it may look, but changes nothing."""
        ...


@runtime_checkable
class PlansAhead(Protocol):
    """A runtime that can be planned for where what it needs is not there."""

    def expect_nothing(self) -> None:
        """Take what it needs as if it were there, and had nothing yet. Nothing may be done any more."""
        ...


@runtime_checkable
class DescribesItself(Protocol):
    """A runtime that can say what it is on this machine."""

    async def description(self, cluster: ClusterName) -> str:
        """Return text for people about the runtime: versions and settings of what it uses."""
        ...


@runtime_checkable
class CollectsMore(Protocol):
    """A runtime that knows more of a cluster than the logs of its components."""

    async def collect(self, cluster: ClusterName, folder: Path) -> None:
        """Write what it knows into an empty folder."""
        ...


@runtime_checkable
class KnowsProcesses(Protocol):
    """A runtime whose components are processes that this host can look at."""

    async def processes(self, cluster: ClusterName) -> Mapping[ComponentName, Collection[int]]:
        """Return the ids of the processes of each component that runs, as this host has them."""
        ...


@runtime_checkable
class FindsRemains(Protocol):
    """A runtime whose parts of a cluster may outlive the cluster's files."""

    async def remains(self) -> Mapping[ClusterName, Collection[str]]:
        """Return what the engine has of each cluster of this work folder, even if the cluster does not exist."""
        ...


@runtime_checkable
class ReachesPorts(Protocol):
    """A runtime whose components are reached from this host also at ports that are not published."""

    async def host_of(self, cluster: ClusterName, name: ComponentName) -> str:
        """Return the address at which this host dials a component; empty if it does not run."""
        ...
