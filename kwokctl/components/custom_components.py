"""Describes the components of users, and those of add-ons, in the form of kwokctl's own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

import msgspec

from kwokctl.components.cluster_identities import add_on_user
from kwokctl.components.command_line import flags
from kwokctl.components.metrics_page import MetricsPage, Pages
from kwokctl.components.setting import Setting
from kwokctl.config.add_ons.braced_words import WORD
from kwokctl.config.extras.add_on_parts import AddOnParts, Webhooks
from kwokctl.config.extras.extra import MANIFESTS, ExtraComponent, ExtraMetrics
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.host.ports import LOOPBACK, dialled, joined
from kwokctl.json_value import Json
from kwokctl.model import KUBE_APISERVER, Component, ComponentName, HttpProbe, OwnManner, Port
from kwokctl.replacing import replace

AUTHORITY = "CA"
"""Stands in `caBundle` for the authority of the cluster, which is not known to descriptions."""
_RBAC = "rbac.authorization.k8s.io"


def with_add_on_parts(
    setting: Setting, component: Component, parts: AddOnParts, manifests: Sequence[str]
) -> Component:
    """Add the identity, files, probe and objects to the description of a component.

    Raises ConfigError for an unknown placeholder.
    """
    filled = _Words(setting, component, parts).fill
    name, paths = component.name, setting.paths
    folder = paths.add_on(name)
    files = {folder / file: filled(text) for file, text in parts.files.items()}
    kept = _kept_manifests(setting, name)
    secrets = [paths.pki / file for file in ("ca.crt", f"{name}.crt", f"{name}.key")]
    mounts = [*secrets, paths.component_kubeconfig(name)]
    if files or parts.webhooks:
        mounts.append(folder)
    return replace(
        component,
        args=tuple(map(filled, component.args)),
        env={key: filled(value) for key, value in component.env.items()},
        mounts=(*component.mounts, *map(setting.mount, mounts)),
        ready=_probes(setting, component, parts),
        after=component.after | {KUBE_APISERVER},
        uses=component.uses | {KUBE_APISERVER},
        objects=AddOnObjects(setting, component, parts, [filled(text) for text in manifests]),
        files={**files, **kept},
    )


def _kept_manifests(setting: Setting, name: ComponentName) -> Mapping[Path, str]:
    """Return the manifests of its module, which a cluster keeps from its creation on.

    Only then they are among the artifacts; the store may lose them later.
    """
    artifact = setting.artifacts.get(f"{name}{MANIFESTS}")
    if artifact is None or not (file := Path(artifact.command[0])).is_file():
        return {}
    return {setting.paths.add_on_manifests(name): file.read_text(encoding="utf-8")}


class _Words(msgspec.Struct, frozen=True):
    """The values of the placeholders, words in braces, in the description of one component."""

    setting: Setting
    component: Component
    parts: AddOnParts

    def fill(self, text: str) -> str:
        """Put in what the words stand for; other braces stay."""
        return WORD.sub(lambda found: self._value(found[1]), text)

    def _value(self, word: str) -> str:
        name, setting = self.component.name, self.setting
        values = {
            "kubeconfig": setting.kubeconfig(name),
            "ca": setting.pki("ca.crt"),
            "cert": setting.pki(f"{name}.crt"),
            "key": setting.pki(f"{name}.key"),
            "bind": setting.bind(name),
            "cluster": setting.paths.root.name,
            "certificates": str(setting.site.path(setting.paths.webhook_certificates(name))),
            **{f"port.{port.name}": str(port.port) for port in self.component.ports},
            **{f"file.{file}": self._file(file) for file in self.parts.files},
            **dict(self._hosts()),
        }
        if word not in values:
            raise ConfigError(
                f"the add-on '{self.parts.name}' has '{{{word}}}' in the component '{name}', which "
                "is not a known placeholder",
                hint=f"words in braces are: {', '.join(sorted(values))}",
            )
        return values[word]

    def _hosts(self) -> Iterator[tuple[str, str]]:
        """Yield where this machine reaches components of add-ons."""
        at = dialled(self.setting.options.bind_address)
        for extra in self.setting.options.extras:
            for port in extra.ports:
                yield f"host.{extra.name}.{port.name}", joined(at, port.host_port or port.port)

    def _file(self, file: str) -> str:
        return str(self.setting.site.path(self.setting.paths.add_on(self.component.name) / file))


class AddOnObjects(Sequence[Mapping[str, Json]]):
    """The objects that a component needs, which are read only where they are needed.

    They are its rights, those of its own manifests, and those of its module.
    """

    def __init__(
        self,
        setting: Setting,
        component: Component,
        parts: AddOnParts,
        manifests: Sequence[str],
    ) -> None:
        self._setting = setting
        self._component = component
        self._parts = parts
        self._manifests = manifests

    @cached_property
    def _all(self) -> tuple[Mapping[str, Json], ...]:
        own = (
            *rights(self._component.name, self._parts),
            *(body for text in self._texts() for body in yaml.load_all(text) if body is not None),
        )
        dialled = _dialled(self._setting, self._component, self._parts)
        return tuple(_reached(each, self._parts.webhooks, dialled) for each in own)

    def _texts(self) -> Iterator[str]:
        yield from self._manifests
        name = self._component.name
        file = self._setting.paths.add_on_manifests(name)
        if new := _kept_manifests(self._setting, name):
            yield new[file]
        elif self._parts.manifest_source and file.is_file():
            yield file.read_text(encoding="utf-8")

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Json]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Json]]: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Json] | Sequence[Mapping[str, Json]]:
        return self._all[at]

    def __len__(self) -> int:
        return len(self._all)


def rights(name: ComponentName, parts: AddOnParts) -> Iterator[dict[str, Json]]:
    """Yield the role and the bindings of a component's user."""
    user = add_on_user(name)
    if parts.rules:
        yield {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": user},
            "rules": list(parts.rules),
        }
    for role in (*([user] if parts.rules else []), *parts.cluster_roles):
        yield {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": user if role == user else f"{user}:{role}"},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
        }


def _probes(setting: Setting, component: Component, parts: AddOnParts) -> tuple[HttpProbe, ...]:
    if not (page := parts.readiness):
        return ()
    port = _port(component, page.port)
    at = setting.site.address(component.name, port.host_port or port.port)
    url = f"{page.scheme}://{at}/{page.path.removeprefix('/')}"
    return (setting.probe(url) if page.scheme == "https" else HttpProbe(url=url),)


def _dialled(setting: Setting, component: Component, parts: AddOnParts) -> str:
    """Return the `host:port` at which the API server reaches the webhooks of a component."""
    if not parts.webhooks:
        return ""
    port = _port(component, parts.webhooks.port)
    return setting.site.address(component.name, port.host_port or port.port, dialler=KUBE_APISERVER)


def _port(component: Component, name: str) -> Port:
    return next(port for port in component.ports if port.name == name)


def _reached(
    body: Mapping[str, Json], webhooks: Webhooks | None, dialled: str
) -> Mapping[str, Json]:
    """Make the API server dial the component where a webhook configuration names its Service.

    Both forms are described in
    https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#contacting-the-webhook
    """
    if webhooks is None:
        return body
    changed: dict[str, Json] = {}
    for key, value in body.items():
        if key == "clientConfig" and _service(value) in webhooks.services:
            path = str(value["service"].get("path") or "").removeprefix("/")
            changed[key] = {"url": f"https://{dialled}/{path}", "caBundle": AUTHORITY}
        elif isinstance(value, Mapping):
            changed[key] = _reached(value, webhooks, dialled)
        elif isinstance(value, list):
            changed[key] = [
                _reached(item, webhooks, dialled) if isinstance(item, Mapping) else item
                for item in value
            ]
        else:
            changed[key] = value
    return changed


def _service(client: Json) -> str:
    service = client.get("service") if isinstance(client, Mapping) else None
    return str(service.get("name")) if isinstance(service, Mapping) else ""


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
