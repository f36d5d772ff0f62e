"""Programs that are downloaded, as the command shows it: on a terminal, in a pipe, and for a program that reads it."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from tests.support import terminal
from tests.support.release_site import ReleaseSite, archived, release_site

Kwokctl = Callable[..., subprocess.CompletedProcess[str]]
Show = Callable[[Mapping[str, str]], tuple[str, str]]
"""Runs `artifacts pull`; returns its result and what it has shown."""

_ROOT = str(Path(__file__).parents[2])
_PULL = ("artifacts", "pull")
_OF_ETCD = ("etcd", "etcdctl", "etcdutl")
_OF_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


def _program(name: str) -> bytes:
    return f"#!/bin/sh\necho {name}\n".encode() * 1000


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    """A mirror that has everything that a cluster needs."""
    with release_site() as site:
        # etcd's mirror has no SHA256SUMS.
        for name in _OF_KUBERNETES:
            site.publish(f"/kubernetes/{name}", _program(name))
        machine = here()
        etcd = f"etcd-v{etcd_version(DEFAULT_KUBE_VERSION)}-{machine.os}-{machine.arch}"
        site.publish(
            f"/etcd/{etcd}.tar.gz", archived(**{name: _program(name) for name in _OF_ETCD})
        )
        yield site


@pytest.fixture
def mirrored(site: ReleaseSite) -> Mapping[str, str]:
    """The settings of a user with that mirror."""
    return {
        "KWOK_KUBE_BINARY_PREFIX": f"{site.address}/kubernetes",
        "KWOK_ETCD_BINARY_PREFIX": f"{site.address}/etcd",
    }


@pytest.fixture(params=["pipe", "terminal"])
def pull(request: pytest.FixtureRequest, kwokctl: Kwokctl, environ: Mapping[str, str]) -> Show:
    """Pull everything, and show how to a person or a file."""

    def piped(settings: Mapping[str, str]) -> tuple[str, str]:
        done = kwokctl(*_PULL, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def watched(settings: Mapping[str, str]) -> tuple[str, str]:
        words = [sys.executable, "-m", "kwokctl", *_PULL]
        whole = {**environ, "PYTHONPATH": _ROOT, "TERM": "xterm", "LANG": "C.UTF-8", **settings}
        shown = terminal.ran(words, whole, rows=24, columns=100)
        assert shown.code == 0, shown.text
        return shown.text, shown.text

    return piped if request.param == "pipe" else watched


def test_everything_is_downloaded_by_one_command(
    pull: Show, site: ReleaseSite, mirrored: Mapping[str, str]
) -> None:
    out, shown = pull(mirrored)

    for name in (*_OF_KUBERNETES, *_OF_ETCD):
        assert re.search(rf"^{name} v?\d", out, re.MULTILINE), out
    for names in (", ".join(_OF_ETCD), *_OF_KUBERNETES):
        assert len(re.findall(rf"✓ Downloading {names} v?[\d.]+ \(", shown)) == 1, shown
    assert "Traceback" not in shown
    assert "✗" not in shown
    assert len(site.asked("/kubernetes/kubectl")) == 1

    again = pull(mirrored)[1]

    assert "Downloading" not in again
    assert len(site.asked("/kubernetes/kubectl")) == 1


def test_a_program_that_reads_the_result_gets_it(
    kwokctl: Kwokctl, site: ReleaseSite, mirrored: Mapping[str, str]
) -> None:
    done = kwokctl(*_PULL, "-o", "json", **mirrored)

    assert done.returncode == 0, done.stderr
    assert "✓ Downloading kubectl " in done.stderr
    assert "warning: 'http://127.0.0.1" in done.stderr  # the archive has no checksum
    programs = json.loads(done.stdout)["result"]["programs"]
    assert {each.partition(" ")[0] for each in programs} == {*_OF_KUBERNETES, *_OF_ETCD}
    assert len(site.asked("/kubernetes/kubectl")) == 1


def test_a_program_comes_from_an_address_and_from_an_archive(
    pull: Show, site: ReleaseSite, mirrored: Mapping[str, str]
) -> None:
    given = {
        "KWOK_KUBE_SCHEDULER_BINARY": site.publish("/mine/scheduler", _program("kube-scheduler")),
        "KWOK_ETCDUTL_BINARY": site.publish(
            "/mine/tools.tgz", archived(etcdutl=_program("etcdutl"))
        )
        + "#etcdutl",
    }

    shown = pull({**mirrored, **given})[1]

    assert len(re.findall(r"✓ Downloading kube-scheduler v[\d.]+ \(", shown)) == 1, shown
    assert len(re.findall(r"✓ Downloading etcdutl [\d.]+ \(", shown)) == 1, shown
    assert len(site.asked("/mine/scheduler")) == len(site.asked("/mine/tools.tgz")) == 1
    assert site.asked("/kubernetes/kube-scheduler") == []


def test_a_download_that_fails_is_crossed_and_says_how_to_go_on(
    kwokctl: Kwokctl, site: ReleaseSite, mirrored: Mapping[str, str]
) -> None:
    site.ranges = False
    site.faults["/kubernetes/kubectl"] = ["cut"] * 9

    done = kwokctl(*_PULL, **mirrored)

    assert done.returncode == 1
    assert re.search(r"^✗ Downloading kubectl v[\d.]+ \(", done.stderr, re.MULTILINE), done.stderr
    assert "✓ Downloading kubectl" not in done.stderr
    assert "cannot be downloaded: 127.0.0.1 closed the connection early\n" in done.stderr
    assert "hint: repeat the command, which continues the downloads; or " in done.stderr

    site.faults.clear()
    assert kwokctl(*_PULL, **mirrored).returncode == 0
