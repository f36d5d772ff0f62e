"""A runtime in memory, which records its calls."""

import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field

from kwokctl.errors import KwokctlError
from kwokctl.host.machine import Host
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    ClusterName,
    ComponentName,
    Plan,
    State,
)
from kwokctl.runtime import Site
from tests.support.fake_images import FakeImages
from tests.support.fake_node_images import FakeNodeImages
from tests.support.sites import HostLikeSite


@dataclass
class FakeRuntime:
    """Keeps states, and what was asked of it, in order."""

    name: str = "fake"
    found: dict[ComponentName, State] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    fails_at: Mapping[str, KwokctlError | BaseException] = field(default_factory=dict)
    log: bytes = b""

    def load(self, kind: str, host: Host) -> "FakeRuntime":
        """Replace the registry."""
        return self

    async def check(self) -> None:
        self._note("check")

    def site(self, cluster: ClusterName) -> Site:
        return HostLikeSite()

    async def install(self, plan: Plan) -> None:
        self._note("install")
        self.found = {name: self.found.get(name, State.STOPPED) for name in plan.components}

    async def start(self, cluster: ClusterName, *names: ComponentName) -> None:
        self._note("start", *sorted(names))
        self.found |= dict.fromkeys(names, State.RUNNING)

    async def stop(self, cluster: ClusterName, *names: ComponentName) -> None:
        self._note("stop", *sorted(names))
        self.found |= dict.fromkeys(names, State.STOPPED)

    async def states(self, cluster: ClusterName) -> Mapping[ComponentName, State]:
        return self.found

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        yield self.log

    async def uninstall(self, cluster: ClusterName) -> None:
        self._note("uninstall")
        self.found = {}

    def _note(self, verb: str, *names: str) -> None:
        self.asked.append(" ".join([verb, *names]))
        if verb in self.fails_at:
            raise self.fails_at[verb]


@dataclass
class BringingRuntime(FakeRuntime):
    """Has another program make clusters, which brings all but the controller."""

    name: str = "bringing"
    maker = "kind"
    brings = frozenset({ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER})
    documents = "kind.x-k8s.io"
    node_images: FakeNodeImages = field(default_factory=FakeNodeImages)

    async def published(self, cluster: ClusterName) -> Collection[ComponentName]:
        return ()


@dataclass
class HoldingRuntime(FakeRuntime):
    """A runtime in memory that can keep components from acting."""

    async def replace_held(self, cluster: ClusterName, *names: ComponentName) -> Callable[[], None]:
        self._note("replace_held", *sorted(names))
        return lambda: self.asked.append("let go")


@dataclass
class FakeEngineRuntime(FakeRuntime):
    """A runtime in memory that starts components from images, too."""

    images: FakeImages = field(default_factory=FakeImages)


@dataclass
class SeenRuntime(FakeRuntime):
    """A runtime of which this very process is a component, several times."""

    times: int = 1

    async def processes(self, cluster: ClusterName) -> Mapping[ComponentName, Collection[int]]:
        return {ETCD: [os.getpid()] * self.times}
