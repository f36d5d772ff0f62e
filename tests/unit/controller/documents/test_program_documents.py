"""Documents of kind ContainerProgram."""

from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import OWN, PROGRAM
from kwokctl.controller.documents.program_documents import read_programs
from kwokctl.errors import ConfigError


def document(spec: Any) -> Document:
    body = {"apiVersion": OWN, "kind": PROGRAM, "metadata": {"name": "a"}, "spec": spec}
    return Document(kind=PROGRAM, api_version=OWN, name="a", body=body, source="x.yaml")


def test_they_are_kept_in_their_order() -> None:
    specs = [{"image": "nginx*", "program": "run=forever"}, {"command": "x *", "program": "exit=1"}]
    found = read_programs(map(document, specs))

    assert [(each.image, each.command, each.program) for each in found] == [
        ("nginx*", "*", "run=forever"),
        ("*", "x *", "exit=1"),
    ]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"image": "nginx"}, "x.yaml: 'spec' is wrong: object missing required field 'program'"),
        ({"program": "run=1s", "images": "x"}, "unknown field 'images'"),
        ({"program": "walk=1s"}, "x.yaml: 'spec.program' 'walk=1s' cannot be read: names are run"),
        ({"program": "forever"}, "x.yaml: 'spec.program' 'forever' is not NAME=VALUE"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(spec: Any, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_programs([document(spec)])

    assert said in str(raised.value)
