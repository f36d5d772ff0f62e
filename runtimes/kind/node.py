"""The container that kind makes as the cluster's node, and the static pods in it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

from kwokctl.errors import KwokctlError, TimedOutError
from kwokctl.model import ComponentName
from runtimes.engine.client import Container, Engine
from runtimes.engine.inside import Inside
from runtimes.kind import manifests, pod_logs

CLUSTER = "io.x-k8s.kind.cluster"
ROLE = "io.x-k8s.kind.role"
CONTROL_PLANE = "control-plane"
NODE_ROLES = frozenset({CONTROL_PLANE, "worker"})
"""A load balancer before several control planes is no node."""
_PODS = "/var/log/pods"
_RESERVED = "node-role.kubernetes.io/control-plane"
_POLL = 0.2
_PATIENCE = 120.0
"""Seconds within which a kubelet takes notice of a manifest, whatever else it is busy with."""
_TAIL = 20


class Node:
    """A control plane node that runs."""

    def __init__(self, engine: Engine, container: Container) -> None:
        """Look after the static pods in this container."""
        self._inside = Inside(engine, container.id)
        self.name = container.name

    async def start(self, names: Collection[ComponentName]) -> None:
        """Let the kubelet run these pods, and return when their programs run."""
        await self._inside.run(*manifests.taking_up(names))
        await self._until(lambda running: running.issuperset(names), names, "does not start")

    async def stop(self, names: Collection[ComponentName]) -> None:
        """Let the kubelet end these pods, and return when their programs have ended."""
        await self._inside.run(*manifests.putting_aside(names))
        await self._until(lambda running: running.isdisjoint(names), names, "does not end")

    async def running(self) -> set[str]:
        """Name the programs that run."""
        return await self._inside.programs()

    async def reserve(self) -> None:
        """Keep the node for what a control plane itself needs, such as a DNS.

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

    async def _kubectl(self, *words: str) -> str:
        return await self._inside.run("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", *words)

    async def complaint(self, names: Collection[ComponentName]) -> str:
        """Return the last words of these components that have died, else those of the kubelet.

        Empty where there are none to be heard.
        """
        try:
            dead = {
                name: await self._last_words(name) for name in set(names) - await self.running()
            }
            words = [f"{name}: {said}" for name, said in sorted(dead.items()) if said]
            return "\n".join(words) or await self._inside.run(
                "journalctl", "--no-pager", "--output=cat", "--unit=kubelet", f"--lines={_TAIL}"
            )
        except KwokctlError:
            return ""

    async def _last_words(self, name: ComponentName) -> str:
        content = b"".join([part async for part in self.log(name)])
        return "\n".join(content.decode(errors="replace").splitlines()[-_TAIL:])

    async def log(self, name: ComponentName) -> AsyncIterator[bytes]:
        """Yield what a pod has written, also when the node has stopped."""
        files = await self._inside.files(_PODS)
        for _, content in pod_logs.of_pod(files, name=name, node=self.name):
            for line in content.splitlines():
                yield pod_logs.written(line)

    async def follow(self, name: ComponentName) -> AsyncIterator[bytes]:
        """Yield what a pod has written and what it writes."""
        files = f"{_PODS}/kube-system_{name}-{self.name}_*/{name}/*.log"
        words = ("sh", "-c", f"exec tail -q -n +1 -F {files}")
        async for part in pod_logs.text(self._inside.follow(*words)):
            yield part

    async def _until(
        self,
        holds: Callable[[set[str]], bool],
        names: Collection[ComponentName],
        problem: str,
    ) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                while not holds(await self.running()):  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(_POLL)
        except TimeoutError as e:
            raise TimedOutError(
                f"'{', '.join(names)}' {problem} on the node '{self.name}'",
                hint="its last words, or those of the kubelet, are below",
                detail=await self.complaint(names) or None,
            ) from e
