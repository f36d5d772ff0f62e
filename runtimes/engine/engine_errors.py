"""Turns the failures of a container engine into errors of kwokctl: what its SDK raises, and ports that are taken."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from kwokctl.errors import (
    CommandError,
    ConflictError,
    KwokctlError,
    NotFoundError,
    UnavailableError,
)
from kwokctl.host.ports import in_use

if TYPE_CHECKING:
    from docker.errors import APIError

_OF_TLS = ("TLS", "SSL", "certificate")
_LOADING = Lock()
"""Held while the SDK is loaded: its modules import each other in a circle, and are not complete before the
whole package is. A second thread that imports one of them meanwhile makes the first one fail."""


@contextmanager
def explained(url: str, remedy: str) -> Iterator[None]:
    """Turn what the SDK raises into errors that a user can understand."""
    with _LOADING:
        from docker.errors import APIError, DockerException  # a quarter of a second

    try:
        yield
    except APIError as e:
        raise _refusal(e) from e
    except (DockerException, OSError) as e:
        raise _unreachable(url, remedy, e) from e


def _refusal(error: "APIError") -> KwokctlError:
    words = str(error.explanation or error)
    kinds = {404: NotFoundError, 409: ConflictError}
    kind: type[KwokctlError] = kinds.get(error.status_code, CommandError)
    return kind(f"the container engine refuses: {words}", detail=words)


def _unreachable(url: str, remedy: str, error: BaseException) -> UnavailableError:
    if "Permission denied" in str(error):
        return UnavailableError(
            f"the container engine at '{url}' refuses this user",
            hint="join the group that owns its socket, mostly 'docker', and log in again; or run an "
            "engine without root, and name it with DOCKER_HOST",
        )
    if any(word in str(error) for word in _OF_TLS):
        return UnavailableError(
            f"the container engine at '{url}' asks for a certificate that it trusts, or shows one "
            "that kwokctl does not trust",
            hint="let DOCKER_CERT_PATH name a folder with the ca.pem, cert.pem and key.pem for it",
            detail=str(error),
        )
    return UnavailableError(
        f"no container engine answers at '{url}'",
        hint=remedy,
        detail=str(error),
    )


_TAKEN = ("address already in use", "port is already allocated")
_PORT = re.compile(r"(?:\d+(?:\.\d+){3}|\]):(\d+)")
"""Behind an address: the first of a line is that of this host."""


def conflict(name: str, said: str | None) -> ConflictError | None:
    """Return the error for what an engine said, if that is of a port wanted for what is named."""
    lines = [line for line in (said or "").splitlines() if any(words in line for words in _TAKEN)]
    if not lines:
        return None
    found = _PORT.search(lines[0])
    error = in_use(name, int(found[1])) if found else _unnamed(name)
    error.detail = said
    return error


def _unnamed(name: str) -> ConflictError:
    return ConflictError(
        f"a port wanted for '{name}' is in use",
        hint="end the program that uses it, or choose another port for the cluster",
    )
