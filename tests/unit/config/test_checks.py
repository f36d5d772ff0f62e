from pathlib import Path

import pytest

from kwokctl.config import checks, version_checks

IMAGES = [
    "etcd",
    "registry.k8s.io/etcd:3.6.16-0",
    "localhost:5000/a/b:tag",
    "[::1]:5000/a",
    "docker.io/kindest/node@sha256:" + "0" * 64,
]


@pytest.mark.parametrize("word", ["1.31.0", "v1.36.3", "v1.37.0-beta.1", "1.99.0+own"])
def test_versions_of_kubernetes_from_the_oldest_that_is_supported(word: str) -> None:
    assert version_checks.kubernetes(word) is None


@pytest.mark.parametrize("word", ["banana", "2.0.0", "1.21.14", "1.99", "v1", "1.٣٦.0", "0.36.3"])
def test_what_is_no_version_that_is_supported_is_refused_with_those_that_are(word: str) -> None:
    fault = version_checks.kubernetes(word)

    assert fault is not None
    assert "Kubernetes 1.22 and later are supported" in fault.hint


@pytest.mark.parametrize("word", IMAGES)
def test_references_of_images_are_accepted(word: str) -> None:
    assert checks.image(word) is None
    assert checks.image_or_file(word) is None


@pytest.mark.parametrize("word", ["a b", "UPPER CASE", "/a", "a:b:c:", "", "ü", "a\n", "-a"])
def test_what_is_no_reference_is_not(word: str) -> None:
    assert checks.image(word) is not None


def test_a_path_is_a_file_and_never_the_name_of_an_image(tmp_path: Path) -> None:
    saved = tmp_path / "node.tar"

    assert checks.image_or_file(str(saved)) is not None
    saved.touch()
    assert checks.image_or_file(str(saved)) is None


def test_a_program_is_a_file_that_can_be_executed(tmp_path: Path) -> None:
    program = tmp_path / "etcd"

    assert checks.program(str(program)) is not None
    program.touch(mode=0o644)
    assert "chmod" in str(checks.program(str(program)))
    assert checks.program(f"{program}#etcd") is None, "an archive need not be executable"
    program.chmod(0o755)
    assert checks.program(str(program)) is None
    assert checks.program(str(tmp_path)) is not None
    assert checks.program("https://example.com/etcd.tar.gz#etcd") is None
    assert checks.program("https://:0x/") is not None
    assert checks.program(f"https://example.com/etcd.tar.gz#etcd@sha256:{'0a' * 32}") is None
    assert "64 hexadecimal digits" in str(checks.program("https://example.com/etcd@sha256:0a"))
    assert checks.program("true") is None
    assert checks.program("no-such-command") is not None


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (checks.quantity, ["8Gi", "1000000", "1.5G"], ["0", "-1", "8GiB", "", "9" * 30]),
        (checks.address, ["127.0.0.1", "::1"], ["127.0.0.256", "localhost", "1"]),
        (checks.network, ["10.0.0.0/24", "fd00::/64"], ["10.0.0.0", "10.0.0.0/33", "x/24"]),
        (checks.host_name, ["a.example.com", "*.a.b", "::1"], ["a b", "a_b", "*", ""]),
        (checks.feature_gates, ["A=true", "A=true,B=False", "A=1"], ["A", "A=2", "=true", ","]),
        (checks.runtime_config, ["api/all=true", "batch/v1", "v1=0"], ["A=b", "a=1", ","]),
        (checks.key_prefix, ["/registry", "a/b.c"], ["", "/", "..", "/a/../b", "a b", "/a/"]),
        (version_checks.etcd, ["3.6.16", "v3.6.16-0"], ["3", "latest"]),
        (version_checks.kind, ["v0.33.0"], ["0.33", "main"]),
        (checks.text, ["x", "ü"], [" ", "a\nb", "\x1b[0m"]),
    ],
)
def test_each_check_knows_good_from_bad(
    check: checks.Check, good: list[str], bad: list[str]
) -> None:
    assert [word for word in good if check(word)] == []
    assert [word for word in bad if not check(word)] == []
