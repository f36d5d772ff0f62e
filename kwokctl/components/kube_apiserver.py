"""Describes kube-apiserver."""

from kwokctl.components import etcd, identities
from kwokctl.components.flags import Value, flags
from kwokctl.components.setting import Setting
from kwokctl.model import ETCD, KUBE_APISERVER, Component, ComponentName, Mount, Port


def url(setting: Setting, dialler: ComponentName | None = None) -> str:
    """Return the URL at which a component dials the API server; without one, this host."""
    port = setting.options.kube_apiserver_port
    return f"https://{setting.address(KUBE_APISERVER, port, dialler=dialler)}"


def prefix(setting: Setting) -> str:
    """Return the path in etcd under which the API server keeps its objects."""
    given = setting.user_args(KUBE_APISERVER).get("etcd-prefix") or setting.options.etcd_prefix
    return f"/{given.strip('/')}"


def kube_apiserver(setting: Setting) -> Component:
    """Describe the API server.

    It starts together with etcd: started seconds apart it would back off and lose time.
    """
    options, port = setting.options, _port(setting)
    return Component(
        name=KUBE_APISERVER,
        artifact=setting.artifacts[KUBE_APISERVER],
        args=flags(
            {
                "etcd-servers": etcd.endpoint(setting),
                **_etcd_identity(setting),
                "etcd-prefix": options.etcd_prefix,
                "bind-address": setting.bind(KUBE_APISERVER),
                "secure-port": port,
                "allow-privileged": True,
                # A fake node's internal addresses and host name are its own, and lead nowhere. A name
                # that is looked up would leave the machine.
                "kubelet-preferred-address-types": "InternalDNS,InternalIP",
                "authorization-mode": "Node,RBAC" if options.kube_authorization else "AlwaysAllow",
                "runtime-config": options.kube_runtime_config or None,
                "feature-gates": options.kube_feature_gates or None,
                **_identity(setting),
                **_own_ways(setting),
                **_limits(setting),
                **_audit(setting),
                # With a watch open, SIGTERM would otherwise be answered after a minute.
                "shutdown-watch-termination-grace-period": "1s",
            },
            setting.user_args(KUBE_APISERVER),
        ),
        ports=(Port(name="https", port=port, host_port=options.kube_apiserver_port),),
        mounts=_mounts(setting),
        ready=(setting.probe(f"{url(setting)}/readyz"),),
        uses=frozenset({ETCD}),
        certified_names=options.kube_apiserver_cert_sans,
    )


def _port(setting: Setting) -> int:
    return setting.site.port(KUBE_APISERVER, setting.options.kube_apiserver_port)


def _mounts(setting: Setting) -> tuple[Mount, ...]:
    paths = setting.paths
    audit = (
        (setting.mount(paths.audit_policy), setting.mount(paths.logs, read_only=False))
        if setting.options.kube_audit_policy
        else ()
    )
    return (setting.mount(paths.pki), setting.mount(paths.sockets), *audit)


def _etcd_identity(setting: Setting) -> dict[str, Value]:
    """Say whom to trust and who we are, where etcd is not reached by its socket."""
    if etcd.target(setting).ca is None:
        return {}
    return {
        "etcd-cafile": setting.pki("ca.crt"),
        "etcd-certfile": setting.pki(f"{identities.ETCD_CLIENT}.crt"),
        "etcd-keyfile": setting.pki(f"{identities.ETCD_CLIENT}.key"),
    }


def _identity(setting: Setting) -> dict[str, Value]:
    return {
        "client-ca-file": setting.pki("ca.crt"),
        "token-auth-file": setting.pki("tokens.csv"),
        "service-account-key-file": setting.pki("sa.pub"),
        "service-account-signing-key-file": setting.pki("sa.key"),
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "proxy-client-cert-file": setting.pki(f"{identities.FRONT_PROXY}.crt"),
        "proxy-client-key-file": setting.pki(f"{identities.FRONT_PROXY}.key"),
        "requestheader-client-ca-file": setting.pki("ca.crt"),
        "requestheader-allowed-names": identities.FRONT_PROXY,
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
    }


def _own_ways(setting: Setting) -> dict[str, Value]:
    """Say how it is reached, unless real nodes have to reach it: then the runtime says that."""
    if setting.site.has_own_nodes:
        return {}
    return {
        "tls-cert-file": setting.pki(f"{KUBE_APISERVER}.crt"),
        "tls-private-key-file": setting.pki(f"{KUBE_APISERVER}.key"),
        # No pod is real, so nobody dials the service of the API server.
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": "10.96.0.0/16",
    }


def _limits(setting: Setting) -> dict[str, Value]:
    if not setting.options.disable_qps_limits:
        return {}
    return {
        "max-requests-inflight": 0,
        "max-mutating-requests-inflight": 0,
        "enable-priority-and-fairness": False,
    }


def _audit(setting: Setting) -> dict[str, Value]:
    if not setting.options.kube_audit_policy:
        return {}
    return {
        "audit-policy-file": str(setting.site.path(setting.paths.audit_policy)),
        "audit-log-path": str(setting.site.path(setting.paths.logs / "audit.log")),
    }
