import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import ConfigError, KwokctlError, NotFoundError, UsageError
from kwokctl.expr import yaml
from kwokctl.kube.kubeconfig.access import Access, load_access

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a kubeconfig of two contexts, with these in the first."""

    def write(cluster: Any = None, user: Any = None, **more: Any) -> Path:
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "one",
            "clusters": [
                {"name": "c1", "cluster": {"server": "https://one:6443", **(cluster or {})}},
                {"name": "c2", "cluster": {"server": "https://two/"}},
            ],
            "users": [{"name": "u1", "user": user or {}}, {"name": "u2", "user": {"token": "t2"}}],
            "contexts": [
                {"name": "one", "context": {"cluster": "c1", "user": "u1"}},
                {"name": "two", "context": {"cluster": "c2", "user": "u2", "namespace": "n"}},
                {"name": "nobody", "context": {"cluster": "c2"}},
            ],
            **more,
        }
        path = tmp_path / "config"
        path.write_text(yaml.dump(document))
        return path

    return write


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_the_current_context_is_the_default(write: Write) -> None:
    assert load_access(write()) == Access(server="https://one:6443")


def test_another_context_can_be_chosen(write: Write) -> None:
    access = load_access(write(), "two")
    assert access == Access(server="https://two", token="t2")
    assert access.authorization == "Bearer t2"


def test_a_context_needs_no_user(write: Write) -> None:
    assert load_access(write(), "nobody") == Access(server="https://two")


def test_files_are_found_relative_to_the_kubeconfig(write: Write, tmp_path: Path) -> None:
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_bytes(name.encode())
    user = {"client-certificate": "cert", "client-key": str(tmp_path / "key")}
    access = load_access(write({"certificate-authority": "./ca"}, user))
    assert (access.ca, access.cert, access.key) == (b"ca", b"cert", b"key")


def test_inline_data_come_before_files(write: Write) -> None:
    user = {
        "client-certificate": "absent",
        "client-certificate-data": _b64(b"cert"),
        "client-key-data": _b64(b"key"),
    }
    access = load_access(write({"certificate-authority-data": _b64(b"ca")}, user))
    assert (access.ca, access.cert, access.key) == (b"ca", b"cert", b"key")


def test_a_token_file_comes_before_a_token(write: Write, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    assert load_access(write(user={"token": "x", "tokenFile": "token"})).token == "from-file"


def test_a_name_and_a_password_make_a_basic_authorization(write: Write) -> None:
    access = load_access(write(user={"username": "a", "password": "b"}))
    assert access.authorization == f"Basic {_b64(b'a:b')}"


def test_tls_settings_are_kept_and_no_ca_is_loaded_if_any_server_is_trusted(write: Write) -> None:
    cluster = {"insecure-skip-tls-verify": True, "certificate-authority": "absent"}
    access = load_access(write({**cluster, "tls-server-name": "name"}))
    assert (access.insecure, access.ca, access.tls_server_name) == (True, None, "name")


def test_a_server_without_a_scheme_is_plain_http(write: Write) -> None:
    assert load_access(write({"server": "127.0.0.1:8001"})).server == "http://127.0.0.1:8001"


@pytest.mark.parametrize(
    ("cluster", "user", "message", "hint"),
    [
        ({}, {"exec": {"command": "aws"}}, "'users[u1].user.exec'", "create token"),
        ({}, {"auth-provider": {"name": "gcp"}}, "'users[u1].user.auth-provider'", "create token"),
        ({}, {"as": "somebody"}, "cannot impersonate", "own certificate"),
        ({"proxy-url": "http://p"}, {}, "'clusters[c1].cluster.proxy-url'", "directly"),
    ],
)
def test_what_cannot_be_used_here_is_refused_with_advice(
    write: Write, cluster: Any, user: Any, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load_access(write(cluster, user))
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("cluster", "user", "message"),
    [
        ({"server": None}, {}, "'clusters[c1].cluster.server' of the kubeconfig"),
        ({"server": "https://"}, {}, "is not a URL of an API server: 'https://'"),
        ({"server": "https://x:port"}, {}, "is not a URL of an API server"),
        ({"server": "ftp://x"}, {}, "is not a URL of an API server"),
        ({"certificate-authority": "absent"}, {}, "'clusters[c1].cluster.certificate-authority'"),
        ({"certificate-authority-data": "%%"}, {}, "is not base64"),
        ({"insecure-skip-tls-verify": "maybe"}, {}, "must be true or false"),
        ({}, {"token": 123}, "'users[u1].user.token' of the kubeconfig"),
        ({}, {"tokenFile": "absent"}, "No such file"),
        ({}, {"client-key-data": _b64(b"x")}, "'users[u1].user.client-certificate'"),
        ({}, {"client-certificate-data": _b64(b"x")}, "'users[u1].user.client-key'"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(
    write: Write, cluster: Any, user: Any, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_access(write(cluster, user))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no mapping"),
        (b"- 1", "holds no mapping"),
        (b"{", "is not YAML"),
        (b"\xff\xfe", "is not text"),
        (b"current-context: x\ncontexts: {}", "no context called 'x'"),
        (b"current-context: x\ncontexts: 1", "'contexts' of the kubeconfig"),
        (b"current-context: x\ncontexts: [1]", "must be a list of mappings"),
        (b"contexts: []", "'current-context' of the kubeconfig"),
    ],
)
def test_what_is_no_kubeconfig_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(KwokctlError) as caught:
        load_access(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no kubeconfig"):
        load_access(tmp_path / "absent")


def test_an_unknown_context_is_an_error_that_names_the_known_ones(write: Write) -> None:
    with pytest.raises(NotFoundError, match="no context called 'three'") as caught:
        load_access(write(), "three")
    assert caught.value.hint == "it has 'one', 'two', 'nobody'"
