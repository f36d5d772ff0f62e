"""nvidia-smi in the pods of a real cluster, by kubectl exec."""

import csv
import json
import re
from collections.abc import Sequence

import pytest

from kwokctl.fleet.devices import GPU, device_ids
from tests.support.installed import Finished, Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e]

NODE = "dgx-h100-000000"
FREE_FIRST = device_ids(NODE, {}, {GPU: 8}, GPU)


@pytest.fixture(scope="module")
def cluster(with_own_faults: Installed) -> Installed:
    cluster = with_own_faults
    cluster.ok("scale", "dgx-h100", "--replicas", "1", "--wait")
    create(cluster, "train", FREE_FIRST[:2])
    create(cluster, "serve", FREE_FIRST[2:3])
    # A document of this cluster is for the pod of this name.
    create(cluster, "own", FREE_FIRST[3:4])
    create(cluster, "plain", ())
    return cluster


def create(cluster: Installed, name: str, devices: Sequence[str]) -> None:
    """Create a pod that has these devices; the second of its containers has none."""
    limits = {"resources": {"limits": {GPU: str(len(devices))}}} if devices else {}
    containers = [{"name": "main", "image": "x", **limits}, {"name": "side", "image": "x"}]
    given = {"kwokctl.dev/devices": json.dumps({"main": {GPU: list(devices)}})} if devices else {}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": given},
        "spec": {"nodeName": NODE, "containers": containers},
    }
    cluster.create(pod)
    cluster.wait_for("Ready", f"pod/{name}")


def smi(cluster: Installed, pod: str, *arguments: str, container: str = "main") -> Finished:
    words = ("exec", pod, "-c", container, "--", "nvidia-smi", *arguments)
    return cluster.run("kubectl", *words)


def test_a_container_sees_its_own_gpus_and_counts_them_from_0(cluster: Installed) -> None:
    for pod, devices in (("train", FREE_FIRST[:2]), ("serve", FREE_FIRST[2:3])):
        done = smi(cluster, pod, "-L")

        assert done.code == 0, done.err
        assert done.out.splitlines() == [
            f"GPU {index}: NVIDIA H100 80GB HBM3 (UUID: {device})"
            for index, device in enumerate(devices)
        ]


def test_a_script_reads_what_each_gpu_does(cluster: Installed) -> None:
    query = "--query-gpu=uuid,memory.total,memory.used,memory.free,utilization.gpu,power.draw,temperature.gpu"

    done = smi(cluster, "train", query, "--format=csv,noheader,nounits")

    rows = list(csv.reader(done.out.splitlines(), skipinitialspace=True))
    assert tuple(uuid for uuid, *_ in rows) == FREE_FIRST[:2]
    for _, *texts in rows:
        total, used, free, utilization, power, temperature = map(float, texts)
        assert total == 81559
        assert 0 < used + free <= total
        assert 0 <= utilization <= 100
        assert power > 0
        assert 10 < temperature < 100


def test_the_table_shows_the_gpus(cluster: Installed) -> None:
    done = smi(cluster, "train")

    assert done.code == 0, done.err
    assert len(re.findall(r"\d+MiB / +81559MiB", done.out)) == 2


def test_a_question_that_it_does_not_know_fails(cluster: Installed) -> None:
    done = smi(cluster, "train", "--query-gpu=colour", "--format=csv")

    assert done.code == 2
    assert "'colour' is not a field" in done.err


def test_another_gpu_of_the_node_is_not_found(cluster: Installed) -> None:
    done = smi(cluster, "train", "-i", FREE_FIRST[2])

    assert (done.code, done.out) == (6, "No devices were found\n")


@pytest.mark.parametrize(("pod", "container"), [("plain", "main"), ("train", "side")])
def test_a_container_without_a_gpu_does_not_have_it(
    cluster: Installed, pod: str, container: str
) -> None:
    done = smi(cluster, pod, container=container)

    assert done.code == 127
    assert "nvidia-smi: not found" in done.err


def test_a_document_comes_before_it(cluster: Installed) -> None:
    done = smi(cluster, "own", "-L")

    assert done.code == 1
    assert "there is no program 'nvidia-smi'" in done.err
