"""Results of verbs, as tests of commands hand them out."""

from pathlib import Path
from typing import Any

from kwokctl.clusters.create import Created
from kwokctl.config.data_path import Choice
from kwokctl.model import ClusterName


def created(**changes: Any) -> Created:
    values: dict[str, Any] = {
        "name": ClusterName("kwok"),
        "context": "kwok-kwok",
        "kubeconfig": Path("/home/me/.kube/config"),
        "server": "https://127.0.0.1:32764",
        "existed": False,
        "drift": (),
        "data_path": Choice(path="etcd", why="fast"),
        "urls": {},
    }
    return Created(**(values | changes))
