"""`addons list`: what a cluster may have in addition."""

import typer

from kwokctl.cli.invocation import DEFAULT_NAME, Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.options import DataOutput

_MARK = {True: "yes", False: "no", None: "-"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    below = commands.group(
        app, "addons", "Show what a cluster may have in addition.", panel=commands.TOOLS
    )
    examples = ("kwokctl addons list", "kwokctl create cluster --enable jobset,metrics-server")
    commands.command(below, "list", examples=examples)(show)


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
    results.emit_table(headings, rows)
