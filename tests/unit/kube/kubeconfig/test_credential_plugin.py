"""Credentials come from real programs, which are shown what they may ask for."""

import base64
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.errors import ConfigError, UsageError
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.kubeconfig.credential_plugin import (
    CredentialPlugin,
    run_plugin,
    seconds_until_renewal,
)

VERSION = "client.authentication.k8s.io/v1"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a kubeconfig whose user has a plug-in, in Python, beside it."""

    def written(program: str, cluster: dict[str, Any] | None = None, **more: Any) -> Path:
        plugin = tmp_path / "plugin"
        plugin.write_text(f"#!{sys.executable}\n{program}")
        plugin.chmod(0o755)
        user = {"exec": {"apiVersion": VERSION, "command": "./plugin", **more}}
        document = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://c:1", **(cluster or {})}}],
            "users": [{"name": "u", "user": user}],
        }
        path = tmp_path / "config"
        path.write_text(yaml.safe_dump(document))
        return path

    return written


def _plugin(kubeconfig: Path) -> CredentialPlugin:
    access: Access = load_access(kubeconfig, with_plugins=True)
    assert access.plugin is not None
    return access.plugin


ANSWER = """
import json, os, sys
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
status = {"token": " ".join([*sys.argv[1:], os.environ["WHO"]]), "clientKeyData": json.dumps(info),
          "clientCertificateData": "c", "expirationTimestamp": "2030-01-01T00:00:00Z"}
print(json.dumps({"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status": status}))
"""


async def test_a_plugin_gets_its_words_and_variables_and_no_prompt(write: Write) -> None:
    path = write(ANSWER, args=["get", "token"], env=[{"name": "WHO", "value": "me"}])

    found = await run_plugin(_plugin(path))

    assert (found.token, found.cert) == ("get token me", b"c")
    assert found.expires == datetime(2030, 1, 1, tzinfo=UTC)
    assert json.loads(found.key or b"") == {
        "apiVersion": VERSION, "kind": "ExecCredential", "spec": {"interactive": False},
    }  # fmt: skip


async def test_a_plugin_that_asks_is_shown_the_cluster(write: Write, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("authority")
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}
    cluster = {"certificate-authority": "ca.crt", "extensions": [extension]}
    env = [{"name": "WHO", "value": "me"}]

    found = await run_plugin(_plugin(write(ANSWER, cluster, provideClusterInfo=True, env=env)))

    assert json.loads(found.key or b"")["spec"]["cluster"] == {
        "server": "https://c:1",
        "certificate-authority-data": base64.b64encode(b"authority").decode(),
        "config": {"audience": "a"},
    }


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('log in first')", "has failed"),
        ("print('hello')", "no ExecCredential"),
        ('print(\'{"apiVersion": "v1", "kind": "K", "status": {}}\')', "no credential of"),
        ("import threading; threading.Event().wait()", "has not answered"),
    ],
)
async def test_a_plugin_that_gives_no_credential_is_named(
    write: Write, program: str, message: str
) -> None:
    patience = 0.5 if "wait" in program else 60.0
    with pytest.raises(ConfigError, match=message) as caught:
        await run_plugin(_plugin(write(program)), patience=patience)
    assert "users[u].user.exec" in str(caught.value)
    if "log in" in program:
        assert "log in first" in str(caught.value.detail)


async def test_a_plugin_that_is_not_installed_comes_with_its_own_hint(write: Write) -> None:
    path = write("", command="no-such-plugin", installHint="get it from us")
    with pytest.raises(ConfigError, match="'no-such-plugin'") as caught:
        await run_plugin(_plugin(path))
    assert caught.value.hint == "get it from us"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "apiVersion"),
        ({"interactiveMode": "Always"}, "no prompts"),
        ({"args": "x"}, "args"),
    ],
)
def test_a_plugin_that_cannot_be_run_is_refused(
    write: Write, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        _plugin(write("", **more))


def test_who_runs_no_plugins_refuses_them(write: Write) -> None:
    with pytest.raises(UsageError, match="exec"):
        load_access(write(""))


@pytest.mark.parametrize(("left", "pause"), [(100, 80), (-5, 10), (1, 10)])
def test_a_credential_is_renewed_before_it_expires(left: int, pause: int) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    assert seconds_until_renewal(now + timedelta(seconds=left), lambda: now, 10) == pause


def test_a_credential_without_an_end_is_kept() -> None:
    assert seconds_until_renewal(None, lambda: datetime(2030, 1, 1, tzinfo=UTC), 10) is None
