import pytest

from kwokctl.clusters.configuration.extra_components import check_extras
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.patches.patch import Volume
from kwokctl.errors import UsageError
from kwokctl.model import ComponentName, Port
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeEngineRuntime, FakeRuntime

WEB = ExtraComponent(
    name=ComponentName("web"),
    image="example/web:v1",
    user="nobody",
    ports=(Port(name="http", port=80, host_port=8080),),
    volumes=(Volume(host_path="/etc", mount_path="/x"),),
)
PROCESS = ExtraComponent(
    name=ComponentName("web"),
    binary="/bin/sh",
    ports=(Port(name="http", port=8080, host_port=8080), Port(name="more", port=8081)),
    volumes=(Volume(host_path="/etc", mount_path="/etc"),),
)


def test_a_container_may_be_all_that_it_is_described_as() -> None:
    check_extras(FakeEngineRuntime(), [WEB, PROCESS])


def test_a_process_may_be_a_program_that_sees_this_machine_as_it_is() -> None:
    check_extras(FakeRuntime(), [PROCESS])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"binary": "", "image": "a/b"}, "has only an 'image', and the runtime"),
        ({"user": "nobody"}, "'user' of 'web' is 'nobody', and the processes of the runtime"),
        ({"ports": WEB.ports}, "its port 80 cannot be published as 8080"),
    ],
)
def test_what_a_process_cannot_be_is_refused_by_name(
    wrong: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_extras(FakeRuntime(), [replace(PROCESS, **wrong)])  # type: ignore[arg-type]  # fields


def test_a_volume_of_nothing_is_refused() -> None:
    nothing = replace(WEB, volumes=(Volume(host_path="/no/such", mount_path="/x"),))

    with pytest.raises(UsageError, match="the volume of 'web' at '/no/such' is no file or folder"):
        check_extras(FakeEngineRuntime(), [nothing])
