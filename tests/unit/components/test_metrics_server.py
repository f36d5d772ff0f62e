from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.catalog import catalog, identities
from kwokctl.components.cluster_plan import selected
from kwokctl.components.metrics_page import settle_rounds
from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import KWOK_KUBELET, METRICS_SERVER, Artifact, Component, ComponentName
from kwokctl.runtime import Site
from tests.support import golden
from tests.support.options import changed, cluster_options, option
from tests.support.sites import ContainerLikeSite, HostLikeSite

OPTIONS = cluster_options(kube_apiserver_port=6443)
CHOSEN = changed(OPTIONS, enable=("metrics-server",), metrics_server_port=4443)


class WithRealNode(HostLikeSite):
    @property
    def has_own_nodes(self) -> bool:
        return True


def component(
    options: ClusterOptions = CHOSEN,
    site: Site | None = None,
    beside: tuple[ComponentName, ...] = (KWOK_KUBELET,),
) -> Component:
    names = (METRICS_SERVER, *beside)
    setting = Setting(
        site=site or HostLikeSite(),
        paths=ClusterPaths(Path("/home/me/.kwok/clusters/dev")),
        options=options,
        artifacts={n: Artifact(name=n, version="v0", command=("/m",)) for n in names},
    )
    return catalog()[METRICS_SERVER].build(setting)


def described(found: Component) -> list[str]:
    seen = [f"sees: {mount.host_path} at {mount.mount_path}" for mount in found.mounts]
    return [*found.args, *seen, *(f"ready: {probe.url}" for probe in found.ready), ""]


def kubelets_of(found: Component) -> dict[str, str]:
    pairs = (word.removeprefix("--").partition("=") for word in found.args)
    return {flag: value for flag, _, value in pairs if flag.startswith("kubelet-")}


def test_its_arguments_are_as_they_were_reviewed() -> None:
    found = component(), component(site=ContainerLikeSite())
    golden.check(
        "components/metrics-server.txt",
        "\n".join(line for each in found for line in described(each)),
    )


@pytest.mark.parametrize(
    "given", [{"enable": ("metrics-server",)}, {"enable_metrics_server": True}]
)
def test_it_is_there_only_if_it_is_asked_for(given: dict[str, Any]) -> None:
    asked = changed(OPTIONS, **given)
    assert METRICS_SERVER in selected(asked)
    assert METRICS_SERVER not in selected(OPTIONS)
    names = [[each.name for each in identities(options)] for options in (asked, OPTIONS)]
    assert METRICS_SERVER in names[0]
    assert METRICS_SERVER not in names[1]


def test_it_sees_no_keys_but_its_own() -> None:
    names = {mount.host_path.name for mount in component().mounts}
    assert names == {"ca.crt", "metrics-server.crt", "metrics-server.key", "metrics-server.yaml"}


def test_it_is_no_administrator() -> None:
    [own] = [each for each in identities(CHOSEN) if each.name == METRICS_SERVER]
    assert own.organizations == ()
    assert "metrics-server.kube-system.svc" in own.server_names
    rules = [rule for each in component().objects for rule in each.get("rules", ())]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}


def test_the_api_server_finds_it_where_it_is() -> None:
    def found(**more: Any) -> tuple[str, int, int]:
        by_kind = {
            each["kind"]: each["spec"] for each in component(**more).objects if "spec" in each
        }
        service, api = by_kind["Service"], by_kind["APIService"]
        return service["externalName"], service["ports"][0]["port"], api["service"]["port"]

    assert found() == ("127.0.0.1", 4443, 4443)
    assert found(options=changed(CHOSEN, bind_address="::1"))[0] == "localhost"
    assert found(site=ContainerLikeSite()) == ("metrics-server", 4443, 4443)


def test_who_its_objects_speak_of_is_itself() -> None:
    bound = [each["subjects"] for each in component().objects if "subjects" in each]
    [own] = [each for each in identities(CHOSEN) if each.name == METRICS_SERVER]
    assert len(bound) == 3
    assert all(subject["name"] == own.common_name for [subject] in bound)


def test_real_kubelets_of_kind_are_asked_by_the_names_in_their_certificates() -> None:
    beside_real = kubelets_of(component(site=WithRealNode()))
    types = "kwokctl.dev/Kubelet,Hostname,InternalDNS,InternalIP"
    assert beside_real["kubelet-preferred-address-types"] == types
    assert beside_real["kubelet-certificate-authority"].endswith("ca.crt")
    assert "kubelet-insecure-tls" not in beside_real


def test_beside_real_nodes_the_certificate_of_another_controller_is_not_verified() -> None:
    beside_another = kubelets_of(component(site=WithRealNode(), beside=()))
    assert beside_another["kubelet-insecure-tls"] == "true"
    assert "kubelet-certificate-authority" not in beside_another


@pytest.mark.parametrize(("nodes", "seconds"), [(0, "15s"), (4999, "15s"), (5000, "60s")])
def test_many_nodes_are_asked_less_often(nodes: int, seconds: str) -> None:
    args = component(settle_rounds(changed(CHOSEN, nodes=nodes))).args
    assert f"--metric-resolution={seconds}" in args
    assert ("--kubelet-request-timeout=50s" in args) == (seconds == "60s")


@pytest.mark.parametrize(("given", "waits"), [(10, ["9s"]), (15, []), (60, ["50s"])])
def test_a_request_may_not_take_as_long_as_a_round(given: int, waits: list[str]) -> None:
    args = component(changed(CHOSEN, metrics_server_resolution=given)).args
    found = [word.partition("=")[2] for word in args if "request-timeout" in word]
    assert found == waits


def test_a_resolution_that_was_given_stays() -> None:
    given = changed(CHOSEN, nodes=9000, metrics_server_resolution=30)
    assert option(settle_rounds(given), "metrics_server_resolution") == 30
