"""The installed command, run as a user runs it, with clusters and a kubeconfig of its own."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.replacing import replace
from tests.support import asking, changing, preloaded, store

PATIENCE = 180.0
"""Seconds after which something that must come is given up."""

_SHORTEST, _LONGEST = 0.05, 0.5
"""Seconds between two questions of one who waits, at first and after five seconds."""

TELLING = ("--v", "DEBUG")
"""Words with which `scale` says how it writes though nothing is in the way."""

OTHER_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: elsewhere
clusters:
- name: elsewhere
  cluster: {server: "https://192.0.2.1:6443"}
contexts:
- name: elsewhere
  context: {cluster: elsewhere, user: somebody}
users:
- name: somebody
  user: {token: "secret"}
"""
"""What a user's kubeconfig holds before kwokctl touches it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The command, and where its clusters are."""

    folder: Path
    name: str = "kwok"
    """The cluster that commands are for."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What its environment has beside the user's."""

    @classmethod
    def within(cls, folder: Path) -> "Installed":
        """Prepare a folder that holds all that the command may touch but the store of programs."""
        installed = cls(folder=folder)
        installed.temporary.mkdir()
        installed.kubeconfig.write_text(OTHER_KUBECONFIG)
        return installed

    @property
    def workdir(self) -> Path:
        return self.folder / "work"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def environment(self) -> dict[str, str]:
        """The user's environment, where only the settings of programs to run are kept."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("KWOK_") or name.endswith("_BINARY")
        }
        return kept | {
            **_versions(),
            "KWOK_WORKDIR": str(self.workdir),
            "KUBECONFIG": str(self.kubeconfig),
            "TMPDIR": str(self.temporary),
            "PATH": f"{scripts()}:{kept.get('PATH', os.defpath)}",
            **self.settings,
        }

    @property
    def _own_kubeconfig(self) -> Path:
        return self.workdir / "clusters" / self.name / "kubeconfig.yaml"

    def called(self, name: str) -> "Installed":
        """Return the same for another cluster."""
        return replace(self, name=name)

    def start(self, *words: str, **settings: str) -> subprocess.Popen[str]:
        """Start a command and let it run; it has a session of its own, as in a terminal.

        `settings` go into its environment.
        """
        return subprocess.Popen(
            [*command(), "--name", self.name, *words],
            env=self.environment | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, stdin: str = "", timeout: float = 300, **settings: str) -> Finished:
        """Run a command to its end, whatever that is; `settings` go into its environment."""
        try:
            return self._run(*words, stdin=stdin, timeout=timeout, **settings)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(self._progress(late, words)) from None

    def _run(self, *words: str, stdin: str = "", timeout: float, **settings: str) -> Finished:
        whole, environment = ("--name", self.name, *words), self.environment | settings
        if self._is_forked(environment):
            done = preloaded.run(whole, environment=environment, stdin=stdin, timeout=timeout)
        else:
            done = subprocess.run(
                [*command(), *whole],
                env=environment, input=stdin,
                capture_output=True, text=True, timeout=timeout, check=False,
            )  # fmt: skip
        return Finished(done.returncode, done.stdout, done.stderr)

    def _is_forked(self, environment: Mapping[str, str]) -> bool:
        """Return whether commands with this environment are forked from a Python that has loaded them."""
        return preloaded.serves(environment)

    def _progress(self, late: subprocess.TimeoutExpired, words: Sequence[str]) -> str:
        """Describe a command that took too long: what it wrote, and what the components log."""
        wrote = [part.decode() for part in (late.stdout, late.stderr) if isinstance(part, bytes)]
        exported = self.temporary / "late"
        with suppress(subprocess.TimeoutExpired):
            wrote.append(self._run("export", "logs", str(exported), timeout=60).err)
        ends = [
            f"--- {file.name}\n{file.read_text(errors='replace')[-3000:]}"
            for file in sorted(exported.rglob("*"))
            if file.is_file()
        ]
        return "\n".join([f"{' '.join(words)}: not done after {late.timeout} s", *wrote, *ends])

    def ok(self, *words: str, stdin: str = "", timeout: float = 300) -> str:
        """Run a command that must succeed; return its standard output."""
        done = self.run(*words, stdin=stdin, timeout=timeout)
        assert done.code == 0, f"{' '.join(words)}: exit {done.code}\n{done.out}{done.err}"
        return done.out

    def refused(self, *words: str, timeout: float = 300, **settings: str) -> str:
        """Run a command that must fail with exit code 1; return what it said."""
        done = self.run(*words, timeout=timeout, **settings)
        assert done.code == 1, f"{' '.join(words)}: exit {done.code}\n{done.out}{done.err}"
        return done.err

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """Run kubectl against the cluster, as `kwokctl kubectl` does.

        That command's own work, once more Python for each of thousands of calls, is left out.
        """
        done = subprocess.run(
            [_kubectl(), f"--kubeconfig={self._own_kubeconfig}", *words],
            env=self.environment, input=stdin,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def objects(self, *words: str) -> list[dict[str, Any]]:
        """Return the Kubernetes objects that words of `kubectl get` ask for, without kubectl."""
        items: list[dict[str, Any]] = self.found(*words)["items"]
        return items

    def found(self, *words: str) -> Any:
        """Return what `kubectl get … -o json` writes, an object or a list, without kubectl."""
        return asking.found(self._own_kubeconfig, *words)

    def raw(self, path: str) -> str:
        """Return what `kubectl get --raw` writes, without kubectl."""
        return asking.text(self._own_kubeconfig, path)

    def names(self, *words: str) -> list[str]:
        """Return the names of the Kubernetes objects that words of `kubectl get` ask for, without kubectl."""
        return [each["metadata"]["name"] for each in self.objects(*words)]

    def create(self, *bodies: Mapping[str, Any]) -> None:
        """Create Kubernetes objects, without kubectl, whose start takes 30 times the processor time."""
        for body in bodies:
            asking.create(self._own_kubeconfig, body)

    def refusal(self, body: Mapping[str, Any]) -> str:
        """Return why an object cannot be created, by a dry run; empty if it can."""
        try:
            asking.create(self._own_kubeconfig, body, dry_run=True)
        except AssertionError as e:
            return str(e)
        return ""

    def apply(self, *bodies: Mapping[str, Any]) -> None:
        """Create Kubernetes objects or change them, as `kubectl apply --server-side` does, without kubectl."""
        for body in bodies:
            changing.apply(self._own_kubeconfig, body)

    def delete(self, *words: str) -> None:
        """Delete what words of `kubectl delete` name, without kubectl; wait until it is gone, unless they say otherwise."""
        uids = changing.delete(self._own_kubeconfig, *words)
        until(
            f"{' '.join(words)} is gone",
            lambda: not changing.remain(self._own_kubeconfig, uids),
        )

    def remove(self, *bodies: Mapping[str, Any]) -> None:
        """Delete Kubernetes objects, as `kubectl delete -f` does, without kubectl; wait until they are gone."""
        for body in bodies:
            metadata = body["metadata"]
            kind = f"{body['apiVersion']} {body['kind']}"
            self.delete(kind, metadata["name"], "-n", metadata.get("namespace", "default"))

    def label(self, *words: str) -> None:
        """Set or remove labels as words of `kubectl label` say, without kubectl."""
        changing.mark(self._own_kubeconfig, "labels", *words)

    def annotate(self, *words: str) -> None:
        """Set or remove annotations as words of `kubectl annotate` say, without kubectl."""
        changing.mark(self._own_kubeconfig, "annotations", *words)

    def patch(self, *words: str) -> None:
        """Patch an object as words of `kubectl patch` say, without kubectl."""
        changing.patch(self._own_kubeconfig, *words)

    def cordon(self, node: str, *, undo: bool = False) -> None:
        """Let no more pods on a node, as `kubectl cordon` does, or let them again, without kubectl."""
        spec = '{"spec": {"unschedulable": %s}}' % ("null" if undo else "true")
        self.patch("node", node, "-p", spec)

    def answers(self, kind: str) -> bool:
        """Return whether the API server serves a kind."""
        try:
            self.found(kind)
        except AssertionError:
            return False
        return True

    def run_pod(
        self,
        name: str,
        spec: Mapping[str, Any] | None = None,
        *,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Create the pod that `kubectl run` creates, with these fields of its spec, without kubectl."""
        self.create(changing.pod(name, spec, labels))

    def deploy(self, name: str, *, replicas: int, wait: bool = True) -> None:
        """Create the Deployment that `kubectl create deployment` creates, without kubectl; wait for its pods."""
        self.create(changing.deployment(name, replicas))
        if wait:
            self.wait_for_rollout(name)

    def wait_for_rollout(self, name: str) -> None:
        """Wait for a Deployment as `kubectl rollout status` does."""
        until(
            f"deployment '{name}' is rolled out",
            lambda: changing.is_rolled_out(self.found("deployments", name)),
        )

    def wait_for(self, condition: str, *objects: str) -> None:
        """Wait until a condition of each object (`KIND/NAME`) is true, as `kubectl wait` does."""
        for each in objects:
            until(
                f"'{each}' is {condition}",
                partial(self._has, each, condition),
            )

    def _has(self, named: str, condition: str) -> bool:
        return changing.has_condition(self.found(named), condition)

    def secrets(self) -> list[bytes]:
        """Return what only this cluster's components may know: their tokens, and parts of their keys."""
        folder = self.workdir / "clusters" / self.name
        rows = (folder / "pki" / "tokens.csv").read_bytes().splitlines()
        keys = [file.read_bytes().splitlines()[1] for file in folder.glob("pki/*.key")]
        return [*(row.partition(b",")[0].strip(b'"') for row in rows), *keys]

    def components(self) -> dict[str, dict[str, Any]]:
        """Return what is known of each component, by its name."""
        listed = json.loads(self.ok("get", "components", "-o", "json"))
        return {component["name"]: component for component in listed}

    def exists(self) -> bool:
        """Return whether there is a cluster, running or not."""
        return (self.workdir / "clusters" / self.name).is_dir()

    def statuses(self) -> set[str]:
        """Return how components are, each word once."""
        return {component["status"] for component in self.components().values()}

    def ports(self) -> set[int]:
        """Return the ports on which components of the cluster listen."""
        return {
            port["hostPort"]
            for component in self.components().values()
            for port in component.get("ports", [])
        }

    def pids(self) -> dict[str, int]:
        """Return the process of each component; one that is being started may have none."""
        folder = self.workdir / "clusters" / self.name / "pids"
        recorded = {path.stem: path.read_text().split() for path in sorted(folder.glob("*.pid"))}
        return {component: int(words[0]) for component, words in recorded.items() if words}

    @contextmanager
    def paused(self, component: str) -> Iterator[None]:
        """Let a component's process do nothing meanwhile, in the middle of whatever it does."""
        pid = self.pids()[component]
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def processes(self) -> dict[int, str]:
        """Return every process of this machine that works for one of the clusters here."""
        return processes_with(str(self.folder))

    def files(self) -> set[str]:
        """Return what is left here but lock files, which outlive what they lock, and logs of failed creations."""
        found = (p.relative_to(self.folder) for p in self.folder.rglob("*") if not p.is_dir())
        kept = {Path("work/locks"), Path("work/failed")}
        return {str(path) for path in found if path.parent not in kept}


def end(process: subprocess.Popen[str]) -> str:
    """End a command that was started, with all that it started; return what it said."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    return process.communicate(timeout=PATIENCE)[1]


@contextmanager
def cleared(installed: Installed) -> Iterator[None]:
    """Take away the clusters and processes of the block in the end, whatever happens."""
    try:
        yield
    finally:
        installed.run("delete", "cluster", "--all", "--force")
        for pid in installed.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def command() -> list[str]:
    """Return how the command is called: its console script, or its module in a bare checkout."""
    script = scripts() / "kwokctl"
    return [str(script)] if script.exists() else [sys.executable, "-m", "kwokctl"]


def scripts() -> Path:
    """Return the folder of this environment's commands."""
    return Path(sysconfig.get_path("scripts"))


@cache
def _kubectl() -> str:
    """Return the kubectl that `kwokctl kubectl` runs."""
    on_path = None if os.environ.get("KWOK_KUBECTL_BINARY") else shutil.which("kubectl")
    return on_path or asyncio.run(store.program("kubectl", DEFAULT_KUBE_VERSION))


def condition(of: dict[str, Any], kind: str) -> str:
    """Return the status of a condition of a Kubernetes object; empty if it has none such."""
    conditions = of["status"].get("conditions", ())
    return next((each["status"] for each in conditions if each["type"] == kind), "")


def until(what: str, holds: Callable[[], object], *, patience: float = PATIENCE) -> None:
    """Wait until something holds; fail when patience is at an end.

    The longer it has been waited for, the less often it is asked: a question takes processor time here and of the server
    that is asked, five times what an idle cluster takes.
    """
    began = asked = time.monotonic()
    while not holds():
        now = time.monotonic()
        assert now - began < patience, f"timed out waiting until {what}"
        time.sleep(pause(began, asked, now))
        asked = time.monotonic()


def pause(began: float, asked: float, now: float) -> float:
    """Return the seconds until the next question of one who has waited since `began`, and asked last at `asked`."""
    # Three quarters of the time are left to those who must make it hold.
    return max(_SHORTEST, 3 * (now - asked), min(_LONGEST, (now - began) / 10))


def listens(port: int, at: str = "127.0.0.1") -> bool:
    """Return whether something accepts connections on a port of this machine."""
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex((at, port)) == 0


@contextmanager
def taken_port(port: int = 0) -> Iterator[int]:
    """Take a port, or a certain one, as another program would."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", port))
        server.listen()
        yield server.getsockname()[1]


def processes_with(text: str) -> dict[int, str]:
    """Return every process of this machine whose command has a text in it."""
    return dict(_processes_with(text))


def kubeconfig_names(path: Path) -> dict[str, Any]:
    """Return the names of a kubeconfig's clusters, contexts and users, and the current context."""
    content = yaml.safe_load(path.read_text())
    names = {kind: [each["name"] for each in content[kind] or []] for kind in _KINDS}
    return {**names, "current": content.get("current-context") or ""}


_KINDS = ("clusters", "contexts", "users")
_VERSIONS = ("KUBE_VERSION", "ETCD_VERSION")


def _versions() -> dict[str, str]:
    """Return the settings of the versions that `make e2e KUBE_VERSION=…` has named."""
    given = {name: os.environ.get(f"KWOKCTL_TEST_{name}", "") for name in _VERSIONS}
    return {f"KWOK_{name}": value for name, value in given.items() if value}


def _processes_with(text: str) -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                words = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
            except OSError:
                continue
            if text in words:
                yield int(folder.name), words
