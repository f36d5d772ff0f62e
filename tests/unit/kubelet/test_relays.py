from pathlib import Path

import pytest

from kwokctl.embedded.http.messages import Answer, RefusedError
from kwokctl.embedded.http.messages import Request as Asked
from kwokctl.kubelet.relays import RelayedMetrics, relay_routes
from kwokctl.kubelet.settings import read_kubelet_settings
from kwokctl.model import HttpProbe
from kwokctl.progress import Silent
from tests.support.fake_api_server import Reply, Request, serving

ASKED = Asked(method="GET", path="/metrics/components/etcd")


async def for_the_token(request: Request, reply: Reply) -> None:
    is_known = request.headers.get("authorization") == "Bearer secret"
    await reply.send(b"up 1\n", status=200 if is_known else 401)


async def answer(relay: RelayedMetrics) -> Answer:
    [route] = relay_routes([relay])
    assert route.answer is not None
    return await route.answer(ASKED)


async def test_metrics_are_relayed_with_the_token_that_the_file_has_now(tmp_path: Path) -> None:
    token = tmp_path / "token"
    async with serving(for_the_token) as server:
        page = HttpProbe(url=f"{server.url}/metrics")
        relay = RelayedMetrics(name="etcd", page=page, token=token)
        token.write_text("old\n")
        with pytest.raises(RefusedError, match="'etcd' refuses its metrics: status 401") as raised:
            await answer(relay)
        assert raised.value.status == 502
        token.write_text("secret\n")
        assert (await answer(relay)).body == b"up 1\n"


async def test_a_component_that_does_not_run_gives_none(tmp_path: Path) -> None:
    page = HttpProbe(url="http://localhost/metrics", socket=tmp_path / "no.sock")
    with pytest.raises(RefusedError, match=r"cannot be read: .* refuses connections"):
        await answer(RelayedMetrics(name="etcd", page=page))


async def test_one_without_a_token_yet_gives_none(tmp_path: Path) -> None:
    page = HttpProbe(url="http://127.0.0.1:1/metrics")
    with pytest.raises(RefusedError) as raised:
        await answer(RelayedMetrics(name="etcd", page=page, token=tmp_path / "none"))
    assert raised.value.status == 502


def test_flags_say_whose_metrics_are_relayed() -> None:
    words = (
        "--manage-all-nodes",
        "--server-address=127.0.0.1:1",
        "--controller-metrics-url=http://127.0.0.1:2/metrics",
        "--controller-token-file=/token",
        "--etcd-metrics-url=https://127.0.0.1:3/metrics",
        "--etcd-cafile=/ca",
    )
    controller, etcd = read_kubelet_settings(words, Silent()).relays

    assert (controller.name, controller.token) == ("kwok-controller", Path("/token"))
    assert (etcd.name, etcd.page.ca, etcd.token) == ("etcd", Path("/ca"), None)
    assert read_kubelet_settings(words[:2], Silent()).relays == ()
