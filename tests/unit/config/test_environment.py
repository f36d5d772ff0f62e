import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.resolve import resolve_options, warnings


@pytest.mark.parametrize(
    "name",
    [
        "KWOK_VERSION",
        "KWOK_IMAGE_PREFIX",
        "KWOK_BINARY_PREFIX",
        "KWOK_CONTROLLER_IMAGE",
        "KWOK_PROMETHEUS_VERSION",
        "KWOK_SCHEDULER_PLUGINS_CONTROLLER_IMAGE",
        "KWOK_KUEUEVIZ_BACKEND_IMAGE",
        "KWOK_NODE_READINESS_MANIFESTS",
        "KWOK_KUBE_SCHEDULER_CONFIG",
    ],
)
def test_a_variable_of_the_original_without_effect_is_named(name: str) -> None:
    assert list(warnings({name: "x"}, usual_options())) == [
        f"{name} is set, but is not supported yet and is ignored"
    ]


@pytest.mark.parametrize(
    "environ",
    [
        {"KWOK_PROMETHEUS_PORT": "0"},
        {"KWOK_PROMETHEUS_VERSION": ""},
        {"KWOK_SECURE_PORT": "true"},
        {"KWOK_WORKDIR": "/tmp/x", "KWOK_ETCD_PORT": "1"},
        {"HOME": "/root"},
    ],
)
def test_a_variable_that_asks_for_the_default_gives_no_warning(environ: dict[str, str]) -> None:
    assert list(warnings(environ, usual_options())) == []


def test_a_misspelt_variable_is_named_with_the_nearest() -> None:
    assert resolve_options(usual_options(), {}, {"KWOK_ETCD_PROT": "1"}, []).warnings == (
        "KWOK_ETCD_PROT is not a variable of kwokctl and is ignored; did you mean 'KWOK_ETCD_PORT'?",
    )
