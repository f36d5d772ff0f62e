"""Gets parts of one Go module: programs that are built in it, and files that are published with it.

A program is built with the module as the main module, so the `replace` and `godebug` lines of its
own `go.mod` count (https://go.dev/ref/mod#go-mod-file-replace).
"""

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl.artifacts.build_lock import LockedPlace
from kwokctl.artifacts.builds import gomod, toolchain
from kwokctl.artifacts.builds.go_command import GoCommand, build_folder, counting, documents, saying
from kwokctl.artifacts.builds.toolchain import Go
from kwokctl.artifacts.locations import Order
from kwokctl.artifacts.module_parts import ModulePart
from kwokctl.artifacts.program_platform import Platform
from kwokctl.artifacts.store import ProgramStore
from kwokctl.errors import ArtifactError
from kwokctl.progress import Progress

_ANY_GO = (1, 0, 0)
_OPTIONS = ("-mod=mod", "-trimpath", "-ldflags=-s -w")
_SUFFIXES = {".yaml", ".yml", ".json"}


class ModuleBuild(msgspec.Struct, frozen=True, kw_only=True):
    """Parts of one module at one version, which are got at once."""

    orders: Sequence[Order]
    target: Platform
    cache: Path
    place: LockedPlace
    progress: Progress

    def check_age(self) -> None:
        """Accept every version: the module proxy says which there are."""

    async def run(self, store: ProgramStore) -> None:
        """Put the parts into the store.

        Raises ArtifactError when there is no Go, no such module, no such part, or it does not
        compile.
        """
        failure = f"{self._title} could not be built"
        async with build_folder(self._folder, failure):
            await asyncio.to_thread((self._folder / "out").mkdir)
            go = await self._fetch()
            for order in self.orders:
                if self._part(order).is_files:
                    await asyncio.to_thread(self._collect, order)
                else:
                    await self._compile(go, order)
                await asyncio.to_thread(self._publish, store, order, go)

    @property
    def _folder(self) -> Path:
        return self.place.folder / "build"

    @property
    def _source(self) -> Path:
        return self._folder / "source"

    @property
    def _go(self) -> GoCommand:
        return GoCommand(target=self.target, place=self.place, folder=self._folder)

    @property
    def _title(self) -> str:
        part = self._part(self.orders[0])
        return f"the Go module {part.module} {part.version}"

    @staticmethod
    def _part(order: Order) -> ModulePart:
        if order.part is None:
            raise TypeError(order)
        return order.part

    async def _fetch(self) -> Go:
        """Unpack the module; return the Go that can build it."""
        part = self._part(self.orders[0])
        go = await toolchain.find(self.cache, _ANY_GO, self.progress)
        with self.progress.step(f"Fetching {self._title}") as step:
            # A Go that is too old for a module says so and exits with 1, but fetches it nevertheless.
            answer = await self._go.run(
                go, "mod", "download", "-json", f"{part.module}@{part.version}",
                line=saying(step), accept=(0, 1),
            )  # fmt: skip
            found = next(documents(answer), {})
            if not found.get("Dir"):
                raise ArtifactError(
                    f"the Go proxy does not have {self._title}", detail=found.get("Error") or None
                )
            await asyncio.to_thread(_copied, Path(found["Dir"]), self._source)
        needed = gomod.needed(self._changed())
        is_built = any(not self._part(order).is_files for order in self.orders)
        if is_built and go.release < needed:
            return await toolchain.find(self.cache, needed, self.progress)
        return go

    def _changed(self) -> str:
        """Put the versions into its `go.mod` that are to be taken, and return that."""
        instead = dict(pair for order in self.orders for pair in self._part(order).instead)
        file = self._source / "go.mod"
        text = gomod.with_versions(file.read_text("utf-8"), instead)
        file.write_text(text, encoding="utf-8")
        return text

    def _collect(self, order: Order) -> None:
        """Write the files as one text of documents, each file under its name."""
        part = self._part(order)
        texts = [text for pattern in part.patterns for text in self._matching(pattern)]
        (self._folder / "out" / order.name).write_text("".join(texts), encoding="utf-8")

    def _matching(self, pattern: str) -> Iterator[str]:
        files = sorted(
            path
            for path in self._source.glob(pattern)
            if path.suffix in _SUFFIXES and path.is_file()
        )
        if not files:
            raise ArtifactError(f"{self._title} has no YAML file '{pattern}'")
        for path in files:
            text = path.read_text(encoding="utf-8").rstrip()
            yield f"---\n# {path.relative_to(self._source)}\n{text}\n"

    async def _compile(self, go: Go, order: Order) -> None:
        part = self._part(order)
        with self.progress.step(f"Preparing to build {order.name}") as step:
            stale = await self._go.run(
                go, "list", *_OPTIONS, "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}",
                part.package, line=saying(step), cwd=self._source,
            )  # fmt: skip
        total = sum(not line.startswith("go: ") for line in stale.splitlines())
        title = f"Building {order.name} {part.version} with {go}"
        with self.progress.step(title, total=total, unit="packages") as step:
            out = str(self._folder / "out" / order.name)
            await self._go.run(
                go, "build", "-v", *_OPTIONS, "-o", out, part.package,
                line=counting(step, total), cwd=self._source,
            )  # fmt: skip

    def _publish(self, store: ProgramStore, order: Order, go: Go) -> None:
        part = self._part(order)
        store.publish(
            self._folder / "out" / order.name,
            name=order.name,
            version=order.key,
            source="build",
            origin=str(part) if part.is_files else f"{part} by {go}",
        )


def _copied(module: Path, to: Path) -> None:
    """Copy a module, whose files in Go's cache are read-only, to be a main module that Go may change."""
    shutil.copytree(module, to)
    for path in (to, *to.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
