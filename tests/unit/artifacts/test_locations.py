from pathlib import Path

import pytest

from kwokctl.artifacts.locations import Local, Order, WantedProgram, local_artifact, place
from kwokctl.artifacts.program_platform import Platform
from kwokctl.errors import ArtifactError, UsageError

_LINUX = Platform("linux", "amd64")


def _order(
    name: str, version: str, explicit: str | None = None, prefixes: dict[str, str] | None = None
) -> Order:
    placed = place(WantedProgram(name=name, version=version, explicit=explicit), _LINUX, prefixes)
    assert isinstance(placed, Order)
    return placed


def test_a_kubernetes_program_is_a_file_of_its_release() -> None:
    order = _order("kube-apiserver", "1.36.3")

    assert order.url == "https://dl.k8s.io/release/v1.36.3/bin/linux/amd64/kube-apiserver"
    assert (order.key, order.batch, order.member) == ("v1.36.3", "kubernetes-v1.36.3", "")
    assert order.official


def test_etcd_and_its_tools_are_members_of_one_archive() -> None:
    orders = [_order(name, "v3.6.16-0") for name in ("etcd", "etcdctl", "etcdutl")]

    assert {order.url for order in orders} == {
        "https://github.com/etcd-io/etcd/releases/download/v3.6.16/etcd-v3.6.16-linux-amd64.tar.gz"
    }
    assert [order.member for order in orders] == ["etcd", "etcdctl", "etcdutl"]
    assert {order.batch for order in orders} == {"etcd-3.6.16"}


def test_build_metadata_is_quoted_in_an_address() -> None:
    order = _order("kubectl", "v1.33.0-alpha.1.55+abcdef")

    assert "/release/v1.33.0-alpha.1.55%2Babcdef/bin/" in order.url
    assert order.key == "v1.33.0-alpha.1.55+abcdef"


def test_a_program_from_the_users_address_has_its_own_folder_in_the_store() -> None:
    mine = _order("kubectl", "v1.36.3", "https://example.com/kubectl")
    other = _order("kubectl", "v1.36.3", "https://example.org/kubectl")

    assert mine.key.startswith("v1.36.3@")
    assert mine.key != other.key
    assert not mine.official


def test_members_of_one_archive_are_got_together() -> None:
    address = "https://example.com/etcd.tar.gz"
    etcd = _order("etcd", "3.6.16", f"{address}#etcd")
    etcdctl = _order("etcdctl", "3.6.16", f"{address}#etcdctl")

    assert (etcd.url, etcd.member) == (address, "etcd")
    assert (etcd.batch, etcd.key) == (etcdctl.batch, etcdctl.key)


def test_a_prefix_takes_the_place_of_the_projects_address() -> None:
    prefixes = {"kubernetes": "https://mirror/k8s/", "etcd": "https://mirror/etcd"}

    assert _order("kubectl", "1.36.3", prefixes=prefixes).url == "https://mirror/k8s/kubectl"
    etcd = _order("etcd", "3.6.16", prefixes=prefixes)
    assert etcd.url == "https://mirror/etcd/etcd-v3.6.16-linux-amd64.tar.gz"
    assert etcd.member == "etcd"


@pytest.mark.parametrize(
    ("group", "name", "sums"),
    [
        ("kubernetes", "kubectl", "kubectl.sha256"),
        ("etcd", "etcd", "SHA256SUMS"),
        ("kind", "kind", "kind-linux-amd64.sha256sum"),
    ],
)
def test_every_program_has_mirrors_whose_checksums_are_theirs_or_the_projects(
    group: str, name: str, sums: str
) -> None:
    order = _order(name, "v1.2.3", prefixes={group: "https://mirror/x"})

    assert order.url.startswith("https://mirror/x/")
    assert order.sums[0] == f"https://mirror/x/{sums}"
    assert order.sums[1].endswith(f"/{sums}")
    assert not order.sums[1].startswith("https://mirror")


def test_a_project_without_checksums_is_compared_with_what_is_pinned() -> None:
    known, unknown = (_order("metrics-server", version) for version in ("v0.8.1", "v0.9.0"))
    mirrors = {"metrics-server": "https://mirror/x"}
    mirrored = _order("metrics-server", "v0.8.1", prefixes=mirrors)

    assert (known.sums, unknown.sums, unknown.pinned) == ((), (), "")
    assert len(known.pinned) == 64
    assert mirrored.pinned == known.pinned
    assert mirrored.sums == ("https://mirror/x/metrics-server-linux-amd64.sha256",)
    assert _order("metrics-server", "v0.8.1", "https://example.com/of-mine").pinned == ""


@pytest.mark.parametrize(
    "value",
    [
        f"https://example.com/x.tgz@sha256:{'AB' * 32}#etcd",
        f"https://example.com/x.tgz#etcd@sha256:{'ab' * 32}",
    ],
)
def test_an_address_may_say_what_its_file_must_be(value: str) -> None:
    order = _order("etcd", "3.6.16", value)

    assert (order.url, order.member) == ("https://example.com/x.tgz", "etcd")
    assert order.sha256 == "ab" * 32
    assert order.key != _order("etcd", "3.6.16", "https://example.com/x.tgz#etcd").key


def test_an_empty_prefix_is_none() -> None:
    assert _order("kubectl", "1.36.3", prefixes={"kubernetes": ""}).official


def test_a_prefix_may_be_a_folder() -> None:
    placed = place(
        WantedProgram(name="kubectl", version="1.36.3"), _LINUX, {"kubernetes": "/opt/k8s"}
    )

    assert placed == Local(name="kubectl", version="v1.36.3", value="/opt/k8s/kubectl")


def test_a_given_program_wins_over_a_prefix() -> None:
    wanted = WantedProgram(name="kubectl", version="1.36.3", explicit="/usr/bin/kubectl")

    placed = place(wanted, _LINUX, {"kubernetes": "https://mirror"})

    assert placed == Local(name="kubectl", version="v1.36.3", value="/usr/bin/kubectl")


def test_another_archive_at_the_same_path_is_another_program(tmp_path: Path) -> None:
    archive = tmp_path / "etcd.tar.gz"
    archive.write_bytes(b"one")
    before = _order("etcd", "3.6.16", f"{archive}#etcd")
    archive.write_bytes(b"three")

    assert before.url == str(archive)
    assert _order("etcd", "3.6.16", f"{archive}#etcd").key != before.key


def test_a_path_may_have_a_hash_sign_in_it(tmp_path: Path) -> None:
    program = tmp_path / "c#" / "etcd"
    program.parent.mkdir()
    program.touch()

    placed = place(WantedProgram(name="etcd", version="3.6.16", explicit=str(program)), _LINUX)

    assert isinstance(placed, Local)


def test_an_unknown_program_can_be_given_as_a_path() -> None:
    wanted = WantedProgram(name="kwok-controller", version="v0.8.0", explicit="/usr/bin/kwok")

    assert place(wanted, _LINUX) == Local(
        name="kwok-controller", version="v0.8.0", value="/usr/bin/kwok"
    )


def test_an_unknown_program_has_no_location() -> None:
    with pytest.raises(ArtifactError, match="'nothing'") as caught:
        place(WantedProgram(name="nothing", version="1.36.3"), _LINUX)

    assert "kube-apiserver" in str(caught.value.hint)


def test_a_version_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError):
        place(WantedProgram(name="kubectl", version="latest"), _LINUX)


def _program(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def _given(value: str) -> Local:
    return Local(name="etcd", version="3.6.16", value=value)


def test_a_given_program_is_used_where_it_lies(tmp_path: Path) -> None:
    program = _program(tmp_path / "my-etcd")

    found = local_artifact(_given(str(program)))

    assert (found.name, found.version, found.command) == ("etcd", "3.6.16", (str(program),))


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(tmp_path / "etcd")
    monkeypatch.chdir(tmp_path)

    assert local_artifact(_given("./etcd")).command == (str(program),)


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(tmp_path / "etcd")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert local_artifact(_given("~/etcd")).command == (str(program),)


def test_a_bare_name_is_looked_up_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(tmp_path / "etcd-from-path")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert local_artifact(_given("etcd-from-path")).command == (str(program),)


def test_a_bare_name_of_a_file_here_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path / "etcd")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")

    assert local_artifact(_given("etcd")).command == (str(program),)


def test_a_program_that_is_not_there_is_named_with_its_option(tmp_path: Path) -> None:
    with pytest.raises(
        ArtifactError, match=r"'/no/etcd', given for etcd, does not exist"
    ) as caught:
        local_artifact(_given("/no/etcd"))

    assert "--etcd-binary" in str(caught.value.hint)


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="is not a file"):
        local_artifact(_given(str(tmp_path)))


def test_a_file_that_cannot_be_executed_is_no_program(tmp_path: Path) -> None:
    file = tmp_path / "etcd"
    file.touch()

    with pytest.raises(ArtifactError, match="is not executable") as caught:
        local_artifact(_given(str(file)))

    assert f"chmod +x {file}" in str(caught.value.hint)
