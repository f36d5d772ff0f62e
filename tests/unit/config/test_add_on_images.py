"""The original's options of add-ons: images are used, what is in the folder of an add-on is refused."""

from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.config_documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.config.resolve import Resolved
from kwokctl.errors import NotServedError
from tests.support.options import option
from tests.support.original_kwokctl import DEFAULTS

ADD_ONS = (
    *("descheduler", "jobset", "kueue", "kueueviz", "lws"),
    *("node-readiness-controller", "scheduler-plugins"),
)


def enabled(*names: str, environ: Mapping[str, str] | None = None, **options: Any) -> Resolved:
    body = {"kind": "KwokctlConfiguration", "options": options}
    document = Document(
        kind="KwokctlConfiguration", api_version="", name="", body=body, source="kwok.yaml"
    )
    return resolve_with_add_ons(
        usual_options(), {"enable": names}, environ or {}, [document]
    ).resolved


def images(options: ClusterOptions) -> dict[str, str]:
    scheduler = option(options, "kube_scheduler_image")
    extras = {str(each.name): each.image for each in options.extras}
    return extras | {"kube-scheduler": str(scheduler)}


def test_images_come_from_the_users_registry() -> None:
    prefixes: dict[str, Any] = {
        f"{name}ImagePrefix": "mirror.example/x"
        for name in (
            *("descheduler", "jobset", "kueue", "lws"),
            *("nodeReadinessController", "schedulerPlugins"),
        )
    }
    found = images(enabled(*ADD_ONS, **prefixes).options)

    assert {image.rpartition("/")[0] for image in found.values()} == {"mirror.example/x"}
    assert found["kueueviz-backend"] == "mirror.example/x/kueueviz-backend:v0.18.1"
    assert found["kube-scheduler"] == "mirror.example/x/kube-scheduler:v0.34.7"


def test_an_image_that_is_named_wins_over_the_registry() -> None:
    variables = {
        "KWOK_DESCHEDULER_IMAGE": "descheduler",
        "KWOK_JOBSET_IMAGE": "jobset",
        "KWOK_KUEUE_IMAGE": "kueue",
        "KWOK_KUEUEVIZ_BACKEND_IMAGE": "kueueviz-backend",
        "KWOK_KUEUEVIZ_FRONTEND_IMAGE": "kueueviz-frontend",
        "KWOK_LWS_IMAGE": "lws",
        "KWOK_NODE_READINESS_IMAGE": "node-readiness-controller",
        "KWOK_SCHEDULER_PLUGINS_CONTROLLER_IMAGE": "scheduler-plugins-controller",
        "KWOK_SCHEDULER_PLUGINS_SCHEDULER_IMAGE": "kube-scheduler",
    }
    environ = {name: f"my.example/{image}:1" for name, image in variables.items()}
    environ["KWOK_KUEUE_IMAGE_PREFIX"] = "mirror.example"

    found = images(enabled(*ADD_ONS, environ=environ).options)

    assert found == {name: f"my.example/{name}:1" for name in found}


def test_without_them_images_are_those_of_the_add_ons() -> None:
    assert images(enabled("kueue").options) == {
        "kueue": "registry.k8s.io/kueue/kueue:v0.18.1",
        "kube-scheduler": "",
    }


@pytest.mark.parametrize(
    ("name", "environ"),
    [
        ("kueue", {"KWOK_KUEUE_VERSION": "v0.17.0"}),
        ("kueue", {"KWOK_KUEUE_MANIFESTS": "my.yaml"}),
        ("node-readiness-controller", {"KWOK_NODE_READINESS_VERSION": "v0.2.0"}),
        ("metrics-server", {"KWOK_METRICS_SERVER_MANIFESTS": "my.yaml"}),
    ],
)
def test_what_the_folder_of_an_add_on_says_is_refused_where_that_is_enabled(
    name: str, environ: dict[str, str]
) -> None:
    [variable] = environ

    with pytest.raises(NotServedError, match=f"{variable} is not supported: "):
        enabled(name, environ=environ)

    (said,) = enabled(environ=environ).warnings
    assert said.startswith(f"{variable}: without effect")


@pytest.mark.parametrize("version", ["v0.18.1", "0.18.1"])
def test_the_version_that_an_add_on_has_may_be_asked_for(version: str) -> None:
    assert enabled("kueue", environ={"KWOK_KUEUE_VERSION": version}).options.extras


def test_one_that_is_disabled_again_is_asked_for_nothing() -> None:
    assert enabled("kueue", kueueVersion="v0.17.0", disable=["kueue"]).options.extras == ()


def test_the_originals_defaults_ask_for_nothing() -> None:
    kept = [each for each in NOT_SERVED if each.idle_unless and each.default]
    options: dict[str, Any] = {each.key: each.default for each in kept}

    found = enabled(*ADD_ONS, "metrics-server", **options)

    assert found.warnings == ()
    assert {key: default for key, default in options.items() if DEFAULTS[key] is not None} == {
        key: DEFAULTS[key] for key in options if DEFAULTS[key] is not None
    }
