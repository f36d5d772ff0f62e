"""How the status of a pod is written."""

from kwokctl.controller.lifecycle.statuses import status_patch
from kwokctl.kube.patching.apply_patch import apply_patch
from tests.support.pod_lives import Life, pod


def test_the_result_of_a_status_patch_is_what_the_patch_makes_of_the_pod() -> None:
    before = pod()
    after = Life(pod()).run(10).status
    patch = status_patch(before, after)

    assert patch.document["metadata"] == {"uid": "u-1"}
    assert apply_patch(before, patch.document, patch.type, "Pod") == patch.result


def test_a_null_of_the_api_server_within_a_condition_leaves_the_result_certain() -> None:
    body = pod()
    body["status"]["conditions"][0]["lastProbeTime"] = None
    life = Life(body).run(10)
    result = status_patch(body, life.status).result

    assert result is not None
    assert life.condition("PodScheduled")["lastProbeTime"] is None
    assert result["status"] == life.status
