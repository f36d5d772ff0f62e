"""The controllers of earlier releases go on running beside a new command, which understands their answers.

What they have answered is in `tests/golden/releases`.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from kwokctl.clusters.scaling.playing_before import kubelet_of
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.kube.collections.server_metrics import values
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool, Response
from tests.support.earlier_releases import ANSWERS_SUFFIX, FOLDER, NODE

ANSWERS = sorted(FOLDER.glob(f"*{ANSWERS_SUFFIX}"))


class Recorded(Pool):
    """Answers as a controller did."""

    def __init__(self, file: Path) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self._answers: dict[str, Any] = orjson.loads(file.read_bytes())

    async def request(self, method: str, path: str, **_: Any) -> Response:
        found = self._answers[f"{method} {path}"]
        return Response(200, found.encode() if path == "/metrics" else orjson.dumps(found), [])


@pytest.fixture(params=ANSWERS, ids=lambda file: file.name.removesuffix(ANSWERS_SUFFIX))
def controller(request: pytest.FixtureRequest, tmp_path: Path) -> ControllerClient:
    token = tmp_path / "token"
    token.write_text("secret")
    return ControllerClient(Recorded(request.param), token)


def test_there_are_answers() -> None:
    assert ANSWERS


async def test_its_watches_kubelet_and_addresses_are_known(controller: ControllerClient) -> None:
    seen, kubelet = await controller.seen(), await controller.kubelet()
    assert seen.nodes > 0
    assert seen.pods > 0
    assert (kubelet.address, kubelet.port > 0) == ("localhost", True)

    one, other = await controller.addresses([NODE, NODE], of_pods=True)
    assert one.is_held
    assert one.host_ips == other.host_ips
    assert one.families == len(set(one.pod_ips) - set(other.pod_ips)) > 0


async def test_its_stages_are_played_before_objects_are_written(
    controller: ControllerClient,
) -> None:
    metadata = {"name": "n", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    own = OwnValues(now="2026-01-01T00:00:00.000000000Z")

    async with kubelet_of(controller, "Node") as kubelet:
        assert kubelet is not None
        node = kubelet.play({"metadata": metadata, "spec": {}, "status": {}}, own)
        assert node["status"]["phase"] == "Running"
        assert await controller.generation() == (await controller.stages()).generation


async def test_its_figures_are_read(controller: ControllerClient) -> None:
    assert [*values(await controller.metrics(), "kwok_controller_watch_delay_seconds")]
