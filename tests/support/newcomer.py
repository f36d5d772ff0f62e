"""A user on the first day: an empty home folder, and no variable but those of a login."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support import store, terminal
from tests.support.installed import Finished, Installed, cleared, command, scripts

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The folders of programs of a user who has no Go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer(Installed):
    """The command as such a user calls it; `settings` are what they have set in addition."""

    @classmethod
    def within(cls, folder: Path) -> "Newcomer":
        """Make the home folder below a folder, with nothing in it."""
        user = cls(folder=folder)
        for each in (user.home, user.temporary):
            each.mkdir()
        return user

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def cache(self) -> Path:
        return self.home / ".cache" / "kwokctl"

    @property
    def workdir(self) -> Path:
        return self.home / ".kwok"

    @property
    def kubeconfig(self) -> Path:
        return self.home / ".kube" / "config"

    @property
    def environment(self) -> dict[str, str]:
        """What a login sets, and the settings."""
        return {
            "HOME": str(self.home),
            "PATH": f"{scripts()}:{_SYSTEM}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMPDIR": str(self.temporary),
            **self.settings,
        }

    def _is_forked(self, environment: Mapping[str, str]) -> bool:
        # There are many newcomers, and all have the same locale.
        return True

    def on_terminal(
        self, *words: str, rows: int = 24, columns: int = 80, **settings: str
    ) -> Finished:
        """Run a command on a terminal to its end; all that it shows there is its output."""
        shown = terminal.ran(
            [*command(), *words], self.environment | settings, rows=rows, columns=columns
        )
        return Finished(shown.code, shown.text, "")

    def fill_store(self) -> None:
        """Have the programs in the store, as if an earlier command had got them there."""
        store.fill(self.cache)

    def stored(self) -> Mapping[str, Path]:
        """Return what is in the store, by name; what is there twice fails."""
        found = [record.parent for record in self.cache.glob("store/*/*/*/record.json")]
        names = [folder.parent.name for folder in found]
        assert len(names) == len(set(names)), names
        return {folder.parent.name: folder / folder.parent.name for folder in found}


@contextmanager
def newcomer() -> Iterator[Newcomer]:
    """Give a user, and take away whatever they have made."""
    # A short path, as a user's is: unix sockets lie in it.
    folder = Path(tempfile.mkdtemp(prefix="kwokctl-day-"))
    user = Newcomer.within(folder)
    try:
        with cleared(user):
            yield user
    finally:
        shutil.rmtree(folder, ignore_errors=True)
