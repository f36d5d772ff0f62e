"""What may differ from a mark is read, and nothing else, whichever way it is looked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.etcd.marks.mark_content import Content, ContentWriter, opened
from kwokctl.etcd.marks.present import pages_of, present_in_all, present_since
from tests.support.ranged_etcd import RangedEtcd

RANGES = [(b"/a", b"/c"), (b"/e", b"/g"), (b"/x", b"/y")]
BESIDE = [b"/c", b"/d"]
MARKED = [b"/a1", b"/b1", *BESIDE, b"/e1", b"/f1"]


@pytest.fixture
def etcd() -> RangedEtcd:
    etcd = RangedEtcd()
    for key in MARKED:
        etcd.put(key, b"1")
    return etcd


@pytest.fixture
def content(etcd: RangedEtcd, tmp_path: Path) -> Iterator[Content]:
    path = tmp_path / "a_5.content"
    with path.open("wb") as file:
        writer = ContentWriter(file)
        writer.add([etcd.stored[key] for key in MARKED])
        writer.finish()
    with opened(path) as content:
        yield content


@pytest.mark.parametrize("in_all", [False, True])
async def test_keys_that_were_written_or_deleted_since_are_found(
    etcd: RangedEtcd, content: Content, in_all: bool
) -> None:
    baseline = etcd.revision
    for key in (b"/a1", b"/b0", b"/x1"):
        etcd.put(key, b"2")
    for key in (b"/b1", *BESIDE, b"/e1"):
        etcd.delete(key)

    if in_all:
        found = await present_in_all(etcd, content, RANGES)
    else:
        found = await present_since(etcd, content, RANGES, baseline)

    assert [item.key for item in found.changed] == [b"/a1", b"/b0", b"/x1"]
    assert found.missing == [b"/b1", b"/e1"]
    assert found.revision == etcd.revision


async def test_pages_follow_until_the_range_ends(etcd: RangedEtcd) -> None:
    pages = pages_of(etcd, b"/a", b"/e", revision=etcd.revision, limit=3)

    assert [[item.key for item in page.items] async for page in pages] == [MARKED[:3], MARKED[3:4]]
