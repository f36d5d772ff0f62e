"""How the controller reaches its cluster: by a kubeconfig, a URL, or from within a pod."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

from kwokctl.errors import UsageError
from kwokctl.host.paths import home_folder
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.transport.pool import Pool

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_REREAD = 60.0
"""Seconds between looks at a file of a token. Kubelets replace tokens after four fifths of their life
of at least ten minutes
(https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken)."""


def cluster_access(
    kubeconfig: Path | None, master: str, *, account: Path = _SERVICE_ACCOUNT
) -> Access:
    """Return how to reach the cluster; `master` overrides the server of a kubeconfig.

    Without a kubeconfig it is the user's own, else the cluster whose pod this process runs in, with
    the credential of its service `account`. UsageError for an address to which that credential
    would be sent in the clear.
    """
    usual = (home_folder() or Path("/")) / ".kube" / "config"
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if kubeconfig is not None:
        access = load_access(kubeconfig)
    elif usual.exists():
        access = load_access(usual)
    elif host:
        access = _access_of_pod(host, account)
    elif master:
        access = Access(server=master)
    else:
        raise UsageError(
            "there is no cluster to connect to", hint="give a kubeconfig with --kubeconfig"
        )
    return _at(access, master) if master else access


def _at(access: Access, master: str) -> Access:
    if access.token_file and not master.startswith("https://"):
        raise UsageError(
            f"the credential of a service account is not sent to '{master}', which has no TLS",
            hint="write https:// before the address, or give a kubeconfig without a token",
        )
    return replace(access, server=master.rstrip("/"))


def _access_of_pod(host: str, account: Path) -> Access:
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    file = account / "token"
    try:
        return Access(
            server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
            # Without it nothing would say that the token goes to the API server and nowhere else.
            ca=(account / "ca.crt").read_bytes(),
            token=_read_token(file),
            token_file=file,
        )
    except OSError as e:
        raise UsageError(
            f"this process is in a pod without the credential of a service account: {e.strerror}: "
            f"'{e.filename}'",
            hint="set automountServiceAccountToken: true, or give a kubeconfig with --kubeconfig",
        ) from e


def _read_token(file: Path) -> str:
    return file.read_text(encoding="ascii").strip()


async def keep_token(pool: Pool, access: Access, *, every: float = _REREAD) -> None:
    """Show the token that is in the file now, if it was read from one; until cancelled."""
    while access.token_file is not None:
        await asyncio.sleep(every)
        try:
            token = await asyncio.to_thread(_read_token, access.token_file)
        except (OSError, UnicodeDecodeError):  # it is being replaced
            continue
        if token and token != access.token:
            access = replace(access, token=token)
            pool.authorize(access)
