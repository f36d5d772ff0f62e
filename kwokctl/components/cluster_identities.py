"""Lists the identities of a cluster's users and components: each gets a certificate.

The user and group names are those that Kubernetes' bootstrap policy knows
(https://kubernetes.io/docs/reference/access-authn-authz/rbac/#core-component-roles).
"""

from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.options import ClusterOptions
from kwokctl.model import ComponentName, Identity

ADMIN = "admin"
ADMIN_USER = "kwok-admin"
ADMIN_GROUP = "system:masters"
ETCD_CLIENT = "etcd-client"
FRONT_PROXY = "front-proxy-client"
FRONT_PROXY_CA = "front-proxy-ca"
"""Signs no other certificate: the owner of one may act as any user."""
KUBELET_CLIENT = "kube-apiserver-kubelet-client"
"""The API server where it dials kubelets."""
SERVICE_IP = "10.96.0.1"
"""First address of the service range: the `kubernetes` service's own."""
_LOCAL = ("localhost", "127.0.0.1", "::1")


def administrator() -> Identity:
    """Return the identity of the cluster's owner."""
    return Identity(name=ADMIN, common_name=ADMIN_USER, organizations=(ADMIN_GROUP,))


def here(options: ClusterOptions) -> tuple[str, ...]:
    """Return the names and addresses at which this host dials components."""
    return tuple(dict.fromkeys((*_LOCAL, options.bind_address)))


def add_on_user(name: ComponentName) -> str:
    """Return the user that a component of an add-on is for the API server."""
    return f"kwokctl:{name}"


def add_on_identity(options: ClusterOptions, extra: ExtraComponent) -> Identity:
    """Return the identity of a component of an add-on: a client, and a server of webhooks."""
    parts = extra.add_on
    services = parts.webhooks.services if parts and parts.webhooks else ()
    return Identity(
        name=extra.name,
        common_name=add_on_user(extra.name),
        organizations=parts.groups if parts else (),
        server=True,
        server_names=(*here(options), extra.name, *services),
    )


def serving(
    options: ClusterOptions,
    name: ComponentName,
    common_name: str,
    *organizations: str,
    also: tuple[str, ...] = (),
) -> Identity:
    """Return the identity of a component that this host dials, and that dials with a token.

    `also` are more names that clients dial.
    """
    return Identity(
        name=name,
        common_name=common_name,
        organizations=organizations,
        server=True,
        client=False,
        server_names=(*here(options), *also),
    )
