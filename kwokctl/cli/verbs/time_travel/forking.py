"""`create cluster --from`: clusters that begin with the objects of another cluster."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing.shared_options import kubeconfig_path, reached_by
from kwokctl.cli.suggestions import get_nodes
from kwokctl.config.checks import is_file
from kwokctl.errors import UsageError
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.clusters.create import CreateRequest
    from kwokctl.clusters.forking.fork import ForkRequest
    from kwokctl.clusters.scaling.scale_request import ScaleRequest

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
IgnoreMemory = Annotated[
    bool,
    typer.Option(
        "--ignore-memory",
        help="With --from, create the clusters even where this machine seems to have too little "
        "memory for them",
    ),
]
_NAMED = 3
"""Clusters for which it is said how they are reached: the names of more can be guessed."""
_PLACE = {
    "runtime": "runtime",
    "kind_node_image": "node_image",
    "artifact_source": "artifact_source",
}
"""The options of clusters that a fork may have of its own: where it runs, and of what."""


class WantedForks(msgspec.Struct, frozen=True, kw_only=True):
    """The words of `create cluster` that are about forks."""

    source: str
    count: int | None
    new_pki: bool
    ignores_memory: bool
    output: str

    @property
    def is_wanted(self) -> bool:
        """Whether something is said of forks alone."""
        return bool(self.count or self.new_pki or self.ignores_memory)


def snapshot_of(source: str | None, wanted: WantedForks) -> Path | None:
    """Return the file that a source is, None if it is a cluster."""
    if source is None or not (source.endswith(".db") or "/" in source):
        return None
    if wanted.new_pki:
        raise UsageError(
            "'--new-pki' is for '--from' with a cluster: one from a file always has new authorities",
            hint="leave it out",
        )
    if wanted.ignores_memory and not wanted.count:
        raise UsageError(
            "'--ignore-memory' is for several clusters from a file: the memory for one is not checked",
            hint="leave it out, or add --count",
        )
    if not is_file(source):
        raise UsageError(
            f"there is no file '{source}'",
            hint="make one with 'kwokctl snapshot save', or name a cluster",
        )
    return Path(source).absolute()


def show_seed(call: Invocation, snapshot: Path, wanted: WantedForks) -> None:
    """Say what `create` would do with a file; SnapshotError if it is no snapshot."""
    from kwokctl.etcd.snapshot_files import verify

    verify(snapshot)
    names = ", ".join(f"'{name}'" for name in _numbered(call, wanted))
    text = f"Create the cluster {names} with the objects of '{snapshot}', and start it."
    if wanted.count:
        text = f"Create {names} with the objects of '{snapshot}' each, and start them."
    dry_run.remark(call, text, wanted.output)


def create_from_file(
    call: Invocation,
    request: "CreateRequest",
    objects: "Sequence[ScaleRequest]",
    wanted: WantedForks,
) -> None:
    """Create clusters with the settings of a request, each of which begins with the objects of a file."""
    from kwokctl.clusters.create_several import create_several
    from kwokctl.clusters.state.home import cluster_name

    if objects:
        raise UsageError(
            "'--nodes' and '--pods' are not for '--from' with '--count'",
            hint="leave them out, and scale each cluster with: kwokctl --name NAME scale",
        )
    names = [cluster_name(name) for name in _numbered(call, wanted)]
    requests = [replace(request, name=name) for name in names]
    made = call.run(create_several, call.home, requests, ignores_memory=wanted.ignores_memory)
    said = ", ".join(f"'{name}'" for name in names)
    outcome = Outcome(
        message=f"{said} {'is' if len(names) == 1 else 'are'} made from '{wanted.source}'",
        lead="Now you can",
        then=tuple(_look(call, each.name, each.kubeconfig, each.context) for each in made[:_NAMED]),
        cluster=call.name,
        result={"clusters": made},
    )
    conclude(call, outcome, wanted.output)


def _look(call: Invocation, name: str, kubeconfig: Path, context: str) -> str:
    return get_nodes(reached_by(kubeconfig, context), replace(call, name=name).itself)


def _numbered(call: Invocation, wanted: WantedForks) -> list[str]:
    """Return the names of the clusters to create."""
    return [f"{call.name}-{n}" for n in range(1, (wanted.count or 0) + 1)] or [call.name]


def create(
    call: Invocation,
    wanted: WantedForks,
    options: Mapping[str, object],
    shared: tuple[str | None, float | None, float | None],
) -> None:
    """Create the clusters; `shared` are kubeconfig, wait and timeout."""
    _check(call, wanted, options)
    place = {_PLACE[name]: str(options[name]) for name in _PLACE.keys() & options}
    request = _request(call, wanted, shared, place)
    names = ", ".join(f"'{name}'" for name in request.names)
    if call.is_dry_run:
        where = f" on the runtime '{place['runtime']}'" if "runtime" in place else ""
        text = f"Copy the cluster '{wanted.source}' as it is now to {names}, and start that{where}."
        dry_run.remark(call, text, wanted.output)
        return
    from kwokctl.clusters.forking.fork import fork_cluster

    forks = call.run(fork_cluster, call.home, request)
    outcome = Outcome(
        message=f"{names} {'is' if len(forks) == 1 else 'are'} made from '{wanted.source}'",
        lead="Now you can",
        then=tuple(
            _look(call, fork.name, fork.kubeconfig, fork.context) for fork in forks[:_NAMED]
        ),
        cluster=call.name,
        result={"forks": forks},
    )
    conclude(call, outcome, wanted.output)


def _check(call: Invocation, wanted: WantedForks, options: Mapping[str, object]) -> None:
    if not wanted.source:
        raise UsageError(
            "'--from' is needed for a fork, and names the cluster to copy",
            hint="for example: --from kwok; nodes are created with --nodes",
        )
    if options.keys() - _PLACE.keys() or call.config:
        raise UsageError(
            f"the new cluster has the settings of '{wanted.source}': '--from' allows no other "
            "options than --runtime",
            hint="leave the other options out, or create the cluster without --from",
        )


def _request(
    call: Invocation,
    wanted: WantedForks,
    shared: tuple[str | None, float | None, float | None],
    place: Mapping[str, str],
) -> "ForkRequest":
    from kwokctl.clusters.forking.fork import ForkRequest
    from kwokctl.clusters.forking.fork_target import ForkPlace
    from kwokctl.clusters.launching.launch import Patience
    from kwokctl.clusters.state.home import cluster_name

    kubeconfig, wait, timeout = shared
    names = tuple(cluster_name(name) for name in _numbered(call, wanted))
    return ForkRequest(
        source=cluster_name(wanted.source),
        names=names,
        kubeconfig=kubeconfig_path(kubeconfig),
        has_own_authorities=wanted.new_pki,
        place=ForkPlace(**place),
        ignores_memory=wanted.ignores_memory,
        patience=Patience(timeout or None, wait or None),
    )
