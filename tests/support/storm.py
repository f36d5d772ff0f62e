"""Users who label every pod whenever they hear of it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from contextlib import aclosing
from itertools import count

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import PODS
from tests.support.client_writes import patch
from tests.support.direct import encoded
from tests.support.eventually import eventually
from tests.support.racing.ledger import Ledger, shown

_TIMES = 6
"""How often each pod is labelled."""


class Storm:
    """Labels the pods that a selector selects."""

    def __init__(self, client: Client, selector: str) -> None:
        self._client = client
        self._selector = selector
        self._ledger = Ledger()
        self._latest: dict[str, Json] = {}
        self._times: Counter[str] = Counter()
        self._numbers = count(1)

    async def during(self, work: Awaitable[object], number: int) -> list[str]:
        """Storm until the work is done and `number` pods have their labels; return what is wrong."""
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._watch(tasks))
            await work
            await eventually(lambda: self._ledger.writes == _TIMES * number)
            await eventually(lambda: self._seen() >= self._ledger.latest)
            watching.cancel()
        return self._ledger.faults([shown(body) for body in self._latest.values()])

    def _seen(self) -> int:
        return max(int(body["metadata"]["resourceVersion"]) for body in self._latest.values())

    async def _watch(self, tasks: asyncio.TaskGroup) -> None:
        events = watch(
            self._client.pool, PODS, decoder=msgspec.json.decode, label_selector=self._selector
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None or event.type is EventType.DELETED:
                        continue
                    self._latest[event.object["metadata"]["name"]] = event.object
                    self._ledger.show(shown(event.object))
                    tasks.create_task(self._label(event.object["metadata"]["name"]))

    async def _label(self, name: str) -> None:
        if self._times[name] >= _TIMES:
            return
        self._times[name] += 1
        text = f"n{next(self._numbers)}"
        body = encoded({"metadata": {"labels": {"storm": text}}})
        while True:
            try:
                answer = await patch(self._client, PODS, "default", name, body, PatchType.MERGE)
            except ApiError as e:
                if e.status != 409:
                    raise
            else:
                self._ledger.wrote(msgspec.json.decode(answer), ".metadata.labels.storm", text)
                return
