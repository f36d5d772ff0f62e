"""The download sites of the projects, laid out as they are, behind a proxy as companies have it.

The proxy looks into TLS with an authority of its own, and may ask for a user and a password. Hosts of the projects
are reached through it only: no name is looked up, and nothing is sent to another machine.
"""

import base64
import hashlib
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from random import Random
from urllib.parse import quote

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from tests.support.certificates import certificates
from tests.support.release_site import ReleaseSite, SiteHandler, archived, release_site

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ETCD = ("etcd", "etcdctl", "etcdutl")

_HOSTS = ("dl.k8s.io", "cdn.dl.k8s.io", "github.com", "release-assets.githubusercontent.com")
_MACHINE = f"{here().os}/{here().arch}"
_OF_KUBERNETES = f"release/{DEFAULT_KUBE_VERSION}/bin/{_MACHINE}"
_ETCD = f"v{etcd_version(DEFAULT_KUBE_VERSION)}"
_ARCHIVE = f"etcd-{_ETCD}-{here().os}-{here().arch}.tar.gz"
_OF_ETCD = f"etcd-io/etcd/releases/download/{_ETCD}"


@dataclass(slots=True)
class DownloadSites:
    """All sites: paths begin with the scheme and the host, `https://dl.k8s.io/…`."""

    site: ReleaseSite
    ca: Path
    """The authority that the users of the proxy have to trust."""
    user: str = ""
    password: str = ""
    dialled: list[str] = field(default_factory=list)
    """The hosts that the proxy was asked for, with their ports."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What a user sets who has to use the proxy."""
        login = f"{quote(self.user)}:{quote(self.password, safe='')}@" if self.user else ""
        address = self.site.address.replace("http://", f"http://{login}")
        return {"HTTPS_PROXY": address, "REQUESTS_CA_BUNDLE": str(self.ca)}

    def publish(self, programs: Mapping[str, bytes] | Mapping[str, mmap]) -> None:
        """Publish all programs as their projects do: their sites lead to the hosts of the files."""
        for name in KUBERNETES:
            self._led(
                f"dl.k8s.io/{_OF_KUBERNETES}/{name}",
                f"cdn.dl.k8s.io/{_OF_KUBERNETES}/{name}",
                programs[name],
            )
            sums = hashlib.sha256(programs[name]).hexdigest().encode()
            self._led(
                f"dl.k8s.io/{_OF_KUBERNETES}/{name}.sha256",
                f"cdn.dl.k8s.io/{_OF_KUBERNETES}/{name}.sha256",
                sums,
            )
        archive = archived(**{name: programs[name] for name in ETCD})
        sums = f"{hashlib.sha256(archive).hexdigest()}  {_ARCHIVE}\n".encode()
        for file, content in ((_ARCHIVE, archive), ("SHA256SUMS", sums)):
            assets = "release-assets.githubusercontent.com/github-production-release-asset"
            self._led(f"github.com/{_OF_ETCD}/{file}", f"{assets}/{file}?sig=x", content)

    def file_of(self, name: str) -> str:
        """Return where the file is that a program comes from, after all redirects."""
        path = f"{_OF_ETCD}/{_ARCHIVE}" if name in ETCD else f"{_OF_KUBERNETES}/{name}"
        host = "github.com" if name in ETCD else "dl.k8s.io"
        return self.site.redirects[f"https://{host}/{path}"]

    def mirror(self) -> Mapping[str, str]:
        """Publish the files once more, in folders of a site without TLS; return the settings for it."""
        for address, content in [*self.site.files.items()]:
            name = address.partition("?")[0].rpartition("/")[2]
            folder = "kubernetes" if name.startswith("kube") else "etcd"
            self.site.files[f"/{folder}/{name}"] = content
        return {
            "KWOK_KUBE_BINARY_PREFIX": f"{self.site.address}/kubernetes",
            "KWOK_ETCD_BINARY_PREFIX": f"{self.site.address}/etcd/",
        }

    def _led(self, public: str, place: str, content: bytes | mmap) -> None:
        self.site.redirects[f"https://{public}"] = f"https://{place}"
        self.site.files[f"https://{place}"] = content

    def lets_in(self, credentials: str | None) -> bool:
        """Return whether the proxy takes what a client has sent as its credentials."""
        if not self.user:
            return True
        wanted = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return credentials == f"Basic {wanted}"


def whole(programs: Mapping[str, Path]) -> Mapping[str, mmap]:
    """Return the real programs as they are."""
    contents = {}
    for name, path in programs.items():
        with path.open("rb") as file:
            contents[name] = mmap(file.fileno(), 0, access=ACCESS_READ)
    return contents


def small(programs: Mapping[str, Path], *, size: int) -> Mapping[str, bytes]:
    """Return files of some bytes that do what the real programs do, for slow and broken networks.

    They cannot be compressed, as programs can hardly be.
    """
    filling = base64.b64encode(Random(1).randbytes(size))
    return {
        name: f'#!/bin/sh\nexec "{path}" "$@"\n# {name} '.encode() + filling[:size]
        for name, path in programs.items()
    }


@contextmanager
def download_sites(folder: Path) -> Iterator[DownloadSites]:
    """Serve the sites until the block ends; `folder` gets the authority's certificate."""
    authority = certificates("proxy", _HOSTS)
    ca = folder / "proxy-ca.pem"
    ca.write_bytes(authority.ca)
    with release_site(_Proxy) as site:
        sites = DownloadSites(site, ca)
        _Proxy.all_sites[site.address] = sites, authority.server_context()
        yield sites


class _Proxy(SiteHandler):
    """Answers for each host in the tunnels that it is asked for."""

    all_sites: dict[str, tuple[DownloadSites, ssl.SSLContext]] = {}  # noqa: RUF012 - shared on purpose, by address

    def setup(self) -> None:
        super().setup()
        self._host = ""

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def asked_for(self) -> str:
        return f"https://{self._host}{self.path}" if self._host else super().asked_for()

    def do_CONNECT(self) -> None:  # noqa: N802 - the base calls it by the method of the request
        """Let a client in, and answer as the host that it has named."""
        sites, context = self.all_sites[self.site.address]
        sites.dialled.append(self.path)
        host = self.path.partition(":")[0]
        is_in = sites.lets_in(self.headers["Proxy-Authorization"])
        self.send_response(407 if not is_in else 200 if host in _HOSTS else 502)
        if not is_in:
            self.send_header("Proxy-Authenticate", 'Basic realm="proxy"')
        self.end_headers()
        if not is_in or host not in _HOSTS:
            return
        try:
            self.request = context.wrap_socket(self.connection, server_side=True)
        except OSError:  # it does not trust the authority
            self.close_connection = True
            return
        self._host = host
        super().setup()
        # Clients of HTTP/1.0 ask for tunnels, too, and go on in them.
        self.close_connection = False
