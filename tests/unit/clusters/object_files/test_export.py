"""An export reads in pages, goes on where it was interrupted, and writes what it says."""

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.clusters.object_files.exporting.export import (
    ExportedObjects,
    ExportRequest,
    ObjectExport,
)
from kwokctl.clusters.object_files.exporting.listing import ReadOptions, RequestPace
from kwokctl.clusters.object_files.exporting.part_file import PartFile
from kwokctl.clusters.object_files.rules.rules_file import FieldRule, SnapshotRules, load_rules
from kwokctl.errors import ApiError, ConflictError, NotFoundError, UnavailableError
from kwokctl.kube.client import Client
from kwokctl.progress import Silent
from tests.support.full_disk import full_disk
from tests.support.object_server import ObjectServer, object_server
from tests.support.virtual_time import run as run_virtually

PODS, SECRETS = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/secrets"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def _fill(server: ObjectServer, pods: int = 7) -> None:
    for number in range(pods):
        server.put(PODS, f"p{number}", spec={"x": number})
    server.put(SECRETS, "hidden", data={"k": "c2VjcmV0"})
    server.put("/api/v1/nodes", "n")
    server.put(DEFINITIONS, "widgets.example.com", spec={})
    server.put(WIDGETS, "w", spec={"colour": "red"})


async def _export(
    client: Client, path: Path, *kinds: str, size: int = 3, **more: Any
) -> ExportedObjects:
    request = ExportRequest(path=path, kinds=kinds, reading=ReadOptions(page_size=size), **more)
    return await ObjectExport(client, ["test"], request, Silent()).run()


def _names(path: Path) -> Sequence[str]:
    return [each["metadata"]["name"] for each in yaml.safe_load_all(path.read_bytes())]


async def test_all_usual_kinds_are_written_and_custom_resources_last(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        done = await _export(client, tmp_path / "a.yaml")

    names = ["n", *(f"p{n}" for n in range(7)), "widgets.example.com", "w"]
    assert _names(tmp_path / "a.yaml") == names
    assert (done.objects, done.lacks_secrets) == (10, True)
    assert stat.S_IMODE((tmp_path / "a.yaml").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"]


async def test_secrets_are_written_only_when_they_are_chosen(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        await _export(client, tmp_path / "without")
        await _export(client, tmp_path / "with", with_secrets=True)
        await _export(client, tmp_path / "named", "secret")

    assert b"hidden" not in (tmp_path / "without").read_bytes()
    assert "hidden" in _names(tmp_path / "with")
    assert _names(tmp_path / "named") == ["hidden"]


async def test_kinds_that_the_cluster_does_not_have_are_named(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        done = await _export(client, tmp_path / "a", "po", "gadgets.example.com")
        assert done.unknown == ("gadgets.example.com",)
        with pytest.raises(NotFoundError, match="serves none of the kinds 'gadget'"):
            await _export(client, tmp_path / "b", "gadget")
        with pytest.raises(NotFoundError, match="no object of the chosen kinds"):
            await _export(client, tmp_path / "b", "services")
    assert not (tmp_path / "b").exists()


async def test_a_page_has_no_more_objects_than_wanted(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        await _export(client, tmp_path / "a", "pods", size=3)
        limits = [r.query["limit"] for r in server.requests if r.path == "/api/v1/pods"]
    assert limits == ["3", "3", "3"]


async def test_a_compressed_file_has_every_page(tmp_path: Path) -> None:
    import gzip

    async with object_server() as (server, client):
        _fill(server)
        await _export(client, tmp_path / "a.yaml.gz", "pods", size=2)
    text = gzip.decompress((tmp_path / "a.yaml.gz").read_bytes())
    assert len(list(yaml.safe_load_all(text))) == 7


async def test_a_kind_is_read_anew_when_its_pages_are_forgotten(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        server.expired.add("6")
        await _export(client, tmp_path / "a", "nodes", "pods", size=3)
    assert _names(tmp_path / "a") == ["n", *(f"p{n}" for n in range(7))]


async def test_an_interrupted_export_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml.gz"
    async with object_server() as (server, client):
        _fill(server)
        server.broken.add("6")
        with pytest.raises(ApiError, match="boom"):
            await _export(client, path, "nodes", "pods", size=3)
        assert {each.name for each in tmp_path.iterdir()} == {"a.yaml.gz.part", "a.yaml.gz.resume"}
        server.requests.clear()
        server.broken.clear()
        done = await _export(client, path, "nodes", "pods", size=3)
        asked = [r.query.get("continue") for r in server.requests if r.path == "/api/v1/pods"]
    assert asked == ["6"]
    assert done.objects == 8
    assert [each.name for each in tmp_path.iterdir()] == ["a.yaml.gz"]


async def test_an_interrupted_export_is_not_mixed_with_another(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        server.broken.add("6")
        with pytest.raises(ApiError):
            await _export(client, tmp_path / "a", "pods", size=3)
        with pytest.raises(ConflictError, match=r"a\.part' belongs to another export"):
            await _export(client, tmp_path / "a", "nodes", size=3)


async def test_nothing_is_left_of_a_save_that_fails(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        _fill(server)
        server.broken.add("6")
        with pytest.raises(ApiError):
            await _export(client, tmp_path / "a", "pods", size=3, resumes=False)
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    async with object_server() as (server, client):
        _fill(server)
        with pytest.raises(ConflictError, match="exists"):
            await _export(client, tmp_path / "a", "nodes")
        await _export(client, tmp_path / "a", "nodes", force=True)
        with pytest.raises(UnavailableError, match="does not exist"):
            await _export(client, tmp_path / "no" / "a", "nodes")
    assert _names(tmp_path / "a") == ["n"]


def test_requests_are_spread_evenly() -> None:
    import asyncio

    async def times() -> list[float]:
        clock = asyncio.get_running_loop().time
        pace, found = RequestPace(4.0, clock), []
        for _ in range(3):
            await pace.turn()
            found.append(round(clock(), 3))
        return found

    assert run_virtually(times()) == [0.0, 0.25, 0.5]


async def test_rules_are_applied_before_anything_is_written(tmp_path: Path) -> None:
    rules = SnapshotRules(rules=(FieldRule(drop=True, kinds=("Node",)), FieldRule(strip=("spec",))))
    async with object_server() as (server, client):
        _fill(server)
        await _export(client, tmp_path / "a", "nodes", "pods", rules=rules)
    found = list(yaml.safe_load_all((tmp_path / "a").read_bytes()))
    assert [(each["kind"], "spec" in each) for each in found] == [("Pod", False)] * 7


async def test_words_are_the_same_after_an_interruption(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        for number in range(4):
            server.put(PODS, "same-name" if number else "first", spec={"nodeName": "one"})
        server.put(PODS, "last", spec={"nodeName": "one"})
        server.broken.add("2")
        rules = load_rules("twin")
        with pytest.raises(ApiError):
            await _export(client, tmp_path / "a", "pods", size=2, rules=rules)
        server.broken.clear()
        await _export(client, tmp_path / "a", "pods", size=2, rules=rules)
    nodes = [e["spec"]["nodeName"] for e in yaml.safe_load_all((tmp_path / "a").read_bytes())]
    assert len(nodes) == 3
    assert len(set(nodes)) == 1


def test_what_a_full_disk_has_refused_is_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "objects.yaml"
    with PartFile(path, "", resumes=False) as file:
        file.write([b"kind: A"])
        with full_disk(), pytest.raises(UnavailableError, match="cannot be written") as refused:
            file.write([b"kind: B"])
        file.cut()
        file.finish()

    assert refused.value.hint == "free space there, or choose another --path"
    assert path.read_bytes() == b"kind: A"
