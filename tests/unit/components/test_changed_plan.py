"""What users change about components: by patches, and by options that most leave alone."""

import pytest

from kwokctl.components import verbosity
from kwokctl.config.patches.patch import ComponentPatch, Volume
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_APISERVER_INSECURE_PROXY,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_API_PROXY,
    KWOK_CONTROLLER,
)
from tests.support.options import changed
from tests.unit.components.test_cluster_plan import OPTIONS, plan


def test_a_patch_changes_arguments_variables_and_volumes() -> None:
    patch = ComponentPatch(
        name=ETCD,
        args={"snapshot-count": "5", "quota-backend-bytes": "7"},
        removed=frozenset({"auto-compaction-retention"}),
        envs={"GOGC": "50", "MINE": "1"},
        volumes=(Volume(host_path="/etc/ssl", mount_path="/certs", read_only=True),),
    )

    etcd = plan(patches={ETCD: patch}).components[ETCD]

    assert "--snapshot-count=5" in etcd.args
    assert [word for word in etcd.args if "quota" in word] == ["--quota-backend-bytes=7"]
    assert not [word for word in etcd.args if "auto-compaction" in word]
    assert etcd.env == {"GOGC": "50", "MINE": "1"}
    assert (str(etcd.mounts[-1].host_path), str(etcd.mounts[-1].mount_path)) == (
        "/etc/ssl",
        "/certs",
    )


def test_a_volume_takes_the_place_of_ours_at_the_same_path() -> None:
    ours = plan().components[ETCD].mounts
    place = str(ours[0].mount_path)
    patch = ComponentPatch(name=ETCD, volumes=(Volume(host_path="/x", mount_path=place),))

    mounts = plan(patches={ETCD: patch}).components[ETCD].mounts

    assert [str(m.host_path) for m in mounts if str(m.mount_path) == place] == ["/x"]
    assert len(mounts) == len(ours)


def test_without_admission_the_api_server_has_no_plugin_and_nothing_waits_for_accounts() -> None:
    made = plan(changed(OPTIONS, kube_admission=False)).components

    assert "--admission-control=" in made[KUBE_APISERVER].args
    assert len(made[KUBE_CONTROLLER_MANAGER].ready) == 1


def test_the_scheduler_reads_the_cluster_s_copy_of_its_configuration() -> None:
    scheduler = plan(changed(OPTIONS, kube_scheduler_config="/home/me/s.yaml")).components[
        KUBE_SCHEDULER
    ]

    assert "--config=/home/me/.kwok/clusters/dev/scheduler.yaml" in scheduler.args
    assert scheduler.mounts[-1].host_path.name == "scheduler.yaml"


def test_a_port_without_credentials_is_a_component_that_the_port_adds() -> None:
    made = plan(changed(OPTIONS, kube_apiserver_insecure_port=8001)).components

    proxy = made[KUBE_APISERVER_INSECURE_PROXY]
    assert "--listen-address=127.0.0.1:8001" in proxy.args
    assert proxy.after == {KUBE_APISERVER}
    assert KUBE_APISERVER_INSECURE_PROXY not in plan().components


def test_faults_of_the_api_add_a_proxy_that_starts_with_the_api_server() -> None:
    made = plan(changed(OPTIONS, api_faults=True, api_proxy_port=6444))
    first, second = [{each.name for each in wave} for wave in made.waves()][:2]

    assert KWOK_API_PROXY not in plan().components
    assert first == {ETCD, KUBE_APISERVER, KWOK_API_PROXY}
    assert KUBE_SCHEDULER in second
    proxy, server = made.components[KWOK_API_PROXY], made.components[KUBE_APISERVER]
    assert "--server-address=127.0.0.1:6443" in proxy.args
    assert proxy.ready[0].url == "https://127.0.0.1:6444/readyz"
    assert server.ready[0].url == "https://127.0.0.1:6443/readyz"
    assert server.args == plan().components[KUBE_APISERVER].args


def test_clients_stop_before_the_proxy_and_that_before_the_api_server() -> None:
    made = plan(changed(OPTIONS, api_faults=True, api_proxy_port=6444))
    order = [{each.name for each in wave} for wave in made.stop_waves()]
    at = {name: number for number, wave in enumerate(order) for name in wave}

    assert at[KUBE_SCHEDULER] < at[KWOK_API_PROXY] < at[KUBE_APISERVER]
    assert at[KWOK_CONTROLLER] < at[KWOK_API_PROXY]


@pytest.mark.parametrize(
    ("level", "kubernetes", "embedded", "word"),
    [
        ("", None, None, None),
        ("INFO", None, None, None),
        ("DEBUG", 4, 4, "debug"),
        ("-8", 8, 8, "debug"),
        ("WARN", 0, -1, "warn"),
        ("ERROR", 0, -2, "error"),
    ],
)
def test_each_program_gets_the_level_of_the_log_as_it_wants_it(
    level: str, kubernetes: int | None, embedded: int | None, word: str | None
) -> None:
    options = changed(OPTIONS, verbosity=level)
    made = plan(options).components

    assert verbosity.of_kubernetes(options) == kubernetes
    assert (f"--v={kubernetes}" in made[KUBE_APISERVER].args) == (kubernetes is not None)
    assert (f"--v={embedded}" in made[KWOK_CONTROLLER].args) == (embedded is not None)
    assert (f"--log-level={word}" in made[ETCD].args) == (word is not None)
