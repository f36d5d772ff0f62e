"""What happens to Repairs and to the nodes of a real API server, as a watch shows it."""

import asyncio
from collections import defaultdict
from contextlib import aclosing

import msgspec

from kwokctl.faults.repairs.repair_schema import RepairStatus, StoredRepair
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import NODES, REPAIRS


class RepairHistory:
    """Every state of every Repair, and the machines that nodes have been."""

    def __init__(self) -> None:
        self.statuses: defaultdict[str, list[RepairStatus]] = defaultdict(list)
        """By the name of the Repair."""
        self.running: list[int] = []
        """How many repairs went on after each change of one."""
        self.uids: defaultdict[str, list[str]] = defaultdict(list)
        """By the name of the node, each once, as the next ones."""
        self.boots: defaultdict[str, list[str]] = defaultdict(list)

    async def follow(self, client: Client) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow_repairs(client))
            tasks.create_task(self._follow_nodes(client))

    def count(self, *phases: str) -> int:
        """Return how many Repairs are in one of these phases."""
        return sum(each[-1].phase in phases for each in self.statuses.values())

    def phases(self, name: str) -> list[str]:
        """Return the phases in which a Repair was, one after the other."""
        found = [each.phase for each in self.statuses[name]]
        return [
            phase for number, phase in enumerate(found) if not number or phase != found[number - 1]
        ]

    async def _follow_repairs(self, client: Client) -> None:
        decode = msgspec.json.Decoder(StoredRepair).decode
        async with aclosing(watch(client.pool, REPAIRS, decoder=decode)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None and event.type is not EventType.DELETED:
                        self.statuses[event.object.name].append(event.object.status)
                        self.running.append(self.count("Running"))

    async def _follow_nodes(self, client: Client) -> None:
        async with aclosing(watch(client.pool, NODES, decoder=msgspec.json.decode)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None and event.type is not EventType.DELETED:
                        self._note(event.object)

    def _note(self, node: Json) -> None:
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        boot = node.get("status", {}).get("nodeInfo", {}).get("bootID", "")
        if uid not in self.uids[name]:
            self.uids[name].append(uid)
        if boot and boot not in self.boots[name][-1:]:
            self.boots[name].append(boot)
