from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.definitions.kwok_controller import kwok_controller
from kwokctl.components.setting import Setting
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import KWOK_CONTROLLER, Artifact
from kwokctl.runtime import Site
from tests.support.options import cluster_options
from tests.support.sites import HostLikeSite


@dataclass(frozen=True, slots=True)
class WithOwnNodes(HostLikeSite):
    """A place with a real node."""

    @property
    def has_own_nodes(self) -> bool:
        return True


def flags(given: dict[str, Any], site: Site | None = None, **options: Any) -> dict[str, str]:
    """Return the flags of the controller by name, where documents have given these options."""
    setting = Setting(
        site=site or HostLikeSite(),
        paths=ClusterPaths(Path("/home/me/.kwok/clusters/dev")),
        options=cluster_options(controller_port=10247, **options),
        artifacts={KWOK_CONTROLLER: Artifact(name=KWOK_CONTROLLER, version="v0", command=("/c",))},
        controller_options=given,
    )
    words = (word.removeprefix("--").partition("=") for word in kwok_controller(setting).args)
    return {name: value for name, _, value in words}


def managed(found: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in found.items() if name.startswith("manage-")}


def test_every_node_is_fake_where_there_are_no_others() -> None:
    assert managed(flags({})) == {"manage-all-nodes": "true"}
    assert managed(flags({"manageAllNodes": True})) == {"manage-all-nodes": "true"}


@pytest.mark.parametrize(
    "given",
    [
        {"manageSingleNode": "a"},
        {"manageNodesWithAnnotationSelector": "a=b"},
        {"manageNodesWithLabelSelector": "a=b"},
    ],
)
def test_what_documents_say_of_nodes_is_left_to_them(given: dict[str, Any]) -> None:
    assert managed(flags(given)) == {}


def test_beside_real_nodes_a_label_alone_does_not_make_a_node_fake() -> None:
    annotated = {
        "manage-all-nodes": "false",
        "manage-nodes-with-annotation-selector": "kwok.x-k8s.io/node=fake",
    }

    assert managed(flags({"manageNodesWithLabelSelector": "a=b"}, WithOwnNodes())) == annotated
    assert managed(flags({"manageSingleNode": "a"}, WithOwnNodes())) == {}


def test_the_address_and_name_of_documents_win() -> None:
    ours, given = flags({}), flags({"nodeIP": "192.0.2.7", "nodeName": "here"})

    assert (ours["node-ip"], ours["node-name"]) == ("198.19.255.254", "localhost")
    assert not {"node-ip", "node-name"} & set(given)
    assert given["node-port"] == ours["node-port"]


def test_ours_reads_stages_and_leaves_other_custom_resources_to_the_kubelet_server() -> None:
    assert flags({}, enable_crds=("Logs", "Stage"))["enable-crds"] == "Stage"
    assert "enable-crds" not in flags({}, enable_crds=("Logs",))


def test_custom_resources_are_passed_on_to_another_controller() -> None:
    own = flags({}, kwok_controller_binary="/bin/true", enable_crds=("Logs", "Exec"))

    assert own["enable-crds"] == "Logs,Exec"
    assert "enable-crds" not in flags({})


def test_the_dialects_of_faults_are_passed_on_to_ours_only() -> None:
    dialects = ("aks", "device-plugin")

    assert flags({}, fault_dialects=dialects)["fault-dialects"] == "aks,device-plugin"
    assert "fault-dialects" not in flags({})
    other = flags({}, kwok_controller_binary="/bin/true", fault_dialects=dialects)
    assert "fault-dialects" not in other
