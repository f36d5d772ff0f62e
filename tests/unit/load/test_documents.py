"""Documents of loads: each error with its place, before anything else is done."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import ConfigError
from kwokctl.load.load_documents import read_load, read_loads
from tests.support.load_rig import POD, document

_POD = [{"template": POD}]
_WEB = {"arrivals": {"every": "1s"}, "count": 3, "create": _POD}
_TARGET = {"kind": "pods"}


def changed(**more: Any) -> dict[str, Any]:
    spec = {**_WEB, **{key.rstrip("_"): value for key, value in more.items()}}
    return {key: value for key, value in spec.items() if value is not None}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, "'spec' is wrong: object missing required field 'arrivals'"),
        (changed(cuont=3), "'spec' is wrong: object contains unknown field 'cuont'"),
        (changed(count=0), "'spec.count' is wrong: expected 'int' >= 1"),
        (changed(count=None), "'spec' is wrong: 'count' or 'for' is needed"),
        (changed(for_="5"), "'spec' is wrong: 'for': '5' is not a duration"),
        (changed(ttl="0s"), "'spec' is wrong: 'ttl' must be more than 0"),
        (changed(create=None), "'spec' is wrong: one of 'create', 'patch', .* is needed"),
        (changed(create=[]), "'spec.create' is wrong: expected 'array' of length >= 1"),
        (
            changed(delete={"target": _TARGET}),
            "'spec' is wrong: 'create', 'delete': only one may be given",
        ),
        (changed(arrivals={"every": "-1s"}), "'spec.arrivals' is wrong: 'every' is -1s, which is"),
        (changed(arrivals={"poisson": "-3/s"}), "'spec.arrivals' is wrong: 'poisson' is '-3/s'"),
        (
            changed(params={"a": {"lognormal": {"p50": 60}}}),
            "'spec.params.a.lognormal' is wrong: object missing required field 'p95'",
        ),
        (changed(params={"b": 1, "a": {"gamma": 1}}), "'spec.params.a' is wrong: .* 'gamma'"),
        (
            changed(arrivals={"poisson": f"{'9' * 400}/s"}),
            "'spec.arrivals' is wrong: 'poisson' is '9{40}…', not a rate",
        ),
        (changed(params={"false": 1}), "'spec.params' has the name 'false': YAML reads 'n', 'y'"),
        (changed(namespace=""), "'spec.namespace' cannot be the name of a namespace"),
        (changed(namespace="../x"), "'spec.namespace' cannot be the name of a namespace"),
        (
            changed(waitFor={"what": "pods", "namespace": "No Such"}),
            "'spec.waitFor.namespace' cannot be the name of a namespace",
        ),
        (
            changed(create=None, list={"target": {"kind": "pods", "namespace": "A"}}),
            "'spec.list.target.namespace' cannot be the name of a namespace",
        ),
        (
            changed(waitFor={"what": "pods/a/b"}),
            "'spec.waitFor' is wrong: 'what' is 'pods/a/b', not KIND or KIND/NAME",
        ),
        (
            changed(waitFor={"what": "pods/"}),
            "'spec.waitFor' is wrong: 'what' is 'pods/', not KIND",
        ),
        (
            changed(waitFor={"what": "pods", "count": -3}),
            "'spec.waitFor.count' is wrong: expected 'int' >= 0",
        ),
        (changed(as_="a\0b"), "'spec' is wrong: 'as' has a character that cannot be printed"),
        (
            changed(as_="a", asGroups=["b\n"]),
            "'spec' is wrong: 'asGroups' has a character that cannot be printed",
        ),
        (changed(fieldManager="a\0"), "'spec' is wrong: 'fieldManager' has a character"),
        (
            changed(fieldManager="x" * 129),
            "'spec' is wrong: 'fieldManager' must have 1 to 128 characters",
        ),
        (changed(bulk=True, as_="a"), "'spec' is wrong: 'bulk' writes past the API server"),
        (
            changed(create=None, bulk=True, delete={"target": _TARGET}),
            "'spec' is wrong: 'bulk' is for 'create', not for 'delete'",
        ),
        (
            changed(create=[{"template": "{{ if }}"}]),
            r"'spec.create\[0\].template' is no template: .*line 1",
        ),
        (changed(create=[{}]), r"'spec.create\[0\]' is wrong: one of 'template', 'copies'"),
        (changed(create=[{"template": POD, "weight": 0}]), r"'spec.create\[0\].weight' is wrong"),
        (
            changed(create=[{"copies": "none.yaml"}]),
            r"'spec.create\[0\].copies' cannot be copied: there is no file 'none.yaml'",
        ),
        (
            changed(create=None, patch={"target": _TARGET, "patch": "{{ end }}"}),
            "'spec.patch.patch' is no template",
        ),
        (
            changed(create=None, delete={"target": {"kind": "pods", "name": "{{"}}),
            "'spec.delete.target.name' is no template",
        ),
        (
            changed(create=None, delete={"target": {"kind": "pods", "name": "a", "load": "b"}}),
            "'spec.delete.target' is wrong: 'name' is one object",
        ),
        (
            changed(create=None, recreate={"target": _TARGET, "percent": 101}),
            "'spec.recreate.percent' is wrong: expected 'float' <= 100",
        ),
        (
            changed(create=None, scale={"target": _TARGET, "replicas": -1}),
            "'spec.scale.replicas' is wrong",
        ),
        (
            changed(create=None, list={"target": {"kind": "pods", "name": "a"}}),
            "'spec.list.target' is wrong: object contains unknown field 'name'",
        ),
        (changed(onRefusal="ignore"), "'spec.onRefusal' is wrong: invalid enum value 'ignore'"),
        (changed(asGroups=["a"]), "'spec' is wrong: 'asGroups' needs 'as'"),
        (changed(qps=-1), "'spec.qps' is wrong"),
        (changed(hooks={"before": ["echo 'a"]}), "'spec.hooks' is wrong: .* is no command"),
        (changed(waitFor={"what": "nodes", "timeout": "0s"}), "'spec.waitFor' is wrong: 'timeout'"),
        (changed(arrivals={"trace": "none.csv"}), "'spec.arrivals.trace' is wrong: the trace"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(spec: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=f"^load.yaml: {said}") as error:
        read_load(document(spec), Path())
    assert "\n" not in str(error.value)


def test_a_load_has_a_name_that_can_be_a_label() -> None:
    with pytest.raises(ConfigError, match=r"'metadata.name' cannot be the name of a load"):
        read_load(document(_WEB, "Web_1"), Path())


def written(tmp_path: Path, *names_and_after: tuple[str, str]) -> str:
    """Write loads into a file, each with its name and the load that it comes after."""
    documents = [
        f"""
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {{name: {name}}}
spec:
  after: "{after}"
  arrivals: {{every: 1s}}
  count: 1
  create: [{{template: "{{apiVersion: v1, kind: Pod}}"}}]
"""
        for name, after in names_and_after
    ]
    path = tmp_path / "loads.yaml"
    path.write_text("---".join(documents))
    return str(path)


def test_several_loads_may_be_in_one_file_in_any_order(tmp_path: Path) -> None:
    loads = read_loads([written(tmp_path, ("b", "a"), ("a", ""))])
    assert [load.name for load in loads] == ["b", "a"]
    assert [load.phase for load in loads] == ["b", "a"]


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        ([("a", ""), ("a", "")], "document 2: 'metadata.name' is 'a', as another load is called"),
        ([("a", "b")], "document 1: 'spec.after' is 'b', which is no load here"),
        ([("a", "a")], "document 1: 'spec.after' makes loads wait for each other without end"),
        ([("a", "b"), ("b", "c"), ("c", "b")], "makes loads wait for each other without end"),
    ],
)
def test_loads_that_do_not_go_together_are_refused(
    loads: list[tuple[str, str]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        read_loads([written(tmp_path, *loads)])


def test_a_file_without_loads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text("{apiVersion: v1, kind: Pod}")
    with pytest.raises(ConfigError, match=f"no document of kind 'Load' in '{path}'"):
        read_loads([str(path)])


def test_commands_are_taken_only_from_a_file_that_nobody_else_may_write(tmp_path: Path) -> None:
    path = tmp_path / "load.yaml"
    path.write_text("""
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: web}
spec:
  hooks: {before: [echo hello]}
  arrivals: {every: 1s}
  count: 1
  create: [{template: "{apiVersion: v1, kind: Pod}"}]
""")
    assert read_loads([str(path)])[0].spec.hooks.before == ("echo hello",)
    path.chmod(0o666)
    with pytest.raises(ConfigError, match=r"'spec.hooks' runs commands, and every user may write"):
        read_loads([str(path)])


def test_copies_are_made_of_objects_as_a_client_would_send_them(tmp_path: Path) -> None:
    (tmp_path / "objects.yaml").write_text("""
apiVersion: v1
kind: Pod
metadata: {name: a, uid: old, resourceVersion: "7", ownerReferences: [{name: x}], labels: {app: a}}
spec: {nodeName: node-1, containers: []}
status: {phase: Running}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
""")
    load = read_load(document(changed(create=[{"copies": "objects.yaml"}])), tmp_path)
    first, again = (load.sources[0].objects({"index": number, "name": ""}, {}) for number in (0, 7))
    assert first[0] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a-0", "labels": {"app": "a"}},
        "spec": {"containers": []},
    }
    assert [each["metadata"]["name"] for each in again] == ["a-7", "b-7"]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("just a text", "something that is no object"),
        ("{kind: Pod}", "an object without 'apiVersion'"),
        ("{apiVersion: v1, kind: 3}", "an object without 'kind'"),
        ("{{ if false }}a{{ end }}", "gives no object"),
        ("{apiVersion: v1, kind: Pod, metadata: 3}", "'metadata' of an object of a load is not"),
        ("{apiVersion: v1, kind: Pod", "is not YAML"),
        ("{{ .params.none.x }}", "spec.create"),
    ],
)
def test_a_template_that_gives_no_object_says_so(template: str, said: str) -> None:
    load = read_load(document(changed(create=[{"template": template}])), Path())
    with pytest.raises(ConfigError, match=said):
        load.sources[0].objects({"index": 0, "name": "web-0", "params": {}}, {})


def test_objects_may_come_from_an_action_that_reaches_over_several_documents() -> None:
    template = """
{{ range $i := until 2 }}
---
apiVersion: v1
kind: Pod
metadata: {name: "pod-{{ $i }}"}
{{ end }}
"""
    load = read_load(document(changed(create=[{"template": template}])), Path())
    objects = load.sources[0].objects({"index": 0, "name": "web-0", "params": {}}, {})
    assert [each["metadata"]["name"] for each in objects] == ["pod-0", "pod-1"]


def test_a_load_may_be_a_document_that_a_program_has_made(tmp_path: Path) -> None:
    body = {
        "kind": "Load",
        "metadata": {"name": "made"},
        "spec": _WEB | {"hooks": {"before": ["true"]}},
    }
    file = written(tmp_path, ("a", "made"))

    loads = read_loads([body, file])

    assert [load.name for load in loads] == ["made", "a"]
    assert loads[0].spec.hooks.before == ("true",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "Pod"}, "load 2 of the program: 'kind' is 'Pod', not 'Load'"),
        ({"spec": {}}, "load 2 of the program: 'spec' is wrong: .* 'arrivals'"),
        ({"metadata": [1]}, "load 2 of the program: 'metadata' is a list, not a mapping"),
    ],
)
def test_what_is_wrong_with_a_document_of_a_program_is_said_with_its_number(
    change: dict[str, Any], said: str
) -> None:
    body = {"kind": "Load", "metadata": {"name": "made"}, "spec": _WEB}

    with pytest.raises(ConfigError, match=said):
        read_loads([body, body | change])
