from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from kwokctl.model import ETCD, Artifact, ClusterName, Component, Limits, Mount, OwnManner, Port
from kwokctl.replacing import replace
from runtimes.docker.specification import SPECIFICATION, ContainerPlacement, Naming, specify

NAMING = Naming(ClusterName("dev"), Path("/home/me/.kwok/clusters/dev"))
PLACE = ContainerPlacement(
    naming=NAMING, network="id-1", host="host.kwokctl.internal:172.18.0.1", user="1000:1000"
)
ETCD_OF_DEV = Component(
    name=ETCD,
    artifact=Artifact(name=ETCD, version="v3", command=("/store/etcd",)),
    args=("--name=node0",),
    env={"GOGC": "50"},
    ports=(Port(name="http", port=2379, host_port=30000), Port(name="peers", port=2380)),
    mounts=(
        Mount(host_path=Path("/pki"), mount_path=PurePosixPath("/etc/pki")),
        Mount(host_path=Path("/data"), mount_path=PurePosixPath("/data"), read_only=False),
    ),
)


def specified(component: Component = ETCD_OF_DEV, **changed: Any) -> dict[str, Any]:
    return specify(
        component,
        **{
            "image": "kwokctl/etcd:v3-0",
            "place": PLACE,
            "revive": False,
            **changed,
        },
    )


def test_a_component_is_run_as_the_caller_with_nothing_that_it_does_not_need() -> None:
    body = specified()

    assert body["Image"] == "kwokctl/etcd:v3-0"
    assert body["Entrypoint"] == ["etcd"]
    assert body["Cmd"] == ["--name=node0"]
    assert body["Env"] == ["GOGC=50"]
    assert body["User"] == "1000:1000"
    assert body["HostConfig"]["CapDrop"] == ["ALL"]
    assert body["HostConfig"]["ReadonlyRootfs"]


@pytest.mark.parametrize(
    ("is_podman", "expected"),
    [
        (False, ["com.docker.compose.project"]),
        (True, ["com.docker.compose.project", "io.podman.compose.project"]),
    ],
)
def test_what_is_made_has_the_labels_of_the_original_and_is_found_without_them(
    is_podman: bool, expected: list[str]
) -> None:
    naming = replace(NAMING, is_podman=is_podman)

    labels = specified(place=replace(PLACE, naming=naming))["Labels"]

    assert {name for name, value in labels.items() if value == "kwok-dev"} == {*expected}
    assert not {*naming.labels} & {*expected}
    assert labels.items() >= naming.marks.items() >= naming.labels.items()
    assert labels[SPECIFICATION] == specified()["Labels"][SPECIFICATION]


def of_user(*, image: str | None, **manner: Any) -> dict[str, Any]:
    artifact = Artifact(name="web", version="", image=image)
    return specified(replace(ETCD_OF_DEV, artifact=artifact, own=OwnManner(**manner)))


def test_an_image_that_the_user_describes_says_itself_how_it_is_run() -> None:
    body = of_user(image="example/web:v1")

    assert not {"Entrypoint", "User", "WorkingDir"} & body.keys()
    assert not {"CapDrop", "ReadonlyRootfs", "Tmpfs"} & body["HostConfig"].keys()
    assert body["HostConfig"]["SecurityOpt"] == ["no-new-privileges"]


def test_what_the_user_says_of_an_image_takes_its_place() -> None:
    body = of_user(image="example/web:v1", entry=("/web", "serve"), user="web", folder="/srv")

    assert body["Entrypoint"] == ["/web", "serve"]
    assert (body["User"], body["WorkingDir"]) == ("web", "/srv")


def test_an_image_that_is_made_of_a_users_program_starts_that_as_the_caller() -> None:
    body = of_user(image=None, entry=("/web",))

    assert (body["Entrypoint"], body["User"]) == (["etcd"], "1000:1000")


def test_only_ports_of_the_host_are_published_and_on_loopback_only() -> None:
    bindings = specified()["HostConfig"]["PortBindings"]

    assert bindings == {"2379/tcp": [{"HostIp": "127.0.0.1", "HostPort": "30000"}]}


def test_mounts_are_read_only_by_default() -> None:
    mounts = specified()["HostConfig"]["Mounts"]

    assert [(m["Source"], m["Target"], m["ReadOnly"]) for m in mounts] == [
        ("/pki", "/etc/pki", True),
        ("/data", "/data", False),
    ]


def test_in_the_network_it_has_the_name_of_the_component() -> None:
    endpoints = specified()["NetworkingConfig"]["EndpointsConfig"]

    assert endpoints == {"kwok-dev": {"Aliases": ["etcd"]}}


@pytest.mark.parametrize(("revive", "policy"), [(False, "no"), (True, "unless-stopped")])
def test_it_is_restarted_only_on_request(revive: bool, policy: str) -> None:
    assert specified(revive=revive)["HostConfig"]["RestartPolicy"] == {"Name": policy}


def test_the_program_of_a_published_image_is_found_by_its_name() -> None:
    artifact = Artifact(name=ETCD, version="v3", image="registry.example/etcd:v3")

    assert specified(replace(ETCD_OF_DEV, artifact=artifact))["Entrypoint"] == ["etcd"]


def test_a_name_resolves_to_the_host() -> None:
    assert specified()["HostConfig"]["ExtraHosts"] == ["host.kwokctl.internal:172.18.0.1"]


def test_without_limits_a_container_takes_what_there_is() -> None:
    host = specified()["HostConfig"]

    assert (host["Memory"], host["NanoCpus"]) == (0, 0)


def test_limits_bound_memory_without_swap_and_processors() -> None:
    body = specified(replace(ETCD_OF_DEV, limits=Limits(memory=1000_000_000, cpus=1.5)))

    host = body["HostConfig"]
    assert (host["Memory"], host["MemorySwap"]) == (1000_000_000, 1000_000_000)
    assert host["NanoCpus"] == 1_500_000_000
    assert body["Env"] == ["GOMEMLIMIT=900000000", "GOGC=50"]


@pytest.mark.parametrize(
    "changed",
    [
        {"image": "kwokctl/etcd:v3-1"},
        {"place": replace(PLACE, network="id-2")},
        {"place": replace(PLACE, user="0:0")},
        {"revive": True},
    ],
)
def test_a_container_with_other_settings_has_another_label(changed: dict[str, Any]) -> None:
    label = specified()["Labels"][SPECIFICATION]

    assert specified()["Labels"][SPECIFICATION] == label
    assert specified(**changed)["Labels"][SPECIFICATION] != label
