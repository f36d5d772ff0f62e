"""The image of kind's node, made of the store's programs where no registry has one to give.

It is a Debian with systemd, containerd, kubelet and kubeadm, and holds the images of the control
plane, as those of kind's project do (https://kind.sigs.k8s.io/docs/design/node-image/). A file of it
is kept in the user's cache folder.
"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path

from kwokctl.artifacts.resolve import Source, Wanted, resolve
from kwokctl.artifacts.target import here
from kwokctl.artifacts.upkeep import wanted
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.host.paths import cache_dir
from kwokctl.progress import Silent

NAME = f"kwokctl-tests/node:{DEFAULT_KUBE_VERSION}"
_FILES = Path(__file__).parent / "kind_node"
_RELEASE = "bookworm"
"""The last Debian whose systemd starts on cgroup v1, too."""
_PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "containerd", "runc", "containernetworking-plugins",
    "iptables", "conntrack", "ethtool", "socat", "iproute2", "kmod", "mount", "procps", "util-linux",
)  # fmt: skip
_ON_NODE = ("kubelet", "kubeadm", "kubectl")
_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_REGISTRY = "registry.k8s.io"
_ETCD, _PAUSE = "etcd:3.6.8-0", "pause:3.10.2"
"""What kubeadm of this version calls them; the etcd inside is the store's."""
_PLACES = {
    "entrypoint": "usr/local/bin/entrypoint",
    "kubelet-cgroups": "usr/local/bin/kubelet-cgroups",
    "kubelet.service": "etc/systemd/system/kubelet.service",
    "containerd.conf": "etc/systemd/system/containerd.service.d/tests.conf",
    "containerd.toml": "etc/containerd/config.toml",
    "network.conflist": "etc/cni/net.d/10-bridge.conflist",
    "storage.yaml": "kind/manifests/default-storage.yaml",
}
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
_PATIENCE = 60.0


class NoImageError(Exception):
    """The image cannot be had here, and this is why."""


async def node_image(docker_host: str) -> Path:
    """Return a file that holds the image; make it with the engine at `docker_host` if need be."""
    file = user_cache_path("kwokctl") / "tests" / f"node-{_digest()}.tar"
    if not file.exists():
        programs = await _programs()
        with tempfile.TemporaryDirectory(prefix="kwokctl-node-") as folder:
            made = _Making(Path(folder), docker_host, programs).run()
            file.parent.mkdir(parents=True, exist_ok=True)
            partial = file.with_suffix(f".{os.getpid()}")
            shutil.copyfile(made, partial)
            partial.rename(file)
            for old in set(file.parent.glob("node-*.tar")) - {file}:
                old.unlink(missing_ok=True)
    return file


def _digest() -> str:
    """Tell apart images that are made from other files or versions."""
    content = hashlib.sha256(Path(__file__).read_bytes() + DEFAULT_KUBE_VERSION.encode())
    for file in sorted(_FILES.iterdir()):
        content.update(file.read_bytes())
    return content.hexdigest()[:12]


async def _programs() -> Mapping[str, Path]:
    found = await resolve(
        [
            *wanted(DEFAULT_KUBE_VERSION, ["etcd", "kubectl", *_CONTROL_PLANE]),
            *(Wanted(name=name, version=DEFAULT_KUBE_VERSION) for name in ("kubelet", "kubeadm")),
        ],
        source=Source.AUTO,
        cache=cache_dir(),
        progress=Silent(),
    )
    return {name: Path(artifact.command[0]) for name, artifact in found.items()}


class _Making:
    """One making of the image, in a folder of its own."""

    def __init__(self, folder: Path, docker_host: str, programs: Mapping[str, Path]) -> None:
        self._root = folder / "root"
        self._folder = folder
        self._environment = {**os.environ, "DOCKER_HOST": docker_host}
        self._programs = programs

    def run(self) -> Path:
        """Make the image and return the file that holds it."""
        self._install()
        self._furnish()
        with (self._folder / "root.tar").open("wb") as file:
            self._run("tar", "-C", str(self._root), "--numeric-owner", "-c", ".", out=file)
        base = f"{NAME}-base"
        self._docker("import", str(self._folder / "root.tar"), base)
        self._preload(base)
        out = self._folder / "node.tar"
        self._docker("save", "--output", str(out), NAME)
        self._docker("rmi", "--force", NAME, base)
        return out

    def _install(self) -> None:
        if os.getuid() != 0:
            raise NoImageError("only root may make the image of the node")
        if not shutil.which("debootstrap"):
            if not shutil.which("apt-get"):
                raise NoImageError("there is neither debootstrap nor apt-get")
            self._run("apt-get", "-q", "install", "-y", "--no-install-recommends", "debootstrap")
        self._run(
            "debootstrap", "--variant=minbase", f"--include={','.join(_PACKAGES)}", _RELEASE,
            str(self._root),
        )  # fmt: skip

    def _furnish(self) -> None:
        for name, place in _PLACES.items():
            _place(_FILES / name, self._root / place)
        for name in _ON_NODE:
            _place(self._programs[name], self._root / "usr/bin" / name)
        shutil.copytree(self._root / "usr/lib/cni", self._root / "opt/cni/bin", symlinks=True)
        (self._root / "kind/version").write_text(f"{DEFAULT_KUBE_VERSION}\n")
        for folder in ("etc/kubernetes/manifests", "var/lib/kubelet"):
            (self._root / folder).mkdir(parents=True, exist_ok=True)
        units = self._root / "etc/systemd/system"
        for unit in _MASKED:
            _link(units / unit, "/dev/null")
        for unit, folder in (("kubelet", "/etc"), ("containerd", "/lib")):
            service = f"{unit}.service"
            link = units / "multi-user.target.wants" / service
            _link(link, f"{folder}/systemd/system/{service}")
        _link(units / "default.target", "/lib/systemd/system/multi-user.target")
        for folder in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"):
            shutil.rmtree(self._root / folder, ignore_errors=True)

    def _preload(self, base: str) -> None:
        """Put the control plane's images into the node's containerd."""
        images = self._folder / "images.tar"
        images.write_bytes(b"")
        with tarfile.open(images, "w") as archive:
            _write_images(archive, self._images())
        container = self._docker(
            "run", "--detach", "--cap-add=SYS_ADMIN", "--security-opt=seccomp=unconfined",
            "--tmpfs=/tmp", "--tmpfs=/run", "--network=none", f"--volume={images}:/images.tar:ro",
            "--entrypoint=containerd", base,
        )  # fmt: skip
        try:
            self._until_it_answers(container)
            # Unpacked at their first use, on the node's own volume.
            self._docker(
                "exec", container, "ctr", "--namespace=k8s.io", "images", "import",
                "--all-platforms", "--no-unpack", "--digests", "/images.tar",
            )  # fmt: skip
            self._docker("stop", container)
            self._docker("commit", container, f"{NAME}-full")
        finally:
            self._docker("rm", "--force", container)
        # Neither import nor commit can say by which signal systemd is stopped.
        text = "\n".join(
            (
                f"FROM {NAME}-full",
                "ENV container=docker",
                'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]',
                "STOPSIGNAL SIGRTMIN+3",
            )
        )
        self._docker("build", "--quiet", f"--tag={NAME}", "-", say=text)
        self._docker("rmi", f"{NAME}-full")

    def _images(self) -> Mapping[str, tuple[str, bytes]]:
        """Return the program of each image, by the image's name, and its place in it."""
        source = self._folder / "pause"
        self._run("cc", "-O2", "-static", "-s", "-o", str(source), str(_FILES / "pause.c"))
        programs = {f"{name}:{DEFAULT_KUBE_VERSION}": name for name in _CONTROL_PLANE}
        programs[_ETCD] = "etcd"
        found = {
            image: (f"usr/local/bin/{name}", self._programs[name].read_bytes())
            for image, name in programs.items()
        }
        return {**found, _PAUSE: ("pause", source.read_bytes())}

    def _until_it_answers(self, container: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._docker("exec", container, "ctr", "version")
            except NoImageError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def _docker(self, *words: str, say: str = "") -> str:
        return self._run("docker", *words, say=say)

    def _run(self, *words: str, say: str = "", out: io.BufferedWriter | None = None) -> str:
        try:
            done = subprocess.run(
                words,
                env=self._environment
                | {"DEBIAN_FRONTEND": "noninteractive", "DOCKER_BUILDKIT": "0"},
                input=say.encode(),
                stdout=out or subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=600,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as e:
            raise NoImageError(f"'{words[0]}' cannot be run: {e}") from e
        if done.returncode:
            said = (done.stderr or done.stdout or b"").decode(errors="replace").strip()
            raise NoImageError(f"'{' '.join(words[:2])}' fails: {said[-400:]}")
        return "" if out else done.stdout.decode().strip()


def _write_images(archive: tarfile.TarFile, images: Mapping[str, tuple[str, bytes]]) -> None:
    """Write images of one program each, in the form of `docker save`."""
    manifest: list[dict[str, object]] = []
    for image, (place, program) in images.items():
        layer = _layer(place, program)
        digest = hashlib.sha256(layer).hexdigest()
        configuration = json.dumps(
            {
                "architecture": here().arch,
                "os": "linux",
                "config": {
                    "Entrypoint": [f"/{place}"] if place == "pause" else None,
                    "Env": ["PATH=/usr/local/bin:/"],
                },
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            }
        ).encode()
        name = f"{hashlib.sha256(configuration).hexdigest()}.json"
        _add(archive, name, configuration)
        _add(archive, f"{digest}/layer.tar", layer)
        manifest.append(
            {
                "Config": name,
                "RepoTags": [f"{_REGISTRY}/{image}"],
                "Layers": [f"{digest}/layer.tar"],
            }
        )
    _add(archive, "manifest.json", json.dumps(manifest).encode())


def _layer(place: str, program: bytes) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as layer:
        scratch = tarfile.TarInfo("tmp")
        scratch.type, scratch.mode = tarfile.DIRTYPE, 0o1777
        layer.addfile(scratch)
        _add(layer, place, program, mode=0o755)
    return content.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, *, mode: int = 0o644) -> None:
    head = tarfile.TarInfo(name)
    head.size, head.mode = len(content), mode
    archive.addfile(head, io.BytesIO(content))


def _place(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def _link(link: Path, target: str) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
