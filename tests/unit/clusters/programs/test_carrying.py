from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.clusters.programs.carrying import carry, fetch, missing, take_in
from kwokctl.clusters.state.home import Home
from kwokctl.config.extras.add_on_parts import AddOnParts
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import ArtifactError, UsageError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ComponentName
from kwokctl.replacing import replace
from tests.support.fake_runtime import BringingRuntime, FakeEngineRuntime, FakeRuntime
from tests.support.options import cluster_options
from tests.support.recorded_messages import RecordedMessages

COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
TOOLS = ["kubectl", "etcdctl", "etcdutl"]
OPTIONS = cluster_options(artifact_source="offline", kube_version="v1.36.3")


def home(folder: Path, runtime: FakeRuntime) -> Home:
    return Home(workdir=WorkDir(folder), cache=folder / "cache", load_runtime=runtime.load)


def stocked(folder: Path, names: list[str], runtime: FakeRuntime) -> Home:
    """Return a home whose store has these programs."""
    its = home(folder, runtime)
    for name in names:
        version = "3.6.16" if name.startswith("etcd") else "v1.36.3"
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n# {name}\n")
        store_of(its.cache, here()).publish(
            program,
            name=name,
            version="v0.33.0" if name == "kind" else version,
            source="download",
            origin="https://example.com",
            checksum="published",
        )
    return its


async def test_what_is_carried_in_a_folder_is_all_that_another_machine_needs(
    tmp_path: Path,
) -> None:
    here_too = stocked(tmp_path / "one", COMPONENTS + TOOLS, FakeRuntime())
    carried = await carry(here_too, OPTIONS, tmp_path / "folder")
    assert sorted(title.split()[0] for title in carried.programs) == sorted(COMPONENTS + TOOLS)

    other = home(tmp_path / "two", FakeRuntime())
    added = await take_in(other, OPTIONS, tmp_path / "folder")
    assert sorted(added.programs) == sorted(carried.programs)
    entries = await fetch(other, OPTIONS)
    assert {entry.name for entry in entries} == {*COMPONENTS, *TOOLS}
    assert {(entry.source, entry.checksum) for entry in entries} == {("download", "published")}
    assert (await take_in(other, OPTIONS, tmp_path / "folder")).programs == ()


async def test_what_an_add_on_takes_from_its_module_is_carried_with_every_runtime(
    tmp_path: Path,
) -> None:
    source = "go-files:example.com/one@v1.0.0#crds/*.yaml"
    parts = AddOnParts(name="one", manifest_source=source)
    extra = ExtraComponent(name=ComponentName("one"), binary="/bin/true", add_on=parts)
    options = replace(OPTIONS, extras=(extra,))
    for runtime in (FakeRuntime(), FakeEngineRuntime(), BringingRuntime(name="kind")):
        assert "one.manifests v1.0.0" in missing(home(tmp_path, runtime), options)


async def test_a_program_that_changed_on_the_way_is_refused(tmp_path: Path) -> None:
    its = stocked(tmp_path / "one", COMPONENTS + TOOLS, FakeRuntime())
    await carry(its, OPTIONS, tmp_path / "folder")
    program = store_of(tmp_path / "folder", here()).root / "etcd" / "3.6.16" / "etcd"
    program.write_text("#!/bin/sh\necho changed\n")

    other = home(tmp_path / "two", FakeRuntime())
    with pytest.raises(ArtifactError, match="has changed since it was stored"):
        await take_in(other, OPTIONS, tmp_path / "folder")
    assert store_of(other.cache, here()).find("etcd", "3.6.16") is None


async def test_images_come_along_for_a_runtime_that_starts_components_from_some(
    tmp_path: Path,
) -> None:
    runtime = BringingRuntime(name="kind")
    runtime.node_images.engine.here.add("mine/node:v1.36.3")
    its = stocked(tmp_path / "one", ["kind", *TOOLS], runtime)
    options = on_kind()
    carried = await carry(its, options, tmp_path / "folder")
    assert carried.images == ("mine/node:v1.36.3",)
    assert (tmp_path / "folder" / "images-kind.tar").is_file()

    there = BringingRuntime(name="kind")
    added = await take_in(home(tmp_path / "two", there), OPTIONS, tmp_path / "folder")
    assert added.images == ("mine/node:v1.36.3",)
    assert there.node_images.engine.here == {"mine/node:v1.36.3"}


async def test_the_image_of_an_add_on_comes_along(tmp_path: Path) -> None:
    runtime = FakeEngineRuntime()
    images = {f"registry.k8s.io/{name}:v1.36.3" for name in COMPONENTS[1:]}
    runtime.images.here |= {"registry.k8s.io/etcd:3.6.16-0", "example.com/one:v1", *images}
    one = ExtraComponent(name=ComponentName("one"), image="example.com/one:v1")
    its = stocked(tmp_path / "one", TOOLS, runtime)

    options = replace(OPTIONS, extras=(one,), runtime="docker")
    carried = await carry(its, options, tmp_path / "folder")
    assert "example.com/one:v1" in carried.images


def on_kind() -> ClusterOptions:
    options = cluster_options(
        artifact_source="offline", kube_version="v1.36.3", kind_node_image="mine/node:v1.36.3"
    )
    return replace(options, runtime="kind")


async def test_of_an_engine_only_the_tools_are_programs(tmp_path: Path) -> None:
    its = stocked(tmp_path, TOOLS, FakeEngineRuntime())
    entries = await fetch(its, replace(OPTIONS, runtime="docker"))
    assert [entry.name for entry in entries] == TOOLS


async def test_a_program_that_is_given_by_path_stays_where_it_is(tmp_path: Path) -> None:
    messages = RecordedMessages()
    its = replace(stocked(tmp_path, [*COMPONENTS, *TOOLS[:2]], FakeRuntime()), progress=messages)
    options = cluster_options(artifact_source="offline", etcdutl_binary="/bin/true")
    assert {entry.name for entry in await fetch(its, options)} == {*COMPONENTS, *TOOLS[:2]}
    assert messages.lines == ["'/bin/true', given for etcdutl, is not copied"]


async def test_a_folder_without_programs_is_refused_with_the_way_to_fill_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="holds no programs for linux-") as caught:
        await take_in(home(tmp_path, FakeRuntime()), OPTIONS, tmp_path / "nothing")
    assert "artifacts pull --to DIR" in str(caught.value.hint)
