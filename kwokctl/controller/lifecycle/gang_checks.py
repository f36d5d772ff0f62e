"""Finds out what the checks of a pod before a training depend on: the other pods of its gang, and the faults of their nodes."""

from collections.abc import Mapping

from kwokctl.controller.known_trainings.rank_reader import holder_of
from kwokctl.controller.known_trainings.trainings import Trainings
from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.lifecycle.pod_faults.node_faults import NodeFaults
from kwokctl.controller.lifecycle.preflight_run import GangChecks, NodeHit
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.training.check_times import CheckTime
from kwokctl.training.preflight import PREFLIGHT, read_checks, timeout_of


def gang_checks(
    pod: ObjectInJson, node: str, devices: Devices, trainings: Trainings, faults: NodeFaults
) -> GangChecks | None:
    """Return what the checks of a pod on a node depend on; None if it has none.

    Raises ExpressionError where its annotations cannot be read.
    """
    meta, spec = pod["metadata"], pod["spec"]
    annotations: Mapping[str, str] = meta.get("annotations") or {}
    if PREFLIGHT not in annotations:
        return None
    names = [each["name"] for each in spec.get("initContainers") or ()]
    checks = read_checks(annotations, names)
    regular = [each["name"] for each in spec["containers"]]
    key, own = holder_of(meta), f"{meta['namespace']}/{meta['name']}"
    holder = None if key is None else trainings.holders.get(key)
    runs: dict[str, list[CheckTime]] = {name: [] for name in checks}
    others: list[NodeHit] = []
    for each in trainings.peers(key) if "all-reduce" in checks.values() else ():
        for name in checks.keys() & each.checks.keys():
            runs[name] += each.checks[name]
        if each.pod != own and each.node:
            faults.attend(node, each.node)
            hits = faults.checked(each.node, each.devices, regular)
            others += [NodeHit(each.node, hit) for hit in hits]
    return GangChecks(
        checks=dict(checks),
        timeout=timeout_of(annotations),
        product=faults.product(node),
        size=0 if holder is None else holder.size,
        runs=runs,
        own=[NodeHit(node, hit) for hit in faults.checked(node, devices, regular)],
        others=others,
    )
