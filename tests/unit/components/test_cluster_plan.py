""""""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kwokctl.components.choose_data_path import choose_data_path
from kwokctl.components.cluster_plan import build_plan, needlessly_disabled, selected
from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions, spellings
from kwokctl.config.original import compat
from kwokctl.config.patches.patch import Patches
from kwokctl.errors import UsageError
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    NodeAddress,
    Plan,
)
from kwokctl.runtime import Site
from tests.support import golden
from tests.support.options import changed, cluster_options
from tests.support.patches import patched
from tests.support.sites import ContainerLikeSite, HostLikeSite

HOST = HostLikeSite()
NAME = ClusterName("dev")
OPTIONS = cluster_options(
    etcd_port=2379,
    kube_apiserver_port=6443,
    kube_controller_manager_port=10257,
    kube_scheduler_port=10259,
    controller_port=10247,
    kubelet_port=10250,
)
EVERYTHING_ELSE = changed(
    OPTIONS,
    kube_authorization=False,
    disable_qps_limits=False,
    kube_feature_gates="A=true",
    kube_runtime_config="api/all=true",
    kube_audit_policy="/home/me/audit.yaml",
    etcd_tls=False,
    etcd_prefix="/prefix",
    etcd_quota_backend_size="1Gi",
    etcd_fsync="off",
    go_gc=100,
    heartbeat_factor=1,
    tracing_endpoint="127.0.0.1:4317",
    tracing_sampling_rate_per_million=100,
)


def plan(
    options: ClusterOptions = OPTIONS,
    site: Site = HOST,
    patches: Patches | None = None,
    *,
    has_route: bool = True,
) -> Plan:
    artifacts: dict[str, Artifact] = {
        name: Artifact(name=name, version="v0", command=(f"/store/{name}",))
        for name in selected(options)
    }
    setting = Setting(
        site=site,
        paths=ClusterPaths(Path("/home/me/.kwok/clusters/dev")),
        options=options,
        artifacts=artifacts,
        patches=patches or {},
        has_route=has_route,
        writes_to_etcd=choose_data_path(options).path == "etcd",
    )
    return build_plan(NAME, selected(options), setting)


def described(made: Plan) -> str:
    return "\n".join(_lines(component) for component in made.components.values())


def _lines(component: Component) -> str:
    probes = [f"  ready: {p.url} {p.socket or ''}".rstrip() for p in component.ready]
    words = [f"  {word}" for word in component.args]
    variables = [f"  with: {name}={value}" for name, value in component.env.items()]
    mounts = [
        f"  sees: {m.host_path} at {m.mount_path}{'' if m.read_only else ', writes to it'}"
        for m in component.mounts
    ]
    ports = [f"  serves: {each.name} at {each.host_port}" for each in component.ports]
    return "\n".join([component.name, *words, *variables, *ports, *mounts, *probes, ""])


@pytest.mark.parametrize(
    ("case", "options"),
    [
        ("default", OPTIONS),
        ("everything-else", EVERYTHING_ELSE),
        ("api-faults", changed(OPTIONS, api_faults=True, api_proxy_port=6444)),
        ("compat", changed(OPTIONS, **compat.defaults(spellings(OPTIONS), {"compat": "kwokctl"}))),
    ],
)
def test_arguments_are_as_they_were_reviewed(case: str, options: ClusterOptions) -> None:
    golden.check(f"components/{case}.txt", described(plan(options)))


def test_in_containers_components_ask_the_site_for_paths_and_addresses() -> None:
    golden.check("components/containers.txt", described(plan(site=ContainerLikeSite())))


@pytest.mark.parametrize(
    ("options", "site", "is_needed"),
    [
        (OPTIONS, HOST, True),
        (changed(OPTIONS, bind_address="0.0.0.0"), HOST, True),
        (changed(OPTIONS, bind_address="192.0.2.7"), HOST, False),
        (OPTIONS, ContainerLikeSite(), False),
    ],
)
def test_without_a_default_route_the_api_server_is_given_an_address(
    options: ClusterOptions, site: Site, is_needed: bool
) -> None:
    args = plan(options, site, has_route=False).components[KUBE_APISERVER].args
    assert ("--advertise-address=198.19.255.254" in args) is is_needed


def test_etcd_and_the_api_server_start_together_and_their_clients_after_them() -> None:
    waves = [{component.name for component in wave} for wave in plan().waves()]

    assert waves == [
        {ETCD, KUBE_APISERVER},
        {KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, KWOK_CONTROLLER, KWOK_KUBELET},
    ]


def test_clients_stop_first_and_etcd_last() -> None:
    waves = [{component.name for component in wave} for wave in plan().stop_waves()]

    assert waves == [
        {KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, KWOK_CONTROLLER, KWOK_KUBELET},
        {KUBE_APISERVER},
        {ETCD},
    ]


def test_an_argument_of_the_user_replaces_the_default_one() -> None:
    made = plan(patches=patched(KUBE_SCHEDULER, {"leader-elect": "true", "v": "4", "bare": None}))

    args = made.components[KUBE_SCHEDULER].args
    assert [word for word in args if "leader-elect" in word] == ["--leader-elect=true"]
    assert args[-3:] == ("--leader-elect=true", "--v=4", "--bare")


def test_the_controller_manager_is_ready_when_pods_can_be_created() -> None:
    probes = plan().components[KUBE_CONTROLLER_MANAGER].ready

    assert any(p.url.endswith("/namespaces/default/serviceaccounts/default") for p in probes)


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (changed(OPTIONS, disable=(KUBE_SCHEDULER,)), KUBE_SCHEDULER),
        (changed(OPTIONS, disable_kube_scheduler=True), KUBE_SCHEDULER),
        (changed(OPTIONS, disable_kube_controller_manager=True), KUBE_CONTROLLER_MANAGER),
    ],
)
def test_a_disabled_component_is_left_out(options: ClusterOptions, left: ComponentName) -> None:
    assert left not in plan(options).components


def test_what_is_disabled_without_being_there_is_named() -> None:
    options = changed(OPTIONS, disable=("prometheus", "kube-scheduler", "jobset", "prometheus"))

    assert KUBE_SCHEDULER not in selected(options)
    assert [*needlessly_disabled(options)] == [
        "'--disable' names 'prometheus', which the cluster would not have anyway",
        "'--disable' names 'jobset', which the cluster would not have anyway",
    ]


@pytest.mark.parametrize("name", [ETCD, KUBE_APISERVER])
def test_a_cluster_cannot_be_without_etcd_or_the_api_server(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        selected(changed(OPTIONS, disable=(name,)))


def test_a_misspelt_component_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError) as caught:
        selected(changed(OPTIONS, disable=("kube-schedule",)))

    assert caught.value.hint == "did you mean 'kube-scheduler'?"


@pytest.mark.parametrize(
    ("chosen", "dialled"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("0.0.0.0", "127.0.0.1"),
        ("::1", "[::1]"),
        ("::", "[::1]"),
    ],
)
def test_components_of_this_host_listen_where_the_user_wants_and_are_dialled_there(
    chosen: str, dialled: str
) -> None:
    options = changed(OPTIONS, bind_address=chosen, etcd_tls=False)
    bracketed = f"[{chosen}]" if ":" in chosen else chosen

    made = plan(options).components

    for name in (KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER):
        assert f"--bind-address={chosen}" in made[name].args
        assert any(f"//{dialled}:" in probe.url for probe in made[name].ready)
    assert f"--server-address={bracketed}:10247" in made[KWOK_CONTROLLER].args
    assert made[KWOK_CONTROLLER].ready[0].url == f"http://{dialled}:10247/readyz"
    assert any(f"http://{bracketed}:2379," in word for word in made[ETCD].args)


class GatewaySite(HostLikeSite):
    """The API server is in a container, and reaches programs of this host at another address."""

    def node_address(self) -> NodeAddress:
        return NodeAddress(name="host.internal", ip="172.18.0.1")


@pytest.mark.parametrize(("bind", "host"), [("127.0.0.1", "172.18.0.1"), ("0.0.0.0", "0.0.0.0")])
def test_a_controller_of_another_make_listens_at_one_address(bind: str, host: str) -> None:
    class Site(GatewaySite):
        def bind(self, component: ComponentName) -> str:
            return bind

    options = changed(OPTIONS, kwok_controller_binary="/kwok")
    controller = plan(options, Site()).components[KWOK_CONTROLLER]

    assert f"--server-address={host}:10247" in controller.args
    assert [each.url for each in controller.ready] == (
        ["http://127.0.0.1:10247/readyz"] if host == bind else []
    )


def test_ports_of_containers_are_published_where_the_user_wants() -> None:
    made = plan(changed(OPTIONS, bind_address="192.0.2.7"), ContainerLikeSite()).components

    assert {port.host_address for each in made.values() for port in each.ports} == {"192.0.2.7"}
    assert "--bind-address=0.0.0.0" in made[KUBE_APISERVER].args
    assert made[KUBE_APISERVER].ready[0].url == "https://192.0.2.7:6443/readyz"


@pytest.mark.parametrize(
    ("args", "is_held"), [({}, True), ({"v": "4"}, True), ({"controllers": "deployment"}, False)]
)
def test_the_controller_manager_waits_at_the_key_that_it_reads_before_it_has_any_controller(
    args: Mapping[str, str | None], is_held: bool
) -> None:
    made = plan(patches=patched(KUBE_CONTROLLER_MANAGER, args))
    component = made.components[KUBE_CONTROLLER_MANAGER]

    assert bool(component.held_at) is is_held
    assert any(word.startswith(f"--{component.held_at}=/") for word in component.args) is is_held
