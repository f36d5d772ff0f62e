"""Describes kube-scheduler."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from kwokctl.components import cluster_identities, kubernetes_releases
from kwokctl.components.api_client import api_client
from kwokctl.components.command_line import Value
from kwokctl.components.definition import Definition
from kwokctl.components.metrics_page import own_page
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import (
    COMPONENTS,
    ComponentOptions,
    binary_option,
    image_option,
    option,
    port_option,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.model import KUBE_SCHEDULER, Component, Identity
from kwokctl.replacing import replace


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeSchedulerOptions(ComponentOptions):
    """The options of the scheduler."""

    component: ClassVar = KUBE_SCHEDULER

    port: int = port_option("Scheduler")
    config: str = option(
        "",
        "KubeSchedulerConfiguration file; kwokctl fills in its kubeconfig",
        group=COMPONENTS,
        metavar="FILE",
        name="kube_scheduler_config",
    )
    binary: str = binary_option("kube-scheduler")
    image: str = image_option("kube-scheduler")


def kube_scheduler(setting: Setting) -> Component:
    """Describe the scheduler."""
    health = kubernetes_releases.health(KUBE_SCHEDULER, setting.kube_minor)
    if not setting.options.of(KubeSchedulerOptions).config:
        return api_client(setting, KUBE_SCHEDULER, {}, health=health)
    mount = setting.mount(setting.paths.scheduler_config)
    own: dict[str, Value] = {"config": str(mount.mount_path)}
    made = api_client(setting, KUBE_SCHEDULER, own, health=health)
    return replace(made, mounts=(*made.mounts, mount))


def _identities(options: ClusterOptions) -> tuple[Identity, ...]:
    return (cluster_identities.serving(options, KUBE_SCHEDULER, "system:kube-scheduler"),)


DEFINITION = Definition(
    options=KubeSchedulerOptions,
    build=kube_scheduler,
    identities=_identities,
    is_client=True,
    metrics=partial(own_page, KUBE_SCHEDULER),
)
