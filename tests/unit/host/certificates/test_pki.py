import stat
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store

from kwokctl.errors import ConfigError
from kwokctl.host.certificates.pki import add_server_name, ensure_pki, sign_client
from kwokctl.model import Identity
from kwokctl.replacing import replace

ADMIN = Identity(name="admin", common_name="kwok-admin", organizations=("system:masters",))
SERVER = Identity(
    name="kube-apiserver",
    common_name="kube-apiserver",
    server=True,
    client=False,
    server_names=("localhost", "127.0.0.1"),
)
PROXY = Identity(name="proxy", common_name="proxy", authority="proxy-ca")
BOTH = Identity(name="etcd", common_name="etcd", server=True, server_names=("localhost",))


def cert(folder: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ensure_pki(tmp_path / "pki", [ADMIN, SERVER, BOTH])
    return tmp_path / "pki"


def test_a_client_trusts_the_server_under_its_names(folder: Path) -> None:
    builder = PolicyBuilder().store(Store([cert(folder, "ca")]))
    leaf = cert(folder, "kube-apiserver")

    builder.build_server_verifier(x509.DNSName("localhost")).verify(leaf, [])
    builder.build_server_verifier(x509.IPAddress(ip_address("127.0.0.1"))).verify(leaf, [])


def test_a_certificate_is_good_for_what_its_identity_does_only(folder: Path) -> None:
    def usages(name: str) -> set[x509.ObjectIdentifier]:
        return set(
            cert(folder, name).extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        )

    assert usages("admin") == {ExtendedKeyUsageOID.CLIENT_AUTH}
    assert usages("kube-apiserver") == {ExtendedKeyUsageOID.SERVER_AUTH}
    assert usages("etcd") == {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH}


def test_only_the_authority_may_sign(folder: Path) -> None:
    def may_sign(name: str) -> bool:
        return cert(folder, name).extensions.get_extension_for_class(x509.BasicConstraints).value.ca

    assert [may_sign(name) for name in ("ca", "admin", "etcd")] == [True, False, False]


def test_user_and_groups_are_in_the_subject(folder: Path) -> None:
    subject = cert(folder, "admin").subject

    def values(oid: x509.ObjectIdentifier) -> list[str | bytes]:
        return [attribute.value for attribute in subject.get_attributes_for_oid(oid)]

    assert values(NameOID.COMMON_NAME) == ["kwok-admin"]
    assert values(NameOID.ORGANIZATION_NAME) == ["system:masters"]


def test_keys_are_for_their_owner_only(folder: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.glob("*.key")}

    assert set(modes.values()) == {0o600}
    assert set(modes) == {"ca.key", "sa.key", "admin.key", "kube-apiserver.key", "etcd.key"}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_service_account_key_is_its_own(folder: Path) -> None:
    private = load_pem_private_key((folder / "sa.key").read_bytes(), None)

    assert private.public_key() == load_pem_public_key((folder / "sa.pub").read_bytes())
    assert private.public_key() != cert(folder, "admin").public_key()


def test_a_certificate_holds_although_clocks_differ(folder: Path) -> None:
    assert cert(folder, "admin").not_valid_before_utc < datetime.now(UTC)


def test_a_second_run_changes_nothing(folder: Path) -> None:
    before = contents(folder)

    ensure_pki(folder, [ADMIN, SERVER, BOTH])

    assert contents(folder) == before


@pytest.mark.parametrize("broken", ["admin.crt", "admin.key"])
@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN"])
def test_half_a_pair_is_issued_again_by_the_same_authority(
    folder: Path, broken: str, content: bytes | None
) -> None:
    ca = (folder / "ca.crt").read_bytes()
    if content is None:
        (folder / broken).unlink()
    else:
        (folder / broken).write_bytes(content)

    ensure_pki(folder, [ADMIN, SERVER, BOTH])

    assert (folder / "ca.crt").read_bytes() == ca
    cert(folder, "admin").verify_directly_issued_by(cert(folder, "ca"))


def test_a_new_server_name_gets_a_new_certificate(folder: Path) -> None:
    wider = Identity(
        name="etcd", common_name="etcd", server=True, server_names=("localhost", "etcd")
    )

    ensure_pki(folder, [wider])

    names = cert(folder, "etcd").extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert set(names.value.get_values_for_type(x509.DNSName)) == {"localhost", "etcd"}


def test_a_lost_authority_is_never_replaced_under_its_certificates(folder: Path) -> None:
    (folder / "ca.key").unlink()

    with pytest.raises(ConfigError, match="not their authority"):
        ensure_pki(folder, [ADMIN])


def test_another_user_gets_a_client_certificate(folder: Path) -> None:
    made, key = sign_client(folder, "jane", ["viewers", "testers"])

    parsed = x509.load_pem_x509_certificate(made)
    parsed.verify_directly_issued_by(cert(folder, "ca"))
    assert parsed.public_key() == load_pem_private_key(key, None).public_key()


def test_a_certificate_of_another_authority_is_replaced(folder: Path, tmp_path: Path) -> None:
    ensure_pki(tmp_path / "other", [ADMIN])
    for name in ("admin.crt", "admin.key"):
        (folder / name).write_bytes((tmp_path / "other" / name).read_bytes())

    ensure_pki(folder, [ADMIN])

    cert(folder, "admin").verify_directly_issued_by(cert(folder, "ca"))


@pytest.mark.parametrize(
    "changed",
    [
        replace(ADMIN, common_name="somebody"),
        replace(ADMIN, organizations=()),
        replace(ADMIN, server=True),
    ],
)
def test_an_identity_that_has_changed_gets_a_new_certificate(
    folder: Path, changed: Identity
) -> None:
    before = cert(folder, "admin")

    ensure_pki(folder, [changed])

    assert cert(folder, "admin") != before


@pytest.mark.parametrize("content", [None, b"", b"-----BEGIN"])
def test_a_lost_public_key_is_derived_from_the_private_one(
    folder: Path, content: bytes | None
) -> None:
    private, public = (folder / "sa.key").read_bytes(), (folder / "sa.pub").read_bytes()
    (folder / "sa.pub").unlink()
    if content is not None:
        (folder / "sa.pub").write_bytes(content)

    ensure_pki(folder, [ADMIN])

    assert (folder / "sa.key").read_bytes() == private
    assert (folder / "sa.pub").read_bytes() == public


def has_signed(folder: Path, authority: str, name: str) -> bool:
    try:
        cert(folder, name).verify_directly_issued_by(cert(folder, authority))
    except (ValueError, InvalidSignature):
        return False
    return True


def test_an_identity_may_have_an_authority_of_its_own(folder: Path) -> None:
    ensure_pki(folder, [ADMIN, PROXY])

    assert has_signed(folder, "proxy-ca", "proxy")
    assert not has_signed(folder, "ca", "proxy")
    assert has_signed(folder, "ca", "admin")
    assert not has_signed(folder, "proxy-ca", "admin")


def test_what_the_common_authority_had_certified_gets_its_own(folder: Path) -> None:
    ensure_pki(folder, [replace(PROXY, authority="ca")])
    users = contents(folder)

    ensure_pki(folder, [ADMIN, PROXY])

    assert has_signed(folder, "proxy-ca", "proxy")
    assert contents(folder)["admin.crt"] == users["admin.crt"]
    before = contents(folder)
    ensure_pki(folder, [ADMIN, PROXY])
    assert contents(folder) == before


def test_a_server_is_certified_for_one_more_address_with_the_same_key(folder: Path) -> None:
    before, key = cert(folder, "kube-apiserver"), (folder / "kube-apiserver.key").read_bytes()

    add_server_name(folder, "kube-apiserver", "172.18.0.1")

    after = cert(folder, "kube-apiserver")
    builder = PolicyBuilder().store(Store([cert(folder, "ca")]))
    for name in (x509.DNSName("localhost"), x509.IPAddress(ip_address("172.18.0.1"))):
        builder.build_server_verifier(name).verify(after, [])
    assert after.subject == before.subject
    assert (folder / "kube-apiserver.key").read_bytes() == key


def test_an_address_that_was_added_stays(folder: Path) -> None:
    add_server_name(folder, "kube-apiserver", "172.18.0.1")
    before = contents(folder)

    add_server_name(folder, "kube-apiserver", "172.18.0.1")
    ensure_pki(folder, [ADMIN, SERVER, BOTH])

    assert contents(folder) == before
