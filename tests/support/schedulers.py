"""A cluster with the schedulers of an example beside the default one, which place gangs of Kubernetes as a whole.

Pods live as on a kubelet, or as Stages say, and the API server has no devices of theirs.
"""

from collections.abc import Sequence
from pathlib import Path

from tests.support.installed import Installed

EXAMPLE = Path(__file__).parents[2] / "examples/measure/packing"
_DEFAULT = "- schedulerName: default-scheduler\n"
_GATES = (
    "GenericWorkload=true", "GangScheduling=true",
    # As those before Kubernetes 1.36 do.
    "ResourceHealthStatus=false", "ResourceHealthStatusMessage=false",
)  # fmt: skip
_PODGROUPS = "scheduling.k8s.io/v1alpha2=true"


def options(cluster: Installed) -> Sequence[str]:
    """Return how the cluster is created."""
    config = cluster.folder / "scheduler.yaml"
    config.write_text((EXAMPLE / "scheduler.yaml").read_text("utf-8") + _DEFAULT)
    return (
        *("--stage", "pod-kubelet", "--stage", "pod-chaos"),
        *("--kube-scheduler-config", str(config)),
        *("--kube-feature-gates", ",".join(_GATES), "--kube-runtime-config", _PODGROUPS),
    )
