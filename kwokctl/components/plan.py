"""Which components a cluster has, and their plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kwokctl.components.etcd import etcd
from kwokctl.components.garbage import garbage_environment
from kwokctl.components.kube_apiserver import kube_apiserver
from kwokctl.components.kube_clients import kube_controller_manager, kube_scheduler
from kwokctl.components.kwok_controller import kwok_controller
from kwokctl.components.setting import Setting
from kwokctl.config.limits import parse_limits
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import NotServedError, UsageError
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    ClusterName,
    Component,
    ComponentName,
    Limits,
    Plan,
)

BUILDERS: Mapping[ComponentName, Callable[[Setting], Component]] = {
    ETCD: etcd,
    KUBE_APISERVER: kube_apiserver,
    KUBE_CONTROLLER_MANAGER: kube_controller_manager,
    KUBE_SCHEDULER: kube_scheduler,
    KWOK_CONTROLLER: kwok_controller,
}

NOT_SERVED = (
    "metrics-server",
    "prometheus",
    "jaeger",
    "kube-apiserver-insecure-proxy",
    "kueue",
    "kueueviz-frontend",
    "kueueviz-backend",
    "jobset",
    "lws",
    "scheduler-plugins",
    "descheduler",
    "node-readiness-controller",
)


def selected(options: ClusterOptions) -> tuple[ComponentName, ...]:
    """Return the components that the options ask for.

    Raises UsageError for an unknown one or when etcd or the API server would be left out, and
    NotServedError for one of the original's that is not supported yet.
    """
    disabled = set(options.disable)
    if options.disable_kube_scheduler:
        disabled.add(KUBE_SCHEDULER)
    if options.disable_kube_controller_manager:
        disabled.add(KUBE_CONTROLLER_MANAGER)
    wanted = [*options.components, *options.enable]
    for name in (*wanted, *disabled):
        _check_known(name)
    for name in (ETCD, KUBE_APISERVER):
        if name in disabled or name not in wanted:
            raise UsageError(f"a cluster cannot be without '{name}'")
    return tuple(name for name in BUILDERS if name in wanted and name not in disabled)


def build_plan(cluster: ClusterName, names: Sequence[ComponentName], setting: Setting) -> Plan:
    """Describe a cluster with the named components."""
    limits = known_limits(setting.options)
    in_go = garbage_environment(setting.options)
    return Plan(
        cluster=cluster,
        components={
            name: _published(
                replace(
                    BUILDERS[name](setting),
                    env={} if name == KWOK_CONTROLLER else in_go,
                    limits=limits.get(name, Limits()),
                ),
                setting,
            )
            for name in names
        },
        restart=setting.options.restart == "on-failure",
    )


def _published(component: Component, setting: Setting) -> Component:
    """Have the ports of a component published at the address that the user chose."""
    at = setting.options.bind_address
    ports = tuple(replace(port, host_address=at) for port in component.ports)
    return replace(component, ports=ports)


def known_limits(options: ClusterOptions) -> Mapping[str, Limits]:
    """Return the limits of components by name; UsageError for what is not a limit.

    The controller has one only where it is named: it serves the whole fleet.
    """
    return parse_limits(options, tuple(BUILDERS), spared=(KWOK_CONTROLLER,))


def _check_known(name: str) -> None:
    if name in BUILDERS:
        return
    if name in NOT_SERVED:
        raise NotServedError(f"the component '{name}' is not supported yet")
    hint = did_you_mean(name, BUILDERS) or f"choose from: {', '.join(BUILDERS)}"
    raise UsageError(f"no component called '{name}'", hint=hint)
