"""`get`: lists clusters, components and artifacts, for people and for programs."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import one_of
from kwokctl.cli.parsing.shared_options import DataOutput, format_option, runtime_option
from kwokctl.cli.resolved import Enable, names_of, resolved_options
from kwokctl.cli.verbs import fleet

if TYPE_CHECKING:
    from kwokctl.clusters.status import ClusterStatus, ComponentStatus
    from kwokctl.config.options import ClusterOptions

_FORMATS = ("name", "table", "wide", "json", "yaml")
_Listing = Annotated[str, format_option(*_FORMATS, usual="name")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app, "get", "Show clusters, their components, fleets and access.", panel=commands.CLUSTERS
    )
    commands.command(below, "clusters")(clusters)
    watching = ("kwokctl get components -o wide", "kwokctl get components --watch")
    carrying = (
        "kwokctl get kubeconfig > kubeconfig.yaml",
        "kwokctl get kubeconfig --user jane --group developers",
    )
    commands.command(below, "components", examples=watching)(components)
    commands.command(below, "kubeconfig", examples=carrying)(kubeconfig)
    commands.command(below, "artifacts")(artifacts)
    fleet.register(below)


def clusters(call: Invocation, *, output: _Listing = "") -> None:
    """List the clusters on this machine.

    json and yaml give a list of {name, status, message, ready, total, runtime, kubeVersion, maker,
    components}; components are as 'get components' gives them.
    """
    from kwokctl.clusters.state.saved import cluster_names
    from kwokctl.clusters.status import cluster_statuses

    if output in ("", "name"):
        names = cluster_names(call.home.workdir)
        results.emit("\n".join(names))
        found = bool(names)
    else:
        statuses = call.quietly().run(cluster_statuses, call.quietly().home)
        found = bool(statuses)
        if output in ("json", "yaml"):
            results.emit_data([_cluster(each) for each in statuses], output)
        elif found:
            _cluster_table(statuses, is_wide=output == "wide")
    if not found and call.console.is_alive:
        call.console.line("No clusters found")


def components(
    call: Invocation,
    *,
    output: _Listing = "",
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            "-w",
            help="Keep running, and print a component again when it changes; as table without --output",
        ),
    ] = False,
) -> None:
    """List the components of a cluster.

    json and yaml give a list of {name, status, message, version, ports: [{name, port, hostPort}],
    url}, with --watch one of these documents after the other; message says why a component is not
    ready, with the end of its log; url is the address of its web pages, if it has any.
    """
    name = call.cluster
    from kwokctl.clusters.status import component_changes, component_statuses

    call = call.quietly()
    if watch:
        call.run(show_changes, component_changes(call.home, name), output or "table")
        return
    statuses = call.run(component_statuses, call.home, name)
    if output in ("json", "yaml"):
        results.emit_data([_component(each) for each in statuses], output)
    elif output in ("table", "wide"):
        results.emit_table(_COLUMNS[output], _rows(statuses, output))
    else:
        results.emit("\n".join(each.name for each in statuses))


async def show_changes(changes: AsyncIterator[Sequence["ComponentStatus"]], output: str) -> None:
    """Print components as they change, until the command is interrupted."""
    widths: list[int] = []
    shown: dict[str, tuple[str, ...]] = {}
    async for changed in changes:
        if output in _COLUMNS:
            rows = [row for row in _rows(changed, output) if row != shown.get(row[0])]
            shown |= {row[0]: row for row in rows}
            headings = () if widths else _COLUMNS[output]
            widths = results.emit_table(headings, rows, widths=widths)
        for each in changed if output not in _COLUMNS else ():
            if output == "name":
                results.emit(each.name)
                continue
            results.emit("---" if output == "yaml" else "")
            results.emit_data(_component(each), output)


_COLUMNS = {
    "table": ("NAME", "STATUS"),
    "wide": ("NAME", "STATUS", "VERSION", "PORTS", "MESSAGE"),
}
"""The headings of the tables of components."""


def _rows(statuses: Sequence["ComponentStatus"], output: str) -> list[tuple[str, ...]]:
    rows = [(e.name, e.status, e.version, _reach(e), _last_line(e.message)) for e in statuses]
    return [row[: len(_COLUMNS[output])] for row in rows]


def kubeconfig(
    call: Invocation,
    *,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="HOST",
            help="Address of the API server; may have a port [default: 127.0.0.1]",
        ),
    ] = "127.0.0.1",
    insecure_skip_tls_verify: Annotated[
        bool,
        typer.Option("--insecure-skip-tls-verify", help="Do not check the server's certificate"),
    ] = False,
    user: Annotated[
        str,
        typer.Option("--user", metavar="NAME", help="User of the kubeconfig [default: kwok-admin]"),
    ] = "kwok-admin",
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME",
            help="Group of the user; may be repeated [default: system:masters]",
        ),
    ] = None,
) -> None:
    """Print a kubeconfig that needs no other file.

    For another user or group than the administrator's, a new certificate is signed.
    """
    from kwokctl.clusters.kubeconfigs import portable_kubeconfig

    results.emit(
        portable_kubeconfig(
            call.home,
            call.cluster,
            host=host,
            insecure_skip_tls_verify=insecure_skip_tls_verify,
            user=user,
            groups=tuple(groups or ("system:masters",)),
        )
    )


def artifacts(
    call: Invocation,
    *,
    runtime: Annotated[
        str | None,
        runtime_option("The runtime [default: the cluster's]"),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--filter",
            metavar="KIND",
            help="Only artifacts of this kind: binary or image",
            parser=one_of("--filter", "", "binary", "image"),
        ),
    ] = "",
    enable: Enable = None,
    output: DataOutput = "",
) -> None:
    """List the files and images that a cluster needs, to fetch them beforehand.

    They are those of the cluster if it exists, and neither --runtime nor --enable is given; else of
    the one that 'create cluster' would make, and of metrics-server and Prometheus, which may be
    enabled in it. json and yaml give {files, images}.
    """
    from kwokctl.clusters.programs.images import published_files, published_images
    from kwokctl.clusters.programs.needed import TOOLS, beforehand
    from kwokctl.clusters.state.saved import load
    from kwokctl.components.cluster_plan import selected

    paths = call.home.paths(call.cluster)
    if runtime is None and enable is None and paths.saved.is_file():
        options, is_exact = load(paths, call.cluster).options, False
        chosen = selected(options)
    else:
        options, is_exact = _planned(call, runtime, names_of(enable))
        chosen = beforehand(options)
    names = (*chosen, *TOOLS)
    made = call.home.runtime(options.runtime) if options.runtime else None
    files = published_files(made, options, names) if kind != "image" else []
    images: Sequence[str] = ()
    if kind != "binary":
        images = published_images(made, options, names, is_exact=is_exact)
    if output:
        results.emit_data({"files": files, "images": images}, output)
    else:
        results.emit("\n".join([*files, *images]))


def _planned(
    call: Invocation, runtime: str | None, enable: tuple[str, ...] | None
) -> "tuple[ClusterOptions, bool]":
    """Return the options of the cluster that would be made.

    And whether the version of Kubernetes was chosen for it.
    """
    resolved = resolved_options(call, runtime=runtime, enable=enable)
    with resolved.naming("runtime"):
        if resolved.options.runtime:
            call.home.runtime(resolved.options.runtime)  # raises UsageError if there is none
    return resolved.options, "kube_version" in resolved.chosen


def _cluster_table(statuses: Sequence["ClusterStatus"], *, is_wide: bool) -> None:
    headings = ["NAME", "READY", "STATUS"]
    rows = [[each.name, f"{each.ready}/{each.total}", _in_words(each)] for each in statuses]
    if is_wide:
        headings += ["RUNTIME", "VERSION", "CREATED BY"]
        for row, each in zip(rows, statuses, strict=True):
            row += [each.runtime, each.kube_version, each.maker]
    results.emit_table(headings, rows)


def _in_words(status: "ClusterStatus") -> str:
    has_reason = status.status == "Failed" and status.message
    return f"{status.status}: {status.message}" if has_reason else status.status


def _cluster(status: "ClusterStatus") -> dict[str, object]:
    return {
        "name": status.name,
        "status": str(status.status),
        "message": status.message,
        "ready": status.ready,
        "total": status.total,
        "runtime": status.runtime,
        "kubeVersion": status.kube_version,
        "maker": status.maker,
        "components": [_component(each) for each in status.components],
    }


def _component(status: "ComponentStatus") -> dict[str, object]:
    return {
        "name": status.name,
        "status": str(status.status),
        "message": status.message,
        "version": status.version,
        "ports": [{"name": p.name, "port": p.port, "hostPort": p.host_port} for p in status.ports],
        "url": status.url,
    }


def _reach(status: "ComponentStatus") -> str:
    """Return the ports of a component, or the URL of one that is opened by that."""
    return status.url or ",".join(
        f"{port.name}:{port.host_port or port.port}" for port in status.ports
    )


def _last_line(text: str) -> str:
    """Return the last line of a message; of a log in JSON, as etcd's is, what a person reads first."""
    line = text.rstrip().rpartition("\n")[2]
    with suppress(ValueError):
        fields = json.loads(line)
        if isinstance(fields, dict) and isinstance(fields.get("msg"), str):
            reason = fields.get("error")
            return f"{fields['msg']}: {reason}" if reason else fields["msg"]
    return line
