from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.configuration.controller_documents import check_documents
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.wanted import (
    WantedCluster,
    check_for_runtime,
    choose_runtime,
    wanted_cluster,
)
from kwokctl.components.catalog import usual_options
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import KINDS, KWOK
from kwokctl.config.options import ClusterOptions
from kwokctl.config.resolve import Resolved, resolve_options
from kwokctl.errors import ConfigError, NotServedError, UnavailableError, UsageError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.progress import Silent
from tests.support.fake_runtime import FakeEngineRuntime, FakeRuntime
from tests.support.options import changed, cluster_options
from tests.unit.clusters.state.test_kept_documents import OPTIONS, OWN, configuration, document

NAME = cluster_name("dev")
PLAIN = cluster_options()


def stage(**spec: Any) -> dict[str, Any]:
    """Write a Stage for pods."""
    whole = {"resourceRef": {"kind": "Pod"}, **spec}
    return {"kind": "Stage", "metadata": {"name": "x"}, "spec": whole}


def check(folder: Path, *documents: dict[str, Any], **options: Any) -> None:
    home = Home(workdir=WorkDir(folder), cache=folder)
    resolved = Resolved(options=cluster_options(**options), chosen=frozenset(options), warnings=())
    read = [
        Document(kind=body["kind"], api_version="", name="x", body=body, source="mine.yaml")
        for body in documents
    ]
    wanted_cluster(home, resolved, read)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"disable": ("etcd",)}, "'etcd' cannot be left out"),
        ({"extra_args": ("nonsense",)}, "is not COMPONENT=KEY=VALUE"),
        ({"memory_limit": ("much",)}, "is not a limit"),
        ({"cpu_limit": ("٣",)}, "is not a limit"),
        ({"cpu_limit": ("1e999",)}, "is not a limit"),
        ({"runtime": "banana"}, "no runtime called 'banana'"),
        ({"runtime": "lima"}, "'lima' is not supported"),
        ({"node_heartbeat": "off", "heartbeat_factor": 3}, "contradict each other"),
        ({"dialect_heartbeats": "300s"}, "without '--fault-dialects'"),
        (
            {"dialect_heartbeats": "300s", "fault_dialects": ("aks",), "data_path": "api"},
            "'--dialect-heartbeats 300s' needs the data path etcd",
        ),
        ({"stage": ("none",)}, "without your own Stages"),
    ],
)
def test_a_request_that_no_cluster_can_fulfil_is_refused(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        check(tmp_path, **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KWOK_RUNTIME", "banana"),
        ("KWOK_DISABLE", "etcd"),
        ("KWOK_ENABLE", "kube-proxi"),
        ("KWOK_COMPONENTS", "etcd,kube-proxi"),
        ("KWOK_MEMORY_LIMIT", "much"),
        ("KWOK_BIND_ADDRESS", "192.0.2.1"),
        ("KWOK_STAGES", "pod-general,pod-fast"),
    ],
)
def test_a_variable_that_no_cluster_can_fulfil_is_named(
    tmp_path: Path, name: str, value: str
) -> None:
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path)

    with pytest.raises((ConfigError, UsageError)) as caught:
        wanted_cluster(home, resolve_options(usual_options(), {}, {name: value}, []), [])

    assert f"{name} is '{value}'" in f"{caught.value}; {caught.value.hint}"


def test_a_flag_hides_the_variable_that_it_replaces(tmp_path: Path) -> None:
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path)
    given = resolve_options(usual_options(), {"runtime": "banana"}, {"KWOK_RUNTIME": "docker"}, [])

    with pytest.raises(UsageError) as caught:
        wanted_cluster(home, given, [])

    assert "KWOK_RUNTIME" not in (caught.value.hint or "")


def test_documents_with_which_the_controller_would_not_start_are_refused(tmp_path: Path) -> None:
    cel = {"matchExpressions": [{"cel": {"expression": "self.kind"}}]}
    with pytest.raises(ConfigError, match="has no field 'kind', at line 1, column 5"):
        check(tmp_path, stage(selector=cel, next={"delete": True}))
    with pytest.raises(ConfigError, match=r"mine\.yaml: stage 'x': 'spec\.steps' is empty"):
        check(tmp_path, stage())


def test_limits_are_for_containers_whether_or_not_the_cluster_exists() -> None:
    with pytest.raises(UsageError, match="have no limits"):
        check_for_runtime(FakeRuntime(), NAME, cluster_options(memory_limit=("1Gi",)), [])


def test_the_node_proxy_is_for_processes_with_the_kubelet_server() -> None:
    options = cluster_options(node_proxy=True)
    check_for_runtime(FakeRuntime(), NAME, options, [])

    with pytest.raises(UsageError, match="names and addresses of containers are not known"):
        check_for_runtime(FakeEngineRuntime(), NAME, options, [])
    other = cluster_options(node_proxy=True, kwok_controller_binary="/bin/true")
    with pytest.raises(UsageError, match="needs the kubelet server"):
        check_for_runtime(FakeRuntime(), NAME, other, [])


@pytest.mark.parametrize("words", [{"api_faults": True}, {"enable": ("kwok-api-proxy",)}])
def test_faults_of_the_api_are_for_processes(words: dict[str, Any]) -> None:
    options = cluster_options(**words)
    check_for_runtime(FakeRuntime(), NAME, options, [])

    with pytest.raises(UsageError, match="'--api-faults' is not for the runtime"):
        check_for_runtime(FakeEngineRuntime(), NAME, options, [])


def made(options: ClusterOptions) -> WantedCluster:
    home = Home(workdir=WorkDir(Path("/nowhere")), cache=Path("/nowhere"))
    return wanted_cluster(home, Resolved(options=options, chosen=frozenset(), warnings=()), [])


def test_a_plain_cluster_writes_to_etcd_and_beats_as_real_nodes_do() -> None:
    found = made(PLAIN)

    assert found.options.heartbeat.kind == "real"
    assert found.data_path.path == "etcd"
    assert found.notes == ()


def test_the_requested_data_path_is_kept_in_the_options() -> None:
    assert made(PLAIN).options.data_path.path == "auto"


@pytest.mark.parametrize(
    "options", [changed(PLAIN, data_path="api"), changed(PLAIN, kube_audit_policy="p")]
)
def test_heartbeats_through_the_api_are_stretched(options: ClusterOptions) -> None:
    found = made(options)

    assert found.options.heartbeat.kind == "stretched"
    assert found.data_path.path == "api"


def test_an_etcd_without_fsync_is_noted_with_its_risk() -> None:
    found = made(changed(PLAIN, etcd_fsync="off"))

    assert "power cut" in found.notes[0]


def test_without_heartbeats_no_stage_refreshes_nodes() -> None:
    stages = stages_in_force(made(changed(PLAIN, node_heartbeat="off")).options, []).documents

    assert not any("heartbeat" in stage["metadata"]["name"] for stage in stages)
    assert any(stage["metadata"]["name"] == "node-initialize" for stage in stages)


@pytest.mark.parametrize(
    "given",
    [
        configuration(manageAllNodes=True, manageSingleNode="a"),
        configuration(manageSingleNode="a", manageNodesWithLabelSelector="a=b"),
    ],
)
def test_ways_to_choose_nodes_exclude_each_other(given: Document) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        check_documents(OPTIONS, [given])


def test_what_stops_the_embedded_controller_is_refused_before_it_starts() -> None:
    with pytest.raises(ConfigError, match="nodesIP"):
        check_documents(OPTIONS, [configuration(nodesIP="x")])
    with pytest.raises(ConfigError, match="stage 'x': 'spec'"):
        check_documents(OPTIONS, [document("Stage", spec={})])
    with pytest.raises(ConfigError, match=r"'\['Log'\]', not a kind of custom resource"):
        check_documents(OPTIONS, [configuration(enableCRDs=["Log"])])
    with pytest.raises(UsageError, match="'Execs' cannot be enabled"):
        check_documents(cluster_options(enable_crds=("Stage", "Execs")), [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (document("KwokConfiguration", tracing={"endpoint": "a:4317"}), r"--tracing-endpoint has"),
        (document("ResourcePatch"), "mine.yaml, document 1: a 'ResourcePatch' is not part of a"),
    ],
)
def test_what_a_cluster_would_do_nothing_with_is_refused(given: Document, message: str) -> None:
    with pytest.raises(NotServedError, match=message):
        check_documents(OPTIONS, [given])


def test_the_originals_defaults_of_its_controller_ask_for_nothing() -> None:
    usual = {
        "enableContentionProfiling": False,
        "enablePodsOnNodeSyncListPager": True,
        "enablePodsOnNodeSyncStreamWatch": False,
        "enableProfilingHandler": True,
    }
    check_documents(OPTIONS, [configuration(**usual)])
    check_documents(OPTIONS, [document("KwokConfiguration", tracing={})])
    check_documents(OWN, [document("KwokConfiguration", tracing={"endpoint": "a:4317"})])


@pytest.mark.parametrize("kind", KINDS[KWOK])
def test_every_kind_may_be_one_of_custom_resources(kind: str) -> None:
    check_documents(cluster_options(enable_crds=("Logs", kind)), [])
    check_documents(OPTIONS, [configuration(enableCRDs=[kind, "Stage"])])


def test_stages_may_be_given_in_files_and_as_custom_resources() -> None:
    nothing = {"resourceRef": {"kind": "Pod"}, "steps": [{"delete": True}]}
    mine = document("Stage", metadata={"name": "x"}, spec=nothing)

    check_documents(OPTIONS, [configuration(enableCRDs=["Stage"]), mine])
    check_documents(cluster_options(enable_crds=("Stage",)), [mine])


def test_fields_for_another_controller_are_not_checked() -> None:
    check_documents(OWN, [configuration(newOption="x"), document("Stage", spec={"cel": "x"})])


def test_faults_are_for_the_embedded_controller_alone() -> None:
    check_documents(cluster_options(enable_crds=("Fault",)), [])
    with pytest.raises(NotServedError, match="only the embedded controller plays faults"):
        check_documents(
            cluster_options(kwok_controller_binary="/bin/true", enable_crds=("Fault",)), []
        )


def test_a_kind_is_read_from_documents_or_from_the_api_server() -> None:
    crds = cluster_options(kwok_controller_binary="/bin/true", enable_crds=("Logs",))

    check_documents(crds, [document("Exec")])
    with pytest.raises(UsageError, match="documents of kind 'Logs' are given"):
        check_documents(crds, [document("Logs")])


class Notes(Silent):
    """Keeps the notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


@dataclass
class Machine:
    """A machine on which some runtimes cannot run."""

    folder: Path
    missing: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    notes: Notes = field(default_factory=Notes)

    def load(self, kind: str, host: Host) -> FakeRuntime:
        if kind in self.refused:
            raise NotServedError(f"no {kind} at all")
        error = UnavailableError(f"no {kind} here", hint=f"get {kind}")
        return FakeRuntime(kind, fails_at={"check": error} if kind in self.missing else {})

    @property
    def home(self) -> Home:
        workdir = WorkDir(self.folder)
        return Home(workdir=workdir, cache=self.folder, progress=self.notes, load_runtime=self.load)


async def test_by_default_processes_of_this_machine_come_first(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    assert (await choose_runtime(machine.home, PLAIN)).name == "binary"
    assert machine.notes.lines == []


async def test_another_runtime_is_taken_with_the_reason(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"binary"})

    assert (await choose_runtime(machine.home, PLAIN)).name == "docker"
    assert machine.notes.lines == ["runtime: docker (no binary here)"]


async def test_a_requested_runtime_is_never_replaced(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"docker"})

    with pytest.raises(UnavailableError, match="no docker here"):
        await choose_runtime(machine.home, changed(PLAIN, runtime="docker"))


async def test_without_a_usable_runtime_every_reason_is_listed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"binary", "docker"})

    with pytest.raises(UnavailableError, match="no binary here; no docker here") as caught:
        await choose_runtime(machine.home, PLAIN)

    assert caught.value.hint == "get docker"


async def test_the_runtimes_of_the_configuration_are_tried_in_their_order(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"docker"}, refused={"nerdctl"})
    options = changed(PLAIN, runtimes=("docker", "nerdctl", "podman", "binary"))

    assert (await choose_runtime(machine.home, options)).name == "podman"
    assert machine.notes.lines == ["runtime: podman (no docker here)"]


@pytest.mark.parametrize(
    ("options", "is_open"),
    [
        ({"etcd_tls": False, "bind_address": "0.0.0.0"}, True),
        ({"etcd_tls": False}, False),
        ({"bind_address": "::"}, False),
    ],
)
def test_a_note_warns_of_an_etcd_that_is_open_to_other_machines(
    options: dict[str, Any], is_open: bool
) -> None:
    notes = made(changed(PLAIN, **options)).notes

    assert any("no certificate" in note for note in notes) is is_open


def test_a_note_says_what_stages_as_custom_resources_do() -> None:
    enabled = made(changed(PLAIN, enable_crds=("Stage",)))

    assert any("they replace those that match" in note for note in enabled.notes)
    assert not made(PLAIN).notes


def test_a_note_says_what_heartbeats_of_dialects_cost() -> None:
    [note] = made(changed(PLAIN, fault_dialects=("aks",), dialect_heartbeats="300s")).notes

    assert "for each 1,000 nodes 3.3 writes a second" in note
    assert "some 0.013 of a core" in note


def test_a_note_says_what_commands_as_custom_resources_allow() -> None:
    enabled = made(changed(PLAIN, enable_crds=("Logs", "PortForward", "ClusterExec")))

    [note] = enabled.notes
    assert "objects of kind ClusterExec or PortForward" in note
    assert "runs programs on this machine" in note


@pytest.mark.parametrize(
    ("options", "documents"),
    [
        ({}, [stage(next={"delete": True})]),
        ({"enable_crds": ("Stage",)}, []),
        ({"disable": ("kwok-controller",)}, []),
        ({"stage": ("none", "pod-kubelet")}, []),
    ],
)
def test_without_the_usual_stages_something_else_must_play_objects(
    tmp_path: Path, options: dict[str, Any], documents: list[dict[str, Any]]
) -> None:
    check(tmp_path, *documents, **{"stage": ("none",), **options})
