from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.state import saved as saved_clusters
from kwokctl.clusters.state.drift import differences
from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.state.saved import (
    Saved,
    cluster_names,
    is_foreign,
    load,
    save,
    used_ports,
    version_remark,
)
from kwokctl.components.catalog import usual_options
from kwokctl.components.cluster_plan import selected
from kwokctl.config.config_documents import Document
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.options import ClusterOptions
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ConfigError, ConflictError, NotFoundError
from kwokctl.expr import yaml
from kwokctl.host.paths import WorkDir
from kwokctl.model import KUBE_SCHEDULER, KWOK_CONTROLLER, Artifact, ComponentName, Port
from kwokctl.replacing import replace
from tests.support.fake_runtime import BringingRuntime, FakeRuntime
from tests.support.options import cluster_options
from tests.support.patches import patched

NAME = cluster_name("dev")
STAGE = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "mine"}}
NAMES = selected(usual_options())
SAVED = Saved(
    name=NAME,
    options=cluster_options(
        etcd_port=2379,
        kube_apiserver_port=6443,
        kube_controller_manager_port=10257,
        kube_scheduler_port=10259,
        controller_port=10247,
        runtime="fake",
    ),
    names=NAMES,
    artifacts={n: Artifact(name=n, version="v1", command=("/bin/true",)) for n in NAMES},
    patches=patched(KUBE_SCHEDULER, {"v": "4", "bare": None}),
    stages=(STAGE,),
)


@pytest.fixture
def workdir(tmp_path: Path) -> WorkDir:
    made = WorkDir(tmp_path)
    paths = made.cluster(NAME)
    save(paths, SAVED, SAVED.plan(FakeRuntime(), paths))
    return made


def test_what_is_saved_is_read_back_the_same(workdir: WorkDir) -> None:
    assert load(workdir.cluster(NAME), NAME) == SAVED


def of_user(**changed: Any) -> Saved:
    """Return a cluster with a component that its user describes."""
    web = ExtraComponent(
        name=ComponentName("web"),
        binary="/bin/sh",
        ports=(Port(name="http", port=8080, host_port=8080),),
    )
    return replace(
        SAVED,
        options=replace(SAVED.options, extras=(replace(web, **changed),)),
        names=(*NAMES, web.name),
        artifacts={**SAVED.artifacts, web.name: Artifact(name=web.name, version="")},
    )


def test_a_component_of_the_user_is_read_back_the_same_and_its_port_is_used(
    tmp_path: Path,
) -> None:
    paths = WorkDir(tmp_path).cluster(NAME)
    save(paths, of_user(), of_user().plan(FakeRuntime(), paths))

    assert load(paths, NAME) == of_user()
    assert 8080 in used_ports(WorkDir(tmp_path), but=cluster_name("other"))


def test_a_component_of_the_user_that_is_described_anew_is_a_difference() -> None:
    def asked(saved: Saved) -> Resolved:
        return Resolved(options=saved.options, chosen=frozenset({"enable"}), warnings=())

    assert differences(of_user(), asked(of_user()), []) == ()
    assert differences(of_user(), asked(SAVED), []) == ()
    assert differences(of_user(), asked(of_user(args=("x",))), []) == (
        "components: it has another description of 'web'",
    )
    assert differences(SAVED, asked(of_user()), []) == (
        "it has no component 'web', which is requested",
    )


def test_a_cluster_of_another_version_is_named() -> None:
    assert version_remark(SAVED) == ""
    assert "kwokctl 0.0.1 has made the cluster" in version_remark(replace(SAVED, version="0.0.1"))


def test_documents_for_the_runtime_are_kept_beside_the_stages(tmp_path: Path) -> None:
    paths = WorkDir(tmp_path).cluster(NAME)
    runtime = BringingRuntime()
    kind = Artifact(name="kind", version="v1", command=("/bin/true",), image="node")
    kept = replace(
        SAVED,
        documents=({"kind": "Cluster", "networking": {}},),
        artifacts={**SAVED.artifacts, "kind": kind},
    )
    plan = kept.plan(runtime, paths)
    save(paths, kept, plan)

    assert plan.maker == kind
    assert plan.documents == kept.documents
    found = load(paths, NAME)
    assert (found.stages, found.documents) == (kept.stages, kept.documents)


def test_documents_for_the_controller_are_kept_beside_those_for_the_runtime(
    tmp_path: Path,
) -> None:
    paths = WorkDir(tmp_path).cluster(NAME)
    configuration = {"kind": "KwokConfiguration", "options": {"nodeIP": "192.0.2.7"}}
    kept = replace(
        SAVED,
        kept=(configuration, {"kind": "Logs", "spec": {"logs": []}}),
        documents=({"kind": "Cluster"},),
    )
    plan = kept.plan(FakeRuntime(), paths)
    save(paths, kept, plan)

    assert load(paths, NAME) == kept
    args = plan.components[KWOK_CONTROLLER].args
    assert not any(word.startswith("--node-ip") for word in args)


def test_templates_are_kept_and_only_one_of_the_same_name_is_a_difference(tmp_path: Path) -> None:
    body: dict[str, Any] = {
        "kind": "KwokctlResource",
        "metadata": {"name": "gpu"},
        "template": "a",
    }
    paths = WorkDir(tmp_path).cluster(NAME)
    kept = replace(SAVED, templates=(body,))
    save(paths, kept, kept.plan(FakeRuntime(), paths))

    def given(name: str, text: str) -> Document:
        own = {**body, "metadata": {"name": name}, "template": text}
        return Document(kind=body["kind"], api_version="", name=name, body=own, source="here")

    assert load(paths, NAME) == kept
    same, other = given("gpu", "a"), given("big", "b")
    assert differences(kept, asked(cluster_options()), [same, other]) == ()
    assert differences(kept, asked(cluster_options()), [given("gpu", "b")]) == (
        "it has another KwokctlResource called 'gpu'",
    )


def test_documents_for_the_controller_that_differ_are_reported(tmp_path: Path) -> None:
    logs = Document(kind="Logs", api_version="", name="a", body={"kind": "Logs"}, source="here")

    assert (
        differences(replace(SAVED, kept=({"kind": "Logs"},)), asked(cluster_options()), [logs])
        == ()
    )
    assert differences(SAVED, asked(cluster_options()), []) == ()
    assert differences(SAVED, asked(cluster_options()), [logs]) == (
        "documents for the controller: they are not the same",
    )


def test_a_state_from_before_the_newest_options_is_read_with_their_defaults(
    workdir: WorkDir,
) -> None:
    paths = workdir.cluster(NAME)
    newest = ("dataPath:", "enableCRDs:", "etcdFsync:", "goGC:", "nodeHeartbeat:")
    lines = paths.saved.read_text().splitlines(keepends=True)
    old = [line for line in lines if not line.strip().startswith(newest)]
    assert len(old) == len(lines) - len(newest)
    paths.saved.write_text("".join(old))

    assert load(paths, NAME) == SAVED


def test_a_cluster_is_a_folder_that_holds_its_state(workdir: WorkDir) -> None:
    (workdir.clusters / "no-cluster").mkdir()

    assert cluster_names(workdir) == [NAME]


def test_the_ports_of_other_clusters_are_taken_even_when_they_do_not_run(workdir: WorkDir) -> None:
    assert used_ports(workdir, but=cluster_name("other")) >= {2379, 6443, 10257, 10259, 10247}
    assert used_ports(workdir, but=NAME) == frozenset()


def test_the_ports_of_clusters_of_the_original_are_taken_too(workdir: WorkDir) -> None:
    ports = {"etcdPort": 1, "etcdPeerPort": 2, "prometheusPort": 3, "dashboardPort": 4}
    paths = workdir.cluster(cluster_name("other"))
    paths.root.mkdir()
    head = {"kind": "KwokctlConfiguration", "options": {**ports, "securePort": True}}
    paths.saved.write_text(yaml.dump_all([head]), encoding="utf-8")

    assert used_ports(workdir, but=NAME) == {1, 2, 3, 4}


def test_every_option_that_is_not_supported_and_names_a_port_is_one() -> None:
    named = {each.key for each in NOT_SERVED if each.key.endswith("Port")} - {"securePort"}

    assert {each.key for each in NOT_SERVED if each.is_port} == named


def test_an_absent_cluster_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        load(WorkDir(tmp_path).cluster(NAME), NAME)

    assert caught.value.hint == "create it with: kwokctl create cluster --name dev"


@pytest.mark.parametrize(
    ("name", "named"), [("devv", "did you mean 'dev'? If not,"), ("prod", "the clusters are: dev;")]
)
def test_who_names_an_absent_cluster_is_shown_those_there_are(
    workdir: WorkDir, name: str, named: str
) -> None:
    absent = cluster_name(name)

    with pytest.raises(NotFoundError) as caught:
        load(workdir.cluster(absent), absent)

    create = f"create it with: kwokctl create cluster --name {name}"
    assert caught.value.hint == f"{named} {create}"


def test_a_cluster_made_by_the_go_kwokctl_is_recognized(workdir: WorkDir) -> None:
    paths = workdir.cluster(NAME)
    text = paths.saved.read_text().replace(saved_clusters.MAKER, "").replace("maker:", "other:")
    paths.saved.write_text(text)

    assert is_foreign(paths)
    with pytest.raises(ConflictError, match="made by the original"):
        load(paths, NAME)


@pytest.mark.parametrize("text", ["", "kind: Pod\n", "a: [", "- 1\n"])
def test_a_garbled_state_is_named_with_the_remedy(workdir: WorkDir, text: str) -> None:
    paths = workdir.cluster(NAME)
    paths.saved.write_text(text)

    with pytest.raises(ConfigError):
        load(paths, NAME)


def asked(options: ClusterOptions, *chosen: str) -> Resolved:
    return Resolved(options=options, chosen=frozenset(chosen), warnings=())


def test_the_same_words_are_no_difference() -> None:
    assert differences(SAVED, asked(SAVED.options, "kube_version", "etcd_port"), []) == ()


def test_defaults_that_the_user_did_not_choose_are_no_difference() -> None:
    assert differences(SAVED, asked(cluster_options()), []) == ()


def test_each_difference_is_named() -> None:
    wanted = cluster_options(
        kube_version="v1.35.4",
        etcd_port=2400,
        disable=("kube-scheduler",),
        extra_args=("kube-scheduler=v=6", "etcd=log-level=debug"),
    )
    document = Document(kind="Stage", api_version="", name="", body={"kind": "Stage"}, source="f")

    found = differences(
        SAVED, asked(wanted, "kube_version", "etcd_port", "disable", "extra_args"), [document]
    )

    assert found == (
        "--kube-version: it has 'v1.36.3', requested 'v1.35.4'",
        "--etcd-port: it has 2379, requested 2400",
        "it has the component 'kube-scheduler', which is not requested",
        "--extra-args kube-scheduler=v: it has '4', requested '6'",
        "--extra-args etcd=log-level: it has none, requested 'debug'",
        "it has other Stage documents",
    )


@pytest.mark.parametrize(
    ("option", "value", "difference"),
    [
        (
            "memory_limit",
            ("4Gi", "etcd=1Gi"),
            "--memory-limit: it has none, requested '4Gi,etcd=1Gi'",
        ),
        ("etcd_tls", False, "--etcd-tls: it has on, requested off"),
        ("quiet_pull", True, None),
        ("nodes", 10, None),
        ("enable", (), None),
        ("kube_runtime_config", "", None),
    ],
)  # fmt: skip
def test_a_difference_is_written_as_a_person_gives_the_option(
    option: str, value: object, difference: str | None
) -> None:
    wanted = cluster_options(**{option: value})

    found = differences(SAVED, asked(wanted, option), [])

    assert found == ((difference,) if difference else ())
