"""Writes certificates and keys to files, and reads them."""

from pathlib import Path
from typing import TYPE_CHECKING

from kwokctl.host.files import write_atomic

# cryptography takes a tenth of a second to import: only commands that sign import it.
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate


def cert_pem(cert: "Certificate") -> bytes:
    """Return a certificate as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return cert.public_bytes(Encoding.PEM)


def key_pem(key: "EllipticCurvePrivateKey") -> bytes:
    """Return a key as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    # SEC 1, "EC PRIVATE KEY": what every Kubernetes program reads, service account keys included.
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def write_pair(
    folder: Path, name: str, cert: "Certificate", key: "EllipticCurvePrivateKey"
) -> None:
    """Write a certificate and its key."""
    # The key first: a certificate on disk then always has its key.
    write_atomic(folder / f"{name}.key", key_pem(key), mode=0o600)
    write_atomic(folder / f"{name}.crt", cert_pem(cert))


def load_pair(folder: Path, name: str) -> "tuple[Certificate, EllipticCurvePrivateKey] | None":
    """Read a certificate and its key; None if one is missing or garbled, or they do not match."""
    from cryptography import x509

    key = load_key(folder / f"{name}.key")
    try:
        cert = x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return (cert, key) if key and cert.public_key() == key.public_key() else None


def load_key(path: Path) -> "EllipticCurvePrivateKey | None":
    """Read a key; None if it is missing or garbled."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (FileNotFoundError, ValueError):
        return None
    return key if isinstance(key, EllipticCurvePrivateKey) else None
