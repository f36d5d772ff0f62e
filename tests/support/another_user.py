"""A user without root for whom Podman works, and who runs kwokctl; only root can make one.

Their processes see other mounts than ours: `/dev/net/tun` is open to all, as udev leaves it, and what they
need of folders that are closed to them is there.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote

import pytest

from kwokctl.host.paths import cache_dir
from tests.support import mounts
from tests.support.debian import PODMAN_WITHOUT_ROOT, NotInstalledError, need
from tests.support.installed import Finished, until

_NAME = "kwokctl-tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnotherUser:
    """A user with a home folder, and with mounts of their own as long as `keeper` runs."""

    uid: int
    gid: int
    home: Path
    keeper: int

    @property
    def run(self) -> Path:
        """The folder of their sockets."""
        return Path("/run/user") / str(self.uid)

    @property
    def socket(self) -> Path:
        """Where Podman's service listens."""
        return self.run / "podman.sock"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.run),
            "CONTAINER_HOST": f"unix://{self.socket}",
        }

    def words(self, *words: str) -> list[str]:
        """Return the command that runs words as this user."""
        return [*mounts.as_user(self.keeper, self.uid, self.gid, self.home), *words]

    def podman(self, *words: str) -> str:
        """Run podman and return what it says."""
        return self._run(60, "podman", *words).out

    def kwokctl(self, *words: str) -> Finished:
        """Run kwokctl."""
        return self._run(300, sys.executable, "-P", "-m", "kwokctl", *words)

    def ok(self, *words: str) -> str:
        """Run kwokctl, which must succeed, and return its output."""
        done = self.kwokctl(*words)
        assert done.code == 0, done.err
        return done.out

    def _run(self, seconds: int, *words: str) -> Finished:
        done = subprocess.run(
            self.words(*words), env=self.environment, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
        return Finished(done.returncode, done.stdout, done.stderr)


@contextmanager
def another_user() -> Iterator[AnotherUser]:
    """Make a user, and start a Podman of theirs; skip where that cannot be."""
    if os.getuid():
        pytest.skip("only root can run something as another user")
    try:
        need(PODMAN_WITHOUT_ROOT)
    except NotInstalledError as e:
        pytest.skip(f"no Podman without root: {e}")
    with ExitStack() as stack:
        entry = stack.enter_context(_account())
        keeper = stack.enter_context(mounts.kept(partial(_mounting, entry=entry)))
        home = Path(entry.pw_dir)
        user = AnotherUser(uid=entry.pw_uid, gid=entry.pw_gid, home=home, keeper=keeper)
        stack.enter_context(_service(user))
        yield user


@contextmanager
def _account() -> Iterator[pwd.struct_passwd]:
    """Make the user with a range of ids for containers."""
    subprocess.run(["userdel", "--force", "--remove", _NAME], capture_output=True, check=False)
    made = subprocess.run(
        ["useradd", "--create-home", _NAME], capture_output=True, text=True, check=False
    )
    if made.returncode or f"{_NAME}:" not in Path("/etc/subuid").read_text(encoding="utf-8"):
        pytest.skip(f"no user with ids for containers can be made: {made.stderr.strip()}")
    entry = pwd.getpwnam(_NAME)
    run = Path("/run/user") / str(entry.pw_uid)
    run.mkdir(parents=True, exist_ok=True)
    os.chown(run, entry.pw_uid, entry.pw_gid)
    run.chmod(0o700)
    try:
        yield entry
    finally:
        _end_all_of(entry.pw_uid)
        subprocess.run(["userdel", "--force", "--remove", _NAME], capture_output=True, check=False)
        shutil.rmtree(run, ignore_errors=True)


def _mounting(at: Path, entry: pwd.struct_passwd) -> Iterator[str]:
    """Yield the commands that make the mounts."""
    yield f"mknod -m 666 {at}/tun c 10 200 && mount --bind {at}/tun /dev/net/tun"
    store = cache_dir() / "store"
    theirs = Path(entry.pw_dir) / ".cache" / "kwokctl"
    owner = f"{entry.pw_uid}:{entry.pw_gid}"
    yield f"mkdir -p {theirs}/store && mount --bind {quote(str(store))} {theirs}/store"
    yield f"chown {owner} {theirs.parent} {theirs}"
    yield from mounts.opening(at)


@contextmanager
def _service(user: AnotherUser) -> Iterator[None]:
    words = user.words("podman", "system", "service", "--time=0", f"unix://{user.socket}")
    environment = {k: v for k, v in user.environment.items() if k != "CONTAINER_HOST"}
    log = user.home / "podman.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(words, env=environment, stdout=said, stderr=said) as service,
    ):
        try:
            until(
                "Podman's service listens",
                lambda: user.socket.exists() or service.poll() is not None,
            )
            if service.poll() is not None:
                pytest.skip(f"Podman does not run here without root: {log.read_text().strip()}")
            yield
        finally:
            user.podman("rm", "--all", "--force", "--time=0")
            service.terminate()


def _end_all_of(uid: int) -> None:
    """End the processes of the user, whose helpers outlive the service."""

    def are_gone() -> bool:
        left = [int(each.name) for each in Path("/proc").iterdir() if _is_of(each, uid)]
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    until("the user's processes end", are_gone)


def _is_of(process: Path, uid: int) -> bool:
    try:
        stat = (process / "stat").read_text(encoding="utf-8")
        return process.name.isdigit() and process.stat().st_uid == uid and ") Z " not in stat
    except OSError:
        return False
