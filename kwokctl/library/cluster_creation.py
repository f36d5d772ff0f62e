"""Creates a cluster with its first nodes and pods, as `create cluster` does."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.create import CreateRequest, create_cluster
from kwokctl.clusters.programs.tools_last import get_tools
from kwokctl.clusters.scale import scale
from kwokctl.clusters.scaling.scale_request import first_sets
from kwokctl.clusters.state.home import Home
from kwokctl.components.catalog import usual_options
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.config_documents import latest_of_each, load_documents
from kwokctl.library.keywords import Option, flags_of
from kwokctl.model import ClusterName
from kwokctl.replacing import replace


class CreationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a creation."""

    name: ClusterName
    options: Mapping[str, Option]
    config: Sequence[str | os.PathLike[str]] = ()
    kubeconfig: Path | None = None
    wait: float | None = None


async def create(home: Home, wanted: CreationRequest) -> bool:
    """Create a cluster, and fill it; return False if there was one with the same settings.

    Variables of the environment and the user's default file count, as for the command. Raises
    ConflictError if there is one with other settings.
    """
    paths = [os.fspath(path) for path in wanted.config]
    default = home.workdir.root / "kwok.yaml"
    found = load_documents(paths, default=default, progress=home.progress)
    documents = tuple(latest_of_each(found))
    flags = flags_of(wanted.options)
    wanted_options = resolve_with_add_ons(usual_options(), flags, os.environ, documents)
    resolved, documents = wanted_options.resolved, wanted_options.documents
    for warning in resolved.warnings:
        home.progress.warn(warning)
    request = CreateRequest(
        name=wanted.name,
        resolved=resolved,
        documents=documents,
        kubeconfig=wanted.kubeconfig,
        wait=wanted.wait,
        fail_on_drift=True,
    )
    created = await create_cluster(home, request)
    for each in first_sets(resolved.options):
        await scale(home, wanted.name, replace(each, wait=wanted.wait), documents=documents)
    if created.lacking:
        await get_tools(home, wanted.name, created.lacking)
    return not created.existed
