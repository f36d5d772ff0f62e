"""`artifacts pull` and `artifacts add`: programs in advance, also for machines without a network."""

from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import folder_to_read, folder_to_write
from kwokctl.cli.parsing.shared_options import Output, runtime_option
from kwokctl.cli.resolved import (
    Enable,
    EtcdVersion,
    KubeVersion,
    names_of,
    resolved_options,
)
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kwokctl.clusters.programs.carrying import Carried
    from kwokctl.config.resolve import Resolved

To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="DIR",
        help="Also copy them to a folder, from which 'artifacts add' prepares another machine",
        parser=folder_to_write("--to"),
    ),
]
For = Annotated[
    str | None,
    runtime_option(
        "Runtime to prepare with --to; docker and kind include images [default: binary]"
    ),
]


def register(below: typer.Typer) -> None:
    """Add the commands."""
    pulling = (
        "kwokctl artifacts pull",
        "kwokctl artifacts pull --to /media/usb/clusters",
        "kwokctl artifacts pull --to /media/usb/clusters --runtime kind",
    )
    commands.command(below, "pull", examples=pulling)(pull)
    commands.command(below, "add", examples=("kwokctl artifacts add /media/usb/clusters",))(add)


def pull(
    call: Invocation,
    *,
    kube_version: KubeVersion = None,
    etcd_version: EtcdVersion = None,
    enable: Enable = None,
    to: To = None,
    runtime: For = None,
    output: Output = "",
) -> None:
    """Download or build all programs of a cluster into the store, as 'create cluster' would."""
    if to is None:
        refuse_runtime(runtime)
    resolved = resolved_options(
        call,
        kube_version=kube_version,
        etcd_version=etcd_version,
        enable=names_of(enable),
        runtime=runtime,
    )
    stock(call, resolved, to, output)


def refuse_runtime(runtime: str | None) -> None:
    """Raise UsageError for a runtime that was given without a folder for its images."""
    if runtime is not None:
        raise UsageError("'--runtime' is for '--to'", hint="'artifacts images' gets images alone")


def stock(call: Invocation, resolved: "Resolved", to: str | None, output: str) -> None:
    """Get programs into the store, and with `to` into a folder, too; report it."""
    from kwokctl.clusters.programs.carrying import Carried, carry, fetch, missing, titles
    from kwokctl.host.paths import expanded

    options = resolved.options
    if call.is_dry_run:
        dry_run.remark(call, _getting(missing(call.home, options), to), output)
        return
    if to is None:
        fetched = call.run(fetch, call.home, options)
        message = f"the programs for Kubernetes {options.kube_version} are in the store"
        _report(call, Carried(folder=None, programs=titles(fetched), images=()), message, output)
        return
    is_exact = "kube_version" in resolved.chosen
    carried = call.run(carry, call.home, options, expanded(to).absolute(), is_exact=is_exact)
    message = f"{_counted(carried)} for Kubernetes {options.kube_version} in '{carried.folder}'"
    _report(call, carried, message, output)


def add(
    call: Invocation,
    *,
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="Folder that 'artifacts pull --to DIR' has written",
            parser=folder_to_read("DIR"),
        ),
    ],
    output: Output = "",
) -> None:
    """Copy programs and images from a folder into your store and container engine, and check them.

    No network is needed, neither here nor to create clusters from them.
    """
    from kwokctl.clusters.programs.carrying import carried_in, take_in
    from kwokctl.host.paths import expanded

    source: Path = expanded(folder).absolute()
    if call.is_dry_run:
        found = carried_in(source)
        text = f"Copy from '{source}': {', '.join((*found.programs, *found.images))}"
        dry_run.remark(call, text, output)
        return
    carried = call.run(take_in, call.home, resolved_options(call).options, source)
    _report(call, carried, f"added {_counted(carried)} from '{carried.folder}'", output)


def _getting(programs: "Sequence[str]", to: str | None) -> str:
    """Say what would be downloaded or built, and where it would be written, too."""
    how = f"Get {', '.join(programs)}." if programs else "All programs are there."
    return how if to is None else f"{how} Write all of them to '{to}', with images if it has any."


def _report(call: Invocation, carried: "Carried", message: str, output: str) -> None:
    if not output:
        results.emit("\n".join((*carried.programs, *carried.images)))
    changed = bool(carried.programs or carried.images)
    conclude(call, Outcome(message=message, changed=changed, result=carried), output)


def _counted(carried: "Carried") -> str:
    images = f" and {amount(len(carried.images), 'images')}" if carried.images else ""
    return amount(len(carried.programs), "programs") + images
