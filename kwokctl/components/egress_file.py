"""The file that has the API server reach nodes through the socket of the kubelet server."""

import json

from kwokctl.host.paths import ClusterPaths


def egress(paths: ClusterPaths) -> str:
    """Return the content of the file that has the API server reach nodes through a socket.

    https://kubernetes.io/docs/tasks/extend-kubernetes/setup-konnectivity/ describes the form.
    """
    transport = {"uds": {"udsName": str(paths.egress_socket)}}
    connection = {"proxyProtocol": "HTTPConnect", "transport": transport}
    document = {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [{"name": "cluster", "connection": connection}],
    }
    return json.dumps(document, indent=2) + "\n"
