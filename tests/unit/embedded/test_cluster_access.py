import re
import sys
from pathlib import Path

import pytest

from kwokctl.embedded.cluster_access import (
    cluster_access,
    keep_credential,
    with_credential,
)
from kwokctl.errors import UsageError
from kwokctl.kube.kubeconfig import entries
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside
from tests.support.eventually import eventually


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's home folder, outside of any pod."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return tmp_path


def kubeconfig(path: Path, server: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(entries.by_token("c", server, path.parent / "ca.crt", "t"))
    (path.parent / "ca.crt").write_text("authority")
    return path


def test_the_kubeconfig_that_is_named_wins_over_the_users_own(home: Path) -> None:
    kubeconfig(home / ".kube" / "config", "https://own:1")
    named = kubeconfig(home / "named" / "config", "https://named:1")

    assert cluster_access(named, "").server == "https://named:1"
    assert cluster_access(None, "").server == "https://own:1"


def test_a_url_wins_over_the_server_of_a_kubeconfig(home: Path) -> None:
    named = kubeconfig(home / "config", "https://named:1")

    access = cluster_access(named, "https://other:2/")

    assert (access.server, access.token) == ("https://other:2", "t")


def test_a_url_is_enough() -> None:
    assert cluster_access(None, "http://127.0.0.1:8080").server == "http://127.0.0.1:8080"


def test_without_any_of_them_there_is_an_error_with_a_hint() -> None:
    with pytest.raises(UsageError, match="no cluster") as caught:
        cluster_access(None, "")

    assert "--kubeconfig" in str(caught.value.hint)


@pytest.fixture
def account(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a service account, within a pod."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    (home / "ca.crt").write_text("authority")
    (home / "token").write_text("first\n")
    return home


def test_in_a_pod_it_is_the_service_account(account: Path) -> None:
    access = cluster_access(None, "", account=account)

    assert (access.server, access.ca, access.token) == (
        "https://[fd00::1]:6443",
        b"authority",
        "first",
    )


def test_a_pod_without_an_authority_sends_no_token(account: Path) -> None:
    (account / "ca.crt").unlink()

    with pytest.raises(UsageError, match=r"ca\.crt") as caught:
        cluster_access(None, "", account=account)

    assert "automountServiceAccountToken" in str(caught.value.hint)


def test_the_token_of_a_pod_is_never_sent_without_tls(account: Path) -> None:
    with pytest.raises(UsageError, match="no TLS"):
        cluster_access(None, "http://10.0.0.1:8080", account=account)


@pytest.fixture
def outdated(account: Path) -> Access:
    """Return access with a token that was replaced since."""
    access = cluster_access(None, "", account=account)
    (account / "token").write_text("second")
    return access


async def test_a_token_that_was_replaced_is_shown(outdated: Access) -> None:
    shown = RecordingPool()

    async with beside(keep_credential(shown, outdated, every=0)):
        await eventually(lambda: shown.tokens == ["second"])


PLUGIN = """
import json, pathlib
count = pathlib.Path(__file__).with_suffix(".count")
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
status = {"token": f"t{number}", "expirationTimestamp": "2020-01-01T00:00:00Z"}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""


@pytest.fixture
def plugged(home: Path) -> Access:
    """Return access whose credential a program prints, which has expired each time."""
    (home / "plugin").write_text(f"#!{sys.executable}\n{PLUGIN}")
    (home / "plugin").chmod(0o755)
    config = kubeconfig(home / "config", "https://c:1")
    plugin = "{apiVersion: client.authentication.k8s.io/v1, command: ./plugin}"
    config.write_text(re.sub(r'"?token"?: "?t"?\b', f"exec: {plugin}", config.read_text()))
    return cluster_access(config, "")


async def test_a_plugin_is_run_again_when_its_credential_expires(plugged: Access) -> None:
    access = await with_credential(plugged)
    shown = RecordingPool()

    assert access.token == "t1"
    async with beside(keep_credential(shown, access, least=0)):
        await eventually(lambda: shown.tokens[:2] == ["t2", "t3"])


class RecordingPool(Pool):
    """Notes what it is to show."""

    def __init__(self) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self.tokens: list[str | None] = []

    def authorize(self, access: Access) -> None:
        self.tokens.append(access.token)
