"""What components of add-ons have in one cluster: words filled in, rights, and webhooks reached."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.launching.first_objects import with_authority
from kwokctl.clusters.launching.ports import without_ports
from kwokctl.components.catalog import clients, identities, usual_options
from kwokctl.components.cluster_plan import build_plan, selected
from kwokctl.components.custom_components import rights
from kwokctl.components.setting import Setting
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.extras.add_on_parts import AddOnParts, Readiness
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import Artifact, ClusterName, Component, ComponentName
from kwokctl.replacing import replace
from tests.support.sites import HostLikeSite

GREETER = Path(__file__).parents[2] / "support" / "greeter_add_on"
NAME = ComponentName("greeter")


def options() -> ClusterOptions:
    found = resolve_with_add_ons(usual_options(), {"enable": (str(GREETER),)}, {}, ())
    [extra] = found.resolved.options.extras
    ports = tuple(
        replace(port, port=number, host_port=number)
        for port, number in zip(extra.ports, (8001, 8002), strict=True)
    )
    return replace(found.resolved.options, extras=(replace(extra, ports=ports),))


def component(wanted: ClusterOptions) -> Component:
    names = selected(wanted)
    setting = Setting(
        site=HostLikeSite(),
        paths=ClusterPaths(Path("/clusters/dev")),
        options=wanted,
        artifacts={name: Artifact(name=name, version="v0", command=("/p",)) for name in names},
    )
    return build_plan(ClusterName("dev"), names, setting).components[NAME]


def test_words_in_braces_are_filled_in() -> None:
    found = component(options())

    assert found.args == (
        "--kubeconfig=/clusters/dev/kubeconfigs/greeter.yaml",
        "--bind=127.0.0.1",
        "--port=8001",
        "--hook=8002",
        "--certs=/clusters/dev/add-ons/greeter/certificates",
        "--greeting=/clusters/dev/add-ons/greeter/greeting",
    )
    assert found.files == {Path("/clusters/dev/add-ons/greeter/greeting"): "hello from dev\n"}
    assert [probe.url for probe in found.ready] == ["http://127.0.0.1:8001/healthz"]


def test_a_word_that_stands_for_nothing_is_refused() -> None:
    wanted = options()
    extra = replace(wanted.extras[0], args=("--x={colour}",))
    with pytest.raises(ConfigError, match=r"'\{colour\}'.*is not a known placeholder"):
        component(replace(wanted, extras=(extra,)))


def test_braces_around_something_else_stay() -> None:
    wanted = options()
    extra = replace(wanted.extras[0], args=('--x={"a": 1}', "--y={A}"))

    assert component(replace(wanted, extras=(extra,))).args == ('--x={"a": 1}', "--y={A}")


def test_its_webhooks_are_called_at_the_component() -> None:
    objects = {body["kind"]: body for body in component(options()).objects}
    client = objects["ValidatingWebhookConfiguration"]["webhooks"][0]["clientConfig"]

    assert client == {"url": "https://127.0.0.1:8002/validate", "caBundle": "CA"}


def test_a_conversion_of_its_kinds_is_called_there_too() -> None:
    wanted = options()
    conversion = {"webhook": {"clientConfig": {"service": {"name": "greeter", "path": "/convert"}}}}
    other = {"webhook": {"clientConfig": {"service": {"name": "another"}}}}
    bodies = [
        {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": {"conversion": each}}
        for each in (conversion, other)
    ]
    extra = replace(wanted.extras[0], manifests=(yaml.dump_all(bodies),))
    found = [
        body for body in component(replace(wanted, extras=(extra,))).objects if body["kind"] == "X"
    ]

    assert found[0]["spec"]["conversion"]["webhook"]["clientConfig"] == {
        "url": "https://127.0.0.1:8002/convert",
        "caBundle": "CA",
    }
    assert found[1]["spec"]["conversion"] == other


def test_an_https_page_is_read_with_the_administrator_s_certificate() -> None:
    wanted = options()
    parts = wanted.extras[0].add_on
    assert parts is not None
    secure = replace(parts, readiness=Readiness(port="http", path="/readyz", scheme="https"))
    [probe] = component(replace(wanted, extras=(replace(wanted.extras[0], add_on=secure),))).ready

    assert (probe.url, probe.cert) == (
        "https://127.0.0.1:8001/readyz",
        Path("/clusters/dev/pki/admin.crt"),
    )


def test_it_sees_no_keys_but_its_own() -> None:
    mounts = {str(mount.host_path) for mount in component(options()).mounts}

    assert mounts == {
        "/clusters/dev/pki/ca.crt",
        "/clusters/dev/pki/greeter.crt",
        "/clusters/dev/pki/greeter.key",
        "/clusters/dev/kubeconfigs/greeter.yaml",
        "/clusters/dev/add-ons/greeter",
    }


def test_the_authority_is_put_in_wherever_it_is_wanted() -> None:
    hook = {"clientConfig": {"url": "https://x", "caBundle": "CA"}}
    body: Any = {"spec": {"conversion": {"webhook": hook}}, "webhooks": [hook, {"caBundle": "own"}]}
    found = with_authority(body, "PEM")

    assert found["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] == "PEM"
    assert [each.get("caBundle") for each in found["webhooks"]] == [None, "own"]
    assert found["webhooks"][0]["clientConfig"]["caBundle"] == "PEM"


def test_its_user_has_its_rules_and_the_roles_it_is_bound_to() -> None:
    parts = AddOnParts(name="x", rules=({"verbs": ["get"]},), cluster_roles=("view",))
    bodies = list(rights(NAME, parts))

    assert [(each["kind"], each["metadata"]["name"]) for each in bodies] == [
        ("ClusterRole", "kwokctl:greeter"),
        ("ClusterRoleBinding", "kwokctl:greeter"),
        ("ClusterRoleBinding", "kwokctl:greeter:view"),
    ]


def test_it_has_a_certificate_and_a_token_of_its_own() -> None:
    wanted = options()
    [identity] = [each for each in identities(wanted) if each.name == NAME]

    assert NAME in clients(wanted)
    assert (identity.common_name, identity.server) == ("kwokctl:greeter", True)
    assert {"127.0.0.1", "greeter"} <= {*identity.server_names}


def test_a_fork_chooses_other_ports() -> None:
    ports = without_ports(options().extras[0]).ports

    assert [(port.name, port.port, port.host_port) for port in ports] == [
        ("http", 0, 0),
        ("hook", 0, 0),
    ]
