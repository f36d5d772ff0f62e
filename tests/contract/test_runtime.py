"""What holds for every runtime."""

import asyncio
import re
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kwokctl.clusters.launching.launch import Patience, bring_up
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ComponentError, ConflictError
from kwokctl.host.machine import Host
from kwokctl.host.ports import HeldPorts
from kwokctl.kube.transport.probe import probe
from kwokctl.model import Component, Limits, Plan, State
from kwokctl.replacing import replace
from kwokctl.runtime import FindsRemains, Runtime, TellsMore
from tests.contract.conftest import CLUSTER, FIRST, SECOND, Asked

DOWN = {FIRST: State.STOPPED, SECOND: State.STOPPED}
UP = {FIRST: State.RUNNING, SECOND: State.RUNNING}
LOCAL = "127.0.0.1"


async def ready(component: Component) -> None:
    async with asyncio.timeout(30):
        while not await probe(component.ready[0]):
            await asyncio.sleep(0.01)


async def log(runtime: Runtime) -> str:
    return b"".join([part async for part in runtime.logs(CLUSTER, FIRST)]).decode()


async def remains(runtime: Runtime) -> bool:
    """Return whether a runtime that can say so still has something of the cluster; true for others."""
    return not isinstance(runtime, FindsRemains) or CLUSTER in await runtime.remains()


async def test_what_is_installed_is_stopped_until_it_is_started(
    runtime: Runtime, plan: Plan, states: Asked
) -> None:
    assert await states() == {}

    await runtime.install(plan)
    assert await states() == DOWN

    await runtime.start(CLUSTER)
    assert await states() == UP


async def test_every_step_can_be_repeated(runtime: Runtime, plan: Plan, states: Asked) -> None:
    for _ in range(2):
        await runtime.install(plan)
    for _ in range(2):
        await runtime.start(CLUSTER)
    assert await states() == UP
    for _ in range(2):
        await runtime.stop(CLUSTER)
    assert await states() == DOWN
    assert await remains(runtime)
    for _ in range(2):
        await runtime.uninstall(CLUSTER)
    assert await states() == {}
    assert not isinstance(runtime, FindsRemains) or not await remains(runtime)


async def test_only_what_is_named_is_started_and_stopped(
    runtime: Runtime, plan: Plan, states: Asked
) -> None:
    await runtime.install(plan)

    await runtime.start(CLUSTER, FIRST)
    assert await states() == {**DOWN, FIRST: State.RUNNING}

    await runtime.start(CLUSTER)
    await runtime.stop(CLUSTER, FIRST)
    assert await states() == {**UP, FIRST: State.STOPPED}


async def test_starting_leaves_a_running_component_alone(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    await ready(plan.components[FIRST])

    await runtime.start(CLUSTER)

    assert (await log(runtime)).count("I am the first") == 1


async def test_a_stopped_component_gets_the_signal_to_terminate(
    runtime: Runtime, plan: Plan
) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    await ready(plan.components[FIRST])

    await runtime.stop(CLUSTER)

    assert "bye" in await log(runtime)


async def test_a_component_may_keep_a_socket_in_the_folder_it_works_in(
    runtime: Runtime, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of("--socket=own.sock")
    await runtime.install(plan)
    await runtime.start(CLUSTER)

    await ready(plan.components[FIRST])


async def test_logs_survive_a_restart(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    for _ in range(2):
        await runtime.start(CLUSTER, FIRST)
        await ready(plan.components[FIRST])
        await runtime.stop(CLUSTER, FIRST)

    assert (await log(runtime)).count("I am the first") == 2


async def test_logs_are_followed_while_they_grow(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER, FIRST)
    first = plan.components[FIRST]
    await ready(first)
    seen = b""

    async with asyncio.timeout(30):
        async for part in runtime.logs(CLUSTER, FIRST, follow=True):
            seen += part
            if b"served /later" in seen:
                break
            await probe(replace(first.ready[0], url=first.ready[0].url.replace("health", "later")))

    assert b"I am the first" in seen


async def test_a_component_that_exits_is_stopped_and_its_last_log_lines_are_kept(
    runtime: Runtime, plan_of: Callable[..., Plan], states: Asked
) -> None:
    plan = plan_of()
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    first = plan.components[FIRST]
    await ready(first)

    assert not await probe(replace(first.ready[0], url=first.ready[0].url.replace("health", "die")))

    async with asyncio.timeout(30):
        while await states() != {FIRST: State.STOPPED}:
            await asyncio.sleep(0.01)
    assert "fatal: told to die" in await log(runtime)


async def test_a_command_killed_at_any_moment_leaves_nothing_that_stop_does_not_find(
    host: Host, runtime: Runtime, plan: Plan, states: Asked
) -> None:
    await runtime.install(plan)
    for delay in (0.0, 0.001, 0.002, 0.004, 0.008):
        command = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _START, runtime.name, str(host.workdir.root), stdin=PIPE, stdout=PIPE
        )  # fmt: skip
        assert command.stdout is not None
        await command.stdout.readline()
        await asyncio.sleep(delay)
        command.kill()
        await command.wait()

        await runtime.stop(CLUSTER)

        assert await states() == DOWN
        for component in plan.components.values():
            assert not await probe(component.ready[0])


_START = f"""
import asyncio, sys
from pathlib import Path
from kwokctl import registry
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir

runtime = registry.load(sys.argv[1], Host(WorkDir(Path(sys.argv[2]))))
print("starting", flush=True)
asyncio.run(runtime.start("{CLUSTER}"))
# On a busy machine all may be started before the kill comes.
sys.stdin.read()
"""


async def test_a_component_that_was_removed_from_the_plan_is_forgotten(
    runtime: Runtime, plan: Plan, states: Asked
) -> None:
    await runtime.install(plan)

    kept = {name: each for name, each in plan.components.items() if name != SECOND}
    await runtime.install(replace(plan, components=kept))

    assert await states() == {FIRST: State.STOPPED}


async def test_components_are_launched_again_when_the_plan_says_so(
    runtime: Runtime, plan_of: Callable[..., Plan], states: Asked
) -> None:
    plan = plan_of("--say=born", restart=True)
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    first = plan.components[FIRST]
    await ready(first)

    await probe(replace(first.ready[0], url=first.ready[0].url.replace("health", "die")))
    async with asyncio.timeout(30):
        while (await log(runtime)).count("born") < 2:
            await asyncio.sleep(0.01)
    await ready(first)
    await runtime.stop(CLUSTER)

    assert await states() == {FIRST: State.STOPPED}


@pytest.mark.parametrize("name", ["/nowhere/first", __file__])
async def test_a_program_that_cannot_be_run_is_an_error_that_names_it(
    runtime: Runtime, plan_of: Callable[..., Plan], name: str
) -> None:
    plan = plan_of()
    first = plan.components[FIRST]
    artifact = replace(first.artifact, command=(name,))
    broken = replace(plan, components={**plan.components, FIRST: replace(first, artifact=artifact)})

    # Where it is known earlier than at the start, it is reported earlier.
    with pytest.raises(ComponentError, match=name):
        await _install_and_start(runtime, broken)


async def _install_and_start(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)


async def test_a_component_killed_for_lack_of_memory_is_reported_as_such(
    host: Host, runtime: Runtime, plan_of: Callable[..., Plan]
) -> None:
    if not isinstance(runtime, TellsMore):
        pytest.skip("this runtime does not know why components ended")
    plan = plan_of("--eat=512")
    limited = replace(plan.components[FIRST], limits=Limits(memory=64 << 20))
    await runtime.install(replace(plan, components={**plan.components, FIRST: limited}))

    # Docker may not know that it was the limit: see `remark_on`.
    killed = "killed(: | by SIGKILL: perhaps )it exceeded its memory limit of 64Mi"
    with pytest.raises(ComponentError, match=f"'{FIRST}' has exited: {killed}"):
        await started(host, runtime, plan, none_held())
    assert re.fullmatch(killed, (await runtime.remarks(CLUSTER))[FIRST])


@contextmanager
def taken(port: int) -> Iterator[None]:
    """Listen on a port as servers do: beside who holds it, and does not listen."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((LOCAL, port))
        server.listen()
        yield


def none_held() -> HeldPorts:
    return HeldPorts(taken=(), address=LOCAL)


async def started(host: Host, runtime: Runtime, plan: Plan, held: HeldPorts) -> None:
    """Start a plan as every verb does that starts one."""
    home = Home(workdir=host.workdir, cache=Path("/nowhere"))
    await bring_up(home, runtime, plan, held, Patience(wait=60.0))


async def refused(host: Host, runtime: Runtime, plan: Plan, held: HeldPorts) -> None:
    """Fail to start a plan: the error names the port of the first stand-in and has a hint."""
    port = plan.components[FIRST].ports[0].host_port
    with taken(port), pytest.raises(ConflictError, match=f"port {port}, wanted for '.*") as caught:
        await started(host, runtime, plan, held)
    assert "end the program that uses it" in str(caught.value.hint)


async def test_start_refuses_a_held_port_that_is_taken_before_anything_starts(
    host: Host, runtime: Runtime, plan: Plan, states: Asked
) -> None:
    await runtime.install(plan)
    await runtime.stop(CLUSTER)

    with none_held() as held:
        for name in DOWN:
            held.hold(name, plan.components[name].ports[0].host_port)
        await refused(host, runtime, plan, held)
        assert await states() == DOWN

        await started(host, runtime, plan, held)
    assert await states() == UP


async def test_a_port_taken_at_the_last_moment_fails_the_start_and_leaves_nothing_behind(
    host: Host, runtime: Runtime, plan: Plan, states: Asked
) -> None:
    await runtime.install(plan)
    await runtime.stop(CLUSTER)
    await refused(host, runtime, plan, none_held())
    await started(host, runtime, plan, none_held())
    assert await states() == UP

    await runtime.uninstall(CLUSTER)
    await runtime.install(plan)
    await refused(host, runtime, plan, none_held())
    await runtime.uninstall(CLUSTER)
    assert await states() == {}
