"""Who is who in a cluster: one certificate per identity.

The user and group names are those that Kubernetes' bootstrap policy knows
(https://kubernetes.io/docs/reference/access-authn-authz/rbac/#core-component-roles).
"""

from kwokctl.config.options import ClusterOptions
from kwokctl.host.pki import Identity
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
)

ADMIN = "admin"
ADMIN_USER = "kwok-admin"
ADMIN_GROUP = "system:masters"
ETCD_CLIENT = "etcd-client"
FRONT_PROXY = "front-proxy-client"

_LOCAL = ("localhost", "127.0.0.1", "::1")
_API_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVICE_IP = "10.96.0.1"
"""First address of the service range: the `kubernetes` service's own."""


TOKEN_HOLDERS = (ADMIN, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, KWOK_CONTROLLER)
"""Who shows a token to the API server; a person's kubeconfig holds a certificate."""


def identities(options: ClusterOptions) -> tuple[Identity, ...]:
    """Return every identity of a cluster, with the names its server certificate must carry."""
    here = tuple(dict.fromkeys((*_LOCAL, options.bind_address)))
    api = (KUBE_APISERVER, *_API_NAMES, *here, SERVICE_IP, *options.kube_apiserver_cert_sans)
    return (
        Identity(name=ADMIN, common_name=ADMIN_USER, organizations=(ADMIN_GROUP,)),
        Identity(name=ETCD, common_name="etcd", server=True, server_names=(ETCD, *here)),
        # The cluster's authority signs certificates of users, too: etcd accepts those with its name.
        Identity(name=ETCD_CLIENT, common_name="etcd-client", server_names=(ETCD,)),
        Identity(
            name=KUBE_APISERVER,
            common_name="kube-apiserver",
            server=True,
            client=False,
            server_names=api,
        ),
        Identity(name=FRONT_PROXY, common_name="front-proxy-client"),
        Identity(
            name=KUBE_CONTROLLER_MANAGER,
            common_name="system:kube-controller-manager",
            server=True,
            client=False,
            server_names=here,
        ),
        Identity(
            name=KUBE_SCHEDULER,
            common_name="system:kube-scheduler",
            server=True,
            client=False,
            server_names=here,
        ),
        # A Stage may write any kind, so the fake-node controller may do everything.
        Identity(
            name=KWOK_CONTROLLER,
            common_name="kwok-controller",
            organizations=(ADMIN_GROUP,),
            server=True,
            client=False,
            server_names=here,
        ),
    )
