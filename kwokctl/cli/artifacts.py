"""`artifacts`: the programs that clusters run, in this user's store."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwokctl.cli import commands, results
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.options import Output
from kwokctl.cli.outcome import Outcome, conclude
from kwokctl.cli.rows import amount
from kwokctl.errors import ArtifactError, UsageError

if TYPE_CHECKING:
    from kwokctl.artifacts.store import Entry
    from kwokctl.config.options import ClusterOptions

_KubeVersion = Annotated[
    str | None,
    typer.Option(
        "--kube-version", metavar="VERSION", help="Version of Kubernetes [default: v1.36.3]"
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app, "artifacts", "Look after the programs that clusters run.", panel=commands.TOOLS
    )
    commands.command(below, "list")(show)
    commands.command(below, "build")(build)
    commands.command(below, "images")(images)
    commands.command(below, "verify")(verify)
    commands.command(below, "prune")(prune)


def show(call: Invocation, *, output: Output = "") -> None:
    """List the programs in the store.

    json and yaml give a list of {name, version, source, origin, sha256, size, path}.
    """
    from kwokctl.artifacts import upkeep

    entries = upkeep.entries(call.home.cache)
    if output:
        results.emit_data([_entry(each) for each in entries], output)
    elif entries:
        rows = [(e.name, e.version, e.source, amount(e.size, "B"), str(e.path)) for e in entries]
        results.emit_table(("NAME", "VERSION", "SOURCE", "SIZE", "PATH"), rows)


def build(call: Invocation, *, kube_version: _KubeVersion = None, output: Output = "") -> None:
    """Build all programs for a version of Kubernetes from their Go modules into the store."""
    from kwokctl.artifacts import upkeep

    options = _options(call, kube_version=kube_version)
    programs = call.run(
        upkeep.build, options.kube_version, cache=call.home.cache, progress=call.progress
    )
    paths = [artifact.command[0] for artifact in programs.values()]
    if not output:
        results.emit("\n".join(paths))
    outcome = Outcome(
        message=f"the programs for Kubernetes {options.kube_version} are in the store",
        result={"programs": programs.values()},
    )
    conclude(call, outcome, output)


def images(
    call: Invocation,
    *,
    pull: Annotated[bool, typer.Option("--pull", help="Pull them from their registry")] = False,
    build: Annotated[
        bool, typer.Option("--build", help="Make them from programs, which are built if need be")
    ] = False,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Write them to a file")
    ] = None,
    load: Annotated[
        str | None,
        typer.Option("--load", metavar="FILE", help="Take those of a file, and get nothing else"),
    ] = None,
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime", metavar="NAME", help="Whose images [default: the first that has any]"
        ),
    ] = None,
    kube_version: _KubeVersion = None,
    output: Output = "",
) -> None:
    """Pull, build, save or load the images of the components, and print their names.

    They come from where 'create cluster' would take them, unless --pull or --build says more.
    """
    from kwokctl.clusters.stock import load_images, stock_images

    if pull + build + (load is not None) > 1 or (load is not None and save is not None):
        raise UsageError("--pull, --build and --load do not go together, nor do --load and --save")
    source = "download" if pull else "build" if build else None
    options = _options(call, kube_version=kube_version, runtime=runtime, artifact_source=source)
    if load is not None:
        names = call.run(load_images, call.home, options, Path(load).expanduser())
    else:
        target = Path(save).expanduser() if save is not None else None
        names = call.run(stock_images, call.home, options, target)
    if not output:
        results.emit("\n".join(names))
    verb = "is" if len(names) == 1 else "are"
    where = f"{verb} in '{save}'" if save else f"{verb} in the container engine"
    outcome = Outcome(
        message=f"{', '.join(names)} {where}",
        result={"images": names, "file": save or load or ""},
    )
    conclude(call, outcome, output)


def verify(call: Invocation, *, output: Output = "") -> None:
    """Read every program in the store in full and tell which have changed; exit 1 if any has.

    json and yaml give the changed ones as 'artifacts list' does.
    """
    from kwokctl.artifacts import upkeep

    call = call.quietly(unless=not output)
    changed = upkeep.verify(call.home.cache, call.progress)
    if output:
        results.emit_data([_entry(each) for each in changed], output)
    if changed:
        count = len(changed)
        raise ArtifactError(
            "a program has changed since it was stored"
            if count == 1
            else f"{count} programs have changed since they were stored",
            hint="remove the folder of each; it is then fetched or built anew",
            detail="\n".join(str(entry.path) for entry in changed),
        )


def prune(
    call: Invocation,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove the programs of existing clusters too")
    ] = False,
    output: Output = "",
) -> None:
    """Remove the programs that no cluster uses, and what interrupted builds have left."""
    from kwokctl.artifacts import upkeep
    from kwokctl.clusters.programs import TOOLS

    home = call.home
    used = set() if everything else _used(call)
    entries = upkeep.entries(home.cache)
    keep = {(entry.name, entry.version) for entry in entries if entry.path in used}
    versions = {version for _, version in keep}
    keep |= {(e.name, e.version) for e in entries if e.name in TOOLS and e.version in versions}
    pruned = upkeep.prune(home.cache, keep=keep)
    if not output:
        results.emit("\n".join(map(str, pruned.paths)))
    outcome = Outcome(
        message=f"{amount(pruned.size, 'B')} are free again",
        changed=bool(pruned.paths),
        result=pruned,
    )
    conclude(call, outcome, output)


def _options(call: Invocation, **given: str | None) -> "ClusterOptions":
    """Return the options that a cluster made now would have, with those that are given here."""
    from kwokctl.config.resolve import resolve_options

    chosen = {name: value for name, value in given.items() if value is not None}
    return resolve_options(chosen, os.environ, call.documents()).options


def _entry(entry: "Entry") -> dict[str, Any]:
    return {
        "name": entry.name,
        "version": entry.version,
        "source": entry.source,
        "origin": entry.origin,
        "sha256": entry.sha256,
        "size": entry.size,
        "path": str(entry.path),
    }


def _used(call: Invocation) -> set[Path]:
    """Return the files that the clusters made by this kwokctl run."""
    from kwokctl.clusters.saved import cluster_names, is_foreign, load

    home = call.home
    saved = [
        load(home.paths(name), name)
        for name in cluster_names(home.workdir)
        if not is_foreign(home.paths(name))
    ]
    return {Path(a.command[0]) for each in saved for a in each.artifacts.values() if a.command}
