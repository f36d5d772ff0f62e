"""Bodies of Stages as a file has them, and how they are read."""

from typing import Any

from kwokctl.config.config_documents import Document
from kwokctl.controller.stages.compiled_stage import (
    Stage,
)
from kwokctl.controller.stages.stage_reader import read_stages


def document(spec: dict[str, Any], *, name: str = "s") -> Document:
    body = {"kind": "Stage", "metadata": {"name": name}, "spec": spec}
    return Document(kind="Stage", api_version="", name=name, body=body, source="f.yaml, document 1")


def spec(kind: str = "Pod", **fields: Any) -> dict[str, Any]:
    return {"resourceRef": {"kind": kind}, "selector": {}, "steps": [{"delete": True}], **fields}


def read(spec: dict[str, Any]) -> Stage:
    (stage,) = read_stages([document(spec)])
    return stage
