"""`artifacts`: the programs that clusters run, in this user's store."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import confirmation
from kwokctl.cli import dry_run as dry_runs
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import file_to_write
from kwokctl.cli.parsing.shared_options import Output, file_option, runtime_option
from kwokctl.cli.resolved import Enable, EtcdVersion, KubeVersion, names_of, resolved_options
from kwokctl.cli.verbs import artifacts_in_advance
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.artifacts.locations import WantedProgram
    from kwokctl.artifacts.store import Entry


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app, "artifacts", "Manage the programs that clusters run.", panel=commands.TOOLS
    )
    commands.command(below, "list")(show)
    building = ("kwokctl artifacts build --kube-version v1.33.4 --etcd-version 3.5.21",)
    imaging = (
        "kwokctl artifacts images --pull",
        "kwokctl artifacts images --save images.tar",
        "kwokctl artifacts images --load images.tar",
    )
    commands.command(below, "build", examples=building)(build)
    artifacts_in_advance.register(below)
    commands.command(below, "images", examples=imaging)(images)
    commands.command(below, "verify")(verify)
    commands.command(below, "prune", examples=("kwokctl artifacts prune",))(prune)


def show(call: Invocation, *, output: Output = "") -> None:
    """List the programs in the store.

    json and yaml give a list of {name, version, source, origin, sha256, checksum, size, path};
    checksum is what a download was compared with: published, given, pinned, recorded or none.
    """
    from kwokctl.artifacts import store_maintenance

    entries = store_maintenance.entries(call.home.cache)
    if output:
        results.emit_data([_entry(each) for each in entries], output)
    elif entries:
        rows = [(e.name, e.version, e.source, amount(e.size, "B"), str(e.path)) for e in entries]
        results.emit_table(("NAME", "VERSION", "SOURCE", "SIZE", "PATH"), rows)


def build(
    call: Invocation,
    *,
    kube_version: KubeVersion = None,
    etcd_version: EtcdVersion = None,
    to: artifacts_in_advance.To = None,
    runtime: artifacts_in_advance.For = None,
    output: Output = "",
) -> None:
    """Build all programs for a version of Kubernetes from their Go modules into the store."""
    from kwokctl.artifacts import store_maintenance
    from kwokctl.components.definitions import etcd

    if to is not None:
        resolved = resolved_options(
            call,
            kube_version=kube_version,
            etcd_version=etcd_version,
            runtime=runtime,
            artifact_source="build",
        )
        artifacts_in_advance.stock(call, resolved, to, output)
        return
    artifacts_in_advance.refuse_runtime(runtime)
    options = resolved_options(call, kube_version=kube_version, etcd_version=etcd_version).options
    of_etcd = etcd.version(options)
    if call.is_dry_run:
        missing = store_maintenance.missing(options.kube_version, call.home.cache, etcd=of_etcd)
        dry_runs.remark(call, _building(missing), output)
        return
    programs = call.run(
        store_maintenance.build,
        options.kube_version,
        etcd=of_etcd,
        cache=call.home.cache,
        progress=call.progress,
    )
    paths = [artifact.command[0] for artifact in programs.values()]
    if not output:
        results.emit("\n".join(paths))
    outcome = Outcome(
        message=f"the programs for Kubernetes {options.kube_version} are in the store",
        result={"programs": programs.values()},
    )
    conclude(call, outcome, output)


def _building(missing: "Sequence[WantedProgram]") -> str:
    """Say what would be built."""
    names = ", ".join(f"{each.name} {each.version}" for each in missing)
    return f"Build {_programs(len(missing))}: {names}" if missing else "All programs are there."


def images(
    call: Invocation,
    *,
    pull: Annotated[
        bool, typer.Option("--pull", help="Pull the images from their registry")
    ] = False,
    build: Annotated[
        bool,
        typer.Option("--build", help="Make the images from programs, which are built if necessary"),
    ] = False,
    save: Annotated[
        str | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Save the images to a file",
            parser=file_to_write("--save"),
        ),
    ] = None,
    load: Annotated[
        str | None,
        file_option("--load", "Only load the images from a file"),
    ] = None,
    runtime: Annotated[
        str | None,
        runtime_option("Runtime that the images are for [default: the first that uses images]"),
    ] = None,
    kube_version: KubeVersion = None,
    enable: Enable = None,
    output: Output = "",
) -> None:
    """Pull, build, save or load the images of the components, and print their names.

    They come from where 'create cluster' would take them, unless --pull or --build is given. For
    the runtimes kind and kind-podman it is the image of the node: --build makes it without a
    registry, as root and with debootstrap.
    """
    from kwokctl.clusters.programs.image_transfer import load_images, stock_images
    from kwokctl.host.paths import expanded

    if pull + build + (load is not None) > 1 or (load is not None and save is not None):
        raise UsageError("--pull, --build and --load do not go together, nor do --load and --save")
    source = "download" if pull else "build" if build else None
    resolved = resolved_options(
        call,
        kube_version=kube_version,
        runtime=runtime,
        artifact_source=source,
        enable=names_of(enable),
    )
    options = resolved.options
    if call.is_dry_run:
        how = f"Load '{load}'" if load else "Get the images of the components"
        dry_runs.remark(call, how + (f", and write them to '{save}'" if save else ""), output)
        return
    with resolved.naming("runtime"):
        if load is not None:
            names = call.run(load_images, call.home, options, expanded(load))
        else:
            target = expanded(save) if save is not None else None
            is_exact = "kube_version" in resolved.chosen
            names = call.run(stock_images, call.home, options, target, is_exact=is_exact)
    if not output:
        results.emit("\n".join(names))
    verb = "is" if len(names) == 1 else "are"
    where = f"{verb} in '{save}'" if save else f"{verb} in the container engine"
    outcome = Outcome(
        message=f"{amount(len(names), 'images')} {where}",
        result={"images": names, "file": save or load or ""},
    )
    conclude(call, outcome, output)


def verify(
    call: Invocation,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Download or build the damaged programs again")
    ] = False,
    output: Output = "",
) -> None:
    """Read every program in the store in full and report which have changed; exit 1 if any has.

    json and yaml give the changed ones as 'artifacts list' does.
    """
    from kwokctl.artifacts import store_maintenance

    error: store_maintenance.DamagedProgramsError | None = None
    try:
        store_maintenance.verify(call.home.cache, call.progress)
    except store_maintenance.DamagedProgramsError as e:
        error = e
    if output:
        results.emit_data([_entry(each) for each in error.entries] if error else [], output)
    if error and (call.is_dry_run or not repair):
        raise error
    if error:
        _repair(call, error.entries)


def _repair(call: Invocation, damaged: "Sequence[Entry]") -> None:
    from kwokctl.artifacts import store_maintenance
    from kwokctl.clusters.programs.needed import source_of

    for entry in damaged:
        call.progress.note(f"damaged: {entry.path}")
    source = source_of(resolved_options(call).options.programs.source)
    call.run(
        store_maintenance.repair,
        damaged,
        source=source,
        cache=call.home.cache,
        progress=call.progress,
    )
    call.console.line(f"{_programs(len(damaged))} repaired")


def prune(
    call: Invocation,
    *,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also remove programs that are in use"),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="Do not ask for confirmation; required without a terminal"
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be removed, and remove nothing")
    ] = False,
    output: Output = "",
) -> None:
    """Remove unused programs, and leftovers of interrupted builds, from the cache folder.

    The folder is shared by all your work folders (KWOK_WORKDIR). A program is kept if a cluster
    of any of them needs it, if it is running, or if it was used within the last 24 hours.
    """
    from kwokctl.clusters.programs import pruning

    found = pruning.survey(call.home, everything=everything)
    for reason, names in found.kept.items():
        call.console.note(f"kept, {reason}: {', '.join(names)}")
    paths, freed = [str(each.path) for each in found.unused], 0
    if not output:
        results.emit("\n".join(paths))
    size = amount(found.size, "B")
    if not found.unused:
        message = "nothing to remove"
    elif dry_run or call.is_dry_run:
        message = f"{size} would be freed; nothing was removed"
    elif yes or _is_confirmed(call, f"Remove the {len(paths)} folders above, {size}?"):
        freed = pruning.prune(call.home, found, everything=everything)
        message = f"{amount(freed, 'B')} freed"
    else:
        message = "nothing was removed"
    result = {"paths": paths, "size": found.size if dry_run or call.is_dry_run else freed}
    conclude(call, Outcome(message=message, changed=bool(freed), result=result), output)


def _is_confirmed(call: Invocation, question: str) -> bool:
    """Ask on the terminal; UsageError where there is none."""
    if not confirmation.is_possible():
        raise UsageError(
            "without a terminal to ask on, 'artifacts prune' removes nothing unless it is confirmed",
            hint="add --yes to remove what is listed above",
        )
    return confirmation.confirmed(call.console, question)


def _entry(entry: "Entry") -> dict[str, object]:
    return {
        "name": entry.name,
        "version": entry.version,
        "source": entry.source,
        "origin": entry.origin,
        "sha256": entry.sha256,
        "checksum": entry.checksum,
        "size": entry.size,
        "path": str(entry.path),
    }


def _programs(count: int) -> str:
    return "1 program" if count == 1 else f"{count} programs"
