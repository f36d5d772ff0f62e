"""Deletes the surplus objects of a set, nodes with the pods on them."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.clusters.scaling.context import ScaleContext, amount
from kwokctl.clusters.scaling.rate import held_back
from kwokctl.dataplane.bulk.api_bulk import PARALLEL_REQUESTS
from kwokctl.dataplane.port import OldObjects
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.progress import Step
from kwokctl.tasks import for_each


class SetDeletion:
    """The objects of a set that are to be deleted."""

    def __init__(
        self,
        context: ScaleContext,
        resource: Resource,
        namespace: str | None,
        *,
        grace_seconds: int,
    ) -> None:
        """Delete in `context`."""
        self._context = context
        self._resource = resource
        self._namespace = namespace
        self._grace_seconds = grace_seconds
        self.deleted = 0
        """The number of objects deleted so far."""

    async def delete(self, surplus: Sequence[Existing], members: int) -> None:
        """Delete exactly these objects; the set keeps `members`."""
        if self._resource == NODES:
            await self._delete_pods(surplus)
        title = f"Deleting {amount(len(surplus), self._resource)}"
        if members:
            title += f", down to {members:,}"
        unit = self._resource.plural
        with self._context.progress.step(title, total=len(surplus), unit=unit) as step:

            def on_deleted() -> None:
                self.deleted += 1
                step.advance()

            await self._run(surplus, self._resource, self._namespace, step, on_deleted)

    async def _delete_pods(self, nodes: Sequence[Existing]) -> None:
        """Delete the pods of deleted nodes: otherwise they would stay for most of a minute."""
        found: defaultdict[str, list[Existing]] = defaultdict(list)

        async def look(node: Existing) -> None:
            async for pod in self._context.reader.pods_on(node.name):
                found[pod.namespace].append(pod)

        await for_each(nodes, look, at_once=PARALLEL_REQUESTS)
        number = sum(map(len, found.values()))
        if not number:
            return
        title = f"Deleting {amount(number, PODS)} on them"
        with self._context.progress.step(title, total=number, unit=PODS.plural) as step:
            for namespace, pods in found.items():
                await self._run(pods, PODS, namespace, step, step.advance)

    async def _run(
        self,
        surplus: Sequence[Existing],
        resource: Resource,
        namespace: str | None,
        step: Step,
        on_deleted: Callable[[], None],
    ) -> None:
        old = OldObjects(
            resource=resource,
            namespace=namespace,
            objects=surplus,
            grace_seconds=self._grace_seconds,
            look=self._context.reader.get,
            on_deleted=on_deleted,
            on_api=self._context.note_api,
        )
        async with held_back(self._context, resource, step):
            await self._context.plane.delete_many(old)
