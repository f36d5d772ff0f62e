"""`fault`: the classes of faults that fleets have, and what each stack shows of them."""

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import one_of
from kwokctl.cli.parsing.shared_options import format_option
from kwokctl.faults.class_schema import Layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kwokctl.faults.catalogue import FaultClass

_FORMATS = ("table", "name", "wide", "json", "yaml")
_LISTED = (
    "kwokctl fault list",
    "kwokctl fault list --dialect eks --layer gpu",
    "kwokctl fault list -o wide",
)
_Dialects = Annotated[
    list[str] | None,
    typer.Option(
        "--dialect",
        metavar="DIALECT",
        help="Only what this stack shows, such as aks or eks; may be repeated [default: all]",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app,
        "fault",
        "List and explain the faults that fleets have.",
        panel=commands.CLUSTERS,
    )
    commands.command(below, "list", examples=_LISTED)(list_classes)


def list_classes(
    call: Invocation,
    *,
    dialect: _Dialects = None,
    layer: Annotated[
        str,
        typer.Option(
            "--layer",
            metavar="LAYER",
            help=f"Only faults of this layer: {', '.join(get_args(Layer))} [default: all]",
            parser=one_of("--layer", "", *get_args(Layer)),
        ),
    ] = "",
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """List the classes of faults: those of '--config', then the built-in ones.

    wide adds causes, what clears a fault, and the dialects that show it. yaml gives the FaultClass of each,
    to be changed and given to '--config'; json a list of {name, summary, layer, scope, severity, causes, lifetime,
    clearedBy, dialects}.
    """
    from kwokctl.expr import yaml
    from kwokctl.faults.catalogue import FaultCatalogue

    catalogue = FaultCatalogue(call.documents())
    wanted = [catalogue.dialect(name).name for name in dialect or ()]
    found = [
        each
        for each in catalogue.classes()
        if layer in ("", each.spec.layer) and (not wanted or each.spec.signals.keys() & wanted)
    ]
    if output == "yaml":
        results.emit(yaml.dump_all([dict(each.document) for each in found]).rstrip("\n"))
    elif output == "json":
        results.emit_data([_as_data(each) for each in found], output)
    elif output == "name":
        results.emit("\n".join(each.name for each in found))
    else:
        _emit_rows(found, is_wide=output == "wide")


def _as_data(found: "FaultClass") -> dict[str, object]:
    spec = found.spec
    return {
        "name": found.name, "summary": spec.summary, "layer": spec.layer, "scope": spec.scope,
        "severity": spec.severity, "causes": spec.causes, "lifetime": spec.lifetime,
        "clearedBy": spec.cleared_by, "dialects": list(spec.signals),
    }  # fmt: skip


def _emit_rows(found: "Sequence[FaultClass]", *, is_wide: bool) -> None:
    headings = ["NAME", "LAYER", "SCOPE", "SEVERITY", "SUMMARY"]
    rows = [
        [each.name, each.spec.layer, each.spec.scope, each.spec.severity, each.spec.summary]
        for each in found
    ]
    if is_wide:
        headings += ["LIFETIME", "CAUSES", "CLEARED BY", "DIALECTS"]
        for row, each in zip(rows, found, strict=True):
            spec = each.spec
            lists = (spec.causes, spec.cleared_by, spec.signals)
            row += [spec.lifetime, *(",".join(names) or "none" for names in lists)]
    results.emit_table(headings, rows)
