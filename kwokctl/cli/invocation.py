"""Holds what every command gets: its console, the runner of its verbs, and the common flags."""

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

import msgspec

from kwokctl.cli.output.console import Console
from kwokctl.errors import UsageError
from kwokctl.progress import Progress, Silent
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.clusters.state.home import Home
    from kwokctl.config.config_documents import Document
    from kwokctl.model import ClusterName

P = ParamSpec("P")
T = TypeVar("T")
DEFAULT_NAME = "kwok"
"""The cluster that a command is for unless `--name` says otherwise."""


class Runner(Protocol):
    """Runs verbs: the seam between the command line and what kwokctl does."""

    def __call__(self, verb: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb to its end and return its result."""
        ...


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the command: where it writes, what runs its verbs, and the flags given so far."""

    console: Console
    run: Runner
    name: str = DEFAULT_NAME
    config: tuple[str, ...] = ()
    level: str = ""
    """The log level, if it was given."""
    command: str = ""
    """The full name of the command: `create cluster`."""
    began: float = msgspec.field(default_factory=time.monotonic)
    is_dry_run: bool = False
    """Whether to say what would be done, and to change nothing."""
    is_quiet: bool = False
    """Whether results are for a program, so that progress is not shown."""

    @property
    def home(self) -> "Home":
        """Return the home of clusters, with the console as its listener."""
        from kwokctl.cli import compose

        return compose.home(self.progress)

    @property
    def itself(self) -> str:
        """Return how kwokctl is called for the same cluster: `kwokctl --name mine`."""
        from kwokctl.cli.suggestions import own_name  # only messages need it

        return own_name() if self.name == DEFAULT_NAME else f"{own_name()} --name {self.name}"

    @property
    def progress(self) -> Progress:
        """Return the listener for the progress of long work."""
        return Silent() if self.is_quiet else self.console

    @property
    def cluster(self) -> "ClusterName":
        """Return the name of the cluster; UsageError if it cannot be one."""
        from kwokctl.clusters.state.home import cluster_name

        return cluster_name(self.name)

    def quietly(self, *, unless: bool = False) -> "Invocation":
        """Return a copy that shows no progress."""
        return self if unless else replace(self, is_quiet=True)

    def documents(self) -> "tuple[Document, ...]":
        """Read the configuration: the user's default file, then every `--config`."""
        from kwokctl.config.config_documents import latest_of_each, load_documents

        default = self.home.workdir.root / "kwok.yaml"
        found = load_documents(self.config, default=default, progress=self.progress)
        return tuple(latest_of_each(found))

    @property
    def acts_as_original(self) -> bool:
        """Return whether a variable or a document wants what the original does, for every command."""
        import os

        from kwokctl.config.original import compat

        asked = os.environ.get(compat.VARIABLE)
        return asked == compat.KWOKCTL if asked else compat.is_in(self.quietly().documents())

    def overlaid(
        self, *, name: str | None, config: list[str] | None, dry_run: bool, level: str | None
    ) -> "Invocation":
        """Return a copy with the flags of one more word of the command."""
        if level is not None:
            from kwokctl.cli.output import diagnosis

            diagnosis.set_level(level)
        files = tuple(path for word in config or () for path in _files(word))
        for path in files:
            _check_exists(path)
        return replace(
            self,
            name=self.name if name is None else name,
            config=(*self.config, *files),
            is_dry_run=self.is_dry_run or dry_run,
            level=self.level if level is None else level,
        )


def _files(word: str) -> list[str]:
    """Return the paths that commas part, unless there is one path with the commas in it."""
    import os

    parts = [part for part in word.split(",") if part]
    return [word] if len(parts) < 2 or os.access(word, os.F_OK) else parts


def _check_exists(path: str) -> None:
    """Raise UsageError unless a configuration can be read; not every command reads it."""
    import os

    from kwokctl.host.paths import expanded

    file = expanded(path)
    if path != "-" and not os.access(file, os.R_OK):
        problem = "cannot be read" if os.access(file, os.F_OK) else "does not exist"
        raise UsageError(
            f"'--config' is '{path}', which {problem}",
            hint="give a file or a folder of YAML documents, or '-' for standard input",
        )
