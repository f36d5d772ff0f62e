"""A user on the first day: an empty home folder, and nothing in the environment."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from kwokctl.host.paths import cache_dir
from tests.support import mounts, terminal
from tests.support.installed import Finished, processes_with, scripts

_OF_THE_MACHINE = ("PIP_", "GO", "SSL_", "REQUESTS_")
_ALSO = ("_PROXY", "_BINARY", "_CA_BUNDLE")
"""How variables begin, or end, that say how this machine reaches others, and what programs tests are run with."""
_SETTINGS = (".config/pip", ".pip", ".config/go")
"""What says the same in a home folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstUser:
    """Who runs the command, and how."""

    home: Path
    commands: Path
    """The folder of the command that they have installed."""
    by: tuple[str, ...] = ()
    """The words before each command, as those that make it another user's."""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What a login gives, with how this machine reaches the others."""
        kept = {k: v for k, v in os.environ.items() if _is_of_the_machine(k)}
        own = os.environ.get("PATH", os.defpath).split(":")
        path = [str(self.commands), *(each for each in own if each != str(scripts()))]
        login = {"HOME": str(self.home), "PATH": ":".join(path), "LANG": "C.UTF-8"}
        return kept | login | dict(self.settings)

    def run(self, *words: str, timeout: float = 300, folder: Path | None = None) -> Finished:
        """Run a program without a terminal."""
        done = subprocess.run(
            [*self.by, *words], env=self.environment, cwd=folder or self.home, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=timeout, check=False,
        )  # fmt: skip
        return Finished(done.returncode, done.stdout, done.stderr)

    def ok(self, *words: str, timeout: float = 300, folder: Path | None = None) -> str:
        """Run a program that must succeed; return its output."""
        done = self.run(*words, timeout=timeout, folder=folder)
        assert done.code == 0, f"{' '.join(words)}: exit {done.code}\n{done.out}{done.err}"
        return done.out

    def shown(self, *words: str, columns: int) -> Finished:
        """Run a program on a terminal; what it writes there has the codes in it."""
        done = terminal.ran([*self.by, *words], self.environment, rows=24, columns=columns)
        return Finished(done.code, done.shown, "")

    def end_all(self) -> None:
        """End whatever is left of the clusters."""
        self.run("kwokctl", "delete", "cluster", "--all", "--force")
        for pid in processes_with(str(self.home)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def first_user(commands: Path) -> Iterator[FirstUser]:
    """Give somebody who has commands in a folder a home that holds nothing but the caches of this machine.

    Those of kwokctl, Go and pip are as empty or full as they are here: what is fetched or built is there for others.
    """
    with _folder() as folder:
        home = folder / "home"
        home.mkdir()
        cache = cache_dir().parent
        cache.mkdir(parents=True, exist_ok=True)
        (home / ".cache").symlink_to(cache)
        for each in _SETTINGS:
            _link(Path.home() / each, home / each)
        modules = os.environ.get("GOMODCACHE") or str(Path.home() / "go/pkg/mod")
        someone = FirstUser(home=home, commands=commands, settings={"GOMODCACHE": modules})
        try:
            yield someone
        finally:
            someone.end_all()


@contextmanager
def others(names: Sequence[str]) -> Iterator[tuple[FirstUser, ...]]:
    """Give users other than root, who have no account, a home folder each; who is no root is the only one.

    Their homes hold nothing, and they run the command of this environment.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(_folder())
        folder.chmod(0o755)
        keeper = 0
        if not os.getuid():
            _need("nsenter", "setpriv", "unshare")
            keeper = stack.enter_context(mounts.kept(mounts.opening))
        elif len(names) > 1:
            pytest.skip("only root can run something as two other users")
        users = []
        for number, name in enumerate(names):
            home = folder / name
            home.mkdir(0o700)
            uid = _FIRST_ID + number
            by: Sequence[str] = ()
            if keeper:
                os.chown(home, uid, uid)
                by = mounts.as_user(keeper, uid, uid, home)
            user = FirstUser(home=home, commands=scripts(), by=tuple(by))
            stack.callback(user.end_all)
            users.append(user)
        yield tuple(users)


_FIRST_ID = 61_200


def give(folder: Path, user: FirstUser) -> None:
    """Let a folder and what is in it belong to the user of a home; programs are those of several stores, and stay."""
    owner = user.home.stat()
    for each in (folder, *folder.rglob("*")):
        if each.is_dir() or each.suffix == ".json":
            os.chown(each, owner.st_uid, owner.st_gid)


def assert_nothing_is_left(user: FirstUser) -> None:
    """Expect that a document has cleaned up after itself."""
    assert user.ok("kwokctl", "get", "clusters") == ""
    assert processes_with(str(user.home)) == {}
    kubeconfig = yaml.safe_load((user.home / ".kube" / "config").read_text())
    assert not kubeconfig["contexts"]


def _is_of_the_machine(variable: str) -> bool:
    return variable.startswith(_OF_THE_MACHINE) or variable.upper().endswith(_ALSO)


def _link(settings: Path, place: Path) -> None:
    if settings.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(settings)


def _need(*programs: str) -> None:
    missing = [each for each in programs if not shutil.which(each)]
    if missing:
        pytest.skip(f"other users need {', '.join(missing)}")


@contextmanager
def _folder() -> Iterator[Path]:
    # A short path, as a user's is: unix sockets lie in it.
    folder = Path(tempfile.mkdtemp(prefix="kwokctl-day-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
