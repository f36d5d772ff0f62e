"""The command that makes a container says what the request says."""

from pathlib import Path, PurePosixPath

from kwokctl.model import ETCD, Artifact, ClusterName, Component, Limits, Mount, OwnManner, Port
from kwokctl.replacing import replace
from runtimes.docker.command import DOCKER, PODMAN, ScriptTool, create_words
from runtimes.docker.specification import ContainerPlacement, Naming, specify

PLACE = ContainerPlacement(
    naming=Naming(ClusterName("dev"), Path("/clusters/dev")),
    network="id",
    host="host:172.18.0.1",
    user="1:2",
)
ETCD_OF_DEV = Component(
    name=ETCD,
    artifact=Artifact(name=ETCD, version="v3", command=("/store/etcd", "serve")),
    args=("--name=node0",),
    env={"GOGC": "50"},
    ports=(Port(name="http", port=2379, host_port=30000), Port(name="peers", port=2380)),
    mounts=(
        Mount(host_path=Path("/a,b"), mount_path=PurePosixPath("/pki")),
        Mount(host_path=Path("/data"), mount_path=PurePosixPath("/data"), read_only=False),
    ),
)


def words_of(
    component: Component = ETCD_OF_DEV, *, revive: bool = False, tool: ScriptTool = DOCKER
) -> list[str]:
    body = specify(component, image="etcd:3", place=PLACE, revive=revive)
    return list(create_words(tool, "kwok-dev-etcd", body))


def values(words: list[str], option: str) -> list[str]:
    return [words[n + 1] for n, word in enumerate(words) if word == option]


def test_the_program_and_its_arguments_come_after_the_image() -> None:
    words = words_of()

    assert words[:4] == ["docker", "create", "--name", "kwok-dev-etcd"]
    assert values(words, "--entrypoint") == ["etcd"]
    assert words[words.index("etcd:3") :] == ["etcd:3", "serve", "--name=node0"]
    assert values(words, "--env") == ["GOGC=50"]
    assert values(words, "--user") == ["1:2"]


def test_podman_has_the_same_options() -> None:
    assert words_of(tool=PODMAN) == ["podman", *words_of()[1:]]
    assert PODMAN.removal("a", "b")[-3:] == ("--volumes", "a", "b")


def test_what_an_image_of_the_user_says_itself_is_no_option() -> None:
    artifact = Artifact(name="web", version="", image="example/web:v1")
    words = words_of(replace(ETCD_OF_DEV, artifact=artifact, own=OwnManner()))

    for option in ("--entrypoint", "--user", "--workdir", "--read-only", "--cap-drop", "--tmpfs"):
        assert option not in words
    assert words[-2:] == ["etcd:3", "--name=node0"]


def test_ports_are_published_where_they_are_and_the_others_exposed() -> None:
    words = words_of()

    assert values(words, "--publish") == ["127.0.0.1:30000:2379/tcp"]
    assert values(words, "--expose") == ["2380/tcp"]


def test_an_ipv6_address_is_in_brackets() -> None:
    port = Port(name="http", port=2379, host_port=30000, host_address="::1")

    assert values(words_of(replace(ETCD_OF_DEV, ports=(port,))), "--publish") == [
        "[::1]:30000:2379/tcp"
    ]


def test_a_mount_is_a_record_of_csv() -> None:
    assert values(words_of(), "--mount") == [
        'type=bind,"source=/a,b",target=/pki,readonly',
        "type=bind,source=/data,target=/data",
    ]


def test_a_container_has_no_privileges_and_a_log_that_ends() -> None:
    words = words_of()

    assert {"--init", "--read-only"} <= set(words)
    assert values(words, "--cap-drop") == ["ALL"]
    assert values(words, "--security-opt") == ["no-new-privileges"]
    assert values(words, "--log-opt") == ["max-size=10m", "max-file=4"]
    assert values(words, "--restart") == ["no"]
    assert values(words_of(revive=True), "--restart") == ["unless-stopped"]


def test_limits_are_there_only_if_there_are_some() -> None:
    limited = words_of(replace(ETCD_OF_DEV, limits=Limits(memory=1024, cpus=1.5)))

    assert values(limited, "--memory") == ["1024"]
    assert values(limited, "--memory-swap") == ["1024"]
    assert values(limited, "--cpus") == ["1.5"]
    assert not {"--memory", "--cpus"} & set(words_of())
