"""The options of the clusters that programs are for."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation

if TYPE_CHECKING:
    from kwokctl.config.declaring import OptionValue
    from kwokctl.config.resolve import Resolved

KubeVersion = Annotated[
    str | None,
    typer.Option(
        "--kube-version", metavar="VERSION", help="Version of Kubernetes [default: v1.36.3]"
    ),
]
EtcdVersion = Annotated[
    str | None,
    typer.Option(
        "--etcd-version", metavar="VERSION", help="Version of etcd [default: by that of Kubernetes]"
    ),
]
Enable = Annotated[
    str | None,
    typer.Option("--enable", metavar="NAME,…", help="Components and add-ons to add"),
]


def names_of(enable: str | None) -> tuple[str, ...] | None:
    """Return the names that `--enable` lists; None if it was not given."""
    return None if enable is None else tuple(name for name in enable.split(",") if name.strip())


def resolved_options(call: Invocation, **given: "OptionValue | None") -> "Resolved":
    """Return the options that a cluster made now would have, with those that are given here.

    Raises UsageError for components that it could not have.
    """
    from kwokctl.components.catalog import usual_options
    from kwokctl.components.cluster_plan import selected
    from kwokctl.config.add_ons.enabling import resolve_with_add_ons

    chosen = {name: value for name, value in given.items() if value is not None}
    found = resolve_with_add_ons(usual_options(), chosen, os.environ, call.documents())
    selected(found.resolved.options)
    return found.resolved
