"""Creates clusters that begin with the objects of one snapshot file."""

from collections.abc import Sequence

from kwokctl.clusters.create import Created, CreateRequest, create_cluster
from kwokctl.clusters.forking.fork import check_free, together
from kwokctl.clusters.forking.needed_memory import demand_memory, needs_of_seeds
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.wanted import choose_runtime
from kwokctl.etcd import snapshot_files
from kwokctl.progress import Silent
from kwokctl.replacing import replace


async def create_several(
    home: Home, requests: Sequence[CreateRequest], *, ignores_memory: bool
) -> tuple[Created, ...]:
    """Create clusters that differ in their names, all at once; the first failure ends the others.

    Raises CapacityError, before anything is made, if this machine has not the memory for them.
    """
    first = requests[0]
    for request in requests:
        check_free(home, request.name, request.kubeconfig)
    if first.snapshot:
        snapshot_files.verify(first.snapshot)
        options = first.resolved.options
        runtime = await choose_runtime(home, options)
        needs = needs_of_seeds(first.snapshot, runtime, options, len(requests))
        demand_memory(needs, home.progress, is_ignored=ignores_memory)
    # Lines of several clusters at once would not say which they are of.
    each = home if len(requests) == 1 else replace(home, progress=Silent())
    made = [create_cluster(each, request) for request in requests]
    return tuple(await together(made, home.progress))
