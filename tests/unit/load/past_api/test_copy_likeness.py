"""Which objects of a load are copies of its first one, and which are not."""

from typing import Any

import pytest

from kwokctl.load.past_api.copy_likeness import Bundle, Likeness


def pod(name: str, **more: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "labels": {"group": f"of-{name}", "app": "web"},
            "annotations": {"drawn": f"{name}!", "seccomp.kubernetes.io/pod": "a"},
        },
        "spec": {"image": "x", "number": 1, "args": ["a"], **more},
    }


def bundle(index: int, body: Any) -> Bundle:
    return Bundle(index, f"web-{index}", [{"metadata": {"name": f"group-{index}"}}, body])


_KNOWN = Likeness([bundle(number, pod(f"web-{number}-0")) for number in range(3)], 1)


def difference(body: Any) -> Any:
    return _KNOWN.difference(bundle(7, body))


def test_names_labels_and_annotations_may_differ() -> None:
    assert difference(pod("web-7-0")) is None
    assert _KNOWN.varying == {
        ("metadata", "labels", "group"),
        ("metadata", "annotations", "drawn"),
    }


def test_texts_that_are_names_of_the_bundle_are_what_they_are_for_each() -> None:
    def referring(index: int, number: int) -> dict[str, Any]:
        names = {"owner": f"web-{index}", "group": f"group-{number}", "hostname": f"web-{index}-0"}
        return pod(f"web-{index}-0", **names)

    known = Likeness([bundle(number, referring(number, number)) for number in range(3)], 1)
    assert ("spec", "owner") in known.varying
    assert ("spec", "hostname") not in known.varying, "the copy's own name is known anyway"
    assert known.difference(bundle(7, referring(7, 7))) is None
    assert known.difference(bundle(7, referring(7, 8))) == ("spec", "group")


def test_labels_of_the_templates_of_pods_may_differ_too() -> None:
    def job(number: int) -> dict[str, Any]:
        text = {"template": {"metadata": {"annotations": {"run": f"{number}s"}}}}
        return pod(f"web-{number}-0", **text)

    known = Likeness([bundle(number, job(number)) for number in range(3)], 1)
    assert known.difference(bundle(7, job(70))) is None


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"spec": {"number": 2}}, ("spec", "number")),
        ({"spec": {"number": True}}, ("spec", "number")),
        ({"spec": {"image": "y"}}, ("spec", "image")),
        ({"spec": {"args": ["a", "b"]}}, ("spec", "args")),
        ({"spec": {"more": "x"}}, ("spec", "more")),
        ({"metadata": {"name": "Web"}}, ("metadata", "name")),
        ({"metadata": {"namespace": "other"}}, ("metadata", "namespace")),
    ],
)
def test_nothing_else_may_differ(changed: dict[str, Any], path: tuple[str, ...]) -> None:
    body = pod("web-7-0")
    for part, fields in changed.items():
        body[part] |= fields
    assert difference(body) == path


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        ("labels", "group", "no label!"),
        ("labels", "group", "x" * 64),
        ("labels", "group", 3),
        ("labels", "app", "other"),
        ("annotations", "seccomp.kubernetes.io/pod", "b"),
    ],
)
def test_a_text_that_the_api_server_might_refuse_or_understand_may_not(
    field: str, key: str, value: Any
) -> None:
    body = pod("web-7-0")
    body["metadata"][field][key] = value
    assert difference(body) == ("metadata", field, key)


def test_an_annotation_of_kubernetes_may_not_differ_from_the_start() -> None:
    key = "seccomp.kubernetes.io/pod"
    bodies = [pod(f"web-{number}-0") for number in range(3)]
    for number, body in enumerate(bodies):
        body["metadata"]["annotations"][key] = str(number)
    bundles = [bundle(number, body) for number, body in enumerate(bodies)]
    assert Likeness(bundles, 1).difference(bundles[1]) == ("metadata", "annotations", key)
