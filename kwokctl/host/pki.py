"""Makes a cluster's certificate authorities, and one certificate for every identity.

Keys are ECDSA P-256: three hundred times cheaper to make than RSA. A certificate has only the
usages that its identity needs. Valid files on disk are kept, so that a creation that was killed
continues with the same authority.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from kwokctl.errors import ConfigError
from kwokctl.host.files import private_folder, write_atomic
from kwokctl.model import AUTHORITY, Identity

# cryptography takes a tenth of a second to import: only commands that sign import it.
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import (
        Certificate,
        CertificateBuilder,
        ExtendedKeyUsage,
        ExtensionType,
        GeneralName,
        Name,
    )

_VALID_FOR = timedelta(days=3650)
"""A simulated cluster may be kept for years, and its certificates are not renewed."""
_BACKDATED = timedelta(hours=1)
"""Clocks of containers and virtual machines lag."""


@dataclass(frozen=True, slots=True)
class _Authority:
    cert: "Certificate"
    key: "EllipticCurvePrivateKey"


def ensure_pki(folder: Path, identities: Sequence[Identity]) -> None:
    """Make what is missing in `folder`: authorities, `sa` and a pair of files for each identity.

    Raises ConfigError if certificates are there, but not the authority of the cluster's users.
    """
    private_folder(folder)
    others = {identity.authority for identity in identities} - {AUTHORITY}
    authorities = {AUTHORITY: _authority(folder)}
    authorities |= {name: _ensure_authority(folder, name) for name in sorted(others)}
    _ensure_service_account_key(folder)
    for identity in identities:
        authority = authorities[identity.authority]
        if not _is_whole(folder, identity, authority):
            cert, key = _sign(authority, identity)
            _write_pair(folder, identity.name, cert, key)


def sign_client(
    folder: Path, common_name: str, organizations: Sequence[str]
) -> tuple[bytes, bytes]:
    """Return a client certificate and its key, both PEM, for a user and its groups."""
    identity = Identity(name="", common_name=common_name, organizations=tuple(organizations))
    cert, key = _sign(_authority(folder), identity)
    return _cert_pem(cert), _key_pem(key)


def _authority(folder: Path) -> _Authority:
    others = [path.name for path in folder.glob("*.crt") if path.stem != AUTHORITY]
    if others and not _load_pair(folder, AUTHORITY):
        raise ConfigError(
            f"{folder} holds certificates ({', '.join(sorted(others))}), but not their authority",
            hint="put ca.crt and ca.key back, or delete the cluster and create it again",
        )
    return _ensure_authority(folder, AUTHORITY)


def _ensure_authority(folder: Path, name: str) -> _Authority:
    if found := _load_pair(folder, name):
        return _Authority(*found)
    made = _make_authority(f"kwok-{name}")
    _write_pair(folder, name, made.cert, made.key)
    return made


def _make_authority(name: str) -> _Authority:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    key = _new_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = _builder(subject, subject, key)
    extensions: list[tuple[ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=True, path_length=None), True),
        (_usage(key_cert_sign=True, crl_sign=True, digital_signature=True), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ]
    return _Authority(_signed(builder, extensions, key), key)


def _sign(
    authority: _Authority, identity: Identity
) -> "tuple[Certificate, EllipticCurvePrivateKey]":
    from cryptography import x509

    key = _new_key()
    ca_key = x509.SubjectKeyIdentifier.from_public_key(authority.key.public_key())
    extensions: list[tuple[ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(digital_signature=True), True),
        (_usages(identity), False),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(ca_key), False),
    ]
    if identity.server_names:
        names = [_general_name(name) for name in identity.server_names]
        extensions.append((x509.SubjectAlternativeName(names), False))
    builder = _builder(_subject(identity), authority.cert.subject, key)
    return _signed(builder, extensions, authority.key), key


def _subject(identity: Identity) -> "Name":
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, o) for o in identity.organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, identity.common_name),
        ]
    )


def _usages(identity: Identity) -> "ExtendedKeyUsage":
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    return x509.ExtendedKeyUsage(
        [
            *([ExtendedKeyUsageOID.SERVER_AUTH] if identity.server else []),
            *([ExtendedKeyUsageOID.CLIENT_AUTH] if identity.client else []),
        ]
    )


def _builder(
    subject: "Name", issuer: "Name", key: "EllipticCurvePrivateKey"
) -> "CertificateBuilder":
    from cryptography import x509

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + _VALID_FOR)
    )


def _signed(
    builder: "CertificateBuilder",
    extensions: "Sequence[tuple[ExtensionType, bool]]",
    key: "EllipticCurvePrivateKey",
) -> "Certificate":
    from cryptography.hazmat.primitives.hashes import SHA256

    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(key, SHA256())


def _usage(
    *, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False
) -> "ExtensionType":
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> "GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _new_key() -> "EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _cert_pem(cert: "Certificate") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return cert.public_bytes(Encoding.PEM)


def _key_pem(key: "EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    # SEC 1, "EC PRIVATE KEY": what every Kubernetes program reads, service account keys included.
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def _write_pair(
    folder: Path, name: str, cert: "Certificate", key: "EllipticCurvePrivateKey"
) -> None:
    # The key first: a certificate on disk then always has its key.
    write_atomic(folder / f"{name}.key", _key_pem(key), mode=0o600)
    write_atomic(folder / f"{name}.crt", _cert_pem(cert))


def _ensure_service_account_key(folder: Path) -> None:
    """Keep a valid private key, because tokens signed with it are in use; derive the public one."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    private, public = folder / "sa.key", folder / "sa.pub"
    key = _load_key(private)
    if key is None:
        key = _new_key()
        write_atomic(private, _key_pem(key), mode=0o600)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    if not public.is_file() or public.read_bytes() != pem:
        write_atomic(public, pem)


def _is_whole(folder: Path, identity: Identity, authority: _Authority) -> bool:
    """Return whether this authority has certified an identity as it is now, with all its names."""
    found = _load_pair(folder, identity.name)
    if not found:
        return False
    cert = found[0]
    return (
        _has_signed(authority, cert)
        and cert.subject == _subject(identity)
        and _usages(identity) in [extension.value for extension in cert.extensions]
        and _names(cert) >= {_general_name(name) for name in identity.server_names}
    )


def _has_signed(authority: _Authority, cert: "Certificate") -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        cert.verify_directly_issued_by(authority.cert)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _names(cert: "Certificate") -> "set[GeneralName]":
    from cryptography import x509

    try:
        names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    return set(names.value)


def _load_pair(folder: Path, name: str) -> "tuple[Certificate, EllipticCurvePrivateKey] | None":
    """Read a certificate and its key; None if one is missing or garbled, or they do not match."""
    from cryptography import x509

    key = _load_key(folder / f"{name}.key")
    try:
        cert = x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return (cert, key) if key and cert.public_key() == key.public_key() else None


def _load_key(path: Path) -> "EllipticCurvePrivateKey | None":
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (FileNotFoundError, ValueError):
        return None
    return key if isinstance(key, EllipticCurvePrivateKey) else None
