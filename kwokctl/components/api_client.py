"""Describes what kube-scheduler and kube-controller-manager have in common.

Most of their flags are written here; their own modules add the others.
"""

from collections.abc import Mapping

from kwokctl.components import verbosity
from kwokctl.components.command_line import Value
from kwokctl.components.setting import Setting
from kwokctl.model import KUBE_APISERVER, Component, ComponentName, HttpProbe, Port


def api_client(
    setting: Setting,
    name: ComponentName,
    own: Mapping[str, Value],
    *,
    health: str,
    ready: tuple[HttpProbe, ...] = (),
) -> Component:
    """Describe such a component; it is ready when `health` answers and `ready` holds."""
    common, port = setting.options.arguments, setting.port(name)
    kubeconfig = setting.kubeconfig(name)
    limits: dict[str, Value] = (
        {"kube-api-qps": 5000, "kube-api-burst": 10000} if common.disable_qps_limits else {}
    )
    inside = setting.site.port(name, port)
    return Component(
        name=name,
        artifact=setting.artifacts[name],
        args=setting.arguments(
            name,
            {
                "kubeconfig": kubeconfig,
                "authentication-kubeconfig": kubeconfig,
                # An API server that allows everything would let every local user profile them, too;
                # without one to ask, they let administrators only.
                "authorization-kubeconfig": kubeconfig if common.authorization else "",
                "bind-address": setting.bind(name),
                "secure-port": inside,
                "tls-cert-file": setting.pki(f"{name}.crt"),
                "tls-private-key-file": setting.pki(f"{name}.key"),
                "leader-elect": False,
                "feature-gates": common.feature_gates or None,
                "v": verbosity.of_kubernetes(setting.options),
                **own,
                **limits,
            },
        ),
        ports=(Port(name="https", port=inside, host_port=port),),
        mounts=(
            setting.mount(setting.paths.pki),
            setting.mount(setting.paths.component_kubeconfig(name)),
        ),
        ready=(setting.probe(f"https://{setting.address(name)}/{health}"), *ready),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
    )
