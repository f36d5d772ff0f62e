"""Ports that a test chooses now, and that a program of it takes later."""

from random import randrange

from kwokctl.host.ports import HeldPorts


def free_port() -> int:
    """Return a port that no program has now, and that tests beside this one will hardly choose.

    It is below those that the kernel gives to outgoing connections, and below those that the
    product looks at first.
    """
    with HeldPorts(taken=(), address="127.0.0.1", highest=randrange(12_000, 22_000)) as held:
        return held.hold("a test")
