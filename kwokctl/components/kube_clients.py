"""Describes the two clients of the API server that Kubernetes brings: controller-manager and scheduler."""

from kwokctl.components import kube_apiserver
from kwokctl.components.flags import Value, flags
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.setting import Setting
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    Component,
    ComponentName,
    HttpProbe,
    Port,
)


def kube_controller_manager(setting: Setting) -> Component:
    """Describe the controller-manager.

    Its own health check answers before it has reached the API server, so it is ready when its
    work shows: the service account `default/default` exists, and pods can be created.
    """
    beat = heartbeat(setting.options)
    service_account = (
        f"{kube_apiserver.url(setting)}/api/v1/namespaces/default/serviceaccounts/default"
    )
    return _client(
        setting,
        KUBE_CONTROLLER_MANAGER,
        setting.options.kube_controller_manager_port,
        {
            # Under its own identity it may do little; each controller has an account of its own.
            "use-service-account-credentials": True,
            "root-ca-file": setting.pki("ca.crt"),
            "service-account-private-key-file": setting.pki("sa.key"),
            "cluster-signing-cert-file": setting.pki("ca.crt"),
            "cluster-signing-key-file": setting.pki("ca.key"),
            "node-monitor-period": f"{beat.monitor_period_milliseconds}ms",
            "node-monitor-grace-period": f"{beat.monitor_grace_milliseconds}ms",
        },
        (setting.probe(service_account),),
    )


def kube_scheduler(setting: Setting) -> Component:
    """Describe the scheduler."""
    return _client(setting, KUBE_SCHEDULER, setting.options.kube_scheduler_port, {}, ())


def _client(
    setting: Setting,
    name: ComponentName,
    port: int,
    own: dict[str, Value],
    ready: tuple[HttpProbe, ...],
) -> Component:
    options = setting.options
    kubeconfig = setting.kubeconfig(name)
    limits: dict[str, Value] = (
        {"kube-api-qps": 5000, "kube-api-burst": 10000} if options.disable_qps_limits else {}
    )
    own_port = setting.site.port(name, port)
    address = setting.address(name, port)
    health = "readyz" if name == KUBE_SCHEDULER else "healthz"
    return Component(
        name=name,
        artifact=setting.artifacts[name],
        args=flags(
            {
                "kubeconfig": kubeconfig,
                "authentication-kubeconfig": kubeconfig,
                # An API server that allows everything would let every local user profile them, too;
                # without one to ask, they let administrators only.
                "authorization-kubeconfig": kubeconfig if options.kube_authorization else "",
                "bind-address": setting.bind(name),
                "secure-port": own_port,
                "tls-cert-file": setting.pki(f"{name}.crt"),
                "tls-private-key-file": setting.pki(f"{name}.key"),
                "leader-elect": False,
                "feature-gates": options.kube_feature_gates or None,
                **own,
                **limits,
            },
            setting.user_args(name),
        ),
        ports=(Port(name="https", port=own_port, host_port=port),),
        mounts=(
            setting.mount(setting.paths.pki),
            setting.mount(setting.paths.component_kubeconfig(name)),
        ),
        ready=(setting.probe(f"https://{address}/{health}"), *ready),
        after=frozenset({KUBE_APISERVER}),
        uses=frozenset({KUBE_APISERVER}),
    )
