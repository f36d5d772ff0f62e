import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl import assets
from kwokctl.components.catalog import catalog, identities
from kwokctl.components.cluster_plan import build_plan, selected
from kwokctl.components.metrics_page import settle_rounds
from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import ComponentPatch
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import (
    ETCD,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    METRICS_SERVER,
    PROMETHEUS,
    Artifact,
    ClusterName,
    Component,
)
from kwokctl.replacing import replace
from kwokctl.runtime import Site
from tests.support import golden
from tests.support.options import changed, cluster_options, option
from tests.support.sites import ContainerLikeSite, HostLikeSite

NAME = ClusterName("dev")
PORTS = {
    "etcd_port": 2379,
    "kube_apiserver_port": 6443,
    "kube_controller_manager_port": 10257,
    "kube_scheduler_port": 10259,
    "controller_port": 10247,
    "kubelet_port": 10250,
    "metrics_server_port": 4443,
    "prometheus_port": 9090,
}
OPTIONS = cluster_options(enable=("prometheus", "metrics-server"), **PORTS)
PATHS = ClusterPaths(Path("/home/me/.kwok/clusters/dev"))


def setting(options: ClusterOptions = OPTIONS, site: Site | None = None) -> Setting:
    names = selected(options)
    return Setting(
        site=site or HostLikeSite(),
        paths=PATHS,
        options=options,
        artifacts={name: Artifact(name=name, version="v0", command=("/p",)) for name in names},
    )


def component(options: ClusterOptions = OPTIONS, site: Site | None = None) -> Component:
    names = selected(options)
    return build_plan(NAME, names, setting(options, site)).components[PROMETHEUS]


def jobs(options: ClusterOptions = OPTIONS) -> dict[str, Any]:
    text = component(options).files[PATHS.prometheus_config]
    return {each["job_name"]: each for each in yaml.safe_load(text)["scrape_configs"]}


def described(found: Component) -> list[str]:
    seen = [
        f"sees: {m.host_path} at {m.mount_path}{'' if m.read_only else ', writes to it'}"
        for m in found.mounts
    ]
    ready = [f"ready: {probe.url}" for probe in found.ready]
    boards = {PATHS.dashboard, PATHS.fleet_dashboard}
    texts = [f"{path}:\n{text}" for path, text in found.files.items() if path not in boards]
    return [*found.args, *seen, *ready, *texts]


def test_its_arguments_and_files_are_as_they_were_reviewed() -> None:
    found = component(), component(site=ContainerLikeSite())
    lines = (line for each in found for line in described(each))
    golden.check("components/prometheus.txt", "\n".join(lines))


@pytest.mark.parametrize("given", [{"enable": ("prometheus",)}, {"prometheus_port": 9090}])
def test_it_is_there_if_it_or_a_port_of_it_is_asked_for(given: dict[str, Any]) -> None:
    asked = cluster_options(**given)
    assert PROMETHEUS in selected(asked)
    assert PROMETHEUS in {each.name for each in identities(asked)}


def test_it_is_not_there_otherwise() -> None:
    assert PROMETHEUS not in selected(cluster_options())
    assert PROMETHEUS not in selected(changed(OPTIONS, disable=("prometheus",)))
    assert PROMETHEUS not in {each.name for each in identities(cluster_options())}


def test_every_component_is_a_job_and_all_nodes_are_one() -> None:
    assert jobs().keys() == {*selected(OPTIONS), "nodes"}


def test_what_a_cluster_does_not_have_is_no_job() -> None:
    few = changed(OPTIONS, enable=("prometheus",), disable=("kube-scheduler",))
    assert jobs().keys() - jobs(few).keys() == {KUBE_SCHEDULER, METRICS_SERVER}


def test_where_a_credential_would_give_more_than_metrics_the_kubelet_server_relays_them() -> None:
    found = {name: (each["metrics_path"], each["static_configs"]) for name, each in jobs().items()
             if name in {ETCD, KWOK_CONTROLLER}}  # fmt: skip
    assert found == {
        name: (
            f"/metrics/components/{name}",
            [{"targets": ["127.0.0.1:10250"], "labels": {"instance": name}}],
        )
        for name in found
    }
    args = catalog()[KWOK_KUBELET].build(setting()).args
    assert "--controller-metrics-url=http://127.0.0.1:10247/metrics" in args
    assert f"--etcd-socket={PATHS.etcd_socket}" in args


def test_nothing_is_relayed_without_it() -> None:
    without = changed(OPTIONS, disable=("prometheus",))
    args = catalog()[KWOK_KUBELET].build(setting(without)).args
    assert not [word for word in args if "metrics-url" in word]


def test_what_asks_for_no_credential_is_asked_without() -> None:
    found = jobs(changed(OPTIONS, etcd_tls=False, kwok_controller_binary="/bin/kwok"))
    assert {name for name, each in found.items() if each["scheme"] == "http"} == {
        ETCD,
        KWOK_CONTROLLER,
    }
    assert found[ETCD]["static_configs"][0]["targets"] == ["127.0.0.1:2379"]
    assert "nodes" not in found  # another controller is the kubelet of the nodes, too


def test_what_no_server_relays_is_left_out() -> None:
    assert ETCD not in jobs(changed(OPTIONS, kwok_controller_binary="/bin/kwok"))


def test_it_sees_no_keys_but_its_own() -> None:
    names = {mount.host_path.name for mount in component().mounts}
    keys = {name for name in names if name.endswith(".key")}
    assert keys == {"prometheus.key", "prometheus-client.key"}
    assert PATHS.pki not in {mount.host_path for mount in component().mounts}


def test_it_may_read_metrics_and_nothing_else() -> None:
    [own] = [each for each in identities(OPTIONS) if each.name == PROMETHEUS]
    rules = [rule for each in component().objects for rule in each.get("rules", ())]
    bound = [each["subjects"] for each in component().objects if "subjects" in each]

    assert own.organizations == ()
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get"}
    assert [s["name"] for [s] in bound] == [own.common_name]


def test_its_clients_have_an_authority_of_their_own() -> None:
    [client] = [each for each in identities(OPTIONS) if each.name == "prometheus-client"]
    web = yaml.safe_load(component().files[PATHS.prometheus_web])["tls_server_config"]

    assert client.authority == "prometheus-ca"
    assert web["client_ca_file"] == str(PATHS.pki / "prometheus-ca.crt")
    assert web["client_auth_type"] == "RequireAndVerifyClientCert"


def test_without_tls_everybody_of_this_machine_is_answered() -> None:
    found = component(changed(OPTIONS, prometheus_tls=False))

    assert found.url == "http://127.0.0.1:9090"
    assert PATHS.prometheus_web not in found.files
    assert not any("web.config" in word for word in found.args)
    assert jobs(changed(OPTIONS, prometheus_tls=False))[PROMETHEUS]["scheme"] == "http"


def test_without_authorization_it_is_an_administrator_for_others_show_no_metrics() -> None:
    options = changed(OPTIONS, kube_authorization=False)
    [own] = [each for each in identities(options) if each.name == PROMETHEUS]
    assert own.organizations == ("system:masters",)


@pytest.mark.parametrize(("nodes", "seconds"), [(0, "15s"), (4999, "15s"), (5000, "60s")])
def test_many_nodes_are_scraped_less_often(nodes: int, seconds: str) -> None:
    settled = settle_rounds(changed(OPTIONS, nodes=nodes))
    text = yaml.safe_load(component(settled).files[PATHS.prometheus_config])
    assert text["global"]["scrape_interval"] == seconds
    nodes_job = text["scrape_configs"][-1]
    assert nodes_job["scrape_timeout"] == {"15s": "10s", "60s": "50s"}[seconds]


def test_an_interval_that_was_given_stays_and_bounds_the_time_of_an_answer() -> None:
    given = settle_rounds(changed(OPTIONS, nodes=9000, prometheus_interval=2))
    assert option(given, "prometheus_interval") == 2
    text = yaml.safe_load(component(given).files[PATHS.prometheus_config])
    assert text["global"]["scrape_timeout"] == "2s"


def test_a_users_argument_replaces_its_own() -> None:
    patch = ComponentPatch(name=PROMETHEUS, args={"storage.tsdb.retention.size": "1GB"})
    found = catalog()[PROMETHEUS].build(replace(setting(), patches={PROMETHEUS: patch}))
    assert [w for w in found.args if "retention" in w] == ["--storage.tsdb.retention.size=1GB"]


@pytest.mark.parametrize("name", ["kwok", "fleet"])
def test_a_dashboard_asks_the_data_source_that_its_reader_chooses(name: str) -> None:
    found = json.loads(assets.text(f"dashboards/{name}.json"))
    panels = [each for each in found["panels"] if each["type"] != "row"]

    assert len({each["id"] for each in found["panels"]}) == len(found["panels"])
    assert all(target["expr"] for panel in panels for target in panel["targets"])
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}


@pytest.mark.parametrize("name", ["kwok", "fleet"])
def test_no_panel_of_a_dashboard_lies_over_another(name: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(assets.text(f"dashboards/{name}.json"))["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_the_reader_of_the_dashboard_of_gpus_chooses_their_racks_and_shapes() -> None:
    found = json.loads(assets.text("dashboards/fleet.json"))
    variables = {each["name"] for each in found["templating"]["list"]}
    queries = [t["expr"] for panel in found["panels"] for t in panel.get("targets", ())]

    assert variables == {"datasource", "shape", "rack"}
    selections = [
        selection
        for query in queries
        for selection in re.findall(r"DCGM_FI_\w+(\{[^}]*\})?", query)
    ]
    assert len(selections) > 15
    assert all('rack=~"$rack",shape=~"$shape"' in each for each in selections)
