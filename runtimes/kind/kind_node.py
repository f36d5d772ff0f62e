"""The container that kind makes as the cluster's node, and the static pods in it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from kwokctl.errors import KwokctlError, TimedOutError
from kwokctl.model import ETCD, Component, ComponentName
from runtimes.engine.engine_client import Container, Engine
from runtimes.engine.inside import Inside
from runtimes.kind.pods import pod_logs
from runtimes.kind.pods.pod_manifests import PODS_LOGS, Manifests, ending_at_once, mended

CLUSTER = "io.x-k8s.kind.cluster"
ROLE = "io.x-k8s.kind.role"
CONTROL_PLANE = "control-plane"
NODE_ROLES = frozenset({CONTROL_PLANE, "worker"})
"""A load balancer before several control planes is no node."""
_KEPT = "/var/log/kwokctl"
"""Has the logs of pods that were ended by us: the kubelet removes them with the pods."""
_RESERVED = "node-role.kubernetes.io/control-plane"
_POLL = 0.2
_PATIENCE = 120.0
"""Seconds within which a kubelet takes notice of a manifest, whatever else it is busy with."""
_TAIL = 20
_JOURNAL = 400
"""Lines of the kubelet's journal among which its errors are: one that ends and is started again
writes more than a few before it says why.
"""
_ERROR = re.compile(r"[EF]\d{4} ")
"""The beginning of lines with errors: a letter, the month and the day
(https://github.com/kubernetes/klog/blob/main/klog.go, header).
"""
_MISSING = re.compile(r"failed to load plugin.*\bcri\b")
"""The message with which containerd reports that it runs without its service for the kubelet (`services/server/server.go`)."""

# A second name for each log file, for it is still written to.
_KEEP = """\
from=$1 to=$2 node=$3
shift 3
for name; do
  for log in "$from/kube-system_$name-${node}_"*/"$name"/*.log; do
    if [ -e "$log" ]; then
      kept=$to/kube-system_$name-${node}_/$name
      mkdir -p "$kept"
      ln -f "$log" "$kept/$(stat -c %i "$log").log"
    fi
  done
done
"""
_FORGET = """\
from=$1 to=$2 node=$3
shift 3
for name; do
  rm -rf "$from/kube-system_$name-${node}_"* "$to/kube-system_$name-${node}_"
done
"""


class Node:
    """A control plane node that runs."""

    def __init__(self, engine: Engine, container: Container) -> None:
        self._inside = Inside(engine, container.id)
        self._manifests = Manifests(self._inside)
        self.name = container.name

    async def start(
        self, names: Collection[ComponentName], pods: Mapping[ComponentName, Mapping[str, object]]
    ) -> None:
        """Let the kubelet run these components, and return when their programs have been started.

        `pods` describes those of them that kubeadm has not made.
        """
        running = await self.running()
        placed = {name: pod for name, pod in pods.items() if name not in running}
        await self._manifests.resume([name for name in names if name not in pods])
        await self._on_logs(_KEEP, placed)
        for name, pod in placed.items():
            await self._manifests.place(name, pod)

        async def have_begun() -> bool:
            missing = set(names) - await self.running()
            return not missing or missing <= await self._manifests.ended(missing & placed.keys())

        await self._until(have_begun, names, "does not start")

    async def mend(self, etcd: Component, root: Path) -> None:
        """Restrict access to the etcd that an older kwokctl has made; it must not run yet."""
        await self._manifests.change(ETCD, partial(mended, etcd=etcd, root=root))

    async def stop(self, names: Collection[ComponentName]) -> None:
        """Let the kubelet end these components, and return when their programs have ended."""
        await self._on_logs(_KEEP, names)
        await self._manifests.withdraw(names)

        async def have_ended() -> bool:
            return (await self.running()).isdisjoint(names)

        await self._until(have_ended, names, "does not end")

    async def end_at_once(self, names: Collection[ComponentName]) -> None:
        """Kill these components, whose data are thrown away, and have the kubelet begin again.

        It forgets the pods, and registers the node when it finds an API server that does not have it.
        """
        await self._inside.run(*ending_at_once(names))

    async def settle(self, names: Collection[ComponentName]) -> None:
        """Return when the kubelet is done with these components, that it does not run one yet."""

        async def are_forgotten() -> bool:
            return not await self._manifests.known(names)

        await self._until(are_forgotten, names, "does not end")

    async def forget(self, names: Collection[ComponentName]) -> None:
        """End these components for good: nothing of them stays."""
        await self.stop(names)
        await self.settle(names)
        await self._manifests.remove(names)
        await self._on_logs(_FORGET, names)

    async def running(self) -> set[str]:
        """Name the programs that run."""
        return await self._inside.programs()

    async def reserve(self) -> None:
        """Taint the node, so that only pods of the control plane, such as DNS, run on it.

        kind takes this mark away from a node that is alone
        (https://kubernetes.io/docs/reference/labels-annotations-taints/).
        """
        await self._kubectl("taint", "nodes", self.name, f"{_RESERVED}=:NoSchedule", "--overwrite")

    async def give_networks(self, networks: Mapping[str, Sequence[str]]) -> None:
        """Give each real node, by name, the networks of its pods, unless it has some."""
        for name, ranges in networks.items():
            if not await self._kubectl("get", "node", name, "--output=jsonpath={.spec.podCIDR}"):
                patch = {"spec": {"podCIDR": ranges[0], "podCIDRs": list(ranges)}}
                await self._kubectl("patch", "node", name, f"--patch={json.dumps(patch)}")

    async def registered(self) -> str:
        """Return the objects of all real nodes of a new cluster: a list in JSON."""
        return await self._kubectl("get", "nodes", "--output=json")

    async def _kubectl(self, *words: str) -> str:
        return await self._inside.run("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", *words)

    async def complaint(self, names: Collection[ComponentName]) -> str:
        """Return the last log lines of those components that have died, else containerd's or the kubelet's.

        What cannot be read is left out, and named if nothing else can be read.
        """
        unread: dict[str, None] = {}
        for read in (partial(self._of_the_dead, names), self._of_containerd, self._of_the_kubelet):
            try:
                if said := await read():
                    return said
            except KwokctlError as e:
                unread[_whole(e)] = None
        return "\n".join(unread)

    async def _of_the_dead(self, names: Collection[ComponentName]) -> str:
        current = await self._inside.files(PODS_LOGS)
        files = [*await self._inside.files(_KEPT), *current]
        running = await self.running()
        last = {
            name: _last_lines(b"".join(pod_logs.of_pod(files, name=name, node=self.name)))
            for name in sorted(names)
            if name not in running or pod_logs.was_revived(current, name=name, node=self.name)
        }
        return "\n".join(f"{name}: {said}" for name, said in last.items() if said)

    async def _of_the_kubelet(self) -> str:
        lines = await self._journal("kubelet", f"--lines={_JOURNAL}")
        return "\n".join(([line for line in lines if _ERROR.match(line)] or lines)[-_TAIL:])

    async def _of_containerd(self) -> str:
        """Return why the kubelet's service is missing; the kubelet itself only says that it is missing."""
        lines = await self._journal("containerd", "--boot")
        return "\n".join([line for line in lines if _MISSING.search(line)][-_TAIL:])

    async def _journal(self, unit: str, *words: str) -> list[str]:
        read = ("journalctl", "--no-pager", "--output=cat", f"--unit={unit}", *words)
        return (await self._inside.run(*read)).splitlines()

    async def log(self, name: ComponentName) -> AsyncIterator[bytes]:
        """Yield what a component has written in all its starts, also when the node has stopped."""
        files = [*await self._inside.files(_KEPT), *await self._inside.files(PODS_LOGS)]
        for part in pod_logs.of_pod(files, name=name, node=self.name):
            yield part

    async def follow(self, name: ComponentName) -> AsyncIterator[bytes]:
        """Yield what a component has written and what it writes."""
        kept = await self._inside.files(_KEPT)
        for part in pod_logs.of_pod(kept, name=name, node=self.name):
            yield part
        files = f"{PODS_LOGS}/kube-system_{name}-{self.name}_*/{name}/*.log"
        words = ("sh", "-c", f"exec tail -q -n +1 -F {files}")
        async for part in pod_logs.text(self._inside.follow(*words)):
            yield part

    async def _on_logs(self, script: str, names: Collection[ComponentName]) -> None:
        await self._inside.run("sh", "-c", script, "sh", PODS_LOGS, _KEPT, self.name, *names)

    async def _until(
        self,
        holds: Callable[[], Awaitable[bool]],
        names: Collection[ComponentName],
        problem: str,
    ) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                while not await holds():  # noqa: ASYNC110 - no event reports it
                    await asyncio.sleep(_POLL)
        except TimeoutError as e:
            raise TimedOutError(
                f"'{', '.join(names)}' {problem} on the node '{self.name}'",
                hint="the last lines of its log, or of the kubelet's, are below",
                detail=await self.complaint(names) or None,
            ) from e


def _whole(error: KwokctlError) -> str:
    """Return the message with the detail, unless that is in it."""
    message = str(error)
    return message if not error.detail or error.detail in message else f"{message}\n{error.detail}"


def _last_lines(content: bytes) -> str:
    return "\n".join(content.decode(errors="replace").splitlines()[-_TAIL:])
