""""""

import socket
from pathlib import Path

import pytest

from kwokctl.errors import CommandError, ConflictError, KwokctlError, UnavailableError
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from tests.support.fake_engine import FakeEngine, fake_engine

LABELS = {"a": "b"}


@pytest.fixture
def engine(fake: FakeEngine) -> Engine:
    return Engine(Endpoint(url=fake.url))


async def test_an_engine_that_is_not_there_is_named_with_a_remedy(folder: Path) -> None:
    url = f"unix://{folder}/nobody.sock"

    with pytest.raises(UnavailableError, match=f"no container engine answers at '{url}'") as caught:
        await Engine(Endpoint(url=url)).check()

    assert "DOCKER_HOST" in str(caught.value.hint)


async def test_an_engine_that_was_not_up_yet_can_be_queried_again(folder: Path) -> None:
    engine = Engine(Endpoint(url=f"unix://{folder}/e.sock"))
    with pytest.raises(UnavailableError):
        await engine.check()

    with fake_engine(folder):
        await engine.check()


async def test_a_socket_without_a_listener_means_that_the_engine_is_gone(
    folder: Path,
) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(f"{folder}/e.sock")

    with pytest.raises(UnavailableError, match="no container engine answers"):
        await Engine(Endpoint(url=f"unix://{folder}/e.sock")).check()


async def test_an_engine_is_greeted_by_a_ping_alone(fake: FakeEngine, engine: Engine) -> None:
    fake.is_podman = True

    await engine.check()

    assert await engine.is_podman()
    assert set(fake.asked) == {"GET /_ping"}


async def test_an_engine_whose_ping_says_no_version_is_asked_for_it(
    fake: FakeEngine, engine: Engine
) -> None:
    fake.answers["GET /_ping"] = (404, {"message": "no such page"})
    fake.pings_with_version = False

    assert await engine.ask("version")


async def test_containers_are_distinguished_by_their_labels(
    fake: FakeEngine, engine: Engine
) -> None:
    fake.answers["GET /containers/json"] = (
        200,
        [
            {
                "Id": "1",
                "Names": ["/kwok-dev-etcd"],
                "State": "running",
                "Labels": {"io.kwokctl.component": "etcd"},
            }
        ],
    )

    (found,) = await engine.containers(LABELS)

    assert (found.name, found.labels) == ("kwok-dev-etcd", {"io.kwokctl.component": "etcd"})
    assert found.is_running


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("driver failed: listen tcp4 127.0.0.1:1: bind: address already in use", ConflictError),
        ("Bind for 127.0.0.1:1 failed: port is already allocated", ConflictError),
        ("exec format error", CommandError),
    ],
)
async def test_the_error_of_a_failed_start_has_the_reason(
    fake: FakeEngine, engine: Engine, said: str, kind: type[KwokctlError]
) -> None:
    fake.answers["POST /containers/c/start"] = (500, {"message": said})

    with pytest.raises(kind) as caught:
        await engine.start("c")

    assert caught.value.detail == said


async def test_a_port_that_the_last_run_of_a_container_gives_up_late_is_waited_for(
    fake: FakeEngine, engine: Engine
) -> None:
    said = "cannot listen on the TCP port: listen tcp4 127.0.0.1:1: bind: address already in use"
    fake.first["POST /containers/c/start"] = [(500, {"message": said})] * 2
    fake.answers["POST /containers/c/start"] = (204, {})

    await engine.start("c")

    assert fake.asked.count("POST /containers/c/start") == 3


async def test_a_taken_name_is_reported_with_a_hint(fake: FakeEngine, engine: Engine) -> None:
    fake.answers["POST /containers/create"] = (409, {"message": "Conflict. The name is in use"})

    with pytest.raises(ConflictError, match="called 'kwok-dev-etcd'") as caught:
        await engine.create("kwok-dev-etcd", {})

    assert "docker rm --force kwok-dev-etcd" in str(caught.value.hint)


async def test_removing_what_is_gone_or_about_to_go_is_no_error(
    fake: FakeEngine, engine: Engine
) -> None:
    fake.answers["DELETE /containers/going"] = (409, {"message": "removal is in progress"})

    await engine.remove("gone")
    await engine.remove("going")


async def test_a_container_is_killed_before_it_is_removed(fake: FakeEngine, engine: Engine) -> None:
    fake.answers |= {
        "POST /containers/c/kill": (204, None),
        "DELETE /containers/c": (204, None),
    }

    await engine.remove("c")

    assert fake.asked[-2:] == ["POST /containers/c/kill", "DELETE /containers/c"]


async def test_volumes_are_found_by_their_label(fake: FakeEngine, engine: Engine) -> None:
    fake.answers["GET /volumes"] = (200, {"Volumes": [{"Name": "v"}]})
    fake.answers["DELETE /volumes/v"] = (204, None)
    await engine.remove_volumes("of-a-node")
    assert fake.asked[-1] == "DELETE /volumes/v"

    fake.answers["GET /volumes"] = (200, {"Volumes": None})
    await engine.remove_volumes("of-a-node")
    assert fake.asked[-1] == "GET /volumes"


async def test_an_engine_of_another_machine_is_refused_with_the_variable_that_names_it() -> None:
    engine = Engine(Endpoint(url="tcp://192.0.2.1:1"), named_by="CONTAINER_HOST")

    with pytest.raises(UnavailableError, match="another machine's") as caught:
        await engine.check()

    assert "CONTAINER_HOST" in str(caught.value.hint)


async def test_a_network_is_made_once(fake: FakeEngine, engine: Engine) -> None:
    fake.answers["GET /networks"] = (200, [{"Name": "kwok-dev-other", "Id": "1"}])
    fake.answers["POST /networks/create"] = (201, {"Id": "2"})
    made = {"Name": "kwok-dev", "Id": "2", "IPAM": {"Config": [{"Gateway": "172.18.0.1"}]}}
    fake.answers["GET /networks/2"] = (200, made)
    marks = {**LABELS, "project": "kwok-dev"}
    assert await engine.network("kwok-dev", LABELS, marks) == ("2", "172.18.0.1")

    fake.answers["GET /networks"] = (200, [made])
    assert await engine.network("kwok-dev", LABELS, marks) == ("2", "172.18.0.1")
    assert fake.asked.count("POST /networks/create") == 1
