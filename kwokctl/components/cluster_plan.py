"""Selects the components of a cluster, and describes them in a plan."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.components.catalog import catalog, requested
from kwokctl.components.custom_components import extra_component, extra_discoveries, extra_page
from kwokctl.components.metrics_page import MetricsPage
from kwokctl.components.setting import Setting
from kwokctl.config.add_ons.folder import of_components, shipped
from kwokctl.config.component_limits import parse_limits
from kwokctl.config.declaring import declared
from kwokctl.config.groups import SelectionOptions
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import ComponentPatch
from kwokctl.errors import UsageError
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_API_PROXY,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    ClusterName,
    Component,
    ComponentName,
    Limits,
    Plan,
)
from kwokctl.replacing import replace

SELECTION = frozenset(each.field for each in declared(SelectionOptions))
"""The options that say which components a cluster has."""


def selected(options: ClusterOptions) -> tuple[ComponentName, ...]:
    """Return the components that the options ask for.

    Raises UsageError for an unknown one or when one would be left out that is required, and
    NotServedError for one of the original's that is not supported.
    """
    choice, known = options.selection, catalog()
    disabled = {name for name in choice.disable if name in known or not _is_of_add_on(name)}
    if choice.disable_kube_scheduler:
        disabled.add(KUBE_SCHEDULER)
    if choice.disable_kube_controller_manager:
        disabled.add(KUBE_CONTROLLER_MANAGER)
    wanted = requested(options)
    for name in (*wanted, *disabled):
        _check_known(name)
    for name in (each.name for each in known.values() if each.is_required):
        if name in disabled or name not in wanted:
            raise UsageError(f"'{name}' cannot be left out of a cluster")
    if options.component(KWOK_CONTROLLER).binary and KWOK_KUBELET not in choice.enable:
        disabled.add(KWOK_KUBELET)  # another controller is the kubelet server as well
    names = [name for name in known if name in wanted and name not in disabled]
    _check_extras(options, names)
    return (*names, *(each.name for each in options.extras))


def needlessly_disabled(options: ClusterOptions) -> Iterator[str]:
    """Say, a line each, what is disabled that the cluster would not have anyway."""
    wanted = requested(options)
    for name in dict.fromkeys(options.selection.disable):
        if name not in wanted:
            yield f"'--disable' names '{name}', which the cluster would not have anyway"


def build_plan(cluster: ClusterName, names: Sequence[ComponentName], setting: Setting) -> Plan:
    """Describe a cluster with the named components."""
    limits = known_limits(setting.options)
    return Plan(
        cluster=cluster,
        components={
            name: _patched(
                _published(
                    replace(_described(name, names, setting), limits=limits.get(name, Limits())),
                    setting,
                ),
                setting.patches.get(name),
            )
            for name in names
        },
        restart=setting.options.restart == "on-failure",
    )


def _described(name: ComponentName, names: Sequence[ComponentName], setting: Setting) -> Component:
    """Describe a component, with what it reads about the others."""
    if extra := setting.options.described(name):
        return extra_component(setting, extra)
    definition = catalog()[name]
    component = definition.build(setting)
    found = {other: _page(other, setting, name) for other in names}
    pages = {other: page for other, page in found.items() if page}
    discoveries = extra_discoveries(setting.options.extras)
    return replace(
        _before_the_proxy(component),
        env={} if definition.embedded else _environment(setting.options, component),
        files={**component.files, **definition.collect(setting, {**pages, **discoveries})},
    )


def _before_the_proxy(component: Component) -> Component:
    """Let a client of the API server be stopped before the proxy through which it dials."""
    if KUBE_APISERVER not in component.uses or component.name == KWOK_API_PROXY:
        return component
    return replace(component, uses=component.uses | {KWOK_API_PROXY})


def _page(name: ComponentName, setting: Setting, dialler: ComponentName) -> MetricsPage | None:
    extra = setting.options.described(name)
    return extra_page(extra) if extra else catalog()[name].metrics(setting, dialler)


def _published(component: Component, setting: Setting) -> Component:
    """Publish the ports of a component at the address that the user chose."""
    at = setting.options.bind_address
    ports = tuple(replace(port, host_address=at) for port in component.ports)
    return replace(component, ports=ports)


def _patched(component: Component, patch: ComponentPatch | None) -> Component:
    """Apply what arguments alone cannot say: those that are removed, variables and volumes."""
    if patch is None:
        return component
    given = {volume.mount_path for volume in patch.volumes}
    return replace(
        component,
        args=tuple(word for word in component.args if _key(word) not in patch.removed),
        env={**component.env, **patch.envs},
        mounts=(
            *(mount for mount in component.mounts if str(mount.mount_path) not in given),
            *(volume.mount for volume in patch.volumes),
        ),
    )


def _key(word: str) -> str:
    return word.removeprefix("--").partition("=")[0]


def known_limits(options: ClusterOptions) -> Mapping[str, Limits]:
    """Return the limits of components by name; UsageError for what is not a limit.

    Controller and kubelet server have one only where they are named: they serve all nodes.
    """
    known = (*catalog(), *(each.name for each in options.extras))
    return parse_limits(options, known, spared=(KWOK_CONTROLLER, KWOK_KUBELET))


def _check_extras(options: ClusterOptions, names: Sequence[ComponentName]) -> None:
    """Raise UsageError for a component of the user's own, or a link of one, that cannot be."""
    for extra in options.extras:
        if missing := sorted(extra.links.intersection(catalog()).difference(names)):
            raise UsageError(
                f"'{extra.name}' has a link to '{missing[0]}', which the cluster does not have",
                hint=f"add it with --enable {missing[0]}, or leave out the link",
            )


def _is_of_add_on(name: str) -> bool:
    return name in shipped() or name in of_components()


def _check_known(name: str) -> None:
    known = catalog()
    if name in known:
        return
    names = (*known, *shipped())
    hint = did_you_mean(name, names) or f"choose from: {', '.join(names)}"
    raise UsageError(f"no component called '{name}'", hint=hint)


def _environment(options: ClusterOptions, component: Component) -> Mapping[str, str]:
    """Return its variables, with how much a Go program's heap grows between collections.

    That variable is described in https://pkg.go.dev/runtime.
    """
    return {**component.env, "GOGC": str(options.arguments.go_gc)}
