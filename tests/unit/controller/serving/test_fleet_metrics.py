"""What the original answers on the controller's port comes from the kubelet server."""

import json
from typing import Any, cast

import pytest

from kwokctl.controller.serving.fleet_metrics import FleetMetrics
from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.errors import ApiError
from kwokctl.kube.transport.wire import Response

PAGE = {"metrics_name": "m", "__scheme__": "https", "__metrics_path__": "/metrics/nodes/n/m"}
DISCOVERY = json.dumps([{"targets": ["127.0.0.1:10250"], "labels": PAGE}]).encode()


class Kubelet:
    """Answers as the connections to a kubelet server do."""

    def __init__(self, body: bytes = b"", status: int = 200) -> None:
        self.body, self.status = body, status
        self.asked: list[str] = []

    async def request(self, method: str, path: str, **_: Any) -> Response:
        self.asked.append(f"{method} {path}")
        if not self.status:
            raise ApiError("connection refused", status=0)
        return Response(self.status, self.body, [])


async def answered(kubelet: Kubelet, path: str, *query: tuple[str, str]) -> Answer:
    table = RouteTable([*FleetMetrics(cast("Any", kubelet)).routes()])
    route = table.find(path)
    assert route is not None
    assert route.is_open
    assert route.answer is not None
    headers = (("host", "localhost:10247"),)
    return await route.answer(Request(method="GET", path=path, query=query, headers=headers))


async def test_a_page_is_handed_on_as_it_is() -> None:
    kubelet = Kubelet(b"up 1\n")

    answer = await answered(kubelet, "/metrics/nodes/n/m", ("a", "b c"))

    assert kubelet.asked == ["GET /metrics/nodes/n/m?a=b+c"]
    assert (answer.status, answer.body) == (200, b"up 1\n")
    assert answer.content_type.startswith("text/plain; version=0.0.4")


async def test_discovery_names_this_port() -> None:
    answer = await answered(Kubelet(DISCOVERY), "/discovery/prometheus")

    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body) == [
        {"targets": ["localhost:10247"], "labels": {**PAGE, "__scheme__": "http"}}
    ]


async def test_what_the_kubelet_refuses_is_refused_and_its_absence_is_said() -> None:
    assert (await answered(Kubelet(b"no", 404), "/metrics/none")).status == 404
    assert (await answered(Kubelet(b"no", 500), "/discovery/prometheus")).status == 500
    with pytest.raises(RefusedError) as raised:
        await answered(Kubelet(status=0), "/metrics/none")
    assert raised.value.status == 503


def test_the_controllers_own_metrics_are_not_the_kubelets() -> None:
    table = RouteTable([*FleetMetrics(cast("Any", Kubelet())).routes()])

    assert table.find("/metrics") is None
