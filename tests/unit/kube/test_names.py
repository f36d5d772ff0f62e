from uuid import RFC_4122, UUID

from kwokctl.kube.names import new_uid


def test_a_uid_is_a_random_uuid_as_it_is_usually_written() -> None:
    uids = {new_uid() for _ in range(1000)}

    assert len(uids) == 1000
    for uid in uids:
        parsed = UUID(uid)
        assert (str(parsed), parsed.version, parsed.variant) == (uid, 4, RFC_4122)
