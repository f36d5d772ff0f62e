import os
from pathlib import Path

import pytest

from tests.support.exec_clients import (
    SUCCESS,
    V4,
    sh,
    spdy,
)
from tests.support.stream_peers import (
    asking,
    exec_path,
    spdy_headers,
)
from tests.support.stream_server import serving

DOCUMENTS = """
kind: Exec
metadata: {name: web, namespace: default}
spec:
  execs:
  - containers: [main]
    local:
      workDir: WORK
      envs: [{name: COLOUR, value: green}, {name: HOSTNAME, value: my-own}]
"""


async def test_the_document_gives_environment_and_folder(tmp_path: Path) -> None:
    script = "pwd; echo $COLOUR $HOSTNAME $INHERITED $POD_NAMESPACE/$POD_NAME/$CONTAINER_NAME"
    environment = {"PATH": os.environ["PATH"], "INHERITED": "too"}
    documents = DOCUMENTS.replace("WORK", str(tmp_path))
    async with (
        serving(documents, environment=environment) as port,
        spdy(port, sh(script), "stdout") as command,
    ):
        out, _, _ = await command.ended()

    assert out.decode() == f"{tmp_path}\ngreen my-own too default/web/main\n"


async def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    documents = DOCUMENTS.replace("WORK", str(tmp_path / "none"))
    async with serving(documents) as port, spdy(port, ["true"], "stdout") as command:
        _, _, reported = await command.ended()

    assert f"the working directory '{tmp_path}/none' does not exist" in reported["message"]


AS_NOBODY = """
kind: ClusterExec
metadata: {name: any}
spec: {execs: [{local: {securityContext: {runAsUser: 65534, runAsGroup: 65533}}}]}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("tty", [False, True])
async def test_a_command_runs_as_the_user_of_the_document(tty: bool) -> None:
    async with (
        serving(AS_NOBODY) as port,
        spdy(port, sh("id -u; id -g; id -G"), "stdout", tty=tty) as command,
    ):
        out, _, reported = await command.ended()

    assert out.split() == [b"65534", b"65533", b"65533"]
    assert reported == SUCCESS


@pytest.mark.skipif(os.geteuid() == 0, reason="root can become everybody")
async def test_a_user_that_we_may_not_become_is_named() -> None:
    async with serving(AS_NOBODY) as port, spdy(port, ["true"], "stdout") as command:
        _, _, reported = await command.ended()

    assert "may not be run as user 65534" in reported["message"]


async def test_nothing_runs_without_a_document() -> None:
    async with (
        serving("") as port,
        asking(port, exec_path(["true"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400
        assert wire.body.strip() == (
            "no document of kind Exec or ClusterExec allows commands in container 'main' "
            "of pod 'default/web'"
        )


async def test_an_entry_that_does_not_say_where_commands_run_is_refused_when_it_is_used() -> None:
    document = "kind: ClusterExec\nmetadata: {name: any}\nspec: {execs: [{}]}\n"
    async with (
        serving(document) as port,
        asking(port, exec_path(["true"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400
        assert "has no 'local', which may be empty" in wire.body


async def test_a_container_that_the_document_of_the_pod_leaves_out_is_refused() -> None:
    documents = DOCUMENTS.replace("[main]", "[side]") + (
        "\n---\nkind: ClusterExec\nmetadata: {name: any}\nspec: {execs: [{local: {}}]}\n"
    )
    async with (
        serving(documents) as port,
        asking(port, exec_path(["true"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400
