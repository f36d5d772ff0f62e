"""Faults as custom resources of a real API server: what it takes, what it refuses, and what may change."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kwokctl.clusters.launching.custom_resources import fault_definitions, install
from kwokctl.config.document_kinds import FAULT, FAULT_CLASS, OWN
from kwokctl.controller.faults.fault_objects import FaultObjects, page_name
from kwokctl.controller.write_errors import ErrorKind, error_kind
from kwokctl.errors import ApiError
from kwokctl.expr import yaml
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import FaultPageSpec, StoredFault, StoredPage
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import FAULT_CLASSES, FAULT_DIALECTS, FAULT_PAGES, FAULTS, Resource
from kwokctl.progress import Silent
from tests.support import changing
from tests.support.direct import answer, ask, encoded
from tests.support.installed import Installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

NODES = {"nodes": ["n-1", "n-2"]}


@pytest.fixture(scope="module")
def served(storage: Installed) -> Iterator[Installed]:
    """Serve Faults; the definitions are applied twice, as by two commands."""

    async def serve(client: Client) -> None:
        await install(fault_definitions(), client, Silent())
        await install(fault_definitions(), client, Silent())

    ask(storage, serve)
    yield storage
    names = [each["metadata"]["name"] for each in fault_definitions()]
    storage.delete("crd", *names)


def fault(name: str = "f", **spec: Json) -> dict[str, Json]:
    return {
        "apiVersion": OWN,
        "kind": FAULT,
        "metadata": {"name": name},
        "spec": {"class": "xid-79", **spec},
    }


def create(cluster: Installed, resource: Resource, body: Json) -> tuple[int, Json]:
    path = f"{resource.path(None)}?fieldValidation=Strict"
    return ask(cluster, lambda client: answer(client.call("POST", path, encoded(body))))


def change(cluster: Installed, name: str, path: str = "", **body: Json) -> tuple[int, Json]:
    where = f"{FAULTS.path(None, name)}{path}?fieldValidation=Strict"
    return ask(
        cluster,
        lambda client: answer(
            client.call("PATCH", where, encoded(body), content_type=PatchType.MERGE)
        ),
    )


def test_a_fault_with_all_fields_is_taken_and_has_its_columns(served: Installed) -> None:
    pods = {"namespace": "default", "selector": "app=web"}
    target = {
        **NODES, "unit": "leaf-1", "where": "gpus > 0", "percent": 12.5, "usage": "busy",
        "pods": pods, "foreign": True, "follow": True,
    }  # fmt: skip
    body = fault(
        "whole", target=target, dialects=["aks"], parameters={"gpu": 3, "mine": {"a": [1]}}, seed=2**40,
        at="1m30s", until="2030-01-02T03:04:05.5+02:00", gang=True, **{"for": "10m"},
    )  # fmt: skip
    status, stored = create(served, FAULTS, body)
    assert status == 200, stored
    counted = {"units": 5, "landed": 3, "failed": 1, "repaired": 2}
    shown = {"phase": "Injecting", **counted, "left": "9m"}
    status, stored = change(served, "whole", "/status", status=shown)

    assert status == 200, stored
    assert stored["spec"] == body["spec"]
    assert msgspec.convert(stored, StoredFault).spec.lasts == "10m"
    heading, row = served.kubectl("get", "faults").splitlines()
    counts = ["UNITS", "LANDED", "FAILED", "REPAIRED"]
    assert heading.split() == ["NAME", "CLASS", "PHASE", *counts, "LEFT", "AGE"]
    assert row.split()[:-1] == ["whole", "xid-79", "Injecting", "5", "3", "1", "2", "9m"]


@pytest.mark.parametrize(
    "target",
    [
        {"nodes": ["n-1"]},
        {"unit": "leaf-1"},
        {"where": "gpus > 0"},
        {"count": 3},
        {"percent": 0.5},
        {"follow": True},
        {"pods": {"namespace": "default"}},
        {"pods": {"selector": "app=web"}},
    ],
    ids="-".join,
)
def test_each_part_of_a_target_is_enough(served: Installed, target: dict[str, Any]) -> None:
    body = fault(target=target)
    status, stored = ask(
        served,
        lambda client: answer(
            client.call("POST", f"{FAULTS.path(None)}?dryRun=All", encoded(body))
        ),
    )

    assert status == 200, stored


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "spec.target: Required value"),
        ({"target": {}}, "a target must say what is hit"),
        ({"target": {"usage": "busy", "foreign": True}}, "a target must say what is hit"),
        ({"target": {"nodes": [], "unit": "", "where": ""}}, "a target must say what is hit"),
        ({"target": {"follow": False, "pods": {}}}, "a target must say what is hit"),
        ({"target": {"count": 1, "percent": 1}}, "count and percent exclude each other"),
        ({"target": {"count": 0}}, "greater than or equal to 1"),
        ({"target": {"percent": 0}}, "greater than 0"),
        ({"target": {"percent": 101}}, "less than or equal to 100"),
        ({"target": {**NODES, "usage": "used"}}, 'Unsupported value: "used"'),
        ({"target": {**NODES, "racks": 3}}, 'unknown field "spec.target.racks"'),
        ({"target": NODES, "for": "10"}, "spec.for in body should match"),
        ({"target": NODES, "at": "-1s"}, "spec.at in body should match"),
        ({"target": NODES, "until": "noon"}, "spec.until in body should match"),
        ({"target": NODES, "at": f"{'9' * 60}h"}, "at must be a duration of up to 290 years"),
        ({"target": NODES, "for": f"{'9' * 60}h"}, "for must be a duration of up to 290 years"),
        ({"target": NODES, "until": "2026-99-99T99:99:99Z"}, "until must be a time of day"),
        ({"target": NODES, "seed": 1.5}, "spec.seed"),
        ({"target": NODES, "parameters": {"gpu": "3"}}, "spec.parameters.gpu"),
        ({"target": NODES, "class": ""}, "spec.class"),
    ],
)
def test_a_fault_that_says_too_little_or_nonsense_is_refused(
    served: Installed, spec: dict[str, Json], message: str
) -> None:
    status, said = create(served, FAULTS, fault("wrong", **spec))

    assert status in (400, 422)
    assert message in said


@pytest.fixture(scope="module")
def injected(served: Installed) -> Installed:
    body = fault(
        "fixed", target=NODES, parameters={"gpu": 3, "mine": "a"}, seed=0, dialects=["aks"]
    )
    assert create(served, FAULTS, body)[0] == 200
    return served


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("class", "xid-48"),
        ("target", {"nodes": ["n-1"]}),
        ("target", {"count": 1}),
        ("dialects", ["eks"]),
        ("dialects", None),
        ("seed", 1),
        ("seed", None),
        ("parameters", {"gpu": 4}),
        ("parameters", {"mine": "b"}),
        ("parameters", {"gpu": None, "port": 3}),
        ("parameters", {"mine": None}),
        ("parameters", None),
        ("gang", True),
        ("gang", False),
        ("at", "1s"),
    ],
)
def test_what_was_injected_cannot_change(injected: Installed, field: str, value: Json) -> None:
    status, said = change(injected, "fixed", spec={field: value})

    assert status == 422, said
    assert f"{field} of a fault cannot change" in said


def test_its_end_may_change(injected: Installed) -> None:
    assert change(injected, "fixed", spec={"for": "10m"})[0] == 200
    assert change(injected, "fixed", spec={"for": "1h"})[0] == 200
    assert change(injected, "fixed", spec={"for": "9999999h"})[0] == 422
    assert change(injected, "fixed", spec={"until": "2030-01-02t03:04:05,5+02:00"})[0] == 200
    end = {"for": None, "until": "2030-01-02T03:04:05Z"}
    status, stored = change(injected, "fixed", spec=end)
    assert status == 200, stored
    assert stored["spec"]["until"] == "2030-01-02T03:04:05Z"
    assert "for" not in stored["spec"]


def test_the_status_is_apart_from_the_spec(injected: Installed) -> None:
    _, stored = change(injected, "fixed", status={"phase": "Landed"})
    assert "status" not in stored
    status, said = change(injected, "fixed", "/status", status={"phase": "Broken"})
    assert status == 422, said
    _, stored = change(injected, "fixed", "/status", spec={"class": "x"}, status={"units": 1})
    assert stored["status"] == {"units": 1}
    assert stored["spec"]["class"] == "xid-79"


def test_pages_are_kept_as_they_are(served: Installed) -> None:
    catalogue = FaultCatalogue()
    classes = [dict(catalogue.find("xid-79").document)]
    dialects = [dict(catalogue.dialect("aks").document)]
    definition = {"class": "xid-79", "classes": classes, "dialects": dialects}
    for name, spec in (
        ("rows", {"fault": "uid", "number": 3, "rows": ["n-1 u 1 - - - -", "n-2 u 1 - - - -"]}),
        ("definition", {"definition": definition}),
    ):
        body = {"apiVersion": OWN, "kind": "FaultPage", "metadata": {"name": name}, "spec": spec}
        status, stored = create(served, FAULT_PAGES, body)
        assert status == 200, stored
        assert stored["spec"] == spec
        assert msgspec.convert(stored, StoredPage).spec != FaultPageSpec()


def test_a_page_is_stored_in_place_of_its_known_version_only(served: Installed) -> None:
    """The watch of pages may lag: rows that the controller does not know yet must stay."""
    status, body = create(served, FAULTS, fault("paged", target=NODES))
    assert status == 200, body
    known = msgspec.convert(body, StoredFault)

    async def put(client: Client, row: str, version: str) -> str:
        """Return the reason of a refusal, or nothing."""
        try:
            await FaultObjects(client).put_page(known, 0, [row], version)
        except ApiError as e:
            return e.reason if error_kind(e) is ErrorKind.CONFLICT else str(e)
        return ""

    async def story(client: Client) -> list[str]:
        name = page_name(known.metadata, 0)
        assert await put(client, "first", "") == ""
        first = (await client.find(FAULT_PAGES, None, name) or {})["metadata"]["resourceVersion"]
        assert await put(client, "unaware", "") == "Conflict"
        assert await put(client, "second", first) == ""
        assert await put(client, "late", first) == "Conflict"
        rows: list[str] = (await client.find(FAULT_PAGES, None, name) or {})["spec"]["rows"]
        return rows

    assert ask(served, story) == ["second"]


def test_every_built_in_class_and_dialect_is_one_of_the_cluster(served: Installed) -> None:
    """What `fault list -o yaml` prints can be applied, and comes back as it was."""
    catalogue = FaultCatalogue()
    for resource, found in (
        (FAULT_CLASSES, catalogue.classes()),
        (FAULT_DIALECTS, catalogue.dialects()),
    ):
        documents = {each.name: dict(each.document) for each in found}
        text = yaml.dump_all([*documents.values()])
        served.apply(*changing.documents(text))
        kept = served.objects(resource.plural)
        assert {each["metadata"]["name"]: each["spec"] for each in kept} == {
            name: each["spec"] for name, each in documents.items()
        }
    status, said = create(
        served, FAULT_CLASSES, {"apiVersion": OWN, "kind": FAULT_CLASS, "metadata": {"name": "x"}, "spec": {}}
    )  # fmt: skip
    assert status == 422
    assert "spec.summary: Required value" in said
