"""What each add-on that comes with kwokctl becomes in a cluster, on this host and in containers."""

import re
from pathlib import Path

import pytest

from kwokctl.artifacts.module_parts import module_part
from kwokctl.components.catalog import usual_options
from kwokctl.components.choose_data_path import choose_data_path
from kwokctl.components.cluster_plan import build_plan, selected
from kwokctl.components.setting import Setting
from kwokctl.config.add_ons.enabling import resolve_with_add_ons
from kwokctl.config.add_ons.folder import shipped
from kwokctl.config.options import ClusterOptions
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import KUBE_SCHEDULER, Artifact, ClusterName, Component, ComponentName, Plan
from kwokctl.replacing import replace
from kwokctl.runtime import Site
from tests.support.sites import ContainerLikeSite, HostLikeSite

PATHS = ClusterPaths(Path("/home/me/.kwok/clusters/dev"))
SITES = (HostLikeSite(), ContainerLikeSite())
WORD = re.compile(r"\{[a-z]+(\.[a-z]+)?\}")
CONFIGURATIONS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
IMAGES_ALONE = ("kueueviz",)
"""Add-ons whose programs are not in a module, so that they are for containers."""
REACHED = {
    "jobset": ["https://127.0.0.1:20000", "https://jobset:20000"],
    "kueue": ["https://127.0.0.1:20000", "https://kueue:20000"],
    "lws": ["https://127.0.0.1:20000", "https://lws:20000"],
}


def options(name: str) -> ClusterOptions:
    """Return what a cluster with an add-on is made with, whose free ports count from 20000."""
    found = resolve_with_add_ons(usual_options(), {"enable": (name,)}, {}, ()).resolved.options
    extras = tuple(
        replace(
            extra,
            ports=tuple(
                replace(port, port=20000 + at, host_port=20000 + at)
                for at, port in enumerate(extra.ports)
            ),
        )
        for extra in found.extras
    )
    return replace(found, extras=extras)


@pytest.mark.parametrize("name", shipped())
def test_the_way_of_writes_names_add_ons_that_must_see_some(name: str) -> None:
    choice = choose_data_path(options(name))

    assert choice.path == "etcd"
    assert (f"webhooks of '{name}' see: through the API server" in choice.why) is (name in REACHED)


def plan(found: ClusterOptions, site: Site) -> Plan:
    names = selected(found)
    setting = Setting(
        site=site,
        paths=PATHS,
        options=found,
        artifacts={name: Artifact(name=name, version="v0", command=("/p",)) for name in names},
    )
    return build_plan(ClusterName("dev"), names, setting)


def own(found: ClusterOptions, site: Site) -> list[Component]:
    components = plan(found, site).components
    return [components[extra.name] for extra in found.extras]


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("name", shipped())
def test_every_word_in_braces_stands_for_something(name: str, site: Site) -> None:
    for component in own(options(name), site):
        texts = [*component.args, *component.env.values(), *component.files.values()]
        assert not [text for text in texts if WORD.search(text)]


@pytest.mark.parametrize("name", shipped())
def test_it_has_an_image_for_containers_and_a_program_of_a_module_for_this_host(name: str) -> None:
    for extra in options(name).extras:
        assert extra.image.startswith("registry.k8s.io/")
        assert extra.image.endswith(f":{extra.version}")
        if name in IMAGES_ALONE:
            assert extra.binary == ""
            continue
        part = module_part(extra.binary)
        assert (part.version, part.is_files) == (extra.version, False)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("name", [name for name in shipped() if name not in IMAGES_ALONE])
def test_it_is_waited_for_and_has_rights_of_its_own(name: str, site: Site) -> None:
    for component in own(options(name), site):
        assert len(component.ready) == 1
        bound = [each for each in component.objects if each["kind"] == "ClusterRoleBinding"]
        assert f"kwokctl:{component.name}" in str(bound)


@pytest.mark.parametrize("name", shipped())
def test_its_webhooks_are_reached_at_the_component_itself(name: str) -> None:
    reached = [
        {
            hook["clientConfig"]["url"].rpartition("/")[0]
            for component in own(options(name), site)
            for body in component.objects
            if body["kind"] in CONFIGURATIONS
            for hook in body["webhooks"]
        }
        for site in SITES
    ]
    assert [address for each in reached for address in each] == REACHED.get(name, [])


def test_the_dashboard_s_frontend_knows_where_its_backend_is() -> None:
    backend, frontend = own(options("kueueviz"), SITES[1])

    assert backend.env["KUBECONFIG"].endswith("kueueviz-backend.yaml")
    assert frontend.env["REACT_APP_WEBSOCKET_URL"] == "ws://127.0.0.1:20000"


def test_the_scheduler_with_plugins_takes_the_place_of_the_usual_one() -> None:
    found = options("scheduler-plugins").component(ComponentName(KUBE_SCHEDULER))

    part = module_part(found.binary)
    assert (part.module, part.package) == ("sigs.k8s.io/scheduler-plugins", "./cmd/scheduler")
    assert found.image == "registry.k8s.io/scheduler-plugins/kube-scheduler:v0.34.7"
