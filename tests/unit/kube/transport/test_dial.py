from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from kwokctl.errors import ConfigError
from kwokctl.kube.transport.dial import tls_context
from tests.support.certificates import certificates

_ME = certificates().client


def test_a_key_never_lies_in_a_file_with_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("only Linux keeps files without a name")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    tls_context(ca=certificates().ca, cert=_ME.cert, key=_ME.key)


def test_a_key_with_a_password_is_refused_without_asking_for_it() -> None:
    key = serialization.load_pem_private_key(_ME.key, None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    with pytest.raises(ConfigError, match="cannot be used together") as caught:
        tls_context(ca=None, cert=_ME.cert, key=key, insecure=True)
    assert "password" in str(caught.value.detail)


@pytest.mark.parametrize("ca", [b"", b"nonsense", b"\xff"])
def test_a_ca_that_is_no_pem_is_refused(ca: bytes) -> None:
    with pytest.raises(ConfigError, match="authority"):
        tls_context(ca=ca, cert=None, key=None)


def test_a_certificate_that_is_no_pem_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be used together"):
        tls_context(ca=None, cert=b"x", key=_ME.key, insecure=True)
