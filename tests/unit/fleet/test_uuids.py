from uuid import UUID

from kwokctl.fleet.uuids import uuid_for


def test_the_same_thing_has_the_same_uuid() -> None:
    assert uuid_for("boot", "node-1") == uuid_for("boot", "node-1")
    assert len({uuid_for("boot", "node-1"), uuid_for("boot", "node-2"), uuid_for("node-1")}) == 3


def test_a_uuid_says_its_version_and_variant() -> None:
    found = UUID(uuid_for("gpu", "0"))

    assert (found.version, found.variant) == (5, "specified in RFC 4122")
