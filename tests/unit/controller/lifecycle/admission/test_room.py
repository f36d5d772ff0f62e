"""What the pods of a node request together."""

from kwokctl.controller.lifecycle.admission.claims import Claims, HostPort
from kwokctl.controller.lifecycle.admission.room import Commitments


def test_the_pods_of_a_node_are_counted_together_but_for_the_one_that_asks() -> None:
    found = Commitments()
    found.take("n", "a", Claims((("cpu", 100), ("memory", 5))))
    found.take("n", "b", Claims((("cpu", 50),)))
    found.take("other", "c", Claims((("cpu", 7),)))

    assert found.used("n", without="") == {"pods": 2, "cpu": 150, "memory": 5}
    assert found.used("n", without="b") == {"pods": 1, "cpu": 100, "memory": 5}
    assert found.used("none", without="b") == {}


def test_a_pod_that_is_counted_anew_or_gone_is_not_counted_twice() -> None:
    found = Commitments()
    found.take("n", "a", Claims((("cpu", 100),)))
    found.take("n", "b", Claims((("cpu", 1),)))
    found.take("n", "a", Claims((("cpu", 30),)))
    assert found.used("n", without="") == {"pods": 2, "cpu": 31}

    found.release("n", "a")
    found.release("n", "a")
    assert found.used("n", without="") == {"pods": 1, "cpu": 1}
    found.release("n", "b")
    assert not found.counts("n", "b")
    assert found.used("n", without="") == {}


def test_ports_are_free_again_when_their_pod_is_gone() -> None:
    found = Commitments()
    port = HostPort(80, "TCP", "0.0.0.0")
    found.take("n", "a", Claims((), (port,)))

    assert found.ports("n", without="") == (port,)
    assert found.ports("n", without="a") == ()
    assert found.ports("other", without="") == ()
    found.take("n", "b", Claims(()))
    found.release("n", "a")
    assert found.ports("n", without="") == ()
