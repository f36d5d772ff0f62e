"""Builds programs from their Go modules, with nothing but a Go toolchain and a module proxy.

The proxy, the checksum database, the caches and further flags are those of the user's Go settings.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.artifacts.build_lock import LockedPlace
from kwokctl.artifacts.builds import gomod, toolchain
from kwokctl.artifacts.builds.go_command import GoCommand, build_folder, counting, documents, saying
from kwokctl.artifacts.builds.toolchain import Go
from kwokctl.artifacts.locations import Order
from kwokctl.artifacts.program_platform import Platform
from kwokctl.artifacts.programs import ETCD, Program, Release, named
from kwokctl.artifacts.store import ProgramStore
from kwokctl.errors import ArtifactError, CommandError
from kwokctl.host.files import write_atomic
from kwokctl.progress import Progress, Step

_PATCH = re.compile(r"v\d+\.(\d+)\.(\d+)")
_LACKING = re.compile(r"\S+@v\S+: (?:verifying \S+ )?(?:\S+: )?reading \S+")
"""Go's message about a module that it cannot get: `k8s.io/cri-api@v0.34.8: reading https://…: 403 Forbidden`."""


def is_lacking(output: str | None) -> bool:
    """Return whether Go ended because a module is missing, or its checksum is."""
    return bool(_LACKING.search(output or ""))


def nearest(
    version: str, needed: Collection[str], versions: Mapping[str, Iterable[str]]
) -> str | None:
    """Return the patch of the same minor release that is most complete, and of those the nearest.

    `versions` are those that the proxy lists of each module; all of the modules `needed` must have
    the patch, and as many of the others as possible. A proxy may have more than it lists.
    """
    minor, patch = _parts(version)
    listed = {module: _patches(minor, its) - {patch} for module, its in versions.items()}
    usable = set.intersection(*(listed.get(module, set()) for module in needed))
    if not usable:
        return None
    count = Counter(each for patches in listed.values() for each in patches)
    best = min(usable, key=lambda each: (-count[each], abs(each - patch)))
    return f"{version.rpartition('.')[0]}.{best}"


def _patches(minor: int, versions: Iterable[str]) -> set[int]:
    """Return the patches of a minor release; pre-releases are left out."""
    found = (_PATCH.fullmatch(version) for version in versions)
    return {int(match[2]) for match in found if match and int(match[1]) == minor}


def _parts(version: str) -> tuple[int, int]:
    match = _PATCH.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


_OLDEST_GO = (1, 24, 0)
"""The first release that has `go get -tool`."""
_ANY_GO = (1, 0, 0)


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """Programs of one group and version, which are built at once."""

    orders: Sequence[Order]
    target: Platform
    cache: Path
    place: LockedPlace
    progress: Progress

    async def run(self, store: ProgramStore) -> None:
        """Build the programs and put them into the store.

        Raises ArtifactError when there is no Go, no such module, or it does not compile.
        """
        failure = f"{self._title} could not be built from Go modules"
        async with build_folder(self._folder, failure):
            go = await self._prepare()
            await self._compile(go)
            await asyncio.to_thread(self._publish, store, go)

    @property
    def _folder(self) -> Path:
        return self.place.folder / "build"

    @property
    def _programs(self) -> list[Program]:
        return [named(order.name) for order in self.orders]

    @property
    def _group(self) -> Release:
        return self._programs[0].group

    @property
    def _version(self) -> str:
        """As Go writes it, with a `v`."""
        return f"v{self.orders[0].version.removeprefix('v')}"

    @property
    def _module_version(self) -> str:
        return self._group.module_version(self._version)

    @property
    def _title(self) -> str:
        return f"{self._group.title} {self._version}"

    @property
    def _linked(self) -> list[str]:
        flags = gomod.linker_flags(self._version, self._group.stamped)
        # The user's own count where a release needs none.
        tags = [f"-tags={','.join(self._group.tags)}"] if self._group.tags else []
        return ["-mod=mod", "-trimpath", *tags, "-ldflags", flags]

    def check_age(self) -> None:
        """Raise ArtifactError for releases from before there were Go modules of them."""
        oldest = self._group.oldest_build
        if gomod.release(self._version)[:2] < oldest:
            raise ArtifactError(
                f"{self._title} is not available as Go modules",
                hint=f"releases from {'.'.join(map(str, oldest))} on are; older ones can only be "
                "downloaded, or given with the '--…-binary' options"
                + ("; etcd's follows from --kube-version" if self._group is ETCD else ""),
            )

    async def _prepare(self) -> Go:
        """Fetch the modules and write the scratch module; return the Go that can build it."""
        paths = sorted({program.module for program in self._programs})
        go = await toolchain.find(self.cache, _ANY_GO, self.progress)
        with self.progress.step(f"Fetching the Go modules of {self._title}") as step:
            published = await self._published(go, paths, step)
        oldest = max(_OLDEST_GO, *map(gomod.needed, published.values()))
        if go.release < oldest:
            go = await toolchain.find(self.cache, oldest, self.progress)
        text = gomod.scratch(published, version=self._module_version)
        write_atomic(self._folder / "go.mod", text)
        version = self._module_version
        packages = [f"{program.package}@{version}" for program in self._programs]
        with self.progress.step(f"Fetching the dependencies of {self._title}") as step:
            try:
                await self._go(go, "get", "-tool", *packages, line=saying(step))
            except CommandError as e:
                if is_lacking(e.detail):
                    others = {path for text in published.values() for path in gomod.staged(text)}
                    raise await self._incomplete(go, others, e.detail) from e
                raise
        return go

    async def _incomplete(
        self, go: Go, others: Collection[str], detail: str | None
    ) -> ArtifactError:
        """Say that a module of this patch is missing, and which patch has more of them."""
        needed = {program.module for program in self._programs}
        listed = await self._go(
            go, "list", "-m", "-e", "-versions", "-json", *sorted(needed.union(others)),
            accept=(0, 1),
        )  # fmt: skip
        versions = {each["Path"]: each.get("Versions") or () for each in documents(listed)}
        near = nearest(self._module_version, needed, versions)
        see = f"'go list -m -versions {min(needed)}' shows the versions that your GOPROXY has"
        return ArtifactError(
            f"the Go proxy does not have all modules of {self._title}",
            hint=f"try another patch: {self._group.choice(near)}"
            if near and self._group.chosen
            else see,
            detail=detail,
        )

    async def _published(self, go: Go, paths: Collection[str], step: Step) -> Mapping[str, str]:
        """Return the published `go.mod` of each module, by path."""
        wanted = [f"{path}@{self._module_version}" for path in paths]
        # A Go that is too old for a module says so and exits with 1, but fetches it nevertheless.
        answer = await self._go(
            go, "mod", "download", "-json", *wanted, line=saying(step), accept=(0, 1)
        )
        modules = list(documents(answer))
        texts = await asyncio.to_thread(_texts, modules)
        if any(path not in texts for path in paths):
            why = "\n".join(m["Error"] for m in modules if m.get("Error"))
            raise await self._incomplete(go, (), why or None)
        return texts

    async def _compile(self, go: Go) -> None:
        packages = [program.package for program in self._programs]
        names = ", ".join(order.name for order in self.orders)
        with self.progress.step(f"Preparing to build {names}"):
            stale = await self._go(
                go, "list", *self._linked, "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}",
                *packages,
            )  # fmt: skip
        total = len(stale.split())
        title = f"Building {names} {self._version} with {go}"
        with self.progress.step(title, total=total, unit="packages") as step:
            if total <= len(packages):
                step.say("linking")
            out = f"{self._folder / 'out'}/"
            heard = counting(step, total)
            await self._go(go, "build", "-v", *self._linked, "-o", out, *packages, line=heard)

    def _publish(self, store: ProgramStore, go: Go) -> None:
        for order in self.orders:
            program = named(order.name)
            store.publish(
                self._folder / "out" / program.built_name,
                name=order.name,
                version=order.key,
                source="build",
                origin=f"{program.package} by {go}",
            )

    async def _go(
        self, go: Go, *words: str,
        line: Callable[[str], None] = lambda _: None, accept: Collection[int] = (0,),
    ) -> str:  # fmt: skip
        command = GoCommand(target=self.target, place=self.place, folder=self._folder)
        return await command.run(go, *words, line=line, accept=accept)


def _texts(modules: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the `go.mod` of each module that has come, by path."""
    return {m["Path"]: Path(m["GoMod"]).read_text("utf-8") for m in modules if m.get("GoMod")}
