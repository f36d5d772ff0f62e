"""Scales nodes, pods and other objects, in a cluster of ours or anybody's."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kwokctl.clusters.home import Home
from kwokctl.clusters.saved import load
from kwokctl.clusters.scaling.api_reading import ApiReader
from kwokctl.clusters.scaling.creation import AT_ONCE
from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.run import Place, scale_set
from kwokctl.clusters.scaling.templates import ResourceTemplate, load_templates
from kwokctl.config.documents import Document
from kwokctl.dataplane.api import ApiPlane
from kwokctl.host.files import locked
from kwokctl.kube.access import Access, load_access
from kwokctl.kube.client import Client
from kwokctl.kube.http import Pool
from kwokctl.model import ClusterName
from kwokctl.progress import Progress


async def scale(
    home: Home,
    name: ClusterName,
    request: ScaleRequest,
    *,
    documents: Sequence[Document],
    kubeconfig: Path | None = None,
) -> ScaleResult:
    """Give a set of objects its size, in the cluster `name` or in that of a `kubeconfig`.

    The resource templates among `documents` come before the built-in ones. A cluster of ours is
    not stopped, restored or deleted meanwhile; scaling several sets of it at once is fine. Errors
    are those of `scale_set`, and ApiError.
    """
    templates = load_templates(documents)
    if kubeconfig is not None:
        access = load_access(kubeconfig)
        return await scale_with(access, request, templates, home.progress)
    load(home.paths(name), name)
    access = load_access(home.paths(name).own_kubeconfig)
    lock = home.workdir.cluster_lock(name)
    with locked(lock, what=f"the cluster '{name}'", shared=True):
        return await scale_with(access, request, templates, home.progress)


async def scale_with(
    access: Access,
    request: ScaleRequest,
    templates: Mapping[str, ResourceTemplate],
    progress: Progress,
) -> ScaleResult:
    """Give a set of objects its size in the cluster that `access` reaches, whoever made it."""
    async with Pool(access, connections=AT_ONCE + 1) as pool:
        place = Place(
            reader=ApiReader(Client(pool)),
            plane=ApiPlane(pool),
            progress=progress,
            wall=time.time,  # noqa: TID251 - the clock itself: it is passed on from here
        )
        return await scale_set(request, templates, place)
