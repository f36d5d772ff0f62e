"""nvidia-smi in the containers of a fleet: which GPUs each sees."""

from collections.abc import Iterable, Mapping, Sequence

import pytest

from kwokctl.fleet.devices import GPU, gpus
from kwokctl.kubelet.fleet.views import ContainerView, NodeView, PodView
from kwokctl.kubelet.streams.stream_targets import ContainerTarget
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading, GpuUser
from kwokctl.kubelet.telemetry.nvidia_smi import NvidiaSmi
from tests.support.gpu_readings import reading

GPUS = gpus("n", {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, {GPU: 8})
MIG = "nvidia.com/mig-1g.10gb"


class Fleet:
    """A fleet of one node, and the readings of its GPUs, whose users are given by index."""

    def __init__(self, users: Mapping[int, Sequence[GpuUser]]) -> None:
        self._users = users
        self._is_watched = False

    async def watched(self) -> None:
        self._is_watched = True

    def readings(self, node: str) -> Sequence[GpuReading]:
        assert self._is_watched
        found = [reading(gpu, *self._users.get(gpu.index, ())) for gpu in GPUS]
        return found if node == "n" else ()

    async def pod(self, namespace: str, name: str) -> PodView | None:
        raise NotImplementedError

    def node(self, name: str) -> NodeView | None:
        raise NotImplementedError

    def nodes(self) -> Iterable[NodeView]:
        raise NotImplementedError

    def pods_on(self, node: str) -> Iterable[PodView]:
        raise NotImplementedError

    def nodes_at(self, address: str) -> Iterable[NodeView]:
        raise NotImplementedError


def user(
    device: str = "GPU-x", *, uid: str = "u", container: str = "main", resource: str = GPU
) -> GpuUser:
    return GpuUser(
        namespace="default", pod="web", uid=uid, container=container, device_id=device,
        resource=resource,
    )  # fmt: skip


def target(node: str = "n") -> ContainerTarget:
    container = ContainerView(name="main")
    pod = PodView(namespace="default", name="web", uid="u", node=node, containers=(container,))
    return ContainerTarget(pod, container)


async def printed(users: Mapping[int, Sequence[GpuUser]], *arguments: str) -> str:
    fleet = Fleet(users)
    found = await NvidiaSmi(fleet, fleet, lambda: 0.0)(target(), arguments)
    assert (found.exit_code, found.errors) == (0, "")
    return found.output


async def test_a_container_sees_its_own_gpus_in_the_order_of_the_node() -> None:
    users = {
        5: [user()],
        1: [user(container="side")],
        2: [user()],
        3: [user(uid="of-another-pod-main")],
    }

    assert await printed(users, "-L") == (
        f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {GPUS[2].uuid})\n"
        f"GPU 1: NVIDIA H100 80GB HBM3 (UUID: {GPUS[5].uuid})\n"
    )
    query = ("--query-gpu=timestamp,index,utilization.gpu", "--format=csv,noheader,nounits")
    stamp = "1970/01/01 00:00:00.000"
    assert await printed(users, *query) == f"{stamp}, 0, 82\n{stamp}, 1, 85\n"


async def test_a_gpu_that_it_shares_with_others_is_there_once() -> None:
    users = {4: [user("GPU-x::0"), user("GPU-x::1", uid="another"), user("GPU-x::2")]}

    assert await printed(users, "-L") == (f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {GPUS[4].uuid})\n")


async def test_only_its_own_parts_of_a_gpu_are_listed_below_it() -> None:
    users = {
        1: [
            user("MIG-a", resource=MIG),
            user("MIG-b", resource=MIG, uid="another"),
            user("MIG-c", resource=MIG),
        ]
    }

    assert (await printed(users, "-L")).splitlines() == [
        f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {GPUS[1].uuid})",
        "  MIG 1g.10gb      Device  0: (UUID: MIG-a)",
        "  MIG 1g.10gb      Device  1: (UUID: MIG-c)",
    ]


@pytest.mark.parametrize(
    ("users", "node"),
    [
        ({}, "n"),
        ({0: [user(container="side")]}, "n"),
        ({0: [user(uid="another")]}, "n"),
        ({0: [user()]}, "gone"),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("-L",), ("--bogus",)])
async def test_a_container_without_a_gpu_does_not_have_it(
    users: Mapping[int, Sequence[GpuUser]], node: str, arguments: tuple[str, ...]
) -> None:
    fleet = Fleet(users)

    found = await NvidiaSmi(fleet, fleet, lambda: 0.0)(target(node), arguments)

    assert (found.output, found.exit_code) == ("", 127)
    assert found.errors == (
        "nvidia-smi: not found: container 'main' of pod 'default/web' has no GPU; a pod gets "
        "those of its limits when it starts with the annotation 'kwokctl.dev/life: kubelet'\n"
    )
