"""Prometheus as Debian packages it: the program, an image of it, and what it is asked."""

import json
import shutil
import ssl
import subprocess
import tarfile
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlencode

from kwokctl.host.paths import cache_dir
from tests.support.engine_command import EngineCommand
from tests.support.installed import Installed
from tests.support.places import Place

_PROGRAM = "usr/bin/prometheus"
_IMAGE = "localhost/kwokctl-tests/prometheus:debian"
_PATIENCE = 300.0


class NoPrometheusError(Exception):
    """No program is available here; the message gives the reason."""


def chosen(place: Place) -> tuple[str, ...]:
    """Return the words that add Prometheus to a cluster, as a program or as an image."""
    found = _program()
    if place.command is None:
        return ("--enable", "prometheus", "--prometheus-binary", str(found))
    return ("--enable", "prometheus", "--prometheus-image", _image(place.command, found))


def _program() -> Path:
    """Return the program on PATH, or that of the package, of which nothing is installed."""
    if installed := shutil.which("prometheus"):
        return Path(installed)
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise NoPrometheusError("'prometheus' is not on PATH, and there is no apt-get to get it")
    kept = cache_dir() / "tests" / "prometheus"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        _unpack(kept)
    return kept


def _unpack(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        _run("apt-get", "-q", "download", "prometheus", folder=folder)
        [package] = folder.glob("*.deb")
        _run("dpkg-deb", "--extract", str(package), "out", folder=folder)
        (folder / "out" / _PROGRAM).rename(target)


def _run(*words: str, folder: Path) -> None:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False
    )
    if done.returncode:
        raise NoPrometheusError(f"'{' '.join(words[:3])}' fails: {done.stderr.strip()[-300:]}")


def _image(engine: EngineCommand, program: Path) -> str:
    """Make an image of the program and the libraries that it needs, unless the engine has it."""
    if engine.words("images", "--quiet", _IMAGE):
        return _IMAGE
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "prometheus.tar"
        with tarfile.open(archive, "w", dereference=True) as tar:
            tar.add(program, "usr/bin/prometheus")
            for library in _libraries(program):
                tar.add(library, library.removeprefix("/"))
        engine.words("import", "--change", "ENV PATH=/usr/bin", str(archive), _IMAGE)
    return _IMAGE


def _libraries(program: Path) -> list[str]:
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    return [word for word in done.stdout.split() if word.startswith("/")]


@dataclass(frozen=True, slots=True)
class PrometheusOf:
    """The Prometheus of a cluster, asked as its owner asks it."""

    cluster: Installed
    url: str

    @classmethod
    def running(cls, cluster: Installed) -> Self:
        """Find that of a cluster."""
        return cls(cluster, cluster.components()["prometheus"]["url"])

    def ask(self, path: str, **parameters: str) -> Any:
        """Return the data that it answers."""
        url = f"{self.url}/api/v1/{path}?{urlencode(parameters)}"
        with urllib.request.urlopen(url, context=self._tls(), timeout=30) as answer:
            return json.load(answer)["data"]

    def found(self, query: str, **parameters: str) -> list[dict[str, Any]]:
        """Return the series that a query finds."""
        return cast("list[dict[str, Any]]", self.ask("query", query=query, **parameters)["result"])

    def states(self) -> dict[str, set[str]]:
        """Return the health of the targets, by job: `up`, `unknown`, or what is wrong."""
        jobs: dict[str, set[str]] = {}
        for each in self.ask("targets")["activeTargets"]:
            jobs.setdefault(each["labels"]["job"], set()).add(each["lastError"] or each["health"])
        return jobs

    def _tls(self) -> ssl.SSLContext:
        pki = self.cluster.workdir / "clusters" / self.cluster.name / "pki"
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / "prometheus-client.crt", pki / "prometheus-client.key")
        return context
