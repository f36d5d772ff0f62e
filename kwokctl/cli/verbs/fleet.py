"""`get shapes` and `get fleet`: the machines that fleets are made of, and where they stand."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import format_option
from kwokctl.fleet.tree import LEVELS

if TYPE_CHECKING:
    from kwokctl.fleet.tree import DeviceCounts, FleetUnit

_FORMATS = ("table", "name", "wide", "json", "yaml")
_TREES = ("table", "wide", "json", "yaml")
_COLUMNS = ("UNIT", "NODES", "READY", "CORDONED", "DEVICES IN USE")


def register(below: typer.Typer) -> None:
    """Add the commands below `get`."""
    examples = (
        "kwokctl get shapes",
        "kwokctl get shapes dgx-h100 -o yaml > mine.yaml",
    )
    commands.command(below, "shapes", examples=examples)(shapes)
    commands.command(below, "fleet", examples=("kwokctl get fleet", "kwokctl get fleet -o wide"))(
        fleet
    )


def shapes(
    call: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Shapes to show [default: all]"),
    ] = None,
    *,
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """List the machine shapes for which 'scale SHAPE' creates nodes.

    yaml gives the KwokctlResource of each shape, to be changed and given to '--config'; json a list of
    {name, cpu, memory, devices, labels}. Shapes of '--config' are listed before the built-in ones.
    """
    from kwokctl.clusters.state.shapes import shapes as known
    from kwokctl.expr import yaml

    found = known(call.documents(), names or ())
    if output == "yaml":
        results.emit(yaml.dump_all([dict(each.document) for each in found]).rstrip("\n"))
    elif output == "json":
        results.emit_data(
            [
                {
                    "name": each.name, "cpu": each.cpu, "memory": each.memory,
                    "devices": each.devices, "labels": each.labels,
                }
                for each in found
            ],
            output,
        )  # fmt: skip
    elif output == "name":
        results.emit("\n".join(each.name for each in found))
    else:
        headings = ["NAME", "CPU", "MEMORY", "DEVICES"]
        rows = [[each.name, each.cpu, each.memory, _counted(each.devices)] for each in found]
        if output == "wide":
            headings.append("LABELS")
            for row, each in zip(rows, found, strict=True):
                row.append(",".join(f"{key}={value}" for key, value in each.labels.items()))
        results.emit_table(headings, rows)


def _counted(devices: Mapping[str, str]) -> str:
    return ",".join(f"{name}={number}" for name, number in devices.items()) or "none"


def fleet(
    call: Invocation,
    *,
    output: Annotated[str, format_option(*_TREES, usual="table")] = "",
) -> None:
    """Show the nodes of a cluster as a tree of zones, switches and racks, with counts.

    table shows zones and switches, with the devices that pods request of those that are healthy; wide shows racks as well. json and yaml give {nodes, ready, cordoned, shapes, devices, units}
    of the whole, where devices has {capacity, allocatable, allocated, unhealthy} of each resource and units
    the same of each unit below, with its level.
    """
    from kwokctl.clusters.fleet_units import fleet_of

    quiet = call.quietly()
    found = quiet.run(fleet_of, quiet.home, quiet.cluster)
    if output in ("json", "yaml"):
        results.emit_data(_as_data(found), output)
        return
    is_wide = output == "wide"
    rows = [*_rows(found, LEVELS if is_wide else LEVELS[:-1], 0)]
    if is_wide:
        results.emit_table((*_COLUMNS, "SHAPES"), rows)
    else:
        results.emit_table(_COLUMNS, [row[: len(_COLUMNS)] for row in rows])


def _rows(unit: "FleetUnit", levels: Sequence[str], depth: int) -> Iterator[tuple[str, ...]]:
    yield (
        "  " * depth + (unit.name or "fleet"),
        str(unit.nodes),
        str(unit.ready),
        str(unit.cordoned),
        ",".join(starmap(_in_use, unit.devices.items())) or "none",
        ",".join(sorted(unit.shapes)),
    )
    for each in sorted(unit.units.values(), key=lambda below: below.name):
        if each.level in levels:
            yield from _rows(each, levels, depth + 1)


def _in_use(resource: str, counts: "DeviceCounts") -> str:
    """Write how many devices are allocated, of how many, and how many are unhealthy: `gpu=4/7(1 unhealthy)`."""
    unhealthy = f"({counts.unhealthy} unhealthy)" if counts.unhealthy else ""
    return f"{resource}={counts.allocated}/{counts.allocatable}{unhealthy}"


def _as_data(unit: "FleetUnit") -> dict[str, object]:
    devices = {
        name: {
            "capacity": each.capacity, "allocatable": each.allocatable,
            "allocated": each.allocated, "unhealthy": each.unhealthy,
        }
        for name, each in unit.devices.items()
    }  # fmt: skip
    own: dict[str, object] = {"name": unit.name, "level": unit.level} if unit.name else {}
    return {
        **own,
        "nodes": unit.nodes,
        "ready": unit.ready,
        "cordoned": unit.cordoned,
        "shapes": unit.shapes,
        "devices": devices,
        "units": [_as_data(each) for each in sorted(unit.units.values(), key=lambda u: u.name)],
    }
