"""Where pods are placed, and whom reactions hurt: figures by records written by hand."""

from kwokctl.fleet.devices import gpu_uuid
from kwokctl.measure.record.record_lines import PodShape
from tests.support.measured import SECOND, job, life
from tests.support.scored import detail, number
from tests.support.storied import Story


def bind(
    story: Story, pod: int, time: int, node: str, shape: int = 1, end: int | None = None
) -> None:
    """Let a pod be bound to a node."""
    times = [time, time, time, *([] if end is None else [end])]
    for line in life(pod, *(each * SECOND for each in times), shape=shape):
        changed = line.time // SECOND  # type: ignore[union-attr]  # lines of pods have times
        if hasattr(line, "node") and line.node:
            line.node = node
        story.add(changed, line)


def placements() -> Story:
    story = Story()
    for owner, kind in ((1, "ReplicaSet"), (2, "ReplicaSet"), (3, "DaemonSet")):
        story.add(-1, PodShape(owner, kind, f"w{owner}", f"uid-{owner}", 0, "", {}))
    story.fault(10, 1, end=50, landed=2.0)
    story.fault(10, 2, end=50, severity="degraded", landed=2.0)
    return story


def test_a_pod_that_is_bound_to_a_node_with_a_fatal_fault_is_badly_placed_once_that_is_shown() -> (
    None
):
    story = placements()
    for pod, time, node in (
        (1, 11, "n1"),
        (2, 12, "n1"),
        (3, 49, "n1"),
        (4, 50, "n1"),
        (5, 20, "n2"),
    ):
        bind(story, pod, time, node)
    bind(story, 6, 20, "n1", shape=3)

    assert number(story, "bad_placements") == 2
    assert detail(story, "bad_placements") == {"n1": 2}


def test_a_workload_that_comes_to_the_same_bad_node_again_is_a_repeat_offender() -> None:
    story = placements()
    bind(story, 1, 5, "n1", end=11)
    bind(story, 2, 20, "n1")
    bind(story, 3, 21, "n1", shape=2)

    assert (number(story, "bad_placements"), number(story, "repeat_offenders")) == (2, 1)


def test_jobs_that_a_job_set_makes_again_are_one_workload() -> None:
    story = placements()
    for each in (1, 2):
        shape = PodShape(each + 3, "Job", f"job-{each}", f"uid-of-job-{each}", 0, "", {})
        story.add(-1, shape, job(each, 0, owner_uid="uid-of-job-set"))
    bind(story, 1, 5, "n1", shape=4, end=11)
    bind(story, 2, 20, "n1", shape=5)

    assert number(story, "repeat_offenders") == 1


def test_pods_that_no_fault_had_hurt_are_collateral() -> None:
    story = Story()
    story.fault(10, 1, gpus=(1, 2), end=50)
    story.fault(10, 2, scope="node", gpus=(), end=50)
    story.fault(10, 3, severity="benign", end=50)
    for _ in range(5):
        story.evicted(20, 1)
        story.evicted(21, 2)
    story.evicted(20, 3)
    story.evicted(60, 2)
    story.evicted(20, 1, reason="PreemptionByScheduler")

    assert detail(story, "collateral") == {"n1": 3, "n2": 1, "n3": 1}


def test_of_pods_that_say_which_gpus_they_have_those_of_a_broken_one_were_hurt() -> None:
    story = Story()
    story.fault(10, 1, gpus=(1, 2))
    story.fault(10, 2, scope="node", gpus=())
    good, broken = gpu_uuid("n1", 0), gpu_uuid("n1", 2)
    for devices in (f"{good},{broken}", broken, f"{broken}::3", gpu_uuid("n1", 1)):
        story.evicted(20, 1, devices=devices)
    assert detail(story, "collateral") == {}

    for devices in (good, "none", gpu_uuid("n2", 2), "rdma-1"):
        story.evicted(21, 1, devices=devices)
        story.evicted(21, 2, devices=devices)
    assert detail(story, "collateral") == {"n1": 4}, "a fault of the node hurts all"


def test_parts_of_gpus_and_pods_that_do_not_say_count_as_one_for_each_broken_gpu() -> None:
    story = Story()
    story.fault(10, 1, gpus=(1, 2))
    for devices in ("MIG-1", "", gpu_uuid("n1", 1)):
        story.evicted(20, 1, devices=devices)
    assert detail(story, "collateral") == {}

    story.evicted(21, 1, devices="MIG-2")
    assert detail(story, "collateral") == {"n1": 1}
