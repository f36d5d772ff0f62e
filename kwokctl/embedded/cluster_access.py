"""How the controller reaches its cluster: by a kubeconfig, a URL, or from within a pod."""

import os
from dataclasses import replace
from pathlib import Path

from kwokctl.errors import UsageError
from kwokctl.host.paths import home_folder
from kwokctl.kube.kubeconfig.access import Access, load_access

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def cluster_access(kubeconfig: Path | None, master: str) -> Access:
    """Return how to reach the cluster; `master` overrides the server of a kubeconfig.

    Without a kubeconfig it is the user's own, else the cluster whose pod this process runs in.
    """
    usual = (home_folder() or Path("/")) / ".kube" / "config"
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if kubeconfig is not None:
        access = load_access(kubeconfig)
    elif usual.exists():
        access = load_access(usual)
    elif host:
        access = _access_of_pod(host)
    elif master:
        access = Access(server=master)
    else:
        raise UsageError(
            "there is no cluster to connect to", hint="give a kubeconfig with --kubeconfig"
        )
    return replace(access, server=master.rstrip("/")) if master else access


def _access_of_pod(host: str) -> Access:
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return Access(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        ca=(_SERVICE_ACCOUNT / "ca.crt").read_bytes(),
        token=(_SERVICE_ACCOUNT / "token").read_text(encoding="ascii").strip(),
    )
