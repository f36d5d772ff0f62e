"""Makes marks and removes them: also those that take too much, or are kept for too long."""

import os
from collections.abc import Callable, Sequence

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import marking, using
from kwokctl.clusters.time_travel.reach import Reach, marks_of, reached
from kwokctl.clusters.time_travel.stored_marks import Mark, Marks, mark_name, witness_key
from kwokctl.config.quantity import to_text
from kwokctl.errors import CapacityError
from kwokctl.etcd.kv.kv import Kv, Put, Txn  # noqa: TID251 - this key is no object of the API server
from kwokctl.etcd.marks.mark_content import ContentWriter
from kwokctl.etcd.marks.present import pages_of
from kwokctl.model import ClusterName
from kwokctl.progress import Progress


class MarkBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a cluster's marks; 0 means no limit."""

    size: int = 4 * 2**30
    """The most bytes of all marks of a cluster."""
    age: float = 0
    """The greatest age of a mark in seconds."""


def demand_fits(mark: Mark, bounds: MarkBounds) -> None:
    """Raise CapacityError for a mark that alone exceeds the limit."""
    if bounds.size and mark.size > bounds.size:
        raise CapacityError(
            f"the mark '{mark.name}' would take {to_text(mark.size)}, more than the "
            f"{to_text(bounds.size)} that marks may take",
            hint="allow more with --max-size; no mark was made or removed",
        )


def beyond(marks: Sequence[Mark], newest: Mark, bounds: MarkBounds) -> list[Mark]:
    """Return the marks to remove, the oldest first, and never the newest."""
    others = sorted((mark for mark in marks if mark.name != newest.name), key=lambda m: m.made)
    gone = [mark for mark in others if bounds.age and newest.made - mark.made > bounds.age]
    left = others[len(gone) :]
    total = newest.size + sum(mark.size for mark in left)
    while bounds.size and left and total > bounds.size:
        gone.append(left.pop(0))
        total -= gone[-1].size
    return gone


_USUAL = MarkBounds()


def _demand_nothing(_marks: Marks) -> None:
    pass


async def mark_cluster(
    home: Home,
    cluster: ClusterName,
    name: str,
    bounds: MarkBounds = _USUAL,
    *,
    demand: Callable[[Marks], None] = _demand_nothing,
) -> Mark:
    """Save the present state of a running cluster as a mark, in place of one of the same name.

    All objects are read at one revision of etcd, while the cluster runs on. They are copied to a file
    immediately, because etcd compacts a revision after some minutes. Older marks are removed if the bounds
    are exceeded; CapacityError if this mark alone exceeds them. `demand` raises an error if the marks that there are forbid it, and is
    called when no other command makes any.
    """
    name = mark_name(name)
    with using(home.workdir, cluster), marking(home.workdir, cluster):
        demand(marks_of(home, cluster))
        async with reached(home, cluster) as reach:
            revision = await write_witness(reach.kv, name)
            with home.progress.step(f"Marking '{name}'"):
                mark = await copied(reach, name, revision)
            keep_within(reach.marks, mark, bounds, home.progress)
            return mark


def keep_within(marks: Marks, mark: Mark, bounds: MarkBounds, progress: Progress) -> None:
    """Keep a mark whose content is written, and remove older marks beyond the bounds."""
    try:
        demand_fits(mark, bounds)
    except CapacityError:
        marks.tidy()
        raise
    marks.keep(mark)
    for each in beyond(marks.all(), mark, bounds):
        marks.forget(each.name)
        progress.note(
            f"dropped the mark '{each.name}': it is older than --max-age, or beyond --max-size"
        )


async def drop_marks(home: Home, cluster: ClusterName, name: str, *, every: bool) -> list[str]:
    """Remove one mark, or all; return their names."""
    with using(home.workdir, cluster), marking(home.workdir, cluster):
        marks = marks_of(home, cluster)
        if not every and name not in marks.names():
            marks.find(name)
        dropped = marks.names() if every else [name]
        for each in dropped:
            marks.forget(each)
        return dropped


async def list_marks(home: Home, cluster: ClusterName) -> list[Mark]:
    """Return the marks of a cluster, the latest last, and warn of damaged ones."""
    marks = marks_of(home, cluster)
    for error in marks.damage():
        home.progress.warn(f"{error}; {error.hint}")
    return marks.all()


async def write_witness(kv: Kv, name: str) -> int:
    """Write the key that proves a mark's history of etcd, and return the revision."""
    return (await kv.txn(Txn((), (Put(witness_key(name), b"{}"),)))).revision


async def copied(reach: Reach, name: str, revision: int) -> Mark:
    """Copy the objects of a revision to the file of a new mark, which is not kept yet."""
    file = f"{name}_{revision}.content"
    with reach.marks.writing(file) as opened:
        content = ContentWriter(opened)
        for start, end in reach.scope.ranges:
            async for page in pages_of(reach.kv, start, end, revision=revision):
                content.add(page.items)
        objects = content.finish()
        opened.flush()
        written = os.fstat(opened.fileno())
    return Mark(
        name=name,
        made=written.st_mtime,
        prefix=reach.prefix,
        revision=revision,
        baseline=revision,
        witness=revision,
        objects=objects,
        size=written.st_size,
        file=file,
        cluster=reach.uid,
    )
