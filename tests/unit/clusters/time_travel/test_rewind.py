"""What a rewind would take back is named object by object."""

from kwokctl.clusters.time_travel.rewind import ChangedObject, changed_objects
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.etcd.marks.mark_difference import Write

MAP = b'{"apiVersion":"example.com/v1","kind":"Widget"}'


def test_objects_are_named_by_what_has_happened_to_them() -> None:
    writes = [
        Write(b"/registry/widgets/default/new", None, 7, MAP),
        Write(b"/registry/widgets/default/gone", MAP, 0),
        Write(b"/registry/widgets/default/other", MAP, 9, b"as it is now"),
        Write(b"/registry/secrets/a", b"k8s:enc:aescbc", 9, b"k8s:enc:aescbc"),
    ]

    assert list(changed_objects(RewindScope("/registry"), writes)) == [
        ChangedObject(kind="", key="secrets/a", change="changed"),
        ChangedObject(kind="Widget", key="widgets/default/gone", change="deleted"),
        ChangedObject(kind="Widget", key="widgets/default/new", change="created"),
        ChangedObject(kind="Widget", key="widgets/default/other", change="changed"),
    ]
