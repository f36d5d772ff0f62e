"""The Stages that a cluster plays whose user has given none."""

from collections.abc import Mapping
from typing import Any

from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.config.config_documents import Document
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_reader import read_stages
from tests.support.options import cluster_options


def shipped(*sets: str, lease_seconds: int = 40) -> tuple[Stage, ...]:
    """Return the default set, with others, for nodes whose leases last so long; 0 for none."""
    options = cluster_options(
        node_lease_duration_seconds=lease_seconds, heartbeat_factor=1, stage=sets
    )
    return read_stages(list(map(_document, stages_in_force(options, ()).documents)))


def _document(body: Mapping[str, Any]) -> Document:
    name = body["metadata"]["name"]
    return Document(kind="Stage", api_version="", name=name, body=dict(body), source=name)
