"""What the SDK of the container engine raises, and that threads can load it at the same time."""

import subprocess
import sys

import pytest

from runtimes.engine.engine_errors import conflict

LOADING = """
import sys
import threading

from runtimes.engine.engine_errors import explained

failures = []


def load():
    try:
        with explained("unix:///engine.sock", "start it"):
            from docker.tls import TLSConfig
    except ImportError as e:
        failures.append(e)


first = threading.Thread(target=load)
first.start()
while "docker.errors" not in sys.modules:
    pass
load()
first.join()
sys.exit(str(failures) if failures else 0)
"""
"""The second thread begins when the first one has loaded a part of the package."""


def test_two_threads_can_load_the_sdk_at_the_same_time() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=False, timeout=60
    )

    assert (done.returncode, done.stderr) == (0, "")


DOCKER = (
    "driver failed programming external connectivity on endpoint kwok-c-etcd (9c2f): failed to "
    "bind host port for 127.0.0.1:32766:172.18.0.2:2379/tcp: address already in use"
)
OLD_DOCKER = "endpoint kwok-c-etcd: Bind for 0.0.0.0:32766 failed: port is already allocated"
PODMAN = "rootlessport listen tcp [::1]:32766: bind: address already in use"
KIND = (
    'ERROR: failed to create cluster: command "docker run --publish=127.0.0.1:1:2379/TCP" failed\n'
    f"docker: Error response from daemon: {DOCKER}\n"
)


@pytest.mark.parametrize("said", [DOCKER, OLD_DOCKER, PODMAN, KIND])
def test_the_port_is_found_in_the_message_of_an_engine(said: str) -> None:
    error = conflict("kwok-c-etcd", said)

    assert error
    assert "port 32766, wanted for 'kwok-c-etcd', is in use" in str(error)
    assert "end the program" in str(error.hint)
    assert error.detail == said


def test_a_message_without_an_address_is_reported_all_the_same() -> None:
    error = conflict("kwok-c-etcd", "port is already allocated")

    assert "a port wanted for 'kwok-c-etcd' is in use" in str(error)


@pytest.mark.parametrize("said", [None, "", "no space left on device at 127.0.0.1:32766"])
def test_a_message_about_something_else_names_no_port(said: str | None) -> None:
    assert conflict("kwok-c-etcd", said) is None
