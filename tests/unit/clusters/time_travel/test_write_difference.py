"""Whatever was changed since a mark is as it was at the mark, or is named."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.make_mark import copied, write_witness
from kwokctl.clusters.time_travel.reach import Reach
from kwokctl.clusters.time_travel.rewind import advance, check_origin, has_same_history
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.clusters.time_travel.write_difference import Settled, Settling, delete_events
from kwokctl.errors import ConflictError, UnavailableError
from kwokctl.etcd.kv.kv import Txn, TxnAnswer
from kwokctl.etcd.marks.mark_content import opened
from kwokctl.etcd.marks.mark_difference import Write
from tests.support.fake_runtime import FakeRuntime
from tests.support.full_disk import full_disk
from tests.support.options import cluster_options
from tests.support.ranged_etcd import RangedEtcd
from tests.support.reaching import reach_of
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
FOLDERS = [
    "apiextensions.k8s.io/customresourcedefinitions",
    "example.com/widgets/default",
    "ipaddresses",
    "namespaces",
    "pods/default",
    "services/specs/default",
]
KEYS = [f"/registry/{folder}/{n}".encode() for folder in FOLDERS for n in range(4)]
EVENT = b"/registry/events/default/e"
POD = b"/registry/pods/default/0"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_with(tmp_path, NAME, cluster_options(), FakeRuntime())


async def _marked(reach: Reach) -> Mark:
    mark = await copied(reach, "a", await write_witness(reach.kv, "a"))
    reach.marks.keep(mark)
    return mark


async def _settled(reach: Reach, mark: Mark) -> Settled:
    with opened(reach.marks.content(mark)) as content:
        is_known = await has_same_history(reach, mark)
        settling = Settling(reach, mark, content, in_all=not is_known, rest=0)
        return await settling.run(before_writes=_nothing, before_moves=_nothing)


async def _nothing() -> None:
    pass


def _values(kv: RangedEtcd) -> dict[bytes, bytes]:
    own = b"/kwokctl/"
    return {key: item.value for key, item in kv.stored.items() if not key.startswith(own)}


def _change(kv: RangedEtcd, choose: Random) -> None:
    for key in choose.sample(KEYS, choose.randrange(len(KEYS))):
        if key in kv.stored and choose.random() < 0.4:
            kv.delete(key)
        else:
            kv.put(key, choose.choice([b"1", b"2", b"3"]))


class FailingLook(Settling):
    """Its etcd does not answer."""

    async def look(self) -> tuple[int, list[Write]]:
        raise UnavailableError("etcd is gone")


class AnsweringEtcd(RangedEtcd):
    """Another client answers each write, as long as it likes."""

    def __init__(self, answers: Iterator[Callable[[RangedEtcd], object]]) -> None:
        super().__init__()
        self.answers = answers

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        done = await super().txn(txn)
        next(self.answers, lambda _: None)(self)
        return done


class KilledError(Exception):
    """What ends a rewind in the middle."""


class DyingEtcd(RangedEtcd):
    """Carries out so many transactions, and no more."""

    left: int | None = None

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        if self.left == 0:
            raise KilledError
        if self.left is not None:
            self.left -= 1
        return await super().txn(txn)


async def test_after_any_changes_all_is_as_marked(home: Home) -> None:
    kv, choose = RangedEtcd(), Random(18)
    _change(kv, choose)
    reach, marked = reach_of(home, NAME, kv), _values(kv)
    mark = await _marked(reach)

    for _ in range(100):
        _change(kv, choose)
        settled = await _settled(reach, mark)
        mark = await advance(reach, mark, settled)

        assert (_values(kv), settled.unsettled) == (marked, ())


async def test_after_a_restore_all_is_as_marked(home: Home) -> None:
    kv, choose = RangedEtcd(), Random(18)
    reach = reach_of(home, NAME, kv)

    for _ in range(30):
        _change(kv, choose)
        saved = dict(kv.stored)
        _change(kv, choose)
        marked = _values(kv)
        mark = await _marked(reach)
        kv.stored = saved
        kv.revision += 1_000_000_000
        settled = await _settled(reach, mark)

        assert (_values(kv), settled.unsettled) == (marked, ())


async def test_killed_after_any_write_it_is_done_again_and_completes(home: Home) -> None:
    kv, choose = DyingEtcd(), Random(18)
    _change(kv, choose)
    reach, marked = reach_of(home, NAME, kv), _values(kv)
    mark = await _marked(reach)

    for number in range(20):
        for key in KEYS:
            kv.put(key, b"changed")
        kv.left = number
        with pytest.raises(KilledError):
            await _settled(reach, mark)
        assert _values(kv) != marked
        kv.left = None
        settled = await _settled(reach, mark)

        assert (_values(kv), settled.unsettled) == (marked, ())


async def test_what_is_written_first_is_answered_and_written_again(home: Home) -> None:
    repairs = iter([lambda kv: kv.delete(POD)])
    kv = AnsweringEtcd(iter(()))
    kv.put(POD, b"1")
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)
    kv.put(POD, b"2")
    kv.answers = repairs

    settled = await _settled(reach, mark)

    assert _values(kv) == {POD: b"1"}
    assert (settled.written, settled.deleted, settled.unsettled) == (1, 0, ())


@pytest.mark.parametrize(("changed", "calls"), [(POD, 1), (POD + b"0", 0), (KEYS[0], 0)])
async def test_the_scheduler_is_stopped_before_moves_are_put_back(
    home: Home, changed: bytes, calls: int
) -> None:
    kv, called = RangedEtcd(), []
    for key in (POD, KEYS[0]):
        kv.put(key, b"1")
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)
    kv.put(changed, b"2")

    async def stop() -> None:
        called.append(kv.stored[changed].value)

    with opened(reach.marks.content(mark)) as content:
        settling = Settling(reach, mark, content, in_all=False, rest=0)
        await settling.run(before_writes=_nothing, before_moves=stop)

    assert called == [b"2"] * calls


@pytest.mark.parametrize("changed", [(), (KEYS[0],)])
async def test_what_changes_while_components_stop_is_taken_back_and_nothing_is_written_before(
    home: Home, changed: tuple[bytes, ...]
) -> None:
    kv, seen = RangedEtcd(), list[dict[bytes, bytes]]()
    for key in (POD, KEYS[0]):
        kv.put(key, b"1")
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)
    marked = _values(kv)
    for key in changed:
        kv.put(key, b"2")

    async def stop() -> None:
        for _ in range(99):
            await asyncio.sleep(0)
        kv.put(POD, b"2")
        seen.append(_values(kv))

    with opened(reach.marks.content(mark)) as content:
        settling = Settling(reach, mark, content, in_all=False, rest=0)
        settled = await settling.run(before_writes=stop, before_moves=_nothing)

    assert seen == [marked | dict.fromkeys((POD, *changed), b"2")]
    assert (_values(kv), settled.unsettled) == (marked, ())


async def test_components_are_stopped_as_a_whole_though_etcd_fails(home: Home) -> None:
    kv, stopped = RangedEtcd(), list[bool]()
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)

    async def stop() -> None:
        for _ in range(99):
            await asyncio.sleep(0)
        stopped.append(True)

    with opened(reach.marks.content(mark)) as content:
        settling = FailingLook(reach, mark, content, in_all=False, rest=0)
        with pytest.raises(UnavailableError, match="gone"):
            await settling.run(before_writes=stop, before_moves=_nothing)

    assert stopped == [True]


async def test_what_never_settles_is_named_and_the_rest_is_as_marked(home: Home) -> None:
    kv = AnsweringEtcd(iter(()))
    kv.put(POD, b"1")
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)
    kv.put(POD, b"2")
    kv.put(KEYS[0], b"new")
    kv.answers = iter([lambda kv: kv.put(POD, b"2")] * 99)

    settled = await _settled(reach, mark)

    assert settled.unsettled == (POD,)
    assert _values(kv) == {POD: b"2"}


async def test_events_made_since_are_deleted_and_older_ones_stay(home: Home) -> None:
    kv = RangedEtcd()
    kv.put(EVENT + b"1", b"old")
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)
    kv.put(EVENT + b"1", b"seen again")
    kv.put(EVENT + b"2", b"new")

    assert await delete_events(reach, mark) == 1
    assert _values(kv) == {EVENT + b"1": b"seen again"}


async def test_an_event_that_is_seen_again_meanwhile_stays(home: Home) -> None:
    kv = AnsweringEtcd(iter([lambda kv: kv.put(EVENT + b"2", b"seen again")]))
    reach = reach_of(home, NAME, kv)
    mark = await copied(reach, "a", kv.revision)
    for number in (b"1", b"2"):
        kv.put(EVENT + number, b"new")

    await delete_events(reach, mark)

    assert _values(kv) == {EVENT + b"2": b"seen again"}


async def test_what_expires_with_a_lease_is_left_alone(home: Home) -> None:
    kv = RangedEtcd()
    kv.leases[7] = 60
    kv.put(KEYS[0], b"1", lease=7)
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)
    kv.delete(KEYS[0])
    kv.put(KEYS[1], b"1", lease=7)

    settled = await _settled(reach, mark)

    assert settled.written == settled.deleted == 0
    assert list(_values(kv)) == [KEYS[1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cluster": "other"}, "was made in another cluster"),
        ({"prefix": "/other"}, "has keys under '/other'"),
    ],
)
async def test_a_foreign_mark_is_refused(home: Home, change: dict[str, str], message: str) -> None:
    reach = reach_of(home, NAME, RangedEtcd())
    mark = await _marked(reach)

    check_origin(reach, mark)
    with pytest.raises(ConflictError, match=message):
        check_origin(reach, msgspec.structs.replace(mark, **change))


async def test_a_mark_of_an_earlier_release_is_taken_for_the_clusters_own(home: Home) -> None:
    reach = reach_of(home, NAME, RangedEtcd())
    mark = await _marked(reach)

    assert mark.cluster == "uid"
    check_origin(reach, msgspec.structs.replace(mark, cluster=""))


async def test_a_mark_on_a_full_disk_leaves_the_former_one(home: Home) -> None:
    kv = RangedEtcd()
    kv.put(POD, b"1" * 10_000)
    reach = reach_of(home, NAME, kv)
    mark = await _marked(reach)

    with full_disk(), pytest.raises(UnavailableError, match="cannot be written"):
        await copied(reach, "a", await write_witness(kv, "a"))

    assert reach.marks.all() == [mark]
    assert len(list(reach.marks.paths.marks.iterdir())) == 2
