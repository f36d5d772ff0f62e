"""`create cluster --from`: clusters that begin with what another one holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing.options import kubeconfig_path
from kwokctl.errors import NotServedError, UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.forking.fork import ForkRequest

From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="CLUSTER",
        help="Copy a running cluster: its settings, all its objects, and its authorities",
    ),
]
Count = Annotated[
    int | None,
    typer.Option(
        "--count",
        metavar="N",
        min=1,
        max=99,
        help="With --from, make so many: NAME-1, NAME-2 and so on [default: one, NAME]",
    ),
]
NewPki = Annotated[
    bool,
    typer.Option(
        "--new-pki",
        help="With --from, make authorities of its own: tokens and certificates of the other are not "
        "accepted",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedForks:
    """The words of `create cluster` that are about forks."""

    source: str
    count: int | None
    new_pki: bool
    output: str


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
    if wanted.source.endswith(".db") or "/" in wanted.source:
        raise NotServedError(
            "'--from' with a file is not supported yet",
            hint=f"{call.itself} create cluster && {call.itself} snapshot restore --path "
            + wanted.source,
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
