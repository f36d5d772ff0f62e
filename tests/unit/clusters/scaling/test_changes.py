from dataclasses import replace

from kwokctl.clusters.scaling.changes import Names, changes_for
from kwokctl.clusters.scaling.reading import Known
from kwokctl.clusters.scaling.request import ScaleRequest

ASKED = ("pod-7", "pod-0", "pod-899999999", "pod-900000000", "other-1", "pod-01")


def known(name: str, created: str = "2026-01-01T00:00:00Z", *, is_going: bool = False) -> Known:
    return Known(name=name, uid=f"uid-{name}", created=created, set_name="pod", is_going=is_going)


def request(replicas: int, *, serial_length: int = 1) -> ScaleRequest:
    return ScaleRequest(kind="pod", replicas=replicas, serial_length=serial_length)


def test_missing_serials_start_from_zero() -> None:
    changes = changes_for(request(3), [])

    assert (changes.kept, changes.surplus, tuple(changes.missing)) == ((), (), (0, 1, 2))


def test_names_in_use_are_skipped() -> None:
    changes = changes_for(request(4), [known("pod-1"), known("pod-3")])

    assert sorted(changes.kept) == ["pod-1", "pod-3"]
    assert tuple(changes.missing) == (0, 2)


def test_a_set_of_the_right_size_needs_nothing() -> None:
    changes = changes_for(request(2), [known("pod-5"), known("other-name")])

    assert changes.surplus == ()
    assert not changes.missing


def test_a_set_that_may_not_shrink_keeps_all_it_has() -> None:
    growing = replace(request(1), may_shrink=False)
    members = [known("pod-0"), known("pod-1")]

    assert changes_for(growing, members).kept == ("pod-0", "pod-1")
    assert changes_for(growing, members).surplus == ()
    assert not changes_for(growing, members).missing
    assert tuple(changes_for(replace(growing, replicas=3), members).missing) == (2,)


def test_the_oldest_are_kept_and_names_settle_ties() -> None:
    members = [
        known("pod-0", "2026-01-01T00:00:09Z"),
        known("pod-4", "2026-01-01T00:00:01Z"),
        known("pod-3", "2026-01-01T00:00:05Z"),
        known("pod-2", "2026-01-01T00:00:05Z"),
    ]

    changes = changes_for(request(2), members)

    assert changes.kept == ("pod-4", "pod-2")
    assert [each.name for each in changes.surplus] == ["pod-3", "pod-0"]


def test_what_is_being_deleted_counts_no_longer_but_its_name_is_taken() -> None:
    changes = changes_for(request(1), [known("pod-0", is_going=True)])

    assert (changes.kept, changes.surplus, tuple(changes.missing)) == ((), (), (1,))


def test_a_bare_name_has_no_serial_to_go_on_with() -> None:
    assert tuple(changes_for(request(1, serial_length=0), []).missing) == (0,)
    assert not changes_for(request(1, serial_length=0), [known("pod")]).missing
    assert len(changes_for(request(0, serial_length=0), [known("pod")]).surplus) == 1


def test_a_set_of_hundreds_of_millions_is_not_written_out() -> None:
    changes = changes_for(request(900_000_000), [known("pod-7")])
    names = Names(request(1), changes.missing, changes.kept)

    assert len(changes.missing) == 899_999_999
    assert (changes.missing[7], changes.missing[-1]) == (8, 899_999_999)
    assert len(names) == 900_000_000
    assert {"pod-7", "pod-0", "pod-899999999"} <= {name for name in ASKED if name in names}
    assert not {"pod-900000000", "other-1", "pod-01"} & {name for name in ASKED if name in names}
