import pytest

from kwokctl.clusters.choosing.document_checks import check_documents
from kwokctl.config.documents import Document
from kwokctl.errors import ConfigError, NotServedError, UsageError
from tests.support.options import cluster_options
from tests.unit.clusters.state.test_documents import OPTIONS, OWN, configuration, document


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
    with pytest.raises(NotServedError, match="custom resources"):
        check_documents(OPTIONS, [configuration(enableCRDs=["Stage"])])
    with pytest.raises(NotServedError, match="custom resources"):
        check_documents(cluster_options(enable_crds=("Stage",)), [])


def test_another_controller_may_know_more() -> None:
    check_documents(OWN, [configuration(newOption="x"), document("Stage", spec={"cel": "x"})])


def test_a_kind_is_read_from_documents_or_from_the_api_server() -> None:
    crds = cluster_options(kwok_controller_binary="/bin/true", enable_crds=("Logs",))

    check_documents(crds, [document("Exec")])
    with pytest.raises(UsageError, match="documents of kind 'Logs' are given"):
        check_documents(crds, [document("Logs")])
