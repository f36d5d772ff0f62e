"""The kernel says which user of this machine has dialled a connection."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kwokctl.host.peer_users import user_of_peer

NOBODY = 65534


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(60)
        yield made


def test_ones_own_connections_are_ones_own(listening: socket.socket) -> None:
    with ExitStack() as opened:
        for _ in range(3):
            opened.enter_context(socket.create_connection(listening.getsockname()))
            served, _ = listening.accept()
            opened.enter_context(served)
            assert user_of_peer(served) == os.getuid()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can dial as another user")
def test_those_of_another_user_are_told_apart(listening: socket.socket) -> None:
    own = socket.create_connection(listening.getsockname())
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(NOBODY)
            with socket.create_connection(listening.getsockname()) as other:
                other.recv(1)
        finally:
            os._exit(0)
    with own, listening.accept()[0] as first, listening.accept()[0] as second:
        assert [user_of_peer(first), user_of_peer(second)] == [0, NOBODY]
    os.waitpid(pid, 0)


def test_ones_own_end_of_a_unix_socket_is_ones_own() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert user_of_peer(one) == os.geteuid()


def test_of_other_connections_nothing_is_said() -> None:
    with socket.socket(socket.AF_INET6) as other:
        assert user_of_peer(other) is None
