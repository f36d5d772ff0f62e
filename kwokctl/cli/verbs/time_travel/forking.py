"""`create cluster --from`: clusters that begin with what another one holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing.options import kubeconfig_path
from kwokctl.config.checks import is_file
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.forking.fork import ForkRequest

From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="CLUSTER|FILE",
        help="Copy a running cluster: its settings, all its objects, and its certificate "
        "authorities; or start with the objects of a snapshot file",
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--count",
        metavar="N",
        min=1,
        max=99,
        help="With --from, how many clusters to create: NAME-1, NAME-2 and so on [default: one, "
        "NAME]",
    ),
]
NewPki = Annotated[
    bool,
    typer.Option(
        "--new-pki",
        help="With --from, create new certificate authorities: tokens and certificates of the "
        "source cluster are not accepted",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedForks:
    """The words of `create cluster` that are about forks."""

    source: str
    count: int | None
    new_pki: bool
    output: str


def snapshot_of(source: str | None, *, is_fork: bool) -> Path | None:
    """Return the file that a source is, None if it is a cluster; `is_fork` if more is said of forks."""
    if source is None or not (source.endswith(".db") or "/" in source):
        return None
    if is_fork:
        raise UsageError(
            "'--count' and '--new-pki' are for '--from' with a cluster, not with a file",
            hint="leave them out",
        )
    if not is_file(source):
        raise UsageError(
            f"there is no file '{source}'",
            hint="make one with 'kwokctl snapshot save', or name a cluster",
        )
    return Path(source).absolute()


def show_seed(call: Invocation, snapshot: Path, output: str) -> None:
    """Say what `create` would do with a file; SnapshotError if it is no snapshot."""
    from kwokctl.etcd.snapshots.snapshot import verify

    verify(snapshot)
    text = f"Create the cluster '{call.name}' with the objects of '{snapshot}', and start it."
    dry_run.remark(call, text, output)


def create(
    call: Invocation,
    wanted: WantedForks,
    options: Mapping[str, object],
    shared: tuple[str | None, float | None, float | None],
) -> None:
    """Create the clusters; `shared` are kubeconfig, wait and timeout."""
    _check(call, wanted, options)
    request = _request(call, wanted, shared)
    names = ", ".join(f"'{name}'" for name in request.names)
    if call.is_dry_run:
        text = f"Copy the cluster '{wanted.source}' as it is now to {names}, and start that."
        dry_run.remark(call, text, wanted.output)
        return
    from kwokctl.clusters.forking.fork import fork_cluster

    # Lines of several clusters at once would not say which they are of.
    quiet = call.quietly(unless=len(request.names) == 1)
    forks = quiet.run(fork_cluster, quiet.home, request)
    outcome = Outcome(
        message=f"{names} {'is' if len(forks) == 1 else 'are'} made from '{wanted.source}'",
        lead="Now you can",
        then=tuple(f"kubectl --context {fork.context} get nodes" for fork in forks[:1]),
        cluster=call.name,
        result={"forks": forks},
    )
    conclude(call, outcome, wanted.output)


def _check(call: Invocation, wanted: WantedForks, options: Mapping[str, object]) -> None:
    if not wanted.source:
        raise UsageError(
            "'--from' is needed for a fork, and names the cluster to begin with",
            hint="for example: --from kwok",
        )
    if options or call.config:
        raise UsageError(
            f"the new cluster has the settings of '{wanted.source}': '--from' allows no others",
            hint="leave the other options out, or create the cluster without --from",
        )


def _request(
    call: Invocation, wanted: WantedForks, shared: tuple[str | None, float | None, float | None]
) -> "ForkRequest":
    from kwokctl.clusters.forking.fork import ForkRequest
    from kwokctl.clusters.launching.launch import Patience
    from kwokctl.clusters.state.home import cluster_name

    kubeconfig, wait, timeout = shared
    many = range(1, (wanted.count or 0) + 1)
    names = tuple(cluster_name(f"{call.name}-{n}") for n in many) or (call.cluster,)
    return ForkRequest(
        source=cluster_name(wanted.source),
        names=names,
        kubeconfig=kubeconfig_path(kubeconfig),
        has_own_authorities=wanted.new_pki,
        patience=Patience(timeout or None, wait or None),
    )
