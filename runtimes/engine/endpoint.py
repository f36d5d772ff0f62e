"""Finds the address of the container engine, as the docker command does.

`DOCKER_HOST` comes first, then the context that `DOCKER_CONTEXT` or the configuration file names
(https://docs.docker.com/engine/manage-resources/contexts/). Read here, for the SDK takes a quarter
of a second to load, and most commands only want to know whether the engine is on this machine.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kwokctl.errors import ConfigError
from kwokctl.json_value import Json

_USUAL = "unix:///var/run/docker.sock"
_LOOPBACKS = frozenset({"localhost", "127.0.0.1", "::1"})
_DESKTOP = "/.docker/desktop/"
"""Part of the path of Docker Desktop's socket on Linux; its engine runs in a virtual machine."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The address and credentials of an engine."""

    url: str
    certificates: Path | None = None
    """A folder with `ca.pem`, `cert.pem` and `key.pem`; None without TLS."""
    verify: bool = True
    """Whether the engine's certificate is checked."""

    @property
    def shares_this_kernel(self) -> bool:
        """Whether a unix socket in a mounted folder connects a container with this host."""
        return (
            sys.platform == "linux" and self.url.startswith("unix://") and _DESKTOP not in self.url
        )

    @property
    def is_on_this_machine(self) -> bool:
        """Whether containers can see our files, and we their published ports."""
        parts = urlsplit(self.url)
        return parts.scheme in {"unix", "npipe"} or parts.hostname in _LOOPBACKS


def find_endpoint(environ: Mapping[str, str], home: Path) -> Endpoint:
    """Return the endpoint that the environment and the docker command's files name.

    Raises ConfigError for a context that does not exist.
    """
    folder = Path(environ.get("DOCKER_CONFIG") or home / ".docker")
    if url := environ.get("DOCKER_HOST"):
        path = environ.get("DOCKER_CERT_PATH")
        verify = bool(environ.get("DOCKER_TLS_VERIFY"))
        certificates = Path(path) if path else folder
        return Endpoint(
            url=url, certificates=certificates if path or verify else None, verify=verify
        )
    name = environ.get("DOCKER_CONTEXT") or _read(folder / "config.json").get("currentContext")
    if name in {None, "", "default"}:
        return Endpoint(url=_USUAL)
    return _context(folder / "contexts", str(name))


def _context(folder: Path, name: str) -> Endpoint:
    """Read a context; the docker command keeps each under the SHA-256 of its name."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    found = _read(folder / "meta" / digest / "meta.json").get("Endpoints", {}).get("docker", {})
    if not found.get("Host"):
        raise ConfigError(
            f"the docker context '{name}' has no address of an engine",
            hint="'docker context ls' lists those that do; DOCKER_CONTEXT or DOCKER_HOST chooses",
        )
    tls = folder / "tls" / digest / "docker"
    return Endpoint(
        url=found["Host"],
        certificates=tls if tls.is_dir() else None,
        verify=not found.get("SkipTLSVerify"),
    )


def _read(path: Path) -> dict[str, Json]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
