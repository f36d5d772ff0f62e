"""Follows one Fault of a cluster by a watch."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kwokctl.clusters.faults.stored_faults import decode_fault
from kwokctl.errors import NotFoundError
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import FAULTS


async def fault_versions(client: Client, name: str) -> AsyncGenerator[StoredFault, None]:
    """Yield a Fault as it is and whenever it has changed, for ever; NotFoundError if it is deleted."""
    batches = watch(
        client.pool,
        FAULTS,
        decoder=decode_fault.decode,
        field_selector=f"metadata.name={name}",
    )
    async with aclosing(batches):
        async for events in batches:
            for event in events:
                if event.object is None or event.object.metadata.name != name:
                    continue
                if event.type is EventType.DELETED:
                    raise NotFoundError(f"the Fault '{name}' was deleted meanwhile")
                yield event.object
