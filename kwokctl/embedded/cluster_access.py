"""Finds the API server of the controller: from a kubeconfig, a URL, or the pod that it runs in."""

import asyncio
import logging
import os
from datetime import UTC, datetime
from pathlib import Path

from kwokctl.errors import KwokctlError, UsageError
from kwokctl.host.paths import home_folder
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.kubeconfig.credential_plugin import run_plugin, seconds_until_renewal
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace

log = logging.getLogger(__name__)

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_REREAD = 60.0
"""Seconds between looks at a file of a token. Kubelets replace tokens after four fifths of their life
of at least ten minutes
(https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken)."""

_RERUN = 10.0


def cluster_access(
    kubeconfig: Path | None, master: str, *, account: Path = _SERVICE_ACCOUNT
) -> Access:
    """Return how to reach the cluster; `master` overrides the server of a kubeconfig.

    Without a kubeconfig it is the user's own, else the cluster whose pod this process runs in, with
    the credential of its service `account`. The credential plug-in of a kubeconfig is not run yet:
    `with_credential` does that. UsageError for an address to which that credential would be sent in the clear.
    """
    usual = (home_folder() or Path("/")) / ".kube" / "config"
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if kubeconfig is not None:
        access = load_access(kubeconfig, with_plugins=True)
    elif usual.exists():
        access = load_access(usual, with_plugins=True)
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


async def with_credential(access: Access) -> Access:
    """Return access with what its credential plug-in prints now, if it has one."""
    if access.plugin is None:
        return access
    found = await run_plugin(access.plugin)
    return replace(
        access,
        token=found.token or access.token,
        cert=found.cert or access.cert,
        key=found.key or access.key,
        expires=found.expires,
    )


async def keep_credential(
    pool: Pool, access: Access, *, every: float = _REREAD, least: float = _RERUN
) -> None:
    """Show the token that holds now, of a file or of a plug-in; until cancelled.

    A file is read at a fixed interval; a plug-in runs at most once every `least` seconds.
    """
    await _keep_asking(pool, access, least)
    while access.token_file is not None:
        await asyncio.sleep(every)
        try:
            token = await asyncio.to_thread(_read_token, access.token_file)
        except (OSError, UnicodeDecodeError):  # it is being replaced
            continue
        if token and token != access.token:
            access = replace(access, token=token)
            pool.authorize(access)


async def _keep_asking(pool: Pool, access: Access, least: float) -> None:
    """Run the plug-in again before what it has printed expires; without an end that is never."""
    while (pause := seconds_until_renewal(access.expires, _now, least)) is not None:
        await asyncio.sleep(pause)
        try:
            access = await with_credential(access)
        except KwokctlError as e:
            log.warning("the credential is not renewed: %s", e)
            continue
        pool.authorize(access)


def _now() -> datetime:
    return datetime.now(UTC)
