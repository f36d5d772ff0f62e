import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kwokctl.errors import ConflictError, UsageError
from kwokctl.host.ports import HeldPorts, check_local

LOCAL = "127.0.0.1"


@contextmanager
def listening(address: str = LOCAL, port: int = 0) -> Iterator[int]:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address, port))
        server.listen()
        yield server.getsockname()[1]


def test_an_address_of_another_machine_is_reported_as_such() -> None:
    for address in ("192.0.2.1", "nonsense"):
        with pytest.raises(UsageError, match=f"'{address}' is not an address of this machine"):
            check_local(address)
    check_local("0.0.0.0")


def held(taken: frozenset[int] = frozenset()) -> HeldPorts:
    return HeldPorts(taken=taken, address=LOCAL)


def test_ports_are_different_and_none_that_another_cluster_was_given() -> None:
    with held() as ports:
        first = ports.hold("a")
    with held(taken=frozenset({first})) as ports:
        found = [ports.hold(name) for name in "abc"]

    assert len({first, *found}) == 4


def test_one_port_for_two_programs_is_refused_with_both_names() -> None:
    with held() as ports:
        port = ports.hold("etcd")

        with pytest.raises(ConflictError, match=f"port {port}.*'etcd' and for 'kube-apiserver'"):
            ports.hold("kube-apiserver", port)


def test_a_port_that_is_picked_is_none_that_another_program_wants() -> None:
    with held() as ports:
        next_one = ports.hold("a")
    with held() as ports:
        ports.hold("a", next_one)

        assert ports.hold("b") != next_one


def test_a_held_port_is_not_offered_as_free() -> None:
    with held() as mine, held() as others, socket.socket() as another:
        port = mine.hold("a")

        assert others.hold("b") != port
        with pytest.raises(OSError, match="in use"):
            another.bind((LOCAL, port))


def test_another_listener_on_a_held_port_is_a_conflict() -> None:
    with held() as ports:
        port = ports.hold("etcd")
        ports.check("etcd", "unknown")

        with listening(port=port), pytest.raises(ConflictError, match=f"port {port}.*'etcd'"):
            ports.check("etcd")

        ports.release("etcd")
        ports.check("etcd")


def test_the_program_takes_its_port_while_it_is_held() -> None:
    with held() as ports, held() as others:
        port = ports.hold("a")

        with listening(port=port), pytest.raises(ConflictError):
            others.hold("b", port)


def test_after_the_block_everything_is_free() -> None:
    with held() as ports:
        port = ports.hold("a")

    with listening(port=port):
        pass


@pytest.mark.parametrize("address", [LOCAL, "0.0.0.0"])
def test_a_wanted_port_that_is_taken_is_refused_with_the_name_of_its_owner(address: str) -> None:
    with listening(address) as port, held() as ports, pytest.raises(ConflictError) as caught:
        ports.hold("etcd", port)

    assert f"port {port}, wanted for 'etcd', is in use by" in str(caught.value)
    assert f"(process {os.getpid()})" in str(caught.value)


def test_a_wanted_port_can_be_held_right_after_connections_to_it_have_ended() -> None:
    with listening() as port, socket.create_connection((LOCAL, port)):
        pass

    with held() as ports:
        assert ports.hold("etcd", port) == port


_WITH_MEMORY = """
import socket
import subprocess
import sys
listening = socket.create_server(("127.0.0.1", 0))
memory = bytearray(b"x") * 200_000_000
print(listening.getsockname()[1], flush=True)
listening.accept()
"""


def test_a_wanted_port_of_a_process_that_was_killed_is_waited_for() -> None:
    """The kernel takes the memory first, and the port in the end."""
    with subprocess.Popen([sys.executable, "-c", _WITH_MEMORY], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        process.kill()

        with held() as ports:
            assert ports.hold("etcd", port) == port
