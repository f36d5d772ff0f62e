import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.resolve import resolve_options
from kwokctl.errors import NotServedError


@pytest.mark.parametrize(
    "name",
    [
        "KWOK_VERSION",
        "KWOK_IMAGE_PREFIX",
        "KWOK_BINARY_PREFIX",
        "KWOK_JAEGER_VERSION",
        "KWOK_SCHEDULER_PLUGINS_VERSION",
        "KWOK_KUEUE_MANIFESTS",
        "KWOK_NODE_READINESS_MANIFESTS",
    ],
)
def test_a_variable_of_the_original_without_effect_is_named_with_the_reason(name: str) -> None:
    (said,) = resolve_options(usual_options(), {}, {name: "x"}, []).warnings

    assert said.startswith(f"{name}: without effect, because ")


@pytest.mark.parametrize("name", ["KWOK_CONTROLLER_IMAGE", "KWOK_SECURE_PORT"])
def test_a_variable_of_the_original_that_asks_for_what_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(NotServedError, match=f"{name} is not supported"):
        resolve_options(usual_options(), {}, {name: "false"}, [])


def test_variables_without_effect_for_the_same_reason_share_a_line() -> None:
    environ = {"KWOK_IMAGE_PREFIX": "x", "KWOK_VERSION": "x", "KWOK_JAEGER_VERSION": "x"}

    own, jaeger = sorted(resolve_options(usual_options(), {}, environ, []).warnings)[::-1]

    assert own.startswith("KWOK_VERSION, KWOK_IMAGE_PREFIX: ")
    assert jaeger.startswith("KWOK_JAEGER_VERSION: ")


@pytest.mark.parametrize(
    "environ",
    [
        {"KWOK_JAEGER_PORT": "0"},
        {"KWOK_JAEGER_VERSION": ""},
        {"KWOK_SECURE_PORT": "true"},
        {"KWOK_WORKDIR": "/tmp/x", "KWOK_ETCD_PORT": "1"},
        {"HOME": "/root"},
    ],
)
def test_a_variable_that_asks_for_the_default_gives_no_warning(environ: dict[str, str]) -> None:
    assert resolve_options(usual_options(), {}, environ, []).warnings == ()


def test_a_misspelt_variable_is_named_with_the_nearest() -> None:
    assert resolve_options(usual_options(), {}, {"KWOK_ETCD_PROT": "1"}, []).warnings == (
        "KWOK_ETCD_PROT is not a variable of kwokctl and is ignored; did you mean 'KWOK_ETCD_PORT'?",
    )
