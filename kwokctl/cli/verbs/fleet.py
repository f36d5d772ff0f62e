"""`get shapes`: the machines that fleets are made of."""

from collections.abc import Mapping
from typing import Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import format_option

_FORMATS = ("table", "name", "wide", "json", "yaml")


def register(below: typer.Typer) -> None:
    """Add the commands below `get`."""
    examples = (
        "kwokctl get shapes",
        "kwokctl get shapes dgx-h100 -o yaml > mine.yaml",
    )
    commands.command(below, "shapes", examples=examples)(shapes)


def shapes(
    call: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Shapes to show [default: all]"),
    ] = None,
    *,
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """List the shapes of machines that 'scale SHAPE' makes nodes of.

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
