"""What fake nodes declare of their kubelet, as the feature gates of the API server are."""

from random import Random

import pytest

from kwokctl.controller.cluster.kubelet_features import KubeletFeatures, kubelet_features
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving

FEATURE = "ExtendWebSocketsToKubelet"
RESTARTS = "RestartAllContainersOnContainerExits"
OURS = Kubelet(address="127.0.0.1")


def metrics(**gates: int) -> bytes:
    lines = (
        f'kubernetes_feature_enabled{{name="{name}",stage="BETA"}} {value}'
        for name, value in gates.items()
    )
    return "\n".join(["# TYPE kubernetes_feature_enabled gauge", *lines, "other 1", ""]).encode()


async def found(text: bytes, *, status: int = 200) -> KubeletFeatures:
    async def answer(_: Request, reply: Reply) -> None:
        await reply.send(text, status=status)

    async with serving(answer) as server, Pool(Access(server=server.url)) as pool:
        return await kubelet_features(pool, Random(1))


async def declared(kubelet: Kubelet, text: bytes, *, status: int = 200) -> tuple[str, ...]:
    return (await found(text, status=status)).declared_by(kubelet).features


async def test_devices_are_shown_where_the_api_server_keeps_them() -> None:
    assert (await found(metrics(ResourceHealthStatus=1))).shows_devices
    assert not (await found(metrics(ResourceHealthStatus=0))).shows_devices
    assert not (await found(b"forbidden", status=403)).shows_devices


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        ({"NodeDeclaredFeatures": 1, FEATURE: 1}, (FEATURE,)),
        ({"NodeDeclaredFeatures": 1, FEATURE: 0}, ()),
        ({"NodeDeclaredFeatures": 1, RESTARTS: 1, FEATURE: 1}, (FEATURE, RESTARTS)),
        ({"NodeDeclaredFeatures": 0, FEATURE: 1}, ()),
        ({"NodeDeclaredFeatures": 1, f"{FEATURE}Too": 1}, ()),
        ({}, ()),
    ],
)
async def test_nodes_declare_what_the_gates_of_the_api_server_allow(
    gates: dict[str, int], expected: tuple[str, ...]
) -> None:
    assert await declared(OURS, metrics(**gates)) == expected


async def test_nodes_declare_nothing_if_the_gates_may_not_be_read() -> None:
    assert await declared(OURS, b"forbidden", status=403) == ()


async def test_nodes_declare_nothing_of_another_kubelet() -> None:
    assert await declared(Kubelet(), metrics(NodeDeclaredFeatures=1, **{FEATURE: 1})) == ()
