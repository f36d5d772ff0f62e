"""What those who race share: the objects of one kind, and the account of what happens to them."""

from collections import Counter, deque
from collections.abc import Sequence
from itertools import count
from random import Random

import msgspec

from kwokctl.json_value import Json
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import Resource
from tests.support.planes import Reached
from tests.support.racing.ledger import Ledger

REFUSALS = frozenset({404, 409, 422})
"""The object is gone, has changed, or is another than the write is for."""
_REMEMBERED = 5


class Ground:
    """The objects of one kind that everybody writes to."""

    def __init__(
        self, reached: Reached, resource: Resource, bodies: Sequence[Json], random: Random
    ) -> None:
        """Race for objects that are made from `bodies`, again whenever they are gone."""
        self.client, self.plane, self.kv = reached.client, reached.plane, reached.kv
        self.resource = resource
        self.namespace: str | None = bodies[0]["metadata"].get("namespace")
        self.bodies: dict[str, Json] = {body["metadata"]["name"]: body for body in bodies}
        self.random = random
        self.ledger = Ledger()
        self.copies: dict[str, deque[Json]] = {
            name: deque(maxlen=_REMEMBERED) for name in self.bodies
        }
        """The objects as a watch has shown them of late, by name; the last is the newest."""
        self.outcomes: Counter[str] = Counter()
        """How writes past the API server have ended: `ok`, or the reason why not."""
        self._numbers = count(1)

    def text(self) -> str:
        """Return a text that was not used yet."""
        return f"n{next(self._numbers)}"

    def name(self) -> str:
        """Choose an object."""
        return self.random.choice(list(self.bodies))

    async def present(self) -> dict[str, Json]:
        """List and decode what there is, by name."""
        listed = list_pages(
            self.client.pool, ListQuery(resource=self.resource, namespace=self.namespace)
        )
        bodies = [msgspec.json.decode(raw) async for page in listed for raw in page.objects]
        found = {body["metadata"]["name"]: body for body in bodies}
        return {name: body for name, body in found.items() if name in self.bodies}


def has_ended(body: Json) -> bool:
    """Return whether the API server answers a write by deleting the object instead.

    It does so with what is deleted without grace and held by nothing.
    """
    metadata = body["metadata"]
    return metadata.get("deletionGracePeriodSeconds") == 0 and not metadata.get("finalizers")
