"""Builds an image of a node, without a registry, from Debian, Kubernetes and its images.

It holds what those of kind's project hold (https://kind.sigs.k8s.io/docs/design/node-image/), but for
kube-proxy, CoreDNS, a network of pods on several nodes, and what provisions volumes.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from kwokctl import assets
from kwokctl.errors import ArtifactError, CommandError, UnavailableError
from kwokctl.host import process
from kwokctl.host.files import remove_tree
from kwokctl.model import ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER
from runtimes.engine.engine_images import content_of
from runtimes.kind.images.image_archive import Image, layer_of_programs, layer_of_tree, write_images

ON_NODE = ("kubelet", "kubeadm", "kubectl")
CONTROL_PLANE = (ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER)
BARE = "io.kwokctl.node"
"""A label of images that lack what kind adds to a control plane."""

_DEBIAN = "bookworm"
"""The last release whose systemd starts on cgroup v1, too."""
_PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "containerd", "runc", "containernetworking-plugins",
    "iptables", "conntrack", "ethtool", "socat", "iproute2", "kmod", "mount", "procps", "util-linux",
    "catatonit",
)  # fmt: skip
_PAUSE = "usr/bin/catatonit"
"""A static program that can hold the namespaces of a pod, and reaps what is orphaned in it."""
_FOLDER = "kind-node"
_PLACES = {
    "entrypoint": "usr/local/bin/entrypoint",
    "import-images": "usr/local/bin/import-images",
    "kubelet-cgroups": "usr/local/bin/kubelet-cgroups",
    "kubelet.service": "etc/systemd/system/kubelet.service",
    "images.service": "etc/systemd/system/images.service",
    "containerd.conf": "etc/systemd/system/containerd.service.d/node.conf",
    "containerd.toml": "etc/containerd/config.toml",
    "network.conflist": "etc/cni/net.d/10-bridge.conflist",
    "storage.yaml": "kind/manifests/default-storage.yaml",
}
_ENABLED = {"kubelet": "/etc", "images": "/etc", "containerd": "/lib"}
"""Services, and where they are."""
_MASKED = (
    "systemd-udevd.service", "systemd-udevd-kernel.socket", "systemd-udevd-control.socket",
    "systemd-udev-trigger.service", "systemd-modules-load.service", "systemd-remount-fs.service",
    "sys-kernel-debug.mount", "sys-kernel-tracing.mount", "sys-kernel-config.mount",
    "dev-hugepages.mount", "dev-mqueue.mount", "proc-sys-fs-binfmt_misc.automount",
    "systemd-binfmt.service", "systemd-logind.service", "systemd-timesyncd.service",
    "systemd-pstore.service", "console-getty.service", "getty.target", "apt-daily.timer",
    "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer",
)  # fmt: skip
"""Units that would fight over the kernel or the console of the host."""
_DROPPED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale")
_TOOLS = {"debootstrap": "debootstrap", "unshare": "util-linux"}
"""Programs of this machine, and the packages that have them."""


def check_tools() -> None:
    """Raise UnavailableError, with a remedy, unless the image can be made here."""
    if os.geteuid() != 0:
        raise UnavailableError(
            "only root can make the image of a node: it installs a Debian into a folder",
            hint="run this with sudo; or make it on another machine with 'sudo kwokctl artifacts "
            "images --runtime kind --build --save FILE', and give the file to --kind-node-image",
        )
    for tool, package in _TOOLS.items():
        if not shutil.which(tool):
            raise UnavailableError(
                f"there is no '{tool}' on PATH, which makes the image of a node",
                hint=f"install it: apt-get install {package} (or: dnf install {package})",
            )


def mark(programs: Mapping[str, Path]) -> str:
    """Return a key that differs for images made of other programs or in another way."""
    content = hashlib.sha256(repr((_DEBIAN, _PACKAGES, _PLACES, _MASKED)).encode())
    for name in _PLACES:
        content.update(_file(name).read_bytes())
    for name, program in sorted(programs.items()):
        content.update(f"{name} {content_of(program)}".encode())
    return content.hexdigest()[:12]


async def install_debian(root: Path, say: Callable[[str], None]) -> None:
    """Install a Debian into a folder, with the mirror and the keys that debootstrap has.

    It gives up at the first package that does not arrive, so it gets a second try in an empty folder.
    """
    try:
        await _bootstrap(root, say)
    except CommandError:
        say("debootstrap failed, trying once more")
        remove_tree(root)
    else:
        return
    try:
        await _bootstrap(root, say)
    except CommandError as e:
        raise ArtifactError(
            f"debootstrap cannot install Debian '{_DEBIAN}'",
            hint="its output is below; it downloads packages from a mirror of Debian, through the "
            "proxy that http_proxy names",
            detail=e.detail,
        ) from e


async def _bootstrap(root: Path, say: Callable[[str], None]) -> None:
    words = ("debootstrap", "--variant=minbase", f"--include={','.join(_PACKAGES)}", _DEBIAN)
    # What it mounts in the folder is seen by itself alone, and is gone when it ends.
    await process.run_leashed(
        "unshare", "--mount", "--propagation=private",
        "sh", "-c", 'umask 022; exec "$@" >&2', "sh", *words, root,
        env={"DEBIAN_FRONTEND": "noninteractive"}, line=lambda line: say(line.removeprefix("I: ")),
    )  # fmt: skip


async def image_names(kubeadm: Path, kube: str) -> dict[str, str]:
    """Ask kubeadm how it calls the images of the control plane; return them by their program."""
    said = await process.run(kubeadm, "config", "images", "list", f"--kubernetes-version={kube}")
    return {line.rpartition("/")[2].partition(":")[0]: line for line in said.split()}


def furnish(root: Path, programs: Mapping[str, Path], *, kube: str, pause: str) -> None:
    """Make a node of a Debian: Kubernetes' programs, units of systemd, configuration."""
    for name, place in _PLACES.items():
        text = _file(name).read_text(encoding="utf-8").replace("@PAUSE@", pause)
        _write(root / place, text, mode=0o755 if place.startswith("usr/") else 0o644)
    for name in ON_NODE:
        shutil.copy(programs[name], root / "usr/bin" / name)
        (root / "usr/bin" / name).chmod(0o755)
    shutil.copytree(root / "usr/lib/cni", root / "opt/cni/bin", symlinks=True)
    _write(root / "kind/version", f"{kube}\n")
    for folder in ("etc/kubernetes/manifests", "var/lib/kubelet"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    units = root / "etc/systemd/system"
    for unit in _MASKED:
        _link(units / unit, "/dev/null")
    for unit, above in _ENABLED.items():
        service = f"{unit}.service"
        _link(units / "multi-user.target.wants" / service, f"{above}/systemd/system/{service}")
    _link(units / "default.target", "/lib/systemd/system/multi-user.target")
    for folder in _DROPPED:
        shutil.rmtree(root / folder, ignore_errors=True)


def write_control_plane(
    root: Path, programs: Mapping[str, Path], names: Mapping[str, str], folder: Path
) -> None:
    """Write the images of the control plane into the node; `folder` may be worked in."""
    images = []
    for name in CONTROL_PLANE:
        layer = folder / f"{name}.tar"
        digest = layer_of_programs(layer, {f"usr/local/bin/{name}": programs[name]})
        images.append(Image(name=names[name], layer=layer, digest=digest))
    layer = folder / "pause.tar"
    digest = layer_of_programs(layer, {"pause": root / _PAUSE})
    config = {"Entrypoint": ["/pause", "-P"]}
    images.append(Image(name=names["pause"], layer=layer, digest=digest, config=config))
    write_images(root / "kind/images.tar", images)


def write_node(file: Path, root: Path, name: str, going_on: Callable[[], None]) -> None:
    """Write the image of the node, whose layer lies beside it meanwhile."""
    layer = file.with_name("layer.tar")
    digest = layer_of_tree(layer, root, going_on)
    config = {
        "Env": ["container=docker"],
        "Entrypoint": ["/usr/local/bin/entrypoint", "/sbin/init"],
        "StopSignal": "SIGRTMIN+3",
        "Labels": {BARE: "bare"},
    }
    write_images(file, [Image(name=name, layer=layer, digest=digest, config=config)])
    layer.unlink()


def _file(name: str) -> Path:
    return assets.path(f"{_FOLDER}/{name}")


def _write(path: Path, text: str, *, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def _link(link: Path, target: str) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
