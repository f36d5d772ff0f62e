"""Which clusters can have faults, and what is said of the others."""

from pathlib import Path
from typing import Any, cast

import pytest

from kwokctl.clusters.faults.reaching import (
    FaultCluster,
    demand_api_proxy,
    demand_player,
    fault_cluster,
)
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import NotFoundError, NotServedError
from kwokctl.host.paths import WorkDir
from kwokctl.kube.client import Client
from kwokctl.model import ETCD, KUBE_APISERVER, KWOK_API_PROXY
from kwokctl.progress import Silent
from kwokctl.replacing import replace
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster

NAME = cluster_name("kwok")


class Warnings(Silent):
    """Keeps what is warned of."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def warn(self, text: str) -> None:
        self.texts.append(text)


def cluster(folder: Path, **options: Any) -> tuple[FaultCluster, Warnings]:
    said = Warnings()
    home = Home(workdir=WorkDir(folder), cache=folder, progress=said)
    saved = save_cluster(home.workdir, NAME, cluster_options(runtime="fake", **options))
    return FaultCluster(home, saved, cast("Client", None)), said


def test_the_embedded_controller_plays_faults(tmp_path: Path) -> None:
    found, said = cluster(tmp_path)

    demand_player(found)

    assert said.texts == []


def test_another_controller_does_not(tmp_path: Path) -> None:
    found, _ = cluster(tmp_path, kwok_controller_binary="/bin/true")

    with pytest.raises(NotServedError, match="only kwokctl's own plays faults"):
        demand_player(found)


def test_faults_of_the_api_need_the_proxy(tmp_path: Path) -> None:
    found, _ = cluster(tmp_path)
    without = replace(found.saved, names=(ETCD, KUBE_APISERVER))
    with_proxy = replace(without, names=(*without.names, KWOK_API_PROXY))

    demand_api_proxy(FaultCluster(found.home, with_proxy, found.client))
    with pytest.raises(NotServedError, match="has no proxy") as raised:
        demand_api_proxy(FaultCluster(found.home, without, found.client))
    assert raised.value.hint == "create a cluster with: kwokctl create cluster --api-faults"


def test_a_cluster_without_a_controller_may_have_one_in_it(tmp_path: Path) -> None:
    found, said = cluster(tmp_path)
    saved = replace(found.saved, names=(ETCD, KUBE_APISERVER))

    demand_player(FaultCluster(found.home, saved, found.client))

    (text,) = said.texts
    assert "a Fault does nothing until a controller of kwokctl runs in it" in text


async def test_a_cluster_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path)
    with pytest.raises(NotFoundError):
        async with fault_cluster(home, NAME):
            pass
