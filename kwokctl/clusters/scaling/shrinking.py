"""Deletes what a set has too much, nodes with the pods on them."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from kwokctl.clusters.scaling.creation import AT_ONCE
from kwokctl.clusters.scaling.deletion import Deletion
from kwokctl.clusters.scaling.in_flight import for_each
from kwokctl.clusters.scaling.obstacles import Way
from kwokctl.clusters.scaling.pacing import SILENT, UNPLACED, paced
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.reading import Known
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.copies.json_stamp import CannotStampError
from kwokctl.kube.resource import NAMESPACES, NODES, PODS, SERVICES, Resource
from kwokctl.progress import Step

_CONTROLLERS = Resource(
    "", "v1", "replicationcontrollers", "ReplicationController", namespaced=True
)
_MORE_THAN_THEMSELVES = frozenset({NAMESPACES, SERVICES, _CONTROLLERS})
"""Namespaces are emptied, the addresses of services freed, the pods of old controllers orphaned."""
_WHY = "deleting such an object has effects on others"


class Shrinking:
    """The objects of a set that are to go."""

    def __init__(
        self,
        place: Place,
        resource: Resource,
        namespace: str | None,
        *,
        grace_seconds: int,
    ) -> None:
        """Delete in `place`."""
        self._place = place
        self._resource = resource
        self._namespace = namespace
        self._grace_seconds = grace_seconds
        self.deleted = 0
        """How many have been deleted so far."""

    async def delete(self, surplus: Sequence[Known], members: int, way: Way | None) -> None:
        """Delete exactly these objects; the set keeps `members`.

        Grace periods are given by the API server.
        """
        if way is not None and self._resource in _MORE_THAN_THEMSELVES:
            self._place.progress.note(str(Choice(path="api", why=_WHY)))
            way = None
        if self._grace_seconds:
            way = None
        if self._resource == NODES:
            await self._delete_pods(surplus, way)
        title = f"Deleting {amount(len(surplus), self._resource)}"
        if members:
            title += f", down to {members:,}"
        unit = self._resource.plural
        with self._place.progress.step(title, total=len(surplus), unit=unit) as step:

            def tell() -> None:
                self.deleted += 1
                step.advance()

            deletion = self._deletion(self._resource, self._namespace)
            await self._run(deletion, surplus, way, step, tell)

    async def _delete_pods(self, nodes: Sequence[Known], way: Way | None) -> None:
        """Delete the pods of nodes that go: nobody else would do it for most of a minute."""
        found: defaultdict[str, list[Known]] = defaultdict(list)

        async def look(node: Known) -> None:
            async for pod in self._place.reader.pods_on(node.name):
                found[pod.namespace].append(pod)

        await for_each(nodes, look, at_once=AT_ONCE)
        number = sum(map(len, found.values()))
        if not number:
            return
        title = f"Deleting {amount(number, PODS)} on them"
        with self._place.progress.step(title, total=number, unit=PODS.plural) as step:
            for namespace, pods in found.items():
                deletion = self._deletion(PODS, namespace)
                await self._run(deletion, pods, way, step, step.advance)

    async def _run(
        self,
        deletion: Deletion,
        surplus: Sequence[Known],
        way: Way | None,
        step: Step,
        tell: Callable[[], None],
    ) -> None:
        if way is not None:
            try:
                resource, namespace = deletion.resource, deletion.namespace
                silence = UNPLACED if resource == PODS else SILENT
                async with paced(way.direct, resource, namespace, step, silence=silence) as window:
                    await deletion.through_etcd(surplus, way, window, tell)
            except CannotStampError as e:
                if self._place.insists:
                    raise
                self._place.progress.note(str(Choice(path="api", why=str(e))))
            else:
                return
        await deletion.through_api(surplus, tell)

    def _deletion(self, resource: Resource, namespace: str | None) -> Deletion:
        return Deletion(
            plane=self._place.plane,
            reader=self._place.reader,
            resource=resource,
            namespace=namespace,
            grace_seconds=self._grace_seconds,
        )
