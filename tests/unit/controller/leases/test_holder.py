""""""

import socket

from kwokctl.controller.leases.holder import own_identity


def test_no_two_controllers_of_a_host_have_the_same_identity() -> None:
    one, other = own_identity({}), own_identity({})

    assert one != other
    assert one.startswith(f"{socket.gethostname()}_")


def test_a_controller_in_a_pod_is_called_by_the_uid_of_the_pod() -> None:
    assert own_identity({"POD_UID": "6d2f"}) == "6d2f"
