"""Describes kube-scheduler."""

from dataclasses import dataclass
from typing import ClassVar

from kwokctl.components import identities
from kwokctl.components.api_client import api_client
from kwokctl.components.definition import Definition
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import ComponentOptions, binary_option, image_option, port_option
from kwokctl.config.options import ClusterOptions
from kwokctl.model import KUBE_SCHEDULER, Component, Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeSchedulerOptions(ComponentOptions):
    """The options of the scheduler."""

    component: ClassVar = KUBE_SCHEDULER

    port: int = port_option("Scheduler")
    binary: str = binary_option("kube-scheduler")
    image: str = image_option("kube-scheduler")


def kube_scheduler(setting: Setting) -> Component:
    """Describe the scheduler."""
    return api_client(setting, KUBE_SCHEDULER, {}, health="readyz")


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    return (identities.serving(options, KUBE_SCHEDULER, "system:kube-scheduler"),)


DEFINITION = Definition(
    options=KubeSchedulerOptions,
    build=kube_scheduler,
    identities=_identities,
    is_client=True,
)
