import re
from collections import Counter
from pathlib import Path

from kwokctl.fleet.devices import GPU
from kwokctl.kubelet.telemetry.dcgm_series import DEFAULT, NEW_NAMES, OPTIONAL
from tests.support.gpu_nodes import H100, gpu_node, gpu_pod
from tests.support.usage_fleet import HandFleet

USAGE = "kwok.x-k8s.io/usage-nvidia.com-gpu"
PAGE = "/metrics/nodes/a/dcgm"
GOLDEN = Path(__file__).parents[3] / "golden/telemetry/dcgm.txt"
EXPECTED = GOLDEN.read_text(encoding="utf-8")
PAIR = gpu_node(labels=H100 | {"nvidia.com/gpu.count": "2"}, capacity={GPU: "2"})


def used_pair() -> HandFleet:
    return HandFleet([gpu_pod("train", 1, on=PAIR, annotations={USAGE: "50%"})], [PAIR], age=10)


def named(series: str) -> str:
    return series.partition("{")[0]


async def of_gpu(fleet: HandFleet, index: int, path: str = PAGE) -> dict[str, float]:
    """Return the values of a GPU by the names of their metrics."""
    found = await fleet.series(path)
    return {named(name): value for name, value in found.items() if f'{{gpu="{index}"' in name}


async def test_the_page_of_a_node_is_as_it_was() -> None:
    assert (await used_pair().get(PAGE)).decode() == EXPECTED


async def test_each_metric_is_told_once_with_a_series_for_each_gpu() -> None:
    page = (await used_pair().get(PAGE)).decode().splitlines()
    types = [line.split(" ")[2] for line in page if line.startswith("# TYPE")]
    assert types == [each.name for each in DEFAULT]
    assert len(types) == 25
    series = Counter(named(line) for line in page if not line.startswith("#"))
    assert series == dict.fromkeys(types, 2)


async def test_counters_advance_with_time_and_not_with_scrapes() -> None:
    often, seldom = used_pair(), used_pair()
    counters = [each.name for each in DEFAULT if each.kind == "counter"]
    for age in range(10, 60, 7):
        often.age = age
        await of_gpu(often, 1)
    often.age = seldom.age = 60
    first, again, other = await of_gpu(often, 1), await of_gpu(often, 1), await of_gpu(seldom, 1)
    assert first == again == other
    seldom.age = 120
    later = await of_gpu(seldom, 1)
    grown = {name for name in counters if later[name] > other[name]}
    assert grown == {
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    }
    energy = later["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]
    watts = later["DCGM_FI_DEV_POWER_USAGE"]
    assert energy - other["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == watts * 60 * 1000


async def test_the_page_agrees_with_the_readings() -> None:
    fleet = used_pair()
    reading = fleet.gpus.readings("a")[1]
    found = await of_gpu(fleet, 1)
    assert found["DCGM_FI_DEV_GPU_UTIL"] == reading.utilization * 100 == 50
    assert found["DCGM_FI_DEV_FB_USED"] == reading.framebuffer_used > 0
    assert found["DCGM_FI_DEV_FB_FREE"] == reading.framebuffer_free
    assert found["DCGM_FI_DEV_POWER_USAGE"] == reading.power
    assert found["DCGM_FI_DEV_SM_CLOCK"] == reading.sm_clock == 1980


async def test_labels_follow_the_pods_that_come_and_go() -> None:
    fleet = used_pair()
    assert [name for name in await fleet.series(PAGE) if 'pod="train"' in name]
    fleet.pods = [gpu_pod("other", 0, on=PAIR)]
    fleet.changed()
    found = list(await fleet.series(PAGE))
    assert not [name for name in found if 'pod="train"' in name]
    [util] = [name for name in found if 'pod="other"' in name and "GPU_UTIL" in name]
    assert 'gpu="0"' in util


async def test_the_optional_counters_come_when_a_client_asks_for_all() -> None:
    fleet = HandFleet([], [PAIR])
    default = set(map(named, await fleet.series(PAGE, query=(("counters", "default"),))))
    every = set(map(named, await fleet.series(PAGE, query=(("counters", "all"),))))
    assert default == {each.name for each in DEFAULT}
    assert every - default == {each.name for each in OPTIONAL}


async def test_the_new_names_come_when_a_client_asks_for_them() -> None:
    fleet = HandFleet([], [PAIR])
    old = await of_gpu(fleet, 0)
    new = await of_gpu_with(fleet, ("names", "new"))
    assert new == {NEW_NAMES.get(name, name): value for name, value in old.items()}
    assert "DCGM_FI_DEV_BOARD_POWER_WATTS" in new


async def of_gpu_with(fleet: HandFleet, parameter: tuple[str, str]) -> dict[str, float]:
    found = await fleet.series(PAGE, query=(parameter,))
    return {named(name): value for name, value in found.items() if '{gpu="0"' in name}


async def test_a_part_of_mig_has_its_profile_and_its_own_memory() -> None:
    resource = "nvidia.com/mig-1g.10gb"
    divided = gpu_node(labels=H100 | {"nvidia.com/gpu.count": "2"}, capacity={resource: "14"})
    pods = [gpu_pod(f"p{n}", n, on=divided, resource=resource) for n in (1, 8)]
    found = await HandFleet(pods, [divided], age=10).series(PAGE)
    used = {name: value for name, value in found.items() if "FB_USED" in name and "pod=" in name}
    assert [re.findall(r' ?(gpu="\d"|GPU_I_\w+="[^"]+"|pod="\w+")', name) for name in used] == [
        ['gpu="0"', 'GPU_I_PROFILE="1g.10gb"', 'GPU_I_ID="2"', 'pod="p1"'],
        ['gpu="1"', 'GPU_I_PROFILE="1g.10gb"', 'GPU_I_ID="2"', 'pod="p8"'],
    ]
    assert set(used.values()) == {round(round((81559 - 1024) / 7) * 0.8)}


async def test_a_part_of_mig_that_no_container_has_is_idle_and_has_no_pod() -> None:
    resource = "nvidia.com/mig-1g.10gb"
    divided = gpu_node(labels=H100 | {"nvidia.com/gpu.count": "2"}, capacity={resource: "14"})
    fleet = HandFleet([gpu_pod("p", 1, on=divided, resource=resource)], [divided], age=10)
    found = await fleet.series(PAGE)

    def of_parts(metric: str) -> dict[tuple[str, str], float]:
        """Return the values by GPU and part."""
        texts = {name: value for name, value in found.items() if metric in name}
        places = [re.search(r'gpu="(\d)".*GPU_I_ID="(\d)"', name) for name in texts]
        return {
            (place[1], place[2]): value
            for place, value in zip(places, texts.values(), strict=True)
            if place
        }

    every = {(str(gpu), str(part)) for gpu in range(2) for part in range(1, 8)}
    utilization, used, free = map(of_parts, ("GPU_UTIL", "FB_USED", "FB_FREE"))
    assert utilization.keys() == used.keys() == free.keys() == every
    room = round((81559 - 1024) / 7)
    for place in every - {("0", "2")}:
        assert (utilization[place], used[place], free[place]) == (0, 0, room)
    assert utilization["0", "2"] == 90
    assert sum('pod="' in name for name in found if "GPU_UTIL" in name) == 1
    fleet.pods = []
    fleet.changed()
    assert 'pod="' not in (await fleet.get(PAGE)).decode()


async def test_those_that_share_a_gpu_have_a_series_each() -> None:
    shared = gpu_node(labels=H100 | {"nvidia.com/gpu.count": "1"}, capacity={GPU: "2"})
    pods = [gpu_pod(f"p{n}", n, on=shared) for n in range(2)]
    found = await HandFleet(pods, [shared], age=10).series(PAGE)
    assert re.findall(r'pod="(\w+)",vgpu="(\d)"', " ".join(n for n in found if "XID" in n)) == [
        ("p0", "0"),
        ("p1", "1"),
    ]
