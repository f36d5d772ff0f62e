"""How the API server and the kubelet server are described where nodes are reached through a socket."""

import json
from pathlib import Path

from kwokctl.components.catalog import catalog
from kwokctl.components.egress_file import egress
from kwokctl.components.setting import Setting
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import KUBE_APISERVER, KWOK_KUBELET, Artifact, ComponentName
from tests.support.options import cluster_options
from tests.support.sites import HostLikeSite

ROOT = Path("/home/me/.kwok/clusters/dev")
SOCKET = f"{ROOT}/run/egress.sock"


def setting(*, node_proxy: bool, has_kubelet: bool = True) -> Setting:
    names = (KUBE_APISERVER, KWOK_KUBELET) if has_kubelet else (KUBE_APISERVER,)
    return Setting(
        site=HostLikeSite(),
        paths=ClusterPaths(ROOT),
        options=cluster_options(node_proxy=node_proxy),
        artifacts={n: Artifact(name=n, version="v1", command=("/bin/true",)) for n in names},
    )


def flags(name: ComponentName, given: Setting) -> dict[str, str]:
    pairs = (each.removeprefix("--").partition("=") for each in catalog()[name].build(given).args)
    return {flag: value for flag, _, value in pairs}


def test_the_api_server_asks_the_kubelet_server_for_connections_to_internal_addresses() -> None:
    given = setting(node_proxy=True)

    api, kubelet = flags(KUBE_APISERVER, given), flags(KWOK_KUBELET, given)

    assert api["egress-selector-config-file"] == f"{ROOT}/egress.json"
    assert api["kubelet-preferred-address-types"] == "InternalIP,kwokctl.dev/Kubelet"
    assert "kubelet-certificate-authority" not in api
    assert api["kubelet-client-certificate"]
    assert kubelet["egress-socket"] == SOCKET
    [selection] = json.loads(egress(given.paths))["egressSelections"]
    assert selection["connection"]["transport"]["uds"]["udsName"] == SOCKET


def test_the_api_server_dials_the_kubelet_server_itself_by_default() -> None:
    for given in (setting(node_proxy=False), setting(node_proxy=True, has_kubelet=False)):
        api = flags(KUBE_APISERVER, given)
        assert "egress-selector-config-file" not in api
        assert api["kubelet-preferred-address-types"].startswith("kwokctl.dev/Kubelet,")
