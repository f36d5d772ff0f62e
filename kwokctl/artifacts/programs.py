"""Lists all programs, where their projects publish them, and what files without published checksums are known to be."""

from collections.abc import Callable
from urllib.parse import quote

import msgspec

from kwokctl.artifacts import versions
from kwokctl.artifacts.program_platform import Platform
from kwokctl.errors import ArtifactError


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """Programs that are released together and built together.

    In `site` and `file`, `{number}` is the version without its `v`, `{os}` and `{arch}` are the
    machine's, `{program}` is the program.
    """

    name: str
    title: str
    """Its name for people."""
    canonical: Callable[[str], str]
    """Returns a version as the store spells it."""
    site: str
    """The address below which the files of a release are."""
    file: str
    """The file of a release that holds a program."""
    sums: str = ""
    """The address of its SHA-256, relative to it; `{file}` is its name. Empty if it is not published."""
    chosen: str = ""
    """The option that chooses another version; empty if its modules have versions of their own."""
    archive: bool = False
    """Whether that file is an archive of several programs."""
    module_version: Callable[[str], str] = str
    """Returns the version of the Go modules for a version."""
    oldest_build: tuple[int, int]
    """The first release that a Go module proxy can give."""
    tags: tuple[str, ...] = ()
    """Build tags."""
    stamped: tuple[str, ...] = ()
    """Go packages into which the linker writes the version."""

    def address(self, version: str, target: Platform) -> str:
        """Return the address below which the project publishes a release."""
        return self._filled(self.site, "", version, target)

    def filename(self, program: str, version: str, target: Platform) -> str:
        """Return the name of the published file that holds a program."""
        return self._filled(self.file, program, version, target)

    def choice(self, version: str) -> str:
        """Return the option or the variable that chooses a version, as Go writes it."""
        return self.chosen.format(version=version, number=version.removeprefix("v"))

    @staticmethod
    def _filled(text: str, program: str, version: str, target: Platform) -> str:
        number = quote(version.removeprefix("v"), safe="")
        return text.format(number=number, os=target.os, arch=target.arch, program=program)


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One program and the Go package that it is built from."""

    name: str
    group: Release
    module: str
    package: str

    @property
    def built_name(self) -> str:
        """The name that Go gives it: the last word of the path that is not a major version."""
        *_, parent, last = self.package.split("/")
        return parent if last.startswith("v") and last[1:].isdigit() else last


KUBERNETES = Release(
    name="kubernetes",
    title="Kubernetes",
    canonical=versions.kube_version,
    site="https://dl.k8s.io/release/v{number}/bin/{os}/{arch}",
    file="{program}",
    sums="{file}.sha256",
    chosen="--kube-version {version}",
    oldest_build=(1, 17),
    stamped=("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"),
)

ETCD = Release(
    name="etcd",
    title="etcd",
    canonical=versions.etcd_release,
    site="https://github.com/etcd-io/etcd/releases/download/v{number}",
    file="etcd-v{number}-{os}-{arch}.tar.gz",
    sums="SHA256SUMS",
    chosen="--etcd-version {number}",
    archive=True,
    oldest_build=(3, 5),
)

KIND = Release(
    name="kind",
    title="kind",
    canonical=versions.kind_version,
    site="https://github.com/kubernetes-sigs/kind/releases/download/v{number}",
    file="kind-{os}-{arch}",
    sums="{file}.sha256sum",
    chosen="KWOK_KIND_VERSION={version}",
    oldest_build=(0, 11),
)

METRICS_SERVER = Release(
    name="metrics-server",
    title="metrics-server",
    canonical=versions.metrics_server_version,
    site="https://github.com/kubernetes-sigs/metrics-server/releases/download/v{number}",
    file="metrics-server-{os}-{arch}",
    chosen="KWOK_METRICS_SERVER_VERSION={version}",
    oldest_build=(0, 7),
    stamped=("k8s.io/client-go/pkg/version",),
)


PROMETHEUS = Release(
    name="prometheus",
    title="Prometheus",
    canonical=versions.prometheus_version,
    site="https://github.com/prometheus/prometheus/releases/download/v{number}",
    file="prometheus-{number}.{os}-{arch}.tar.gz",
    sums="sha256sums.txt",
    archive=True,
    module_version=versions.prometheus_module,
    oldest_build=(2, 35),
    # Without the libraries of cloud providers, which take most of the time of a build.
    tags=("remove_all_sd", "enable_kubernetes_sd"),
)


def _kubernetes(name: str) -> Program:
    module = "k8s.io/kubernetes"
    return Program(name=name, group=KUBERNETES, module=module, package=f"{module}/cmd/{name}")


def _etcd(name: str, path: str) -> Program:
    module = f"go.etcd.io/etcd/{path}/v3"
    return Program(name=name, group=ETCD, module=module, package=module)


PROGRAMS = {
    program.name: program
    for program in (
        _kubernetes("kube-apiserver"),
        _kubernetes("kube-controller-manager"),
        _kubernetes("kube-scheduler"),
        _kubernetes("kubectl"),
        _etcd("etcd", "server"),
        _etcd("etcdctl", "etcdctl"),
        _etcd("etcdutl", "etcdutl"),
        _kubernetes("kubelet"),
        _kubernetes("kubeadm"),
        Program(
            name="metrics-server",
            group=METRICS_SERVER,
            module="sigs.k8s.io/metrics-server",
            package="sigs.k8s.io/metrics-server/cmd/metrics-server",
        ),
        Program(
            name="prometheus",
            group=PROMETHEUS,
            module="github.com/prometheus/prometheus",
            package="github.com/prometheus/prometheus/cmd/prometheus",
        ),
        Program(name="kind", group=KIND, module="sigs.k8s.io/kind", package="sigs.k8s.io/kind"),
    )
}

FOR_NODES = frozenset({"kubelet", "kubeadm", "kind"})
"""Programs that only clusters on kind need: kind, and the programs of its node image."""

ON_REQUEST = frozenset({"metrics-server", "prometheus"})
"""Programs that are needed only by clusters that enable them."""


_USUAL_SUMS = "{file}.sha256"
"""The usual address of a checksum on mirrors."""


def relatives(name: str) -> list[str]:
    """Return the other programs that are released together with this one."""
    if name not in PROGRAMS:
        return []
    group = PROGRAMS[name].group
    return [p.name for p in PROGRAMS.values() if p.group is group and p.name != name]


def checksums(name: str, file: str) -> str:
    """Return where the SHA-256 of a published file is to be looked for, relative to it."""
    sums = PROGRAMS[name].group.sums if name in PROGRAMS else ""
    return (sums or _USUAL_SUMS).format(file=file)


def named(name: str) -> Program:
    """Return the program called `name`; ArtifactError for one that we do not know."""
    if name not in PROGRAMS:
        raise ArtifactError(
            f"no program called '{name}' is known", hint=f"choose from {', '.join(PROGRAMS)}"
        )
    return PROGRAMS[name]


_KNOWN = {
    # Its releases hold only the programs
    # (https://github.com/kubernetes-sigs/metrics-server/blob/master/.github/workflows/release.yaml).
    # A line comes here once three projects that do not know each other have noted the same.
    ("metrics-server", "v0.8.1", "metrics-server-linux-amd64"): (
        "dd2455a5902d100aab7e5f7f9bcd8f715b6d39f97f161bbe87e3c24f61fa296c"
    ),
}
"""The SHA-256 of a file, by the group of its release, by version and by name."""


def pinned(group: str, version: str, file: str) -> str:
    """Return the SHA-256 of a file of a release; empty where it is not known."""
    return _KNOWN.get((group, version, file), "")
