"""Signs certificates, each with only the usages that its identity needs. Pure but for keys and the time.

Keys are ECDSA P-256: three hundred times cheaper to make than RSA.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import msgspec

from kwokctl.model import Identity

# cryptography takes a tenth of a second to import: only commands that sign import it.
if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes
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


class Authority(msgspec.Struct, frozen=True):
    """A certificate authority, which signs certificates."""

    cert: "Certificate"
    key: "EllipticCurvePrivateKey"


def make_authority(name: str) -> Authority:
    """Return a new authority, which has signed itself."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    key = new_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = _builder(subject, subject, key.public_key())
    extensions: list[tuple[ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=True, path_length=None), True),
        (_usage(key_cert_sign=True, crl_sign=True, digital_signature=True), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ]
    return Authority(_signed(builder, extensions, key), key)


def sign(authority: Authority, identity: Identity) -> "tuple[Certificate, EllipticCurvePrivateKey]":
    """Return a certificate for an identity, and its new key."""
    from cryptography import x509

    key = new_key()
    ca_key = x509.SubjectKeyIdentifier.from_public_key(authority.key.public_key())
    extensions: list[tuple[ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(digital_signature=True), True),
        (usages_of(identity), False),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(ca_key), False),
    ]
    if identity.server_names:
        names = [general_name(name) for name in identity.server_names]
        extensions.append((x509.SubjectAlternativeName(names), False))
    builder = _builder(subject_of(identity), authority.cert.subject, key.public_key())
    return _signed(builder, extensions, authority.key), key


def with_name(authority: Authority, cert: "Certificate", added: str) -> "Certificate":
    """Certify the same key again, for one more name or address."""
    from cryptography import x509

    names = x509.SubjectAlternativeName([*names_of(cert), general_name(added)])
    kept = [(e.value, e.critical) for e in cert.extensions if e.oid != names.oid]
    builder = _builder(cert.subject, authority.cert.subject, cert.public_key())
    return _signed(builder, [*kept, (names, False)], authority.key)


def subject_of(identity: Identity) -> "Name":
    """Return the user and groups of an identity, as a certificate names them."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, o) for o in identity.organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, identity.common_name),
        ]
    )


def usages_of(identity: Identity) -> "ExtendedKeyUsage":
    """Return what the certificate of an identity is good for."""
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    return x509.ExtendedKeyUsage(
        [
            *([ExtendedKeyUsageOID.SERVER_AUTH] if identity.server else []),
            *([ExtendedKeyUsageOID.CLIENT_AUTH] if identity.client else []),
        ]
    )


def _builder(
    subject: "Name", issuer: "Name", key: "CertificatePublicKeyTypes"
) -> "CertificateBuilder":
    from cryptography import x509

    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
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


def general_name(name: str) -> "GeneralName":
    """Return a DNS name or an address as a certificate has it."""
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def new_key() -> "EllipticCurvePrivateKey":
    """Return a new key."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def has_signed(authority: Authority, cert: "Certificate") -> bool:
    """Return whether this authority has signed a certificate."""
    from cryptography.exceptions import InvalidSignature

    try:
        cert.verify_directly_issued_by(authority.cert)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def names_of(cert: "Certificate") -> "set[GeneralName]":
    """Return the names and addresses that a certificate is for."""
    from cryptography import x509

    try:
        names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    return set(names.value)
