"""Writes as steps of a script what the runtimes docker and podman do for one plan."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from kwokctl.artifacts.store import ProgramStore, digest
from kwokctl.host.carry_out import work_folders
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.crew_script import CrewScript
from kwokctl.model import Artifact, Component, ComponentName, Plan
from kwokctl.script.posix_shell import quoted
from kwokctl.script.steps import (
    Action,
    Assignment,
    Call,
    Command,
    Folder,
    ShellFunction,
    ShellLines,
    later,
)
from runtimes.docker.command import ScriptTool, create_words
from runtimes.docker.specification import SPECIFICATION, ContainerPlacement, specify
from runtimes.engine.engine_client import Container
from runtimes.engine.engine_images import DIGITS, PLACE, named
from runtimes.engine.site import ON_HOST

NETWORK, GATEWAY = "network", "gateway"
"""The variables of a script for the id of a network that it makes, and for its address."""


class ContainerScript(msgspec.Struct, frozen=True, kw_only=True):
    """The containers of a plan, and its processes on the host."""

    tool: ScriptTool
    plan: Plan
    """Of the containers."""
    paths: ClusterPaths
    found: Mapping[ComponentName, Container]
    """The containers that are there."""
    place: ContainerPlacement
    is_networked: bool
    """Whether the network is there."""
    crew: CrewScript
    grace: float

    def install(self) -> Iterable[Action]:
        """Make images, network and containers."""
        yield from work_folders(self.paths)
        yield from self._network()
        yield from self.crew.install()
        for component in self.plan.components.values():
            found = self.found.get(component.name)
            if not (found and found.is_running):
                yield from self._provide(component, found)

    def start(self, *names: ComponentName) -> Iterable[Action]:
        """Start what does not run yet."""
        if there := self._containers(names):
            yield Command((self.tool.name, "start", *there))
        yield from self.crew.start(*(name for name in names if name in ON_HOST))

    def stop(self, *names: ComponentName) -> Iterable[Action]:
        """Ask components to end, and have the engine kill those that do not."""
        if there := self._containers(names):
            yield Command((self.tool.name, "stop", "-t", f"{self.grace:.0f}", *there))
        yield from self.crew.stop(*(name for name in names if name in ON_HOST))

    def uninstall(self) -> Iterable[Action]:
        """Remove containers, network and processes."""
        if self.found:
            yield Command(self.tool.removal(*(found.name for found in self.found.values())))
        if self.is_networked:
            yield Command((self.tool.name, "network", "rm", self.place.naming.network))
        yield from self.crew.uninstall()

    def running(self, name: ComponentName) -> Call:
        """Return the call that fails unless a component runs."""
        if name in ON_HOST:
            return self.crew.running(name)
        return Call(_is_up(self.tool), (self.place.naming.container(name),))

    def _containers(self, names: Iterable[ComponentName]) -> list[str]:
        return [self.place.naming.container(name) for name in names if name not in ON_HOST]

    def _network(self) -> Iterator[Action]:
        if self.is_networked:
            return
        name, marks = self.place.naming.network, self.place.naming.marks
        words = [word for key, value in marks.items() for word in ("--label", f"{key}={value}")]
        yield Command((self.tool.name, "network", "create", "--driver", "bridge", *words, name))
        template = quoted(self.tool.gateways)
        inspect = f"{self.tool.name} network inspect --format {template} {quoted(name)}"
        yield Assignment(GATEWAY, f"{inspect} | grep -F . | cut -d / -f 1 | head -n 1")

    def _provide(self, component: Component, found: Container | None) -> Iterator[Action]:
        """Yield how a container is made as it is described, unless it is there."""
        yield from (Folder(m.host_path, private=False) for m in component.mounts if not m.read_only)
        artifact = component.artifact
        image = artifact.image or image_of_program(artifact)
        body = specify(
            component,
            image=image,
            place=self.place,
            revive=self.plan.restart,
        )
        if found and found.labels[SPECIFICATION] == body["Labels"][SPECIFICATION]:
            return
        if not artifact.image:
            yield from _imported(self.tool.name, artifact, image)
        if found:
            yield Command(self.tool.removal(found.name))
        name = self.place.naming.container(component.name)
        yield Command(create_words(self.tool, name, body))


def _is_up(tool: ScriptTool) -> ShellFunction:
    return ShellFunction(
        "is_up",
        f"""\
is_up() {{
  [ "$({tool.name} inspect --format '{{{{.State.Running}}}}' "$1")" = true ]
}}""",
    )


def image_of_program(artifact: Artifact) -> str:
    """Name the image of a program; by a variable of the script if the program is not here yet."""
    program = Path(artifact.command[0])
    if not program.is_file():
        return named(artifact, "") + later(_variable(artifact))
    folder = program.parent
    noted = ProgramStore(folder.parent.parent).noted_sum(folder.parent.name, folder.name)
    return named(artifact, noted or digest(program))


def _imported(tool: str, artifact: Artifact, image: str) -> Iterator[Action]:
    """Yield how the image of a program is made."""
    program = Path(artifact.command[0])
    if later(_variable(artifact)) in image:
        sum_of = f"sha256sum {quoted(str(program))} | cut -c 1-{DIGITS}"
        yield Assignment(_variable(artifact), sum_of)
    rename = quoted(f"s,.*,{PLACE}/{artifact.name},")
    archive = f"tar -c -C {quoted(str(program.parent))} --mode 755 --transform {rename}"
    yield ShellLines(
        f"{tool} image inspect {quoted(image)} >/dev/null 2>&1 ||\n"
        f"  {archive} {quoted(program.name)} |\n"
        f"  {tool} import - {quoted(image)}"
    )


def _variable(artifact: Artifact) -> str:
    return f"content_{artifact.name.replace('-', '_')}"
