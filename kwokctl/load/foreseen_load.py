"""Describes what loads would do, for a dry run: no cluster is asked."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice

from kwokctl.draws.streams import DrawStream
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.load.acts.create import Bundles
from kwokctl.load.load_documents import Load
from kwokctl.load.sending.load_hooks import commands
from kwokctl.load.sending.plan import ArrivalPlan

_SHOWN = 5
"""Arrivals of a load that are shown, and objects of the first that are."""
_RUN = "RUN"
"""In place of the name of a run."""


def foreseen(loads: Sequence[Load], seed: int, speed: float) -> str:
    """Return what would be done; ConfigError, with the place, for a template that does not render."""
    lines = [f"Run: {each}" for each in commands(loads, "before")]
    for load in loads:
        lines += _of_load(load, seed, speed)
    lines += [f"Run: {each}" for each in commands(loads, "after")]
    return "\n".join(lines)


def _of_load(load: Load, seed: int, speed: float) -> Iterator[str]:
    """Yield what one load would do."""
    stream = DrawStream.of(seed, load.name)
    plan = ArrivalPlan(load, _RUN, stream)
    yield f"Load '{load.name}': {load.spec.act}, {_number(plan, speed)}{_conditions(load)}"
    bundles = Bundles(load, _RUN, stream)
    first: list[dict[str, Json]] = []
    for index, seconds in enumerate(islice(plan.shown, _SHOWN)):
        data = plan.data(index)
        bodies = bundles.at(data) if load.sources else []
        first = first or bodies
        when = "in turn" if plan.is_closed else f"at {seconds / speed:.3f} s"
        yield f"  {when}: {_named(data, bodies)}"
    if first:
        yield "  the first arrival:"
        text = yaml.dump_all(first)
        yield from (f"    {line}" for line in text.splitlines())


def _number(plan: ArrivalPlan, speed: float) -> str:
    number = "arrivals" if plan.total is None else f"{plan.total:,} arrivals"
    if plan.is_closed or not plan.total:
        return number
    last = max(islice(plan.times(), plan.total), default=0.0)
    return f"{number} in {last / speed:,.3f} s"


def _conditions(load: Load) -> str:
    """Say what a load waits for."""
    spec = load.spec
    parts = [f", after '{spec.after}'"] if spec.after else []
    if spec.wait_for is not None:
        parts.append(f", when waited for: {spec.wait_for.what} {spec.wait_for.condition}")
    if spec.as_user:
        parts.append(f", as '{spec.as_user}'")
    if spec.bulk:
        parts.append(", written past the API server")
    return "".join(parts)


def _named(data: Json, bodies: Sequence[Json]) -> str:
    """Say which objects an arrival creates, and with which parameters."""
    objects = ", ".join(
        f"{each['kind']} {each['metadata'].get('name') or each['metadata'].get('generateName')}"
        for each in bodies
    )
    params = json.dumps(data["params"]) if data["params"] else ""
    return " ".join(filter(None, (objects or str(data["name"]), params)))
