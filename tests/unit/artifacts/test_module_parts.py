import pytest

from kwokctl.artifacts.module_parts import ModulePart, is_module_part, module_part


def test_a_program_of_a_module_is_read_and_written_alike() -> None:
    text = "go:k8s.io/kube-state-metrics/v2@v2.18.0#."
    assert module_part(text) == ModulePart(
        module="k8s.io/kube-state-metrics/v2", version="v2.18.0", part=".", is_files=False
    )
    assert str(module_part(text)) == text


def test_patterns_of_files_keep_their_order() -> None:
    text = "go-files:example.com/crds@v0.1.0-rc.1#config/crd/*.yaml,a/role.yaml"
    assert module_part(text).patterns == ["config/crd/*.yaml", "a/role.yaml"]
    assert str(module_part(text)) == text


def test_versions_of_required_modules_can_be_others() -> None:
    text = "go:example.com/m@v1.0.0;v0.34.7=v0.34.4;v1.34.7=v1.34.4#cmd"
    assert module_part(text).instead == (("v0.34.7", "v0.34.4"), ("v1.34.7", "v1.34.4"))
    assert str(module_part(text)) == text


@pytest.mark.parametrize(
    ("part", "package"),
    [
        (".", "."),
        ("cmd", "./cmd"),
        ("./cmd/one", "./cmd/one"),
        ("cmd/one/", "./cmd/one"),
        ("-o", "./-o"),
    ],
)
def test_a_package_is_named_as_go_takes_it(part: str, package: str) -> None:
    assert module_part(f"go:example.com/m@v1.0.0#{part}").package == package


@pytest.mark.parametrize(
    "text",
    [
        "go:example.com/m@v1.0.0",
        "go:example.com/m#cmd",
        "go:example.com/m@latest#cmd",
        "go:@v1.0.0#cmd",
        "go:example.com/m@v1.0.0;v0.1.0#cmd",
        "go:example.com/m@v1.0.0#../other",
        "go:example.com/m@v1.0.0#/etc",
        "go-files:example.com/m@v1.0.0#a/../../b.yaml",
    ],
)
def test_what_is_incomplete_or_leaves_the_module_is_refused(text: str) -> None:
    assert is_module_part(text)
    with pytest.raises(ValueError, match=r"^go"):
        module_part(text)


def test_a_path_and_an_address_are_no_parts_of_modules() -> None:
    assert not is_module_part("/usr/bin/go")
    assert not is_module_part("https://example.com/go")
