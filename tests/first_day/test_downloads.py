"""A machine with a network: everything comes from the projects' sites, laid out on this machine behind a proxy."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kwokctl.replacing import replace
from tests.support.download_sites import (
    ETCD,
    KUBERNETES,
    DownloadSites,
    download_sites,
    small,
    whole,
)
from tests.support.installed import until
from tests.support.newcomer import Newcomer

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600)]

_CREATE = ("create", "cluster")
_ONLY_DOWNLOADS = ("--artifact-source", "download")
_OF_A_CLUSTER = {*ETCD, *KUBERNETES} - {"kubectl"}
_SLOW = 50_000
"""Bytes a second."""
_SIZE = 400_000
"""Bytes of a program that is small, and yet comes in several blocks."""


@pytest.fixture
def sites(real_programs: Mapping[str, Path], tmp_path: Path) -> Iterator[DownloadSites]:
    """Serve small programs that run the real ones."""
    with download_sites(tmp_path) as sites:
        sites.publish(small(real_programs, size=_SIZE))
        yield sites


@pytest.fixture
def behind_proxy(user: Newcomer, sites: DownloadSites) -> Newcomer:
    return replace(user, settings=sites.settings)


def _begun(user: Newcomer, shown: str) -> None:
    """Expect a cluster at work of programs that have all been downloaded."""
    assert "Traceback" not in shown
    until("all components are ready", lambda: user.statuses() == {"Ready"})
    assert {*user.stored()} >= _OF_A_CLUSTER
    listed = user.ok("artifacts", "list", "-o", "yaml")
    assert set(re.findall(r"checksum: (\w+)", listed)) == {"published"}


def test_the_first_command_downloads_everything(
    user: Newcomer, real_programs: Mapping[str, Path], tmp_path: Path
) -> None:
    with download_sites(tmp_path) as sites:
        sites.publish(whole(real_programs))
        user = replace(user, settings=sites.settings)

        done = user.on_terminal(*_CREATE)

    assert done.code == 0, done.out
    for each in _OF_A_CLUSTER - {"etcdctl", "etcdutl"}:
        assert len(re.findall(rf"✓ Downloading {each} v?[\d.]+ \(", done.out)) == 1, done.out
    assert "✗" not in done.out
    _begun(user, done.out)
    stored = user.stored()
    assert {each: stored[each].stat().st_size for each in _OF_A_CLUSTER} == {
        each: real_programs[each].stat().st_size for each in _OF_A_CLUSTER
    }


def test_a_slow_network_shows_how_fast_it_is_and_how_long_it_takes(
    behind_proxy: Newcomer, sites: DownloadSites, real_programs: Mapping[str, Path]
) -> None:
    sites.publish(small(real_programs, size=_SLOW))
    sites.site.rate = _SLOW

    done = behind_proxy.on_terminal("artifacts", "pull", columns=100)

    assert done.code == 0, done.out
    assert {*behind_proxy.stored()} == {*ETCD, *KUBERNETES}
    assert re.search(r"Downloading etcd, etcdctl, etcdutl .*\d+ kB of \d+ kB", done.out)
    assert re.search(r"\d\d kB/s, \d s left", done.out), done.out
    assert "0.0 MB/s" not in done.out


def test_what_breaks_off_is_continued(behind_proxy: Newcomer, sites: DownloadSites) -> None:
    files = {sites.file_of(name) for name in _OF_A_CLUSTER}
    sites.site.cut_at = 0.8
    sites.site.faults = {file: ["cut"] for file in files}

    done = behind_proxy.run(*_CREATE)

    assert done.code == 0, done.err
    _begun(behind_proxy, done.err)
    for file in files:
        first, second = sites.site.asked(file)
        assert first.range is None
        assert second.range is not None
        size = len(sites.site.files[file])
        assert 0.5 < int(second.range.strip("bytes=-")) / size <= 0.8


def test_a_server_that_always_breaks_off_is_an_error_and_nothing_of_it_is_stored(
    behind_proxy: Newcomer, sites: DownloadSites
) -> None:
    sites.site.cut_at, sites.site.ranges = 0.8, False
    sites.site.faults[sites.file_of("kube-apiserver")] = ["cut"] * 99

    said = behind_proxy.refused(*_CREATE, *_ONLY_DOWNLOADS)

    assert re.search(r"^✗ Downloading kube-apiserver ", said, re.MULTILINE), said
    assert " cannot be downloaded: dl.k8s.io closed the connection early\n" in said
    assert "hint: repeat the command" in said
    assert {*behind_proxy.stored()} == {*ETCD}
    assert not behind_proxy.processes()

    sites.site.faults.clear()
    behind_proxy.ok("artifacts", "pull")
    assert {*behind_proxy.stored()} == {*ETCD, *KUBERNETES}


def test_a_file_that_is_not_what_was_published_is_refused_by_name(
    behind_proxy: Newcomer, sites: DownloadSites
) -> None:
    file = sites.file_of("kube-scheduler")
    sites.site.files[file] = b"#!/bin/sh\necho evil\n"

    said = behind_proxy.refused(*_CREATE)

    assert re.search(r"^✗ Downloading kube-scheduler ", said, re.MULTILINE), said
    assert "/kube-scheduler' does not have its published checksum\n" in said
    assert "kube-scheduler" not in behind_proxy.stored()
    assert [each for each in behind_proxy.cache.rglob("kube-scheduler*") if each.is_file()] == []
    assert not behind_proxy.processes()


def test_a_proxy_asks_for_a_user_and_a_password(user: Newcomer, sites: DownloadSites) -> None:
    without = sites.settings
    sites.user, sites.password = "somebody", "p@ss: word/1"
    known = replace(user, settings=sites.settings)
    unknown = replace(user, settings=without)

    said = unknown.refused(*_CREATE, *_ONLY_DOWNLOADS)

    assert "cannot be reached through the proxy (it asks for a user and a password: " in said
    assert "HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT" in said
    assert user.stored() == {}

    done = known.run(*_CREATE)

    assert done.code == 0, done.err
    _begun(known, done.err)
    for file in (path for path in user.home.rglob("*") if path.is_file()):
        assert b"p@ss" not in file.read_bytes(), file
    assert {each.rpartition(":")[0] for each in sites.dialled} == {
        "dl.k8s.io", "cdn.dl.k8s.io", "github.com", "release-assets.githubusercontent.com",
    }  # fmt: skip


def test_a_mirror_has_everything(user: Newcomer, sites: DownloadSites) -> None:
    user = replace(user, settings=sites.mirror())

    done = user.run(*_CREATE)

    assert done.code == 0, done.err
    assert "✗" not in done.err
    _begun(user, done.err)
    assert sites.dialled == []
