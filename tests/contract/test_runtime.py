"""What holds for every runtime."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable
from dataclasses import replace

import pytest

from kwokctl.errors import ComponentError
from kwokctl.host.machine import Host
from kwokctl.kube.probe import probe
from kwokctl.model import ETCD, KUBE_APISERVER, Component, Plan, State
from kwokctl.runtime import Runtime
from tests.contract.conftest import CLUSTER

DOWN = {ETCD: State.STOPPED, KUBE_APISERVER: State.STOPPED}
UP = {ETCD: State.RUNNING, KUBE_APISERVER: State.RUNNING}


async def ready(component: Component) -> None:
    async with asyncio.timeout(30):
        while not await probe(component.ready[0]):
            await asyncio.sleep(0.01)


async def log(runtime: Runtime) -> str:
    return b"".join([part async for part in runtime.logs(CLUSTER, ETCD)]).decode()


async def test_what_is_installed_is_stopped_until_it_is_started(
    runtime: Runtime, plan: Plan
) -> None:
    assert await runtime.states(CLUSTER) == {}

    await runtime.install(plan)
    assert await runtime.states(CLUSTER) == DOWN

    await runtime.start(CLUSTER)
    assert await runtime.states(CLUSTER) == UP


async def test_every_step_can_be_repeated(runtime: Runtime, plan: Plan) -> None:
    for _ in range(2):
        await runtime.install(plan)
    for _ in range(2):
        await runtime.start(CLUSTER)
    assert await runtime.states(CLUSTER) == UP
    for _ in range(2):
        await runtime.stop(CLUSTER)
    assert await runtime.states(CLUSTER) == DOWN
    for _ in range(2):
        await runtime.uninstall(CLUSTER)
    assert await runtime.states(CLUSTER) == {}


async def test_only_what_is_named_is_started_and_stopped(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)

    await runtime.start(CLUSTER, ETCD)
    assert await runtime.states(CLUSTER) == {**DOWN, ETCD: State.RUNNING}

    await runtime.start(CLUSTER)
    await runtime.stop(CLUSTER, ETCD)
    assert await runtime.states(CLUSTER) == {**UP, ETCD: State.STOPPED}


async def test_starting_leaves_a_running_component_alone(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    await ready(plan.components[ETCD])

    await runtime.start(CLUSTER)

    assert (await log(runtime)).count("I am etcd") == 1


async def test_a_stopped_component_was_asked_to_end(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    await ready(plan.components[ETCD])

    await runtime.stop(CLUSTER)

    assert "bye" in await log(runtime)


async def test_logs_survive_a_restart(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    for _ in range(2):
        await runtime.start(CLUSTER, ETCD)
        await ready(plan.components[ETCD])
        await runtime.stop(CLUSTER, ETCD)

    assert (await log(runtime)).count("I am etcd") == 2


async def test_logs_are_followed_while_they_grow(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER, ETCD)
    etcd = plan.components[ETCD]
    await ready(etcd)
    seen = b""

    async with asyncio.timeout(30):
        async for part in runtime.logs(CLUSTER, ETCD, follow=True):
            seen += part
            if b"served /later" in seen:
                break
            await probe(replace(etcd.ready[0], url=etcd.ready[0].url.replace("health", "later")))

    assert b"I am etcd" in seen


async def test_a_component_that_dies_is_stopped_and_its_last_words_are_kept(
    runtime: Runtime, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of()
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    etcd = plan.components[ETCD]
    await ready(etcd)

    assert not await probe(replace(etcd.ready[0], url=etcd.ready[0].url.replace("health", "die")))

    async with asyncio.timeout(30):
        while await runtime.states(CLUSTER) != {ETCD: State.STOPPED}:
            await asyncio.sleep(0.01)
    assert "fatal: told to die" in await log(runtime)


async def test_a_command_killed_at_any_moment_leaves_nothing_that_stop_does_not_find(
    host: Host, runtime: Runtime, plan: Plan
) -> None:
    await runtime.install(plan)
    for delay in (0.0, 0.001, 0.002, 0.004, 0.008):
        command = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _START, runtime.name, str(host.workdir.root), stdout=PIPE
        )
        assert command.stdout is not None
        await command.stdout.readline()
        await asyncio.sleep(delay)
        command.kill()
        await command.wait()

        await runtime.stop(CLUSTER)

        assert await runtime.states(CLUSTER) == DOWN
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
"""


async def test_a_component_that_was_removed_from_the_plan_is_forgotten(
    runtime: Runtime, plan: Plan
) -> None:
    await runtime.install(plan)

    await runtime.install(replace(plan, components={ETCD: plan.components[ETCD]}))

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}


async def test_components_are_launched_again_when_the_plan_says_so(
    runtime: Runtime, plan_of: Callable[..., Plan]
) -> None:
    plan = plan_of("--say=born", restart=True)
    await runtime.install(plan)
    await runtime.start(CLUSTER)
    etcd = plan.components[ETCD]
    await ready(etcd)

    await probe(replace(etcd.ready[0], url=etcd.ready[0].url.replace("health", "die")))
    async with asyncio.timeout(30):
        while (await log(runtime)).count("born") < 2:
            await asyncio.sleep(0.01)
    await ready(etcd)
    await runtime.stop(CLUSTER)

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}


@pytest.mark.parametrize("name", ["/nowhere/etcd", __file__])
async def test_a_program_that_cannot_be_run_is_an_error_that_names_it(
    runtime: Runtime, plan_of: Callable[..., Plan], name: str
) -> None:
    plan = plan_of()
    etcd = plan.components[ETCD]
    artifact = replace(etcd.artifact, command=(name,))
    broken = replace(plan, components={ETCD: replace(etcd, artifact=artifact)})

    # Where it is known earlier than at the start, it is told earlier.
    with pytest.raises(ComponentError, match=name):
        await _install_and_start(runtime, broken)


async def _install_and_start(runtime: Runtime, plan: Plan) -> None:
    await runtime.install(plan)
    await runtime.start(CLUSTER)
