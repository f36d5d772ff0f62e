"""The claims of pods on nodes for whose DRA drivers the controller stands in, with the controller on a cluster in memory."""

import asyncio
from typing import Any

from kwokctl.controller.lifecycle.driver_stand_in import CLAIMS
from kwokctl.errors import ApiError
from kwokctl.fleet.allocations import DEVICES, claimed_in
from kwokctl.fleet.devices import gpu_uuid
from kwokctl.kube.resource import EVENTS, NODES, PODS
from tests.support.fleet_rig import Rig, node, pod, story

DRIVER = "gpu.nvidia.com"
MARK = {"kwokctl.dev/dra-drivers": DRIVER}
HEALTH = "kwokctl.dev/device-health"


def machine(**annotations: str) -> dict[str, Any]:
    return node(annotations={**MARK, **annotations})


def result(device: str = "gpu-0", request: str = "gpu", driver: str = DRIVER) -> dict[str, Any]:
    return {"request": request, "driver": driver, "pool": "n", "device": device}


def claim(name: str = "c", *results: dict[str, Any], for_pods: tuple[str, ...] = ("p",)) -> Any:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-of-{name}"},
        "spec": {},
        "status": {
            "allocation": {"devices": {"results": list(results or (result(),))}},
            "reservedFor": [
                {"resource": "pods", "name": each, "uid": f"uid-{each}"} for each in for_pods
            ],
        },
    }


def claiming(name: str = "p", claims: tuple[str, ...] = ("c",), **reference: str) -> Any:
    body = pod(name, resourceClaims=[{"name": each, "resourceClaimName": each} for each in claims])
    body["metadata"]["uid"] = f"uid-{name}"
    asked = [{"name": each, **reference} for each in claims]
    body["spec"]["containers"][0]["resources"] = {"claims": asked}
    return body


def held(rig: Rig, name: str = "p") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in claimed_in(rig.pod(name)):
        found.setdefault(each.resource, []).append(each.device_id)
    return found


def reported(rig: Rig, name: str = "c") -> list[dict[str, Any]]:
    status: dict[str, Any] = rig.cluster.object(CLAIMS, name, "ns")["status"]
    return status.get("devices") or []


def is_running(rig: Rig, name: str = "p") -> bool:
    return bool(rig.pod(name)["status"]["phase"] == "Running")


def events(rig: Rig) -> list[str]:
    return [
        body["message"]
        for (plural, _, _), body in rig.cluster.objects.items()
        if plural == EVENTS.plural and body["reason"] == "FailedPrepareDynamicResources"
    ]


def refused(verb: str, resource: str) -> ApiError:
    words = f'User "u" cannot {verb} resource "{resource}" in API group "resource.k8s.io"'
    return ApiError(words, status=403, reason="Forbidden")


def test_the_devices_of_a_claim_are_ready_and_in_the_status_of_the_pod() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim("c", result("gpu-3"), result("gpu-5")))
        rig.cluster.put(PODS, claiming())
        await asyncio.sleep(5)

        assert is_running(rig)
        assert held(rig) == {"claim:c": [f"{DRIVER}/n/gpu-3", f"{DRIVER}/n/gpu-5"]}
        [first, second] = reported(rig)
        assert {name: first[name] for name in ("driver", "pool", "device", "data")} == {
            "driver": DRIVER, "pool": "n", "device": "gpu-3", "data": {"uuid": gpu_uuid("n", 3)},
        }  # fmt: skip
        assert [(each["type"], each["status"]) for each in second["conditions"]] == [
            ("Ready", "True")
        ]
        assert rig.cluster.verbs("get").count("c") == 1


def test_a_container_has_the_devices_of_the_request_that_it_names() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        results = result("gpu-0", "small"), result("gpu-1", "large/first"), result("gpu-1", "large")
        rig.cluster.put(CLAIMS, claim("c", *results))
        rig.cluster.put(PODS, claiming(request="large"))
        await asyncio.sleep(5)

        assert held(rig) == {"claim:c/large": [f"{DRIVER}/n/gpu-1"]}
        assert [each["device"] for each in reported(rig)] == ["gpu-0", "gpu-1"]


def test_the_claim_of_a_template_is_found_by_the_status_of_the_pod() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        body = claiming()
        body["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": "t"}]
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim("p-c-x1"))
        rig.cluster.put(PODS, body)
        await asyncio.sleep(5)
        assert events(rig) == [
            'Failed to prepare dynamic resources: pod "ns/p": ResourceClaim not created yet'
        ]

        made = [{"name": "c", "resourceClaimName": "p-c-x1"}]
        rig.cluster.change(PODS, "p", "ns", status={"resourceClaimStatuses": made})
        await asyncio.sleep(5)
        assert held(rig) == {"claim:c": [f"{DRIVER}/n/gpu-0"]}


def test_what_is_ready_is_not_written_again_by_a_second_pod_or_a_second_controller() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim(for_pods=("p", "q")))
        rig.cluster.put(PODS, claiming())
        await asyncio.sleep(5)
        rig.cluster.put(PODS, claiming("q"))
        await asyncio.sleep(5)
        assert held(rig, "q") == held(rig) == {"claim:c": [f"{DRIVER}/n/gpu-0"]}
        assert rig.cluster.verbs("patch").count("c") == 1

        reads = rig.cluster.verbs("get").count("c")
        next_one = Rig(cluster=rig.cluster, has_kubelet_pods=True)
        for name in ("p", "q"):
            rig.cluster.change(PODS, name, "ns", metadata={"labels": {"touched": "yes"}})
        async with next_one.running():
            await asyncio.sleep(60)
        assert held(rig) == {"claim:c": [f"{DRIVER}/n/gpu-0"]}
        assert rig.cluster.verbs("get").count("c") == reads


def test_nothing_is_done_on_a_node_without_the_annotation_nor_for_other_drivers() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, node())
        rig.cluster.put(NODES, machine() | {"metadata": {"name": "m", "annotations": MARK}})
        rig.cluster.put(CLAIMS, claim("c"))
        rig.cluster.put(CLAIMS, claim("d", result(driver="other.example"), for_pods=("q",)))
        rig.cluster.put(PODS, claiming())
        other = claiming("q", ("d",))
        other["spec"]["nodeName"] = "m"
        rig.cluster.put(PODS, other)
        await asyncio.sleep(5)

        assert is_running(rig)
        assert is_running(rig, "q")
        assert held(rig) == held(rig, "q") == {}
        assert "c" not in rig.cluster.verbs("get")
        assert reported(rig, "d") == []


def test_a_pod_waits_until_it_may_use_its_claim_and_can_be_deleted_meanwhile() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim(for_pods=()))
        for name in ("p", "q"):
            rig.cluster.put(PODS, claiming(name))
        await asyncio.sleep(5)
        assert rig.pod()["status"] == {"phase": "Pending"}
        assert min(events(rig)) == (
            "Failed to prepare dynamic resources: pod p (uid-p) is not allowed to use ResourceClaim c (uid-of-c)"
        )

        gone = {"deletionTimestamp": "2026-01-01T12:00:00Z", "deletionGracePeriodSeconds": 30}
        rig.cluster.change(PODS, "q", "ns", metadata=gone)
        rig.cluster.put(CLAIMS, claim(for_pods=("p",)))
        await asyncio.sleep(15)
        assert is_running(rig)
        assert ("pods", "ns", "q") not in rig.cluster.objects


def test_missing_rights_stop_no_pod() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim(for_pods=("p", "q")))
        await asyncio.sleep(5)
        rig.cluster.refuse_reads.append(refused("get", "resourceclaims"))
        rig.cluster.put(PODS, claiming())
        await asyncio.sleep(5)
        assert is_running(rig)
        assert held(rig) == {}

        rig.cluster.refuse.append(refused("patch", "resourceclaims/status"))
        rig.cluster.put(PODS, claiming("q"))
        await asyncio.sleep(5)
        assert is_running(rig, "q")
        assert held(rig, "q") == {"claim:c": [f"{DRIVER}/n/gpu-0"]}
        assert reported(rig) == []


def test_a_write_that_fails_is_tried_again_and_the_pod_waits_for_it() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim())
        await asyncio.sleep(5)
        rig.cluster.refuse += [ApiError("too busy", status=503, reason="")] * 2
        rig.cluster.put(PODS, claiming())
        await asyncio.sleep(0.5)
        assert rig.pod()["status"] == {"phase": "Pending"}
        await asyncio.sleep(10)
        assert is_running(rig)
        assert len(reported(rig)) == 1
        assert rig.cluster.verbs("patch").count("c") == 3


def test_the_health_of_a_gpu_and_a_status_that_a_client_has_wiped_are_written_again() -> None:
    @story(has_kubelet_pods=True)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim("c", result("gpu-0"), result("gpu-3")))
        rig.cluster.put(PODS, claiming())
        await asyncio.sleep(5)
        rig.cluster.change(NODES, "n", metadata={"annotations": {HEALTH: "unhealthy=3"}})
        await asyncio.sleep(5)
        assert [each.health for each in claimed_in(rig.pod())] == ["Healthy", "Unhealthy"]

        [status] = rig.pod()["status"]["containerStatuses"]
        del status["allocatedResourcesStatus"]
        rig.cluster.put(PODS, rig.pod())
        await asyncio.sleep(5)
        assert [each.health for each in claimed_in(rig.pod())] == ["Healthy", "Unhealthy"]


def test_an_annotation_says_it_where_the_api_server_drops_the_field() -> None:
    @story(has_kubelet_pods=True, shows_devices=False)
    async def _(rig: Rig) -> None:
        rig.cluster.put(NODES, machine())
        rig.cluster.put(CLAIMS, claim())
        rig.cluster.put(PODS, claiming())
        await asyncio.sleep(5)

        text = rig.pod()["metadata"]["annotations"][DEVICES]
        assert text == '{"c":{"claim:c":["gpu.nvidia.com/n/gpu-0"]}}'
        assert "allocatedResourcesStatus" not in rig.pod()["status"]["containerStatuses"][0]
