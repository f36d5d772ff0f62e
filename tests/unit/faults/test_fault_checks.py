"""What a Fault may say: each mistake with its field, and what to write instead."""

from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.errors import ConfigError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.fault_checks import check_fault, notices
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget, PodTarget
from tests.support.faults import CATALOGUE


def fault(class_name: str = "xid-79", **fields: Any) -> FaultSpec:
    return FaultSpec(class_name=class_name, **{"target": FaultTarget(count=1), **fields})


@pytest.mark.parametrize(
    "spec",
    [
        fault(),
        fault(parameters={"gpu": 3}, dialects=("aks", "gke"), at="30s", lasts="10m", until="2026-11-28T12:00:00Z", gang=True),
        fault("leaf-down", target=FaultTarget(unit="l", where="gpus > 0", usage="idle"), gang=True),
        fault("app-failed", target=FaultTarget(pods=PodTarget(selector="a=b"))),
        fault("app-failed", target=FaultTarget(pods=PodTarget(namespace="a")), parameters={"exitCode": 3}),
        fault("app-failed", target=FaultTarget(percent=100, pods=PodTarget())),
        fault("not-ready", target=FaultTarget(nodes=("a",))),
        fault("not-ready", target=FaultTarget(unit="l")),
        fault("not-ready", target=FaultTarget(where="true", follow=True, foreign=True)),
    ],
)  # fmt: skip
def test_a_fault_that_says_what_it_means_is_accepted(spec: FaultSpec) -> None:
    check_fault(spec, CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE.names)
def test_each_class_can_be_injected_into_all_nodes(name: str) -> None:
    is_api = CATALOGUE.find(name).spec.scope == "api"
    target = FaultTarget(api=True) if is_api else FaultTarget(percent=100)

    check_fault(fault(name, target=target), CATALOGUE)


TARGET = "give 'nodes', 'unit', 'where', 'count' or 'percent'; 'percent: 100' means all nodes"


@pytest.mark.parametrize(
    ("spec", "field", "problem", "hint"),
    [
        (fault("xid-799"), "spec.class", "is 'xid-799', and there is no such class of faults", "did you mean 'xid-79'?"),
        (fault("zzz"), "spec.class", "is 'zzz', and there is no such class of faults", "there are: admission-error,"),
        (fault(dialects=("aks", "azurehcp")), "spec.dialects[1]", "is 'azurehcp', and there is no such dialect of faults", "did you mean 'azurehpc'?"),
        (fault(parameters={"gpus": 1}), "spec.parameters.gpus", "is no parameter of 'xid-79'", "did you mean 'gpu'? there are: gpu"),
        (fault("app-failed", parameters={"x": 1}), "spec.parameters.x", "is no parameter of 'app-failed'", "there are: exitCode, reason, message"),
        (fault("rack-power", parameters={"gpu": 1}), "spec.parameters.gpu", "is no parameter of 'rack-power'", "it has none"),
        (fault(parameters={"gpu": -1}), "spec.parameters.gpu", "is -1, less than 0", "it is the index of the GPU on its node"),
        (fault(parameters={"gpu": "3"}), "spec.parameters.gpu", "is '3', not a whole number", "it is the index of the GPU on its node"),
        (fault("app-failed", parameters={"exitCode": 256}), "spec.parameters.exitCode", "is 256, more than 255", "it is the exit code of the container"),
        (fault("admission-error", parameters={"message": "m" * 4097}), "spec.parameters.message", "has 4,097 characters, more than 4,096", "it is the message in its status"),
        (fault(parameters={"gpu": ["x" * 5000]}), "spec.parameters.gpu", f"is '['{'x' * 98}', not a whole number", "it is the index of the GPU on its node"),
        (fault(target=FaultTarget(where=f"{'9' * 5000} > gpus")), "spec.target.where", f"cannot be used: '{'9' * 5000} > gpus' is not a CEL expression: a number of 5,000 digits has more than 64 bits, at line 1, column 1", "for example: rack =="),
        (fault(target=FaultTarget()), "spec.target", "says of no node that it is hit", TARGET),
        (fault(target=FaultTarget(usage="busy", foreign=True, follow=True)), "spec.target", "says of no node that it is hit", TARGET),
        (fault("app-failed", target=FaultTarget(pods=PodTarget())), "spec.target", "says of no node that it is hit", TARGET),
        (fault(target=FaultTarget(count=1, percent=1)), "spec.target", "has 'count' and 'percent'", "give one of them"),
        (fault(target=FaultTarget(count=1, pods=PodTarget())), "spec.target.pods", "is given, and 'xid-79' does not hit pods: its scope is 'device'", "choose nodes, for example with 'where'"),
        (fault("app-failed", target=FaultTarget(count=1, usage="busy")), "spec.target.usage", "is 'busy', and 'app-failed' hits pods", "choose pods with 'pods'"),
        (fault("app-failed", target=FaultTarget(pods=PodTarget(selector="a b"))), "spec.target.pods.selector", "cannot be used: 'a b' is not part of a selector", "write key=value, key!=value,"),
        (fault(target=FaultTarget(where="rak == 'r3'")), "spec.target.where", "cannot be used: 'rak == 'r3'' is not a CEL expression: there is no variable 'rak', at line 1, column 1", "did you mean 'rack'?"),
        (fault(target=FaultTarget(where="gpus")), "spec.target.where", "cannot be used: 'gpus' gives a value of type int, not true or false", "for example: rack =="),
        (fault(at="soon"), "spec.at", "is 'soon', not a duration", "for example: 1m30s"),
        (fault(at=""), "spec.at", "is empty", "leave it out, or give a duration such as 30s"),
        (fault(at="-5s"), "spec.at", "is '-5s', not a duration", "for example: 1m30s"),
        (fault(lasts="10"), "spec.for", "is '10', not a duration", "for example: 1m30s"),
        (fault(lasts="0s"), "spec.for", "is '0s', no time at all", "for example: 10m"),
        (fault(until="tomorrow"), "spec.until", "is wrong: 'tomorrow' is not a time", "for example: 2026-01-02T03:04:05Z"),
        (fault("not-ready", gang=True), "spec.gang", "is true, and 'not-ready' has no effect on programs of pods", "leave it out"),
    ],
)  # fmt: skip
def test_a_mistake_is_an_error_with_its_field(
    spec: FaultSpec, field: str, problem: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        check_fault(spec, CATALOGUE, "f.yaml, document 1")

    assert str(raised.value) == f"f.yaml, document 1: '{field}' {problem}"
    assert (raised.value.hint or "").startswith(hint)


def test_a_place_is_named_also_where_there_is_no_file() -> None:
    with pytest.raises(ConfigError, match=r"^the fault: 'spec\.class' is 'x'"):
        check_fault(fault("x"), CATALOGUE)


def test_a_class_of_the_user_is_known() -> None:
    body = {**CATALOGUE.find("not-ready").document, "metadata": {"name": "mine"}}
    mine = Document(
        kind="FaultClass",
        api_version="kwokctl.dev/v1alpha1",
        name="mine",
        body=body,
        source="m.yaml",
    )

    check_fault(fault("mine"), FaultCatalogue([mine]))


# Notices


def test_a_dialect_that_is_blind_is_named_with_those_that_are_not() -> None:
    (notice,) = notices(fault(dialects=("gke", "aks", "gke")), CATALOGUE)

    assert notice == (
        "the dialect 'gke' is blind to 'xid-79'; these show it: aks, azurehpc, device-plugin, dra, eks, nvsentinel"
    )


def test_the_usual_dialects_may_all_be_blind() -> None:
    (notice,) = notices(fault("ecc-sbe-storm"), CATALOGUE)

    assert notice == (
        "the usual dialects (kubelet, npd, device-plugin) are all blind to 'ecc-sbe-storm'; these show it: azurehpc"
    )


@pytest.mark.parametrize(
    ("class_name", "dialects"),
    [
        ("xid-79", ()),
        ("xid-79", ("aks",)),
        ("unreachable", ()),
        ("rack-power", ()),
        ("leaf-down", ("dgx",)),
    ],
)
def test_what_is_seen_needs_no_notice(class_name: str, dialects: tuple[str, ...]) -> None:
    """Leaf switches show nothing themselves: the ports of their nodes do, which follow."""
    assert notices(fault(class_name, dialects=dialects), CATALOGUE) == []


def test_a_class_that_no_dialect_shows_has_a_notice_for_a_given_dialect_only() -> None:
    assert notices(fault("app-failed", dialects=("aks",)), CATALOGUE) == [
        "the dialect 'aks' is blind to 'app-failed'; no dialect shows it"
    ]
    assert notices(fault("app-failed"), CATALOGUE) == []
