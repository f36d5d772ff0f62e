"""A sample that is not played is asked for less and less often, and is given up in time."""

import asyncio
import json
from typing import Any

import pytest

from kwokctl.dataplane.bulk.created_samples import Sample, played
from kwokctl.errors import CannotStampError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool, Response
from tests.support import virtual_time
from tests.support.bulk import bulk_access, new_pods

WITHIN = 60.0
BODY = {"metadata": {"name": "pod-000000"}}


class Pods(Pool):
    """Shows a pod that is played after some seconds, and notes when it was asked for."""

    def __init__(self, after: float) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self.asked: list[float] = []
        self._after = after

    async def request(self, method: str, path: str, **_: Any) -> Response:
        now = asyncio.get_running_loop().time()
        self.asked.append(now)
        body = {**BODY, "status": {"phase": "Running"}} if now >= self._after else BODY
        return Response(200, json.dumps(body).encode(), [])


def lacks(sample: Sample) -> str | None:
    return None if "status" in sample.body else "has no status"


def play(pods: Pods) -> Sample:
    return virtual_time.run(
        played(new_pods(lacks=lambda _: None), bulk_access(pool=pods), Sample(0, BODY), lacks)
    )


@pytest.mark.parametrize("after", [0.0, 0.1, 1.0, 20.0])
def test_a_sample_is_seen_soon_after_it_is_played(after: float) -> None:
    pods = Pods(after)

    assert play(pods).body["status"] == {"phase": "Running"}

    assert pods.asked[-1] <= after + max(0.02, after / 10)


def test_one_that_is_never_played_is_given_up_after_few_questions() -> None:
    pods = Pods(after=10 * WITHIN)

    with pytest.raises(CannotStampError, match="pod 'pod-000000' has no status"):
        play(pods)

    assert WITHIN < pods.asked[-1] < 1.1 * WITHIN
    assert len(pods.asked) < 200
