"""Makes a cluster's certificate authorities, and one certificate for every identity.

Valid files on disk are kept, so that a creation that was killed continues with the same authority.
"""

from collections.abc import Sequence
from pathlib import Path

from kwokctl.errors import ConfigError
from kwokctl.host.certificates.pair_files import cert_pem, key_pem, load_key, load_pair, write_pair
from kwokctl.host.certificates.signing import (
    Authority,
    general_name,
    has_signed,
    make_authority,
    names_of,
    new_key,
    sign,
    subject_of,
    usages_of,
    with_name,
)
from kwokctl.host.files import private_folder, write_atomic
from kwokctl.model import AUTHORITY, Identity


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
            cert, key = sign(authority, identity)
            write_pair(folder, identity.name, cert, key)


def sign_client(
    folder: Path, common_name: str, organizations: Sequence[str]
) -> tuple[bytes, bytes]:
    """Return a client certificate and its key, both PEM, for a user and its groups."""
    identity = Identity(name="", common_name=common_name, organizations=tuple(organizations))
    cert, key = sign(_authority(folder), identity)
    return cert_pem(cert), key_pem(key)


def add_server_name(folder: Path, name: str, added: str) -> None:
    """Sign the certificate in the files `name` again, for one more name or address.

    Its key stays. What `ensure_pki` wants of it is still there, so that keeps it.
    """
    found = load_pair(folder, name)
    if found and general_name(added) not in names_of(found[0]):
        write_pair(folder, name, with_name(_authority(folder), found[0], added), found[1])


def _authority(folder: Path) -> Authority:
    others = [path.name for path in folder.glob("*.crt") if path.stem != AUTHORITY]
    if others and not load_pair(folder, AUTHORITY):
        raise ConfigError(
            f"{folder} holds certificates ({', '.join(sorted(others))}), but not their authority",
            hint="put ca.crt and ca.key back, or delete the cluster and create it again",
        )
    return _ensure_authority(folder, AUTHORITY)


def _ensure_authority(folder: Path, name: str) -> Authority:
    if found := load_pair(folder, name):
        return Authority(*found)
    made = make_authority(f"kwok-{name}")
    write_pair(folder, name, made.cert, made.key)
    return made


def _ensure_service_account_key(folder: Path) -> None:
    """Keep a valid private key, because tokens signed with it are in use; derive the public one."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    private, public = folder / "sa.key", folder / "sa.pub"
    key = load_key(private)
    if key is None:
        key = new_key()
        write_atomic(private, key_pem(key), mode=0o600)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    if not public.is_file() or public.read_bytes() != pem:
        write_atomic(public, pem)


def _is_whole(folder: Path, identity: Identity, authority: Authority) -> bool:
    """Return whether this authority has certified an identity as it is now, with all its names."""
    found = load_pair(folder, identity.name)
    if not found:
        return False
    cert = found[0]
    return (
        has_signed(authority, cert)
        and cert.subject == subject_of(identity)
        and usages_of(identity) in [extension.value for extension in cert.extensions]
        and names_of(cert) >= {general_name(name) for name in identity.server_names}
    )
