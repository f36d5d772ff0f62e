"""Exports what explains a cluster's state: its configuration, its runtime, and every log."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from kwokctl.clusters.inspection.redaction import Redactor, redactor, without_secrets
from kwokctl.clusters.logs import AUDIT, component_logs
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.errors import ConflictError, KwokctlError
from kwokctl.expr import yaml
from kwokctl.host.files import private_folder, replacing, write_atomic
from kwokctl.model import ClusterName
from kwokctl.runtime import CollectsMore, DescribesItself, Runtime

_MODE = 0o600
STATE = "kwok.yaml"
"""The part that is the cluster's saved state."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an `export logs`."""

    path: Path
    files: tuple[str, ...]
    """Below the folder."""
    missing: tuple[str, ...]
    """The files that could not be read."""


def target_of(home: Home, name: ClusterName, folder: Path | None) -> Path:
    """Return where a cluster's export belongs; ConflictError if there is one already."""
    paths = home.paths(name)
    load(paths, name)  # which says so if there is no such cluster
    target = (folder / name if folder else paths.exported).absolute()
    if (target / paths.saved.name).exists():
        raise ConflictError(
            f"there is an export in '{target}' already",
            hint=f"remove it, or give another folder: kwokctl --name {name} export logs DIR",
        )
    return target


def parts_of(saved: Saved, runtime: Runtime) -> tuple[str, ...]:
    """Return what an export has, by the names below its folder; the state comes first."""
    has_audit = saved.options.of(KubeApiserverOptions).audit_policy
    return (
        STATE,
        info_of(runtime),
        *(f"components/{component}.log" for component in saved.names),
        *([f"{AUDIT}.log"] if has_audit else []),
        *([runtime.name] if isinstance(runtime, CollectsMore) else []),
    )


def info_of(runtime: Runtime) -> str:
    """Return the file that says what a runtime is."""
    return f"{runtime.name}-info.txt"


def exported_state(home: Home, name: ClusterName) -> str:
    """Return a cluster's saved state without secrets."""
    text = home.paths(name).saved.read_text(encoding="utf-8")
    return yaml.dump_all([without_secrets(document) for document in yaml.load_all(text)])


async def export_part(home: Home, name: ClusterName, part: str, folder: str) -> None:
    """Write one part of an export, for a script."""
    paths = home.paths(name)
    saved = load(paths, name)
    export = _Export(home, saved, Path(folder), redactor(paths))
    await export.attempt(part, home.runtime(saved.options.runtime))


async def export_logs(home: Home, name: ClusterName, folder: Path | None) -> Exported:
    """Write a cluster's configuration and logs below `folder`, or into the cluster's own one.

    What cannot be read is warned of, and does not keep the rest from being written. Raises
    ConflictError if there is an export already.
    """
    paths, target = home.paths(name), target_of(home, name, folder)
    private_folder(target)
    export = _Export(home, load(paths, name), target, redactor(paths))
    with home.progress.step(f"Exporting the logs of '{name}'"):
        await export.run()
    return Exported(path=target, files=export.files(), missing=tuple(export.missing))


class _Export(msgspec.Struct, frozen=True):
    home: Home
    saved: Saved
    target: Path
    redactor: Redactor
    missing: list[str] = msgspec.field(default_factory=list)

    async def run(self) -> None:
        """Write all files, one after the other."""
        runtime = self.home.runtime(self.saved.options.runtime)
        for part in parts_of(self.saved, runtime):
            await self.attempt(part, runtime)

    def files(self) -> tuple[str, ...]:
        """List what has been written."""
        found = (file for file in self.target.rglob("*") if file.is_file())
        return tuple(sorted(str(file.relative_to(self.target)) for file in found))

    async def attempt(self, part: str, runtime: Runtime) -> None:
        """Write one part; what cannot be read is warned of."""
        try:
            await self._write(part, runtime)
        except (KwokctlError, OSError) as e:
            self.missing.append(part)
            self.home.progress.warn(f"'{part}' is not exported: {e}")

    async def _write(self, part: str, runtime: Runtime) -> None:
        file = self.target / part
        if part == STATE:
            write_atomic(file, exported_state(self.home, self.saved.name), mode=_MODE)
        elif part == info_of(runtime):
            await self._info(runtime, file)
        elif isinstance(runtime, CollectsMore) and part == runtime.name:
            await self._more(runtime, file)
        else:
            await self._log(file)

    async def _info(self, runtime: Runtime, file: Path) -> None:
        text = runtime.name
        if isinstance(runtime, DescribesItself):
            text = await runtime.description(self.saved.name)
        write_atomic(file, self.redactor.text(f"{text.rstrip()}\n".encode()), mode=_MODE)

    async def _log(self, file: Path) -> None:
        parts = component_logs(self.home, self.saved.name, file.stem, follow=False)
        await _written(self.redactor.lines(parts), file)

    async def _more(self, runtime: CollectsMore, folder: Path) -> None:
        await runtime.collect(self.saved.name, private_folder(folder))
        self.redactor.files(folder)


async def _written(parts: AsyncIterator[bytes], file: Path) -> None:
    with replacing(file, mode=_MODE) as target:
        async for part in parts:
            target.write(part)
