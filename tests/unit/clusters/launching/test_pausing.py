"""What may answer objects stands still while they are written, and nothing else does."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from kwokctl.clusters.launching.pausing import Pause, answering
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load
from kwokctl.config.extras.add_on_parts import AddOnParts, Webhooks
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.errors import UnavailableError
from kwokctl.json_value import Json
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    ComponentName,
    Port,
)
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime, HoldingRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
READS: Mapping[str, Json] = {"resources": ["pods"], "verbs": ["get", "list", "watch"]}
WRITES: Mapping[str, Json] = {"resources": ["pods"], "verbs": ["get", "patch"]}
HOOK = Webhooks(port="hook", services=("own",))
PORTS = (Port(name="http", port=80),)


def _own(*links: ComponentName, ports: tuple[Port, ...] = ()) -> ExtraComponent:
    return ExtraComponent(name=ComponentName("own"), links=frozenset(links), ports=ports)


def _of_add_on(*rules: Mapping[str, Json], webhooks: Webhooks | None = None) -> ExtraComponent:
    return replace(_own(), add_on=AddOnParts(name="own", rules=rules, webhooks=webhooks))


@pytest.mark.parametrize(
    ("extra", "in_etcd", "through_api"),
    [
        (_own(), False, False),
        (_own(KUBE_APISERVER), True, True),
        (_own(KUBE_APISERVER, ports=PORTS), True, False),
        (_of_add_on(READS), False, False),
        (_of_add_on(READS, WRITES), True, True),
        (_of_add_on(READS, WRITES, webhooks=HOOK), True, False),
        (replace(_own(), add_on=AddOnParts(name="own", cluster_roles=("admin",))), True, True),
    ],
)
def test_clients_that_may_change_objects_stand_still_unless_they_must_accept_them(
    extra: ExtraComponent, in_etcd: bool, through_api: bool
) -> None:
    options = replace(cluster_options(), extras=(extra,))

    assert answering(options, needs_webhooks=False) == [extra.name] * in_etcd
    assert answering(options, needs_webhooks=True) == [extra.name] * through_api


def _pause(home: Home, runtime: FakeRuntime) -> Pause:
    saved = load(home.paths(NAME), NAME)
    return Pause(runtime, saved, [KUBE_CONTROLLER_MANAGER, "unknown"], [KUBE_SCHEDULER])


@pytest.mark.parametrize(
    ("runtime", "stop"),
    [(FakeRuntime(), Pause.stop), (FakeRuntime(), Pause.replace), (HoldingRuntime(), Pause.stop)],
)
async def test_what_was_stopped_is_started(
    tmp_path: Path, runtime: FakeRuntime, stop: Callable[[Pause], Awaitable[None]]
) -> None:
    pause = _pause(home_with(tmp_path, NAME, cluster_options(), runtime), runtime)

    await stop(pause)
    await pause.stop_later()
    await pause.end()

    assert runtime.asked == [
        "stop kube-controller-manager",
        "stop kube-scheduler",
        "start kube-controller-manager kube-scheduler",
    ]


async def test_where_components_can_be_held_new_ones_start_at_once_and_act_when_they_are_let_go(
    tmp_path: Path,
) -> None:
    runtime = HoldingRuntime()
    pause = _pause(home_with(tmp_path, NAME, cluster_options(), runtime), runtime)

    await pause.replace()
    await pause.stop_later()
    assert runtime.asked == ["replace_held kube-controller-manager", "stop kube-scheduler"]
    pause.let_go()
    assert runtime.asked[2:] == ["let go"]
    await pause.end()

    assert runtime.asked[2:] == ["let go", "start kube-controller-manager kube-scheduler"]


async def test_what_could_not_be_replaced_is_started(tmp_path: Path) -> None:
    runtime = HoldingRuntime(fails_at={"replace_held": UnavailableError("no")})
    pause = _pause(home_with(tmp_path, NAME, cluster_options(), runtime), runtime)

    with pytest.raises(UnavailableError):
        await pause.replace()
    await pause.end()

    assert runtime.asked[1:] == ["start kube-controller-manager kube-scheduler"]
