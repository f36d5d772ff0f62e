"""What `fault explain` knows: signals and their times, reactions of Kubernetes, and the changes of a node."""

import json

import pytest

from kwokctl.faults.explaining.explanation import FaultExplanation, explain
from tests.support import golden
from tests.support.faults import CATALOGUE


def explained(name: str, *dialects: str) -> FaultExplanation:
    found = CATALOGUE.find(name)
    wanted = [CATALOGUE.dialect(each) for each in dialects]
    return explain(found, wanted, CATALOGUE.followers(found))


def test_a_signal_comes_between_its_delay_and_the_next_look_of_the_agent() -> None:
    (aks,) = explained("gpu-missing", "aks").signals
    (gone,) = explained("device-plugin-down", "device-plugin").signals

    assert (aks.earliest, aks.latest) == ("0s", "1m0s")
    assert (gone.earliest, gone.latest) == ("0s", "0s")


def test_a_dialect_without_a_signal_is_blind() -> None:
    found = explained("xid-79", "eks", "gke", "npd")

    assert found.blind == ("gke", "npd")
    assert [each.dialect for each in found.signals] == ["eks"]


def test_two_dialects_may_disagree() -> None:
    found = explained("xid-109", "eks", "device-plugin")

    assert [each.field for each in found.changes] == ["conditions[AcceleratedHardwareReady]"]
    assert found.blind == ("device-plugin",)


def test_a_change_shows_what_lies_beneath() -> None:
    changes = {
        each.field: (each.before, each.shown)
        for each in explained("gpu-missing", "aks", "device-plugin").changes
    }

    assert changes["allocatable[nvidia.com/gpu]"] == ("8", "7")
    assert changes["conditions[GPUMissing]"][0]["reason"] == "NoGPUMissing"
    assert changes["conditions[GPUMissing]"][1]["message"] == (
        "Expected to see 8 GPUs but found 7. FaultCode: NHC2009"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "not-ready",
            "taint node.kubernetes.io/not-ready:NoExecute, for one node of a zone in 10 s",
        ),
        ("unreachable", "after 40 to 55 s without status and Lease"),
        ("rack-power", "a whole zone silent: one node in 10 s; all zones silent: no evictions"),
        ("memory-pressure", "taint node.kubernetes.io/memory-pressure:NoSchedule"),
        ("gpu-missing", "the scheduler counts fewer devices"),
        ("xid-79", "the scheduler places no further pods there that do not tolerate the taint"),
        ("app-failed", "a Job counts it against its backoffLimit"),
        ("image-pull", "nothing"),
    ],
)
def test_it_says_what_kubernetes_does(name: str, words: str) -> None:
    found = explained(name, "kubelet", "device-plugin", "dra").reactions

    assert [each for each in found if words in each]


def test_a_device_taint_without_effect_has_no_reaction() -> None:
    assert not [each for each in explained("xid-13", "dra").reactions if "scheduler" in each]


def test_a_missing_gpu_is_not_counted_whichever_agents_look() -> None:
    (eks,) = explained("gpu-missing", "eks").signals

    assert eks.shows == (
        "condition AcceleratedHardwareReady=False NvidiaDeviceCountMismatch 'expected 8 devices, found 7'",
    )


def test_it_says_what_follows() -> None:
    assert explained("xid-79").follows == (
        "xid-154 on all GPUs of the node, after 700ms (recovery=Node Reboot Required)",
        "xid-45 on its peers of NVLink, after 2s",
        "xid-145 on its peers of NVLink, after 2s",
    )


@pytest.mark.parametrize("name", CATALOGUE.dialect_names)
def test_the_texts_of_every_class_are_as_expected(name: str) -> None:
    """The signals of a dialect, and the node that the overlay shows for it."""
    dialect = CATALOGUE.dialect(name)
    lines = []
    for found in CATALOGUE.classes():
        if name not in found.spec.signals:
            continue
        lines.append(f"{found.name}:")
        about = explain(found, [dialect])
        for signal in about.signals:
            lines.append(f"  after {signal.earliest} to {signal.latest}")
            lines += [f"    {each}" for each in signal.shows]
        for change in about.changes:
            values = (json.dumps(each, sort_keys=True) for each in (change.before, change.shown))
            lines.append(f"  {change.field}: {' -> '.join(values)}")
    golden.check(f"faults/{name}.txt", "".join(f"{line}\n" for line in lines))


def test_what_happens_to_machines_and_pods_is_as_expected() -> None:
    """The parts of every class that do not depend on a dialect."""
    lines = []
    for found in CATALOGUE.classes():
        about = explain(found, [])
        lines.append(f"{found.name}: {about.layer} {about.scope} {about.severity} {about.lifetime}")
        lines += [f"  {each}" for each in (*about.effects, *about.follows)]
    golden.check("faults/effects.txt", "".join(f"{line}\n" for line in lines))
