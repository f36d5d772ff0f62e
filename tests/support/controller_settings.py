"""Settings of a controller that reads no flags and serves nothing."""

from collections.abc import Sequence
from typing import Any

from kwokctl.controller.settings import Settings
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.embedded.selection import select
from kwokctl.replacing import replace


def controller_settings(stages: Sequence[Stage], **others: Any) -> Settings:
    """Return the settings with which all nodes are played by these Stages, without Leases, unless `others` say more."""
    usual = Settings(
        kubeconfig=None,
        master="",
        selection=select(all_nodes=True),
        stages=tuple(stages),
        cidr="10.0.0.0/24",
        kubelet=Kubelet(ip="192.0.2.200", name="localhost", port=10247),
        server=None,
        lease_seconds=0,
        holder_identity="",
        verbosity=0,
    )
    return replace(usual, **others)
