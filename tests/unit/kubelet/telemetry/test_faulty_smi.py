"""nvidia-smi of GPUs with open faults."""

import csv

import pytest

from kwokctl.faults.classes.class_schema import FaultMetric
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.kubelet.fleet.views import PodView
from kwokctl.kubelet.streams.fake_programs import Printed
from kwokctl.kubelet.streams.stream_targets import ContainerTarget
from kwokctl.kubelet.telemetry.nvidia_smi import NvidiaSmi
from tests.support.gpu_nodes import gpu_node, gpu_pod
from tests.support.hit_nodes import hit, hit_by
from tests.support.usage_fleet import START, HandFleet, running

LOST = hit(gpu=3, device="lost")
MISSING = hit(gpu=3, device="missing")


async def smi(
    *arguments: str, faults: tuple[OpenEntry, ...], pod: PodView | None = None
) -> Printed:
    """Return what it prints for a container that has the GPUs 2 and 3."""
    found = pod or gpu_pod("train", 2, 3)
    fleet = HandFleet([found], [gpu_node(annotations=hit_by(*faults))])
    target = ContainerTarget(found, found.containers[0])
    return await NvidiaSmi(fleet, fleet.gpus, lambda: START)(target, arguments)


def metric(name: str, change: str, value: str = "", gpu: int | None = 3) -> OpenEntry:
    found = FaultMetric(name=name, change=change, value=value)  # type: ignore[arg-type]
    return hit(gpu=gpu, metrics=(found,))


@pytest.mark.parametrize("arguments", [(), ("--query-gpu=index", "--format=csv"), ("-i", "1")])
async def test_a_lost_gpu_is_all_that_it_speaks_of(arguments: tuple[str, ...]) -> None:
    found = await smi(*arguments, faults=(LOST,))
    assert found.exit_code == 15
    assert found.output.startswith("Unable to determine the device handle for GPU 0000:")
    assert found.output.endswith(": GPU is lost.  Reboot the system to recover this GPU\n")


async def test_the_other_gpu_can_be_asked_for() -> None:
    found = await smi("-i", "0", "--query-gpu=index", "--format=csv,noheader", faults=(LOST,))
    assert (found.output, found.exit_code) == ("0\n", 0)


async def test_the_list_has_the_others() -> None:
    found = await smi("-L", faults=(LOST,))
    first, second = found.output.splitlines()
    assert first.startswith("GPU 0: NVIDIA H100")
    assert second.startswith("Unable to determine")


async def test_a_missing_gpu_is_not_listed() -> None:
    found = await smi("-L", faults=(MISSING,))
    assert len(found.output.splitlines()) == 1
    assert found.exit_code == 0


async def test_a_container_whose_gpus_are_all_missing_has_none() -> None:
    found = await smi(faults=(MISSING,), pod=gpu_pod("train", 3))
    assert (found.output, found.exit_code) == ("No devices were found\n", 6)


async def test_a_container_that_has_failed_has_no_program() -> None:
    ended = running(is_running=False, finished_at=START)
    found = await smi(faults=(LOST,), pod=gpu_pod("train", 3, container=ended))
    assert found.exit_code == 127
    assert found.errors.endswith(" does not run\n")


async def test_values_are_those_of_the_exporter() -> None:
    fields = "temperature.gpu,clocks.sm,ecc.errors.uncorrected.volatile.total"
    faults = (
        metric("DCGM_FI_DEV_GPU_TEMP", "set", "90"),
        metric("DCGM_FI_DEV_SM_CLOCK", "fall"),
        metric("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "add", "2"),
    )
    found = await smi(f"--query-gpu={fields}", "--format=csv,noheader,nounits", faults=faults)
    rows = list(csv.reader(found.output.splitlines(), skipinitialspace=True))
    assert rows[1] == ["90", "990", "2"]
    assert rows[0][1:] == ["1980", "0"]


async def test_a_value_that_the_driver_cannot_read_is_an_error() -> None:
    gone = metric("DCGM_FI_DEV_(GPU_TEMP|POWER_USAGE|GPU_UTIL|FB_USED)", "gone")
    table = (await smi("-i", "1", faults=(gone,))).output
    assert table.count("ERR!") == 4
    assert len({len(line) for line in table.splitlines()[1:]}) == 1
    query = "--query-gpu=power.draw,temperature.gpu"
    found = await smi("-i", "1", query, "--format=csv,noheader", faults=(gone,))
    assert found.output == "[Unknown Error], [Unknown Error]\n"


async def test_an_exporter_that_is_down_does_not_matter() -> None:
    down = metric("DCGM_FI_.*", "gone", gpu=None)
    assert "ERR!" not in (await smi(faults=(down,))).output
