"""The lines of the dry run of `fault inject`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kwokctl.cli.output.progress_rows import amount

if TYPE_CHECKING:
    from kwokctl.clusters.faults.foresee import ForeseenFault, ForeseenNode
    from kwokctl.faults.evictions.eviction_forecast import EvictionForecast

_DETAILED = 5
"""The number of nodes for which every write is shown; the others are only named."""
_MINUTES = (2, 5, 10, 30, 60)
"""The times after which evictions are counted."""


def foreseen_lines(found: "ForeseenFault", *, is_seed_drawn: bool) -> Iterator[str]:
    """Yield the lines."""
    spec, selected = found.spec, found.selected
    if found.requests:
        which, *effects = found.requests
        yield f"Make a Fault of class '{spec.class_name}', which hits the API: {which}."
        yield from (f"  {each}" for each in effects)
        yield from _seed(found, is_seed_drawn=is_seed_drawn)
        return
    hit = amount(len(selected.units), "units")
    yield f"Make a Fault of class '{spec.class_name}', which hits {hit} on {len(found.nodes):,} of {amount(found.candidates, 'nodes')}."
    yield from _seed(found, is_seed_drawn=is_seed_drawn)
    if not selected.is_reproducible:
        yield "What is hit depends on the pods that there are now."
    if selected.foreign:
        yield f"Left out, because no controller of kwokctl plays them: {', '.join(selected.foreign)}"
    yield from found.notices
    for each in found.nodes[:_DETAILED]:
        yield from _of_node(each)
    for each in found.nodes[_DETAILED:]:
        yield f"{_units(each)}: likewise, with times of its own"
    if found.evictions is not None:
        yield from _evictions(found.evictions)


def _seed(found: "ForeseenFault", *, is_seed_drawn: bool) -> Iterator[str]:
    seed = found.spec.seed
    if is_seed_drawn:
        yield f"The seed {seed} was drawn: to hit the same, give: --seed {seed}"


def _units(node: "ForeseenNode") -> str:
    first = node.units[0]
    parts = [
        f"GPU {unit.gpu}" if unit.gpu is not None else f"pod {unit.pod}" if unit.pod else ""
        for unit in node.units
    ]
    return ", ".join([f"node {first.node}", *filter(None, parts)])


def _of_node(node: "ForeseenNode") -> Iterator[str]:
    yield f"{_units(node)}:"
    if not node.writes:
        yield "  nothing of it shows on the node"
    for write in node.writes:
        yield f"  after {write.after:.1f}s:"
        yield from (f"    {change}" for change in write.changes)


def _evictions(found: "EvictionForecast") -> Iterator[str]:
    yield (
        f"Kubernetes notices: Ready is Unknown from {found.unknown_from:g}s on, for all of them after {found.unknown_until:g}s at the latest."
    )
    for zone in found.zones:
        if zone.silent:
            name = f"zone '{zone.name}'" if zone.name else "the nodes without a zone"
            yield f"{name}: {zone.silent:,} of {amount(zone.nodes, 'nodes')} are silent; {zone.words}"
    counted = [f"{found.evicted_by(60.0 * minute):,} after {minute} min" for minute in _MINUTES]
    pods = amount(sum(zone.pods for zone in found.zones), "pods")
    yield f"Of {pods} on them, evicted are {', '.join(counted)}."
