import asyncio

from kwokctl.dataplane.events.expiry import EventExpiry


class Clock:
    now = 0.0


class Rig:
    """Leases of etcd, numbered from 1."""

    def __init__(self, seconds: int) -> None:
        self.clock = Clock()
        self.granted: list[int] = []
        self.expiry = EventExpiry(self.grant, seconds, lambda: self.clock.now)

    async def grant(self, seconds: int) -> int:
        self.granted.append(seconds)
        number = len(self.granted)
        await asyncio.sleep(0)
        return number


async def test_a_thousand_events_share_a_lease() -> None:
    rig = Rig(3660)

    leases = await asyncio.gather(*(rig.expiry.lease() for _ in range(2001)))

    assert [leases.count(number) for number in (1, 2, 3)] == [1000, 1000, 1]
    assert rig.granted == [3660] * 3


async def test_a_lease_is_reused_for_a_minute() -> None:
    rig = Rig(3660)

    found = []
    for rig.clock.now in (0.0, 59.9, 60.0, 119.9, 1000.0):
        found.append(await rig.expiry.lease())

    assert found == [1, 1, 2, 2, 3]


async def test_events_that_live_for_a_short_time_share_a_lease_for_a_twentieth_of_it() -> None:
    rig = Rig(105)

    found = []
    for rig.clock.now in (0.0, 4.9, 5.0):
        found.append(await rig.expiry.lease())

    assert found == [1, 1, 2]


async def test_a_lease_that_etcd_has_lost_is_not_used_again() -> None:
    rig = Rig(3660)
    lost = await rig.expiry.lease()

    rig.expiry.forget(lost)

    assert await rig.expiry.lease() == 2


async def test_events_that_do_not_expire_have_no_lease() -> None:
    rig = Rig(0)

    assert await rig.expiry.lease() == 0
    assert rig.granted == []
