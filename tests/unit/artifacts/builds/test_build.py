from pathlib import Path

import pytest

from kwokctl.artifacts.locations import WantedProgram
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve, store_of
from kwokctl.artifacts.store_maintenance import wanted
from kwokctl.errors import ArtifactError
from tests.support import fake_go
from tests.support.listener import Listener

_KUBERNETES = "k8s.io/kubernetes"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = fake_go.install_go(tmp_path / "go")
    text = f"module {_KUBERNETES}\n\ngo 1.26.0\n\nrequire k8s.io/api v0.0.0\n"
    fake_go.publish_module(folder, _KUBERNETES, "v1.36.3", text)
    monkeypatch.setenv("PATH", str(folder))
    return folder


async def _build(cache: Path, listener: Listener, *names: str, version: str = "v1.36.3") -> None:
    wanted = [WantedProgram(name=name, version=version) for name in names]
    await resolve(wanted, source=ArtifactSource.BUILD, cache=cache, progress=listener)


async def test_programs_are_built_in_a_scratch_module(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _build(cache, listener, "kubectl", "kube-scheduler")

    assert "replace k8s.io/api => k8s.io/api v0.36.3\n" in (go / "scratch").read_text()
    packages = f"{_KUBERNETES}/cmd/kubectl@v1.36.3 {_KUBERNETES}/cmd/kube-scheduler@v1.36.3"
    assert f"get -tool {packages}" in fake_go.calls(go)


async def test_a_module_is_fetched_in_the_version_that_go_knows(
    cache: Path, listener: Listener, go: Path
) -> None:
    module = "github.com/prometheus/prometheus"
    fake_go.publish_module(go, module, "v0.312.0", f"module {module}\n\ngo 1.26.0\n")
    await _build(cache, listener, "prometheus", version="v3.12.0")

    assert f"get -tool {module}/cmd/prometheus@v0.312.0" in fake_go.calls(go)
    assert "-tags=remove_all_sd,enable_kubernetes_sd" in fake_go.calls(go)[-1]


async def test_go_is_itself_and_away_from_the_users_work(
    cache: Path, listener: Listener, go: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOFLAGS", "-buildvcs=false")
    monkeypatch.setenv("GOPROXY", "https://proxy.example")

    await _build(cache, listener, "kubectl")

    environment = fake_go.environment(go)
    assert environment["CGO_ENABLED"] == "0"
    assert environment["GOTOOLCHAIN"] == "local"
    assert environment["GOWORK"] == "off"
    assert environment["GOOS"] == "linux"
    assert environment["GOTMPDIR"].startswith(str(cache))
    assert environment["GOFLAGS"] == "-buildvcs=false"
    assert environment["GOPROXY"] == "https://proxy.example"


async def test_it_is_shown_what_is_compiled_and_how_much_is_left(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _build(cache, listener, "kubectl")

    step = listener.steps[-1]
    assert step.title == "Building kubectl v1.36.3 with Go 1.26.8"
    assert (step.total, step.unit, step.done) == (2, "packages", 2)
    assert step.said == ["k8s.io/example/one", "linking"]


async def test_the_store_knows_what_was_built_with_what(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _build(cache, listener, "kubectl")

    (entry,) = store_of(cache, here()).entries()
    assert entry.source == "build"
    assert entry.origin == "k8s.io/kubernetes/cmd/kubectl by Go 1.26.8"


async def test_etcd_is_named_after_its_folder_and_not_after_its_major_version(
    cache: Path, listener: Listener, go: Path
) -> None:
    for module in ("server", "etcdctl", "etcdutl"):
        fake_go.publish_module(go, f"go.etcd.io/etcd/{module}/v3", "v3.6.16", "go 1.26\n")

    await _build(cache, listener, "etcd", "etcdctl", "etcdutl", version="3.6.16")

    contents = {e.name: e.path.read_text() for e in store_of(cache, here()).entries()}
    assert contents["etcd"].endswith("echo server\n")
    assert contents["etcdutl"].endswith("echo etcdutl\n")


async def test_a_version_that_no_proxy_has_is_named(
    cache: Path, listener: Listener, go: Path
) -> None:
    with pytest.raises(
        ArtifactError, match=r"does not have all modules of Kubernetes v1.35.99"
    ) as e:
        await _build(cache, listener, "kubectl", version="1.35.99")

    assert "go list -m -versions k8s.io/kubernetes" in str(e.value.hint)
    assert "k8s.io/kubernetes@v1.35.99: not found" in str(e.value.detail)
    assert not list((cache / "tmp").glob("*/build"))


async def test_where_the_proxy_lacks_a_program_of_etcd_the_nearest_patch_is_named(
    cache: Path, listener: Listener, go: Path
) -> None:
    for module, patches in (("server", (21, 24, 33, 35)), ("etcdutl", (21, 33, 35))):
        for patch in patches:
            path = f"go.etcd.io/etcd/{module}/v3"
            fake_go.publish_module(go, path, f"v3.5.{patch}", "go 1.24\n")

    with pytest.raises(ArtifactError, match=r"all modules of etcd v3\.5\.24") as caught:
        await _build(cache, listener, "etcd", "etcdutl", version="3.5.24")

    assert caught.value.hint == "try another patch: --etcd-version 3.5.21"


async def test_where_the_proxy_lacks_a_part_of_kubernetes_a_more_complete_patch_is_named(
    cache: Path, listener: Listener, go: Path
) -> None:
    for patch in (0, 2, 4):
        fake_go.publish_module(go, _KUBERNETES, f"v1.36.{patch}", "go 1.26\n")
    fake_go.publish_module(go, "k8s.io/api", "v0.36.0", "go 1.26\n")
    lacking = "k8s.io/api@v0.36.3: reading https://proxy.example/v0.36.3.zip: 403 Forbidden"
    (go / "lacking").write_text(lacking)

    with pytest.raises(ArtifactError, match=r"all modules of Kubernetes v1\.36\.3") as caught:
        await _build(cache, listener, "kubectl")

    assert caught.value.hint == "try another patch: --kube-version v1.36.0"
    assert caught.value.detail == lacking


async def test_a_failed_build_shows_the_output_of_go(
    cache: Path, listener: Listener, go: Path
) -> None:
    (go / "broken").touch()

    with pytest.raises(ArtifactError, match=r"Kubernetes v1.36.3 could not be built") as caught:
        await _build(cache, listener, "kubectl")

    assert "syntax error" in str(caught.value.detail)


@pytest.mark.parametrize(("name", "version"), [("kubectl", "1.16.15"), ("etcd", "3.4.13")])
async def test_releases_from_before_go_modules_are_not_tried(
    cache: Path, listener: Listener, go: Path, name: str, version: str
) -> None:
    with pytest.raises(ArtifactError, match="is not available as Go modules"):
        await _build(cache, listener, name, version=version)

    assert fake_go.calls(go) == []


@pytest.mark.parametrize(
    ("version", "named"), [("1.5.0", "Kubernetes v1.5.0"), ("1.18.20", "etcd v3.4.3")]
)
async def test_programs_that_cannot_be_built_are_reported_before_any_build(
    cache: Path, listener: Listener, go: Path, version: str, named: str
) -> None:
    with pytest.raises(ArtifactError, match=f"{named} is not available") as caught:
        await resolve(wanted(version), source=ArtifactSource.BUILD, cache=cache, progress=listener)

    assert fake_go.calls(go) == []
    assert ("--kube-version" in str(caught.value.hint)) == named.startswith("etcd")
    assert list((cache / "tmp").iterdir()) == []
