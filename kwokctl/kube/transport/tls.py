"""TLS towards a server: what is trusted, and who we say that we are."""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kwokctl.errors import ConfigError


def context(
    *, ca: bytes | None, cert: bytes | None, key: bytes | None, insecure: bool = False
) -> ssl.SSLContext:
    """Build a client's context from PEM bytes.

    Without a CA the machine's own are trusted. Raises ConfigError when the PEM cannot be used.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif ca is None:
        made.load_default_certs()
    else:
        _trust(made, ca)
    if cert is not None and key is not None:
        _identify(made, cert, key)
    return made


def _trust(made: ssl.SSLContext, ca: bytes) -> None:
    try:
        made.load_verify_locations(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError) as e:
        raise ConfigError("the certificate authority's certificate is not valid PEM") from e


def _identify(made: ssl.SSLContext, cert: bytes, key: bytes) -> None:
    try:
        with _as_file(cert.rstrip() + b"\n" + key.rstrip() + b"\n") as path:
            # An encrypted key would otherwise ask for its password on the terminal.
            made.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError) as e:
        raise ConfigError(
            "the client certificate and its key cannot be used together",
            hint="both must be PEM, the key without a password and made for the certificate",
            detail=str(e),
        ) from e


def _no_password() -> str:
    raise ValueError("the key is protected by a password")


@contextmanager
def _as_file(secret: bytes) -> Iterator[str]:
    """Show bytes as a file, because OpenSSL takes a key from nowhere else.

    Linux keeps it in memory without a name; elsewhere it is a file only its owner can read.
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        descriptor = os.memfd_create("kwokctl", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, secret)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(secret)
        file.flush()
        yield file.name
