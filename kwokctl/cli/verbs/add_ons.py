"""`addons`: what a cluster may have in addition, as a list, and as files to be changed."""

from typing import Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import DEFAULT_NAME, Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import folder_to_read
from kwokctl.cli.parsing.shared_options import DataOutput, Output

_MARK = {True: "yes", False: "no", None: "-"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    below = commands.group(
        app, "addons", "Show the add-ons and optional components.", panel=commands.TOOLS
    )
    examples = ("kwokctl addons list", "kwokctl create cluster --enable jobset,metrics-server")
    commands.command(below, "list", examples=examples)(show)
    copying = (
        "kwokctl addons copy descheduler --to .",
        "kwokctl create cluster --enable ./descheduler",
    )
    commands.command(below, "copy", examples=copying)(copy)


def show(call: Invocation, *, output: DataOutput = "") -> None:
    """List the optional components and the add-ons, and which of them the cluster has.

    'create cluster --enable NAME' adds one; a cluster that exists keeps its own.
    json and yaml give a list of {name, version, about, components, enabled}; enabled is null without a
    cluster.
    """
    from kwokctl.clusters.add_ons import listed_add_ons

    found = listed_add_ons(call.home, call.cluster, is_named=call.name != DEFAULT_NAME)
    if output:
        results.emit_data(found, output)
        return
    headings = ("NAME", "VERSION", f"IN '{call.name}'", "DESCRIPTION")
    rows = [(each.name, each.version, _MARK[each.enabled], each.about) for each in found]
    results.emit_table(headings, rows, ends_in_prose=True)


def copy(
    call: Invocation,
    add_on: Annotated[
        str, typer.Argument(metavar="NAME", help="An add-on that comes with kwokctl")
    ],
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="DIR",
            help="Folder in which a folder with the add-on's name is created",
            parser=folder_to_read("--to"),
        ),
    ] = ".",
    output: Output = "",
) -> None:
    """Copy the folder of an add-on, so that you can change the copy and enable it."""
    from kwokctl.clusters.add_ons import copy_add_on
    from kwokctl.host.paths import expanded

    if call.is_dry_run:
        dry_run.remark(call, f"Copy the add-on '{add_on}' into a folder below '{to}'.", output)
        return
    target = copy_add_on(add_on, expanded(to))
    outcome = Outcome(
        message=f"the add-on '{add_on}' is copied to '{target}'",
        lead="When you have changed it, use it with",
        then=(f"kwokctl create cluster --enable {target.absolute()}",),
        result={"name": add_on, "path": str(target)},
    )
    conclude(call, outcome, output)
