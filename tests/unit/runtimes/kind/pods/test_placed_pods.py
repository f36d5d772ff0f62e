""""""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from kwokctl.model import (
    Artifact,
    Component,
    ComponentName,
    HttpProbe,
    Limits,
    Mount,
    OwnManner,
    Port,
)
from kwokctl.replacing import replace
from runtimes.kind.pods.placed_pods import knowing, static_pod
from runtimes.kind.pods.pod_settings import PodSettings
from tests.unit.runtimes.kind.plans import PATHS

METRICS = Component(
    name=ComponentName("metrics"),
    artifact=Artifact(name="metrics", version="v1", command=("/store/metrics", "serve")),
    args=("--port=30000",),
    env={"GOGC": "50"},
    ports=(Port(name="https", port=4443, host_port=30000),),
    mounts=(
        Mount(host_path=PATHS.pki, mount_path=PurePosixPath("/pki")),
        Mount(host_path=Path("/usr/lib"), mount_path=PurePosixPath("/usr/lib")),
    ),
    ready=(HttpProbe(url="https://127.0.0.1:30000/readyz?verbose"),),
)
SETTINGS = PodSettings(root=PATHS.root, user=1000, group=100, grace=10.0, revive=False)


def made(component: Component = METRICS, settings: PodSettings = SETTINGS) -> dict[str, Any]:
    return static_pod(component, image="example/metrics:v1", settings=settings)


def container(component: Component = METRICS) -> dict[str, Any]:
    found: dict[str, Any] = made(component)["spec"]["containers"][0]
    return found


def test_its_program_is_run_in_its_image_with_what_it_was_given() -> None:
    found = container()

    assert found["image"] == "example/metrics:v1"
    assert found["imagePullPolicy"] == "Never"
    assert found["command"] == ["metrics", "serve"]
    assert found["args"] == ["--port=30000"]
    assert found["env"] == [{"name": "GOGC", "value": "50"}]


def of_user(*, image: str | None, **settings: Any) -> Component:
    artifact = Artifact(name="metrics", version="", image=image)
    return replace(METRICS, artifact=artifact, own=OwnManner(**settings))


def test_an_image_that_the_user_describes_says_itself_how_it_is_run() -> None:
    component = of_user(image="example/web:v1")

    assert not {"command", "workingDir"} & container(component).keys()
    assert container(component)["securityContext"] == {"allowPrivilegeEscalation": False}
    assert "runAsUser" not in made(component)["spec"]["securityContext"]


def test_what_the_user_says_of_an_image_takes_its_place() -> None:
    component = of_user(image="example/web:v1", entry=("/web",), user="7:8", folder="/srv")

    found, spec = container(component), made(component)["spec"]
    assert (found["command"], found["workingDir"]) == (["/web"], "/srv")
    assert spec["securityContext"]["runAsUser"] == 7
    assert spec["securityContext"]["runAsGroup"] == 8


def test_it_uses_the_nodes_network_and_is_as_critical_as_the_control_plane() -> None:
    spec = made()["spec"]

    assert spec["hostNetwork"] is True
    assert spec["priorityClassName"] == "system-node-critical"
    assert made()["metadata"]["namespace"] == "kube-system"


def test_it_knows_the_host_by_name_once_its_address_is_known() -> None:
    spec = knowing(made(), "172.18.0.1")["spec"]

    assert spec["hostAliases"] == [{"ip": "172.18.0.1", "hostnames": ["host.kwokctl.internal"]}]
    assert knowing(made(), "") == made()


def test_it_is_run_as_the_user_with_nothing_that_it_does_not_need() -> None:
    rights, inner = made()["spec"]["securityContext"], container()["securityContext"]

    assert (rights["runAsUser"], rights["runAsGroup"]) == (1000, 100)
    assert inner["capabilities"] == {"drop": ["ALL"]}
    assert inner["readOnlyRootFilesystem"] is True


def test_files_from_outside_the_clusters_folder_do_not_cover_those_of_the_node() -> None:
    places = [volume.get("hostPath") for volume in made()["spec"]["volumes"]]

    assert places == [{"path": str(PATHS.pki)}, {"path": "/mnt/host/usr/lib"}, None]
    assert container()["volumeMounts"][1]["mountPath"] == "/usr/lib"


def test_the_kubelet_asks_for_readiness_at_the_port_inside() -> None:
    asked = container()["readinessProbe"]["httpGet"]

    assert asked == {"scheme": "HTTPS", "path": "/readyz?verbose", "port": 4443}


@pytest.mark.parametrize(
    "probe",
    [
        HttpProbe(url="https://127.0.0.1:30000/readyz", cert=Path("/pki/admin.crt")),
        HttpProbe(url="http://localhost/health", socket=Path("/run/etcd.sock")),
        HttpProbe(url="https://127.0.0.1:6443/api/v1/nodes"),
    ],
)
def test_a_probe_that_the_kubelet_cannot_perform_is_left_out(probe: HttpProbe) -> None:
    assert "readinessProbe" not in container(replace(METRICS, ready=(probe,)))


def test_it_is_restarted_only_on_request() -> None:
    assert made()["spec"]["restartPolicy"] == "Never"
    assert made(settings=replace(SETTINGS, revive=True))["spec"]["restartPolicy"] == "Always"


def test_limits_bound_it_and_ask_for_nothing() -> None:
    bounded = container(replace(METRICS, limits=Limits(memory=1024, cpus=0.5)))

    assert bounded["resources"] == {
        "limits": {"memory": "1024", "cpu": "0.5"},
        "requests": {"memory": "0", "cpu": "0"},
    }
    assert "resources" not in container()
