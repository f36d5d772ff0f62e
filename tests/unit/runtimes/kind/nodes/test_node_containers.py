""""""

from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from cryptography import x509

from kwokctl.host.certificates.pki import ensure_pki
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import KWOK_KUBELET, ClusterName, Identity
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Container, Engine
from runtimes.kind.nodes.node_containers import KindNodes
from runtimes.kind.provider import Provider
from tests.support.fake_engine import FakeEngine, fake_engine

HERE, ELSEWHERE = "127.0.0.3", "192.0.2.1"
NODE = Container(
    id="1", name="kwok-dev-control-plane", is_running=True, labels={}, sources=frozenset()
)


def addresses(paths: ClusterPaths) -> list[str]:
    cert = x509.load_pem_x509_certificate((paths.pki / "kwok-kubelet.crt").read_bytes())
    names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return [str(address) for address in names.get_values_for_type(x509.IPAddress)]


def nodes(fake: FakeEngine, paths: ClusterPaths, gateway: str) -> KindNodes:
    networks = {"kind": {"Gateway": gateway}}
    fake.answers["GET /containers/1/json"] = (200, {"NetworkSettings": {"Networks": networks}})
    kubelet = Identity(
        name=KWOK_KUBELET, common_name=KWOK_KUBELET, server=True, server_names=("127.0.0.1",)
    )
    ensure_pki(paths.pki, [kubelet])
    provider = Provider(runtime="kind", command="true", engine=Engine(Endpoint(url=fake.url)))
    return KindNodes(provider, ClusterName("dev"), paths)


@pytest.mark.parametrize(
    ("gateway", "found", "certified"),
    [(HERE, HERE, ["127.0.0.1", HERE]), (ELSEWHERE, "", ["127.0.0.1"])],
)
async def test_the_kubelet_server_is_certified_for_the_address_at_which_nodes_find_this_host(
    tmp_path: Path, gateway: str, found: str, certified: list[str]
) -> None:
    paths = ClusterPaths(tmp_path / "dev")
    with TemporaryDirectory() as folder, fake_engine(Path(folder)) as fake:
        assert await nodes(fake, paths, gateway).host_certified(NODE) == found

    assert sorted(addresses(paths), key=ip_address) == certified
