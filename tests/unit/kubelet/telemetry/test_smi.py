"""The text of nvidia-smi, by its arguments."""

import csv
import re
from collections.abc import Sequence

import pytest

from kwokctl.fleet.devices import Gpu, gpus
from kwokctl.kubelet.streams.fake_programs import Printed
from kwokctl.kubelet.telemetry.smi import nvidia_smi
from kwokctl.kubelet.telemetry.smi_gpus import MigDevice, SeenGpus, VisibleGpu
from kwokctl.replacing import replace
from tests.support import golden
from tests.support.gpu_readings import reading

LABELS = {
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.memory": "81559",
}
FLEET = gpus("node-0", LABELS, {"nvidia.com/gpu": 8})


def visible(index: int, gpu: Gpu) -> VisibleGpu:
    return VisibleGpu(index=index, reading=reading(gpu))


SEEN = SeenGpus(
    # Those that the container has are not the first of the node, and are numbered from 0.
    gpus=(visible(0, FLEET[2]), visible(1, FLEET[5])),
    now=1_800_000_000.25,
)
FIRST, SECOND = (each.reading.gpu for each in SEEN.gpus)


def smi(*arguments: str, seen: SeenGpus = SEEN) -> Printed:
    return nvidia_smi(arguments, seen)


def output(*arguments: str, seen: SeenGpus = SEEN) -> str:
    found = smi(*arguments, seen=seen)
    assert (found.errors, found.exit_code) == ("", 0)
    return found.output


def rows(*arguments: str, seen: SeenGpus = SEEN) -> list[list[str]]:
    return list(csv.reader(output(*arguments, seen=seen).splitlines(), skipinitialspace=True))


def test_what_it_prints_is_as_it_was_reviewed() -> None:
    commands: Sequence[tuple[str, ...]] = (
        (),
        ("-L",),
        ("--query-gpu=index,name,utilization.gpu,memory.used,power.draw", "--format=csv"),
        ("-i", "7"),
        ("--query-gpu=serial", "--format=csv"),
        ("--help",),
        ("--help-query-gpu",),
    )
    parts = []
    for each in commands:
        found = smi(*each)
        parts.append(f"$ nvidia-smi {' '.join(each)}\n{found.output}{found.errors}")
        parts.append(f"(exit code {found.exit_code})\n")
    golden.check("nvidia-smi.txt", "\n".join(parts))


def test_the_table_is_one() -> None:
    lines = output().splitlines()

    assert {len(line) for line in lines[1:]} == {91}
    assert all(line[0] + line[-1] in {"++", "||"} for line in lines[1:])


def test_a_script_finds_use_and_size_in_the_table() -> None:
    found = output()

    assert re.findall(r"(\d+)MiB / (\d+)MiB", found) == [("40960", "81559")] * 2
    assert re.findall(r"\|\s+(\d+)%", found) == ["82", "85"]
    assert re.findall(r"Driver Version: (\S+)", found) == ["570.86.15"]
    assert re.findall(r"CUDA Version: (\S+)", found) == ["12.8"]


def test_a_long_name_or_version_does_not_break_the_table() -> None:
    gpu = Gpu(
        index=0, uuid="GPU-0", pci_bus_id="00000000:1B:00.0", product="X" * 60, memory=9, peers=()
    )  # fmt: skip

    long = VisibleGpu(index=0, reading=replace(reading(gpu), driver="9" * 63))

    lines = output(seen=replace(SEEN, gpus=(long,))).splitlines()

    assert {len(line) for line in lines[1:]} == {91}


def test_a_name_has_the_hyphens_that_its_label_cannot_tell_from_spaces() -> None:
    gpu = replace(FIRST, product="NVIDIA A100 SXM4 80GB")

    found = output("-L", seen=replace(SEEN, gpus=(visible(0, gpu),)))

    assert "GPU 0: NVIDIA A100-SXM4-80GB (UUID" in found


@pytest.mark.parametrize("option", ["-L", "--list-gpus"])
def test_the_list_has_names_and_uuids(option: str) -> None:
    assert re.findall(
        r"^GPU (\d+): (.+) \(UUID: (GPU-[0-9a-f-]{36})\)$", output(option), re.MULTILINE
    ) == [
        ("0", "NVIDIA H100 80GB HBM3", FIRST.uuid),
        ("1", "NVIDIA H100 80GB HBM3", SECOND.uuid),
    ]


def test_parts_of_a_gpu_are_listed_below_it() -> None:
    parts = (MigDevice(profile="1g.10gb", uuid="MIG-1"), MigDevice(profile="3g.40gb", uuid="MIG-2"))
    seen = replace(SEEN, gpus=(replace(SEEN.gpus[0], parts=parts),))

    found = re.findall(
        r"^ +MIG (\S+) +Device +(\d+): \(UUID: (\S+)\)$",
        output("-L", seen=seen),
        re.MULTILINE,
    )

    assert found == [("1g.10gb", "0", "MIG-1"), ("3g.40gb", "1", "MIG-2")]
    assert "Enabled" in output(seen=seen)


def test_each_field_has_its_unit_in_heading_and_cell() -> None:
    expected = {
        "timestamp": "2027/01/15 08:00:00.250",
        "driver_version": "570.86.15",
        "count": "2",
        "name": "NVIDIA H100 80GB HBM3",
        "index": "0",
        "uuid": FIRST.uuid,
        "pci.bus_id": FIRST.pci_bus_id,
        "utilization.gpu": "82 %",
        "utilization.memory": "40 %",
        "memory.total": "81559 MiB",
        "memory.reserved": "599 MiB",
        "memory.used": "40960 MiB",
        "memory.free": "40000 MiB",
        "temperature.gpu": "58",
        "temperature.memory": "71",
        "power.draw": "612.35 W",
        "power.limit": "700.00 W",
        "clocks.current.graphics": "1980 MHz",
        "clocks.current.sm": "1980 MHz",
        "clocks.current.memory": "2619 MHz",
        "ecc.errors.uncorrected.volatile.total": "0",
    }
    listed = [line.split(" or ")[0] for line in output("--help-query-gpu").splitlines()]
    assert listed == list(expected)

    head, first, _ = rows(f"--query-gpu={','.join(listed)}", "--format=csv")

    assert dict(zip(listed, first, strict=True)) == expected
    units = {name: value.split(" ")[-1] for name, value in expected.items() if value[-1] in "%BWz"}
    assert head == [f"{name} [{units[name]}]" if name in units else name for name in listed]


def test_a_short_name_of_a_field_has_the_heading_of_the_long_one() -> None:
    names = "gpu_name,gpu_uuid,gpu_bus_id,clocks.sm,clocks.gr,clocks.mem,power.draw.instant"

    head, *_ = rows(f"--query-gpu={names}", "--format=csv")

    assert head == [
        "name", "uuid", "pci.bus_id", "clocks.current.sm [MHz]", "clocks.current.graphics [MHz]",
        "clocks.current.memory [MHz]", "power.draw [W]",
    ]  # fmt: skip


def test_a_header_and_units_can_be_left_out() -> None:
    query = "--query-gpu=index,memory.total"

    assert rows(query, "--format=csv,noheader") == [["0", "81559 MiB"], ["1", "81559 MiB"]]
    assert rows(query, "--format=csv,nounits")[:2] == [
        ["index", "memory.total [MiB]"],
        ["0", "81559"],
    ]
    assert output(query, "--format=csv,noheader,nounits") == "0, 81559\n1, 81559\n"
    assert output("--query-gpu", "index", "--format", "csv, noheader") == "0\n1\n"


def test_a_framebuffer_of_unknown_size_is_not_a_number() -> None:
    gpu = replace(FIRST, product="Unheard of", memory=0)
    seen = replace(SEEN, gpus=(visible(0, gpu),))

    assert rows("--query-gpu=memory.total,memory.free", "--format=csv,noheader", seen=seen) == [
        ["[N/A]", "[N/A]"]
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("-i", "1"), ("-i=1",), ("--id=1",), ("--id", SECOND.uuid), ("-i", SECOND.uuid.upper()),
        ("-i", SECOND.pci_bus_id), ("-i", SECOND.pci_bus_id.lower()), ("-i", SECOND.pci_bus_id[4:]),
        ("-i", f"1,{SECOND.uuid}"),
    ],
)  # fmt: skip
def test_a_gpu_is_chosen_by_index_uuid_or_bus(words: tuple[str, ...]) -> None:
    assert output("--query-gpu=uuid", "--format=csv,noheader", *words) == f"{SECOND.uuid}\n"
    assert output("-L", *words).count("GPU 1:") == len(output("-L", *words).splitlines()) == 1
    assert SECOND.pci_bus_id in output(*words)
    assert FIRST.pci_bus_id not in output(*words)


def test_a_device_that_the_container_does_not_have_is_not_found() -> None:
    for name in ("2", FLEET[0].uuid, "0,2", "", "-1"):
        if name:
            assert smi("-i", name) == Printed(output="No devices were found\n", exit_code=6)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-q",), "'-q' is not one"),
        (("dmon",), "'dmon' is not one"),
        (("-f", "/etc/passwd"), "'-f' is not one"),
        (("-i",), "-i needs a value"),
        (("--query-gpu=", "--format=csv"), "--query-gpu needs a value"),
        (("--query-gpu=name",), "needs --format=csv"),
        (("--query-gpu=name", "--format=xml"), "needs --format=csv"),
        (("--query-gpu=name", "--format=csv,pretty"), "needs --format=csv"),
        (("--format=csv",), "--format needs --query-gpu"),
        (("-L", "--query-gpu=name", "--format=csv"), "cannot be combined"),
        (("--query-gpu=name,nothing", "--format=csv"), "'nothing' is not a field"),
        (("--query-gpu=name,", "--format=csv"), "'' is not a field"),
        (("--query-gpu=" + "name," * 300, "--format=csv"), "at most 256 fields"),
        (("--query-compute-apps=pid", "--format=csv"), "'--query-compute-apps=pid' is not one"),
    ],
)
def test_what_it_does_not_know_is_refused(words: tuple[str, ...], problem: str) -> None:
    found = smi(*words)

    assert problem in found.errors
    assert (found.output, found.exit_code) == ("", 2)


def test_a_refused_word_does_not_reach_a_terminal_as_it_is() -> None:
    for word in ("\x1b]0;title\x07", "--query-gpu=\x1b[2J", "\udcff" * 3, "x" * 100_000):
        errors = smi(word, "--format=csv").errors
        assert errors.isprintable() or errors.rstrip("\n").isprintable()
        assert len(errors) < 400
