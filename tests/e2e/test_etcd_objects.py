"""What a real API server keeps in etcd is read, and it reads what is put there."""

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path
from subprocess import Popen

import pytest

from kwokctl.dataplane.objects.resources import StoredResource, resources_with
from kwokctl.dataplane.objects.stored_values import (
    JSON,
    StoredObject,
    UndecodableError,
    decoded,
    value_with,
)
from kwokctl.errors import NotFoundError
from kwokctl.etcd.kv.kv import Delete, Txn
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource
from tests.support import changing
from tests.support.direct import answer, ask
from tests.support.go_programs import module
from tests.support.installed import PATIENCE, Installed, until
from tests.support.planes import reached

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

PREFIX = b"/registry/"
BUILT_IN = resources_with([]).all
SINCE = {"CSINode"}
"""Kinds to which the release after the one with the examples has added something."""


def test_every_example_of_kubernetes_is_read_and_written_byte_by_byte() -> None:
    folder = module("k8s.io/api@v0.36.3") / "testdata" / "HEAD"
    known = [(file, found) for file in folder.glob("*.pb") if (found := _read(file))]

    assert len(known) > 100
    assert [file.name for file, found in known if found.unknown] == []
    shown = [file for file, found in known if found.document != _shown(file)]
    written = [file for file, found in known if value_with(found.document) != file.read_bytes()]
    assert {file.name.split(".")[-2] for file in (*shown, *written)} <= SINCE


def _read(file: Path) -> StoredObject | None:
    """Return an example; None for kinds that are never stored."""
    try:
        return decoded(file.read_bytes())
    except UndecodableError:
        return None


def _shown(file: Path) -> Json:
    return json.loads(file.with_suffix(".json").read_text("utf-8"))


def _values(cluster: Installed) -> dict[str, bytes]:
    async def read() -> dict[str, bytes]:
        async with reached(cluster) as there:
            page = await there.kv.page(PREFIX, b"/registry0")
            return {item.key.decode(): item.value for item in page.items}

    return asyncio.run(read())


def test_whatever_the_api_server_has_stored_is_written_as_it_did(storage: Installed) -> None:
    values = _values(storage)
    found = {key: decoded(value) for key, value in values.items()}

    assert {key: each.unknown for key, each in found.items() if each.unknown} == {}
    built_in = {key: each for key, each in found.items() if each.media_type != JSON}
    assert len(built_in) > 100
    assert [key for key, each in built_in.items() if value_with(each.document) != values[key]] == []


def test_the_api_server_reads_every_kind_that_is_put(storage: Installed, tmp_path: Path) -> None:
    async def served(client: Client) -> list[Resource]:
        found = [await _served(client, each) for each in BUILT_IN]
        return [each for each in found if each]

    async def listed(client: Client) -> list[int]:
        return [(await answer(client.call("GET", each.path())))[0] for each in kinds]

    kinds = [each for each in ask(storage, served) if each.kind != "Namespace"]
    file = tmp_path / "objects"
    file.write_text("\n".join(_bodies(kinds)))
    keys = storage.ok("etcd", "put", "--path", str(file)).splitlines()

    assert len(keys) == len(kinds) > 40
    try:
        assert set(ask(storage, listed)) == {200}
    finally:
        _delete(storage, keys)


def _delete(cluster: Installed, keys: list[str]) -> None:
    async def delete() -> None:
        async with reached(cluster) as there:
            for key in keys:
                await there.kv.txn(Txn((), (Delete(key.encode()),)))

    asyncio.run(delete())


async def _served(client: Client, each: StoredResource) -> Resource | None:
    """Return the newest version of a kind that is served."""
    for api_version in reversed(each.versions):
        try:
            return await client.resource_for(api_version, each.kind)
        except NotFoundError:
            continue
    return None


def _bodies(kinds: list[Resource]) -> Iterator[str]:
    for each in kinds:
        metadata = {"name": "put.directly"}
        body = {"apiVersion": each.api_version, "kind": each.kind, "metadata": metadata}
        yield json.dumps(body)


def test_what_was_deleted_comes_back_as_it_was(storage: Installed) -> None:
    storage.kubectl("create", "service", "nodeport", "there-and-back", "--tcp=80")
    words = ("svc", "there-and-back")
    before = storage.ok("kectl", "get", *words, "-o", "yaml")

    key = "/registry/services/specs/default/there-and-back"
    assert storage.ok("kectl", "delete", *words).strip() == key
    assert storage.ok("kectl", "put", *words, "--path", "-", stdin=before).strip() == key

    assert storage.ok("kectl", "get", *words, "-o", "yaml") == before
    storage.delete("service", "there-and-back")


def test_what_happens_in_etcd_is_seen_recorded_and_done_again(
    storage: Installed, tmp_path: Path
) -> None:
    path, words = tmp_path / "run.yaml", ("configmap", "seen")
    watcher = storage.start("etcd", "get", "cm", "--watch-only", "-n", "default")
    recorder = storage.start("kectl", "snapshot", "record", "--path", str(path))
    part = path.with_name("run.yaml.part")
    until("the recording has begun", lambda: _begins(storage, part))
    storage.kubectl("create", *words, "--from-literal=a=1")
    storage.patch(*words, "-p", PATCH)
    storage.create(changing.config_map("gone"))
    storage.delete("configmap", "gone")
    until("all of it is recorded", lambda: 'method: "delete"' in part.read_text())
    seen, gone = (f"/registry/configmaps/default/{name}" for name in ("seen", "gone"))
    # The watcher may be later than the recorder.
    assert _first_printed(watcher, {seen, gone}, 4) == [seen, seen, gone, gone]
    for process in (watcher, recorder):
        process.send_signal(signal.SIGINT)
    watcher.communicate(timeout=PATIENCE)
    _, said = recorder.communicate(timeout=PATIENCE)
    assert recorder.returncode == 0, said
    before = storage.found(*words)
    storage.ok("kectl", "delete", "cm", "seen")  # past its finalizer

    done = storage.run("kectl", "snapshot", "replay", "--path", str(path))

    assert done.code == 0, done.err
    assert "refused" not in done.err
    after = storage.found(*words)
    assert after["data"] == before["data"] == {"b": "2"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["finalizers"] == ["example.net/b"]
    assert "gone" not in storage.names("configmaps")
    storage.patch(*words, "-p", '{"metadata":{"finalizers":null}}')
    storage.delete(*words)


PATCH = '{"data":{"a":null,"b":"2"},"metadata":{"finalizers":["example.net/b"]}}'


def _first_printed(process: Popen[str], words: AbstractSet[str], count: int) -> list[str]:
    """Return the first of these words that a process prints, as many as `count`; wait until they are there."""
    assert process.stdout is not None
    printed = (word for line in process.stdout for word in line.split())
    return [*islice((word for word in printed if word in words), count)]


def _begins(cluster: Installed, part: Path) -> bool:
    """Change an object until the recording has a change."""
    cluster.annotate("serviceaccount", "default", "--overwrite", f"at={time.time()}")
    return part.exists() and "kind: ResourcePatch" in part.read_text()


def test_a_value_that_the_api_server_could_not_read_is_not_put(
    storage: Installed, tmp_path: Path
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndata: {a: 1}\n")

    assert "'data.a' must be a string" in storage.refused("etcd", "put", "--path", str(file))
    assert "bad" not in storage.names("configmaps")
