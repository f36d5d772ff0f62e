"""What clusters in memory have in common as data planes: everything goes through their API."""

from kwokctl.dataplane.bulk.api_bulk import ApiBulk
from kwokctl.dataplane.port import DirectWriter, KubeletWriter, NewObjects, OldObjects


class ThroughApi:
    """Serves bulk writes by single ones."""

    leases_at_once = 1
    direct: DirectWriter | None = None

    async def create_copies(self: KubeletWriter, new: NewObjects) -> None:
        await ApiBulk(self).create(new)

    async def delete_many(self: KubeletWriter, old: OldObjects) -> None:
        await ApiBulk(self).delete(old)
