"""Certificates for tests: an authority, a server of its own, and a client."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as PEM."""

    cert: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Certificates:
    """An authority, and what it has signed."""

    ca: bytes
    server: Pair
    client: Pair

    def server_context(self, *, demand_client: bool = False) -> ssl.SSLContext:
        """Return what a server needs; with `demand_client` it talks only to the client."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with TemporaryDirectory() as folder:
            path = Path(folder, "server.pem")
            path.write_bytes(self.server.cert + self.server.key)
            context.load_cert_chain(path)
        if demand_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=self.ca.decode())
        return context


@cache
def certificates(name: str = "test", hosts: tuple[str, ...] = ("localhost",)) -> Certificates:
    """Make an authority of this name, a server for 127.0.0.1 and the hosts, and a client."""
    key = ec.generate_private_key(ec.SECP256R1())
    ca = _builder(f"{name}-ca", key, f"{name}-ca").add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    authority = ca.sign(key, hashes.SHA256())
    return Certificates(
        ca=authority.public_bytes(serialization.Encoding.PEM),
        server=_signed("server", f"{name}-ca", key, hosts),
        client=_signed("client", f"{name}-ca", key, hosts),
    )


def _signed(
    name: str, issuer: str, authority: ec.EllipticCurvePrivateKey, hosts: tuple[str, ...]
) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    names = x509.SubjectAlternativeName([*map(x509.DNSName, hosts), here])
    cert = _builder(name, key, issuer).add_extension(names, critical=False)
    return Pair(
        cert.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _builder(subject: str, key: ec.EllipticCurvePrivateKey, issuer: str) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
