import socket

from kwokctl.controller.leases.identity import own_identity


def test_no_two_controllers_of_a_host_have_the_same_identity() -> None:
    one, other = own_identity(), own_identity()

    assert one != other
    assert one.startswith(f"{socket.gethostname()}_")
