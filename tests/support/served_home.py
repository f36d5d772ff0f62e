"""A home with one cluster whose API server is a fake one: its state is on disk, and its kubeconfig leads to it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kwokctl.clusters.state.home import Home
from kwokctl.model import KUBE_APISERVER, ClusterName, State
from tests.support.fake_api_server import Handler, serving
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with


@asynccontextmanager
async def served_home(folder: Path, name: ClusterName, handle: Handler) -> AsyncIterator[Home]:
    """Serve the API of a cluster, and yield its home."""
    runtime = FakeRuntime(found={KUBE_APISERVER: State.RUNNING})
    home = home_with(folder, name, cluster_options(runtime="fake"), runtime)
    async with serving(handle) as server:
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        }
        kubeconfig = home.paths(name).own_kubeconfig
        kubeconfig.parent.mkdir()
        kubeconfig.write_text(json.dumps(config), encoding="utf-8")
        yield home
