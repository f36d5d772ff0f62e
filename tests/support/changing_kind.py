"""A kind of an API server that has forgotten what its watches have missed: they list everything again."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from tests.support.fake_api_server import Reply, Request
from tests.support.watches import is_watch, page

Object = dict[str, Any]


def named(name: str, *, uid: str = "", **more: Any) -> Object:
    """Return an object with a name."""
    metadata = {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": "1"}
    return {"metadata": metadata, **more}


@dataclass
class ChangingKind:
    """Answers lists and watches of one kind with the objects that it has; a change ends all watches of what was before."""

    objects: list[Object] = field(default_factory=list)
    version: int = 10
    refuses: int = 0
    """The status with which lists are refused; 0 if they are not."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, request: Request, reply: Reply) -> None:
        if is_watch(request):
            since = int(request.query["resourceVersion"])
            await reply.begin()
            async with self._changed:
                await self._changed.wait_for(lambda: self.version > since)
            gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
            await reply.event("ERROR", gone)
            await reply.end()
        elif self.refuses:
            await reply.refuse(self.refuses, "Refused", "not now")
        else:
            await reply.json(page(*self.objects, version=self.version))

    async def become(self, *objects: Object) -> None:
        """Have these objects, and no history of the change."""
        async with self._changed:
            self.objects = [*objects]
            self.version += 1
            self._changed.notify_all()
