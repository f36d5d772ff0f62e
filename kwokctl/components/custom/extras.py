"""Describes the components that a user of a cluster has described, as its other components are."""

from collections.abc import Iterable

from kwokctl.components.custom.add_ons import with_add_on_parts
from kwokctl.components.flags import flags
from kwokctl.components.metrics.metrics_page import MetricsPage, Pages
from kwokctl.components.setting import Setting
from kwokctl.config.extras.extra import ExtraComponent, ExtraMetrics
from kwokctl.expr import yaml
from kwokctl.host.ports import LOOPBACK
from kwokctl.json_value import Json
from kwokctl.model import KUBE_APISERVER, Component, ComponentName, OwnManner, Port


def extra_component(setting: Setting, extra: ExtraComponent) -> Component:
    """Describe a component of the user's own, or of an add-on."""
    component = _described(setting, extra)
    if extra.add_on is None:
        return component
    return with_add_on_parts(setting, component, extra.add_on, extra.manifests)


def _described(setting: Setting, extra: ExtraComponent) -> Component:
    objects = () if extra.add_on else _objects(extra)
    needed = extra.links | {KUBE_APISERVER} if objects else extra.links
    return Component(
        name=extra.name,
        artifact=setting.artifacts[extra.name],
        args=(*extra.args, *flags({}, setting.user_args(extra.name))),
        env=extra.envs,
        ports=_ports(setting, extra),
        mounts=tuple(volume.mount for volume in extra.volumes),
        after=needed,
        uses=needed,
        objects=objects,
        own=OwnManner(entry=extra.command, user=extra.user, folder=extra.work_dir),
    )


def extra_page(extra: ExtraComponent) -> MetricsPage | None:
    """Return where Prometheus finds its metrics; None if its user does not say."""
    return _page(extra.metric) if extra.metric else None


def extra_discoveries(extras: Iterable[ExtraComponent]) -> Pages:
    """Return where Prometheus finds the names of further pages, by the name of the job for them."""
    return {
        ComponentName(f"{each.name}-metrics-discovery"): _page(each.discovery, is_discovery=True)
        for each in extras
        if each.discovery
    }


def _page(metrics: ExtraMetrics, *, is_discovery: bool = False) -> MetricsPage:
    return MetricsPage(
        address=metrics.host,
        path=metrics.path,
        client="",
        is_unverified=metrics.scheme == "https",
        is_discovery=is_discovery,
    )


def _ports(setting: Setting, extra: ExtraComponent) -> tuple[Port, ...]:
    """Return its ports; those of a process of this host are the host's."""
    if setting.site.bind(extra.name) != LOOPBACK:
        return extra.ports
    return tuple(Port(name=each.name, port=each.port, host_port=each.port) for each in extra.ports)


def _objects(extra: ExtraComponent) -> tuple[Json, ...]:
    bodies = (body for text in extra.manifests for body in yaml.load_all(text))
    return tuple(body for body in bodies if body is not None)
