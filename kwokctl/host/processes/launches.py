"""Stores how each component is launched: one file per component, for later commands."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kwokctl.errors import ConfigError
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.holding import held_file
from kwokctl.model import Component, ComponentName, Plan
from kwokctl.script.steps import FileText, Folder

KEEPER = ComponentName("keeper")
"""The process that launches components again."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """The command of a component, where it runs, and when it is stopped."""

    argv: list[str]
    env: dict[str, str]
    stop_wave: int
    """Components of a lower wave are stopped before it."""
    folder: str = ""
    """Its working folder; empty for the cluster's folder, in which a process is found without its pid file."""
    held_at: str = ""
    """The flag of the file for which it can be made to wait; empty if there is none."""


def launch_of(component: Component, stop_wave: int) -> Launch:
    """Return what is run for a component."""
    return Launch(
        argv=[*component.artifact.command, *component.args],
        env=dict(component.env),
        stop_wave=stop_wave,
        folder=component.own.folder if component.own else "",
        held_at=component.held_at,
    )


class Launches:
    """The launch files of one cluster, and the files that belong to each launched process."""

    def __init__(self, paths: ClusterPaths) -> None:
        self.paths = paths

    def installation(self, plan: Plan) -> Iterator[Folder | FileText]:
        """Yield the folders, and a launch file for every component of the plan."""
        yield Folder(self.paths.root)
        for folder in (self.paths.logs, self.paths.pids, self.paths.launch):
            yield Folder(folder, private=False)
        for number, wave in enumerate(plan.stop_waves()):
            for component in wave:
                text = json.dumps(msgspec.structs.asdict(launch_of(component, number)), indent=1)
                yield FileText(self._file(component.name), text, 0o600)

    def forget(self, name: ComponentName) -> None:
        """Remove how a component is launched."""
        self._file(name).unlink(missing_ok=True)

    def names(self) -> list[ComponentName]:
        """List the components that can be launched."""
        return sorted(ComponentName(file.stem) for file in self.paths.launch.glob("*.json"))

    def read(self, name: ComponentName) -> Launch:
        """Read how a component is launched; raise ConfigError if its file is garbled."""
        path = self._file(name)
        try:
            return Launch(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as e:
            raise ConfigError(
                f"{path} does not say how '{name}' is launched",
                hint="write it again with: kwokctl start cluster",
            ) from e

    def held_file(self, name: ComponentName) -> Path | None:
        """Return the file for which a component can be made to wait before it acts, if there is one."""
        try:
            how = self.read(name)
        except ConfigError:
            return None
        file = held_file(how.argv, how.held_at)
        return file if file and file.is_file() else None

    def stop_waves(self) -> Iterator[list[ComponentName]]:
        """Yield all that may run, in the order in which it is stopped.

        What has left only its pid file, or a garbled launch file, comes first: no other component
        needs it.
        """
        waves = {name: self._stop_wave(name) for name in (*self.names(), *self._pid_names())}
        for number in sorted(set(waves.values())):
            yield [name for name, wave in waves.items() if wave == number]

    def is_wanted(self, name: ComponentName) -> bool:
        """Return whether a component was not stopped on purpose."""
        return not self.stopped_mark(name).exists()

    def wanted(self) -> list[ComponentName]:
        """List the components that were not stopped on purpose."""
        return [name for name in self.names() if self.is_wanted(name)]

    def pid_file(self, name: str) -> Path:
        """Return the file in which a component's process identifies itself."""
        return self.paths.pids / f"{name}.pid"

    def lock(self, name: str) -> Path:
        """Return the lock under which a component is launched."""
        return self.paths.pids / f"{name}.lock"

    def stopped_mark(self, name: str) -> Path:
        """Return the file that marks a component as stopped on purpose."""
        return self.paths.pids / f"{name}.stopped"

    @property
    def keep_mark(self) -> Path:
        """The file that requests that components which die are launched again."""
        return self.paths.launch / "restart-on-failure"

    @property
    def keeper_words(self) -> list[str]:
        """The command that launches components again."""
        module = "kwokctl.host.processes.restarter"
        return [sys.executable, "-P", "-m", module, os.fspath(self.paths.root)]

    def _stop_wave(self, name: ComponentName) -> int:
        try:
            return self.read(name).stop_wave
        except ConfigError:
            return -1

    def _pid_names(self) -> list[ComponentName]:
        return sorted(ComponentName(file.stem) for file in self.paths.pids.glob("*.pid"))

    def _file(self, name: str) -> Path:
        return self.paths.launch / f"{name}.json"
