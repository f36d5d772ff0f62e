""""""

from pathlib import Path, PurePath

import pytest
import yaml

from kwokctl.components.cluster_plan import build_plan, selected
from kwokctl.components.setting import Setting
from kwokctl.config.extras.extra import ExtraComponent, ExtraMetrics
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import ComponentPatch, Volume
from kwokctl.errors import UsageError
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import (
    KUBE_APISERVER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    PROMETHEUS,
    Artifact,
    ClusterName,
    ComponentName,
    Limits,
    Mount,
    OwnManner,
    Plan,
    Port,
)
from kwokctl.replacing import replace
from kwokctl.runtime import Site
from tests.support.options import cluster_options
from tests.support.sites import ContainerLikeSite, HostLikeSite

WEB = ComponentName("web")
EXTRA = ExtraComponent(
    name=WEB,
    binary="/bin/web",
    command=("/web",),
    args=("serve",),
    user="1000",
    work_dir="/srv",
    links=frozenset({KWOK_CONTROLLER}),
    ports=(Port(name="http", port=80, host_port=8080),),
    envs={"A": "b"},
    volumes=(Volume(host_path="/etc", mount_path="/x"),),
    metric=ExtraMetrics(scheme="http", host="localhost:80", path="/numbers"),
)
PATHS = ClusterPaths(Path("/home/me/.kwok/clusters/dev"))


def options(extra: ExtraComponent = EXTRA, **given: object) -> ClusterOptions:
    return replace(cluster_options(kubelet_port=10250, **given), extras=(extra,))


def plan(found: ClusterOptions, *, site: Site | None = None, **patch: object) -> Plan:
    names = selected(found)
    setting = Setting(
        site=site or HostLikeSite(),
        paths=PATHS,
        options=found,
        artifacts={name: Artifact(name=name, version="v0", command=("/p",)) for name in names},
        patches={WEB: ComponentPatch(name=WEB, **patch)} if patch else {},  # type: ignore[arg-type]  # fields
    )
    return build_plan(ClusterName("dev"), names, setting)


def test_it_is_described_as_its_user_says() -> None:
    found = plan(options()).components[WEB]

    assert found.args == ("serve",)
    assert found.env == {"A": "b"}
    assert found.after == {KWOK_CONTROLLER}
    assert found.mounts == (
        Mount(host_path=Path("/etc"), mount_path=PurePath("/x"), read_only=False),
    )
    assert found.own == OwnManner(entry=("/web",), user="1000", folder="/srv")


def test_a_process_has_its_own_port_and_a_container_a_published_one() -> None:
    here = plan(options()).components[WEB].ports
    there = plan(options(), site=ContainerLikeSite()).components[WEB].ports

    assert [(port.port, port.host_port) for port in here] == [(80, 80)]
    assert [(port.port, port.host_port) for port in there] == [(80, 8080)]


def test_it_starts_after_what_it_has_links_to_and_stops_before_it() -> None:
    found = plan(options())

    waves = [{each.name for each in wave} for wave in found.waves()]
    assert waves[-1] == {WEB}
    assert [each.name for each in next(found.stop_waves())] == [WEB]


def test_its_objects_come_before_it_and_need_the_api_server() -> None:
    text = "{apiVersion: v1, kind: Namespace, metadata: {name: web}}"
    extra = replace(EXTRA, links=frozenset(), manifests=(f"{text}\n---\n---\n{text}\n",))

    found = plan(options(extra)).components[WEB]

    assert [body["kind"] for body in found.objects] == ["Namespace", "Namespace"]
    assert found.after == {KUBE_APISERVER}


def test_it_is_patched_and_limited_as_others() -> None:
    found = plan(options(memory_limit=("web=1Gi",)), args={"v": "4"}, envs={"C": "d"}).components[
        WEB
    ]

    assert found.args == ("serve", "--v=4")
    assert found.env == {"A": "b", "C": "d"}
    assert found.limits == Limits(memory=2**30)


@pytest.mark.parametrize(
    ("scheme", "access"),
    [
        ("http", {"scheme": "http"}),
        ("https", {"scheme": "https", "tls_config": {"insecure_skip_verify": True}}),
    ],
)
def test_prometheus_reads_its_metrics(scheme: str, access: dict[str, object]) -> None:
    metric = ExtraMetrics(scheme=scheme, host="localhost:80", path="/numbers")
    found = plan(options(replace(EXTRA, metric=metric), enable=("prometheus",)))

    text = found.components[PROMETHEUS].files[PATHS.prometheus_config]
    (job,) = (job for job in yaml.safe_load(text)["scrape_configs"] if job["job_name"] == WEB)
    assert job == {
        "job_name": WEB,
        "metrics_path": "/numbers",
        "static_configs": [{"targets": ["localhost:80"], "labels": {"instance": WEB}}],
        **access,
    }


@pytest.mark.parametrize(
    ("scheme", "access"),
    [("http", {}), ("https", {"tls_config": {"insecure_skip_verify": True}})],
)
def test_prometheus_reads_the_pages_that_it_names(scheme: str, access: dict[str, object]) -> None:
    pages = ExtraMetrics(scheme=scheme, host="localhost:80", path="/pages")
    found = plan(options(replace(EXTRA, discovery=pages), enable=("prometheus",)))

    text = found.components[PROMETHEUS].files[PATHS.prometheus_config]
    jobs = {job["job_name"]: job for job in yaml.safe_load(text)["scrape_configs"]}
    assert jobs[f"{WEB}-metrics-discovery"] == {
        "job_name": f"{WEB}-metrics-discovery",
        "scheme": scheme,
        "http_sd_configs": [{"url": f"{scheme}://localhost:80/pages", **access}],
        **access,
    }


def test_a_link_to_what_the_cluster_does_not_have_is_refused() -> None:
    extra = replace(EXTRA, links=frozenset({KUBE_SCHEDULER}))

    with pytest.raises(UsageError, match="link to 'kube-scheduler', which the cluster does not"):
        selected(options(extra, disable=("kube-scheduler",)))
