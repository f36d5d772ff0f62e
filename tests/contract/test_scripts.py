"""What holds for every runtime that writes scripts: they do what the runtime does."""

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from kwokctl.host.machine import Host
from kwokctl.model import Plan, State
from kwokctl.runtime import Runtime, RuntimeScript, WritesScripts
from kwokctl.script.posix_shell import quoted, written
from kwokctl.script.steps import Action, Script, ShellLines
from tests.contract.conftest import CLUSTER, FIRST, IN_CONTAINERS, SECOND, Asked
from tests.support import engines
from tests.support.engine_command import EngineCommand

DOWN = {FIRST: State.STOPPED, SECOND: State.STOPPED}
UP = {FIRST: State.RUNNING, SECOND: State.RUNNING}
_OF_ITS_OWN = ("AttachStdout", "AttachStderr", "CreateCommand")
"""What the commands note of themselves: the words, and whether they would show what is written."""
_BY_COMMAND = ("StopTimeout", "Umask", "sdNotifyMode")
"""What podman's command has defaults for, and its service has none."""
_BY_PODMAN = [pytest.mark.podman, pytest.mark.timeout(600, func_only=True)]


@pytest.fixture(
    scope="module",
    params=[
        "binary",
        pytest.param("docker", marks=IN_CONTAINERS),
        pytest.param("podman", marks=_BY_PODMAN),
    ],
)
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """Name a runtime that writes scripts, and have what it needs."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        if request.param == "docker":
            patch.setenv("DOCKER_HOST", request.getfixturevalue("engine"))
        if request.param == "podman":
            service = request.getfixturevalue("own_podman")
            stack.enter_context(engines.named(service, "CONTAINER_HOST"))
        yield str(request.param)


async def script_of(runtime: Runtime, plan: Plan) -> RuntimeScript:
    assert isinstance(runtime, WritesScripts)
    return await runtime.script(plan)


def run(host: Host, *parts: Iterable[Action]) -> None:
    lead = ShellLines(f"cluster={quoted(str(host.cluster(CLUSTER).root))}")
    steps = (lead, *(step for part in parts for step in part))
    done = subprocess.run(
        ["sh"], input=written(Script(command="test", steps=steps)),
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def inspected(kind: str, name: str) -> dict[str, Any]:
    """Return the settings of a container as they were given to the engine, without the digest."""
    found = json.loads("\n".join(EngineCommand(kind).lines("inspect", name)))[0]
    left_out = _OF_ITS_OWN if kind == "docker" else (*_OF_ITS_OWN, *_BY_COMMAND)
    config = {key: found["Config"][key] for key in found["Config"] if key not in left_out}
    config["Env"].sort()
    entry = config.pop("Entrypoint")
    # Podman shows the words with spaces between.
    words = [*(entry.split() if isinstance(entry, str) else entry), *(config.pop("Cmd") or [])]
    labels = {key: value for key, value in config["Labels"].items() if "specification" not in key}
    host = {key: value for key, value in found["HostConfig"].items() if value}
    host["LogConfig"].pop("Path", None)  # with the id in it
    host.get("Binds", []).sort()  # Podman keeps them in no order
    return {"Config": {**config, "Labels": labels}, "Host": host, "words": words}


async def test_a_script_starts_and_stops_what_the_runtime_finds(
    runtime: Runtime, plan: Plan, host: Host, states: Asked
) -> None:
    script = await script_of(runtime, plan)
    run(host, script.install(), script.start(FIRST, SECOND))
    assert await states() == UP

    run(host, (await script_of(runtime, plan)).stop(SECOND, FIRST))
    assert await states() == DOWN
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    assert await states() == UP


async def test_a_script_removes_what_the_runtime_has_made(
    runtime: Runtime, plan: Plan, host: Host, states: Asked
) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    run(host, (await script_of(runtime, plan)).uninstall())

    assert await states() == {}


async def test_to_write_a_script_makes_nothing(
    runtime: Runtime, plan: Plan, host: Host, states: Asked
) -> None:
    script = await script_of(runtime, plan)
    assert [*script.install(), *script.start(FIRST), *script.stop(FIRST), *script.uninstall()]

    assert await states() == {}
    assert not host.cluster(CLUSTER).root.exists()


async def test_a_container_of_a_script_is_as_one_of_the_runtime(
    kind: str, runtime: Runtime, plan: Plan, host: Host
) -> None:
    if kind == "binary":
        pytest.skip("has no containers")
    run(host, (await script_of(runtime, plan)).install())
    name = f"kwok-{CLUSTER}-{FIRST}"
    by_script = inspected(kind, name)
    EngineCommand(kind).words("rm", name)
    await runtime.install(plan)

    assert by_script == inspected(kind, name)
    assert by_script["Config"]["User"] == f"{os.getuid()}:{os.getgid()}"
