"""A component that kwokctl does not have is one file: that of `tests/support/more_components`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwokctl import registry
from kwokctl.cli import app
from kwokctl.cli.parsing.complete import values
from kwokctl.cli.parsing.shared_options import chosen_options
from kwokctl.clusters.launching.ports import held_ports
from kwokctl.clusters.launching.readiness import wait_ready
from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved, load, used_ports
from kwokctl.clusters.wanted import wanted_cluster
from kwokctl.components import catalog as catalogue
from kwokctl.components import definitions
from kwokctl.components.catalog import catalog, usual_options
from kwokctl.components.cluster_plan import selected
from kwokctl.config.config_documents import Document
from kwokctl.config.options import spellings
from kwokctl.config.resolve import Resolved, resolve_options
from kwokctl.errors import UsageError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import (
    JAEGER,
    KUBE_APISERVER_INSECURE_PROXY,
    KWOK_API_PROXY,
    METRICS_SERVER,
    PROMETHEUS,
    ComponentName,
    Plan,
    State,
)
from tests.support import golden, more_components
from tests.support.fake_images import FakeImages
from tests.support.fake_runtime import FakeEngineRuntime, FakeRuntime
from tests.support.options import cluster_options, option

NAME = cluster_name("dev")
WEB_PAGE = ComponentName("web-page")
PROGRAMS = {
    f"{name}_binary": "/bin/true"
    for name in ("etcd", "kube_apiserver", "kube_controller_manager", "kube_scheduler")
}


def _forget() -> None:
    for found in (catalogue.catalog, catalogue.usual_options, app.build):
        found.cache_clear()


@pytest.fixture
def one_more() -> Iterator[None]:
    """One more folder in which components are defined."""
    usual = list(definitions.__path__)
    definitions.__path__.append(str(Path(next(iter(more_components.__path__)))))
    _forget()
    yield
    definitions.__path__[:] = usual
    _forget()


def resolved(*documents: Document, environ: dict[str, str] | None = None, **words: Any) -> Resolved:
    flags = chosen_options({"enable": ["web-page"], **PROGRAMS, **words})
    return resolve_options(usual_options(), flags, environ or {}, documents)


async def saved(home: Home, asked: Resolved) -> Saved:
    """Do all of a creation but start it; return what the next command finds."""
    wanted, runtime = wanted_cluster(home, asked, ()), FakeRuntime()
    found = await artifacts(home, runtime, asked.options, wanted.names)
    with held_ports(home, NAME, wanted.options, wanted.names) as (options, _):
        made = Saved(
            name=NAME,
            options=options,
            names=wanted.names,
            artifacts=found,
            patches=wanted.patches,
            stages=(),
        )
        write_files(home, runtime, made)
    return load(home.paths(NAME), NAME)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(
        workdir=WorkDir(tmp_path / "kwok"),
        cache=tmp_path / "cache",
        load_runtime=FakeRuntime().load,
    )


async def test_a_component_with_two_ports_has_both_held_for_it_and_noted(home: Home) -> None:
    flags = chosen_options({"enable": ["jaeger"], "jaeger_binary": "/bin/true", **PROGRAMS})

    made = await saved(home, resolve_options(usual_options(), flags, {}, ()))

    ports = {option(made.options, "jaeger_port"), option(made.options, "jaeger_otlp_grpc_port")}
    assert len(ports - {0}) == 2
    assert ports <= used_ports(home.workdir, but=cluster_name("other"))


def test_every_component_is_required_usual_or_optional() -> None:
    names = set(catalog())

    assert set(usual_options().selection.components) == names - {
        JAEGER,
        KUBE_APISERVER_INSECURE_PROXY,
        KWOK_API_PROXY,
        METRICS_SERVER,
        PROMETHEUS,
    }
    assert {name for name, each in catalog().items() if each.is_required} < names


@pytest.mark.usefixtures("one_more")
def test_a_component_is_known_by_its_file() -> None:
    assert list(catalog())[-1] == WEB_PAGE
    assert WEB_PAGE not in selected(usual_options())
    assert WEB_PAGE in selected(cluster_options(enable=("web-page",)))


def test_without_its_file_it_is_unknown() -> None:
    with pytest.raises(UsageError, match="no component called 'web-page'"):
        selected(cluster_options(enable=("web-page",)))


@pytest.mark.usefixtures("one_more")
def test_its_options_have_flags_variables_and_keys_and_the_shell_is_offered_its_name() -> None:
    written = {s.field: (s.flag, s.env, s.key) for s in spellings(usual_options())}
    create = app.build().commands["create"].commands["cluster"]
    params = {param.name: param for param in create.params}

    assert written["web_page_port"] == ("--web-page-port", "KWOK_WEB_PAGE_PORT", "webPagePort")
    assert {"web_page_port", "web_page_binary", "web_page_image", "web_page_protocol"} < set(params)
    assert params["web_page_protocol"].rich_help_panel == "Web page"
    assert "web-page" in values(params["enable"], "kwok")


@pytest.mark.usefixtures("one_more")
def test_its_options_are_read_in_every_place_and_checked() -> None:
    document = Document(
        kind="KwokctlConfiguration",
        api_version="",
        name="",
        body={"options": {"webPageProtocol": "HTTP/1.1"}},
        source="kwok.yaml",
    )

    found = resolved(document, environ={"KWOK_WEB_PAGE_PORT": "8123"})

    assert option(found.options, "web_page_port") == 8123
    assert option(found.options, "web_page_protocol") == "HTTP/1.1"
    assert found.warnings == ()
    with pytest.raises(UsageError, match="'--web-page-port' is '99999'"):
        resolved(web_page_port="99999")


@pytest.mark.usefixtures("one_more")
async def test_a_cluster_has_it_with_port_certificate_and_kubeconfig(home: Home) -> None:
    made = await saved(home, resolved(extra_args=["web-page=directory=/srv"]))

    port = option(made.options, "web_page_port")
    paths = home.paths(NAME)
    assert 1024 < port < 32767
    assert port in used_ports(home.workdir, but=cluster_name("other"))
    assert (paths.pki / "web-page.crt").is_file()
    assert "web-page" in paths.tokens.read_text(encoding="utf-8")
    assert paths.component_kubeconfig(WEB_PAGE).is_file()
    args = made.plan(FakeRuntime(), paths).components[WEB_PAGE].args
    assert args == (str(port), "--bind=127.0.0.1", "--protocol=HTTP/1.0", "--directory=/srv")


async def test_a_cluster_without_it_has_nothing_of_it(home: Home) -> None:
    asked = resolve_options(usual_options(), chosen_options(dict(PROGRAMS)), {}, ())

    await saved(home, asked)

    assert [file.name for file in home.paths(NAME).root.rglob("web-page*")] == []


@pytest.mark.usefixtures("one_more")
async def test_its_image_is_taken_where_components_are_containers(home: Home) -> None:
    images = FakeImages(here={"mine/web-page:v1"})
    options = cluster_options(web_page_image="mine/web-page:v1")

    found = await artifacts(home, FakeEngineRuntime(images=images), options, [WEB_PAGE])

    assert found[WEB_PAGE].image == "mine/web-page:v1"


@pytest.mark.usefixtures("one_more")
async def test_it_is_described_as_it_was_reviewed(home: Home) -> None:
    made = await saved(home, resolved())
    port = option(made.options, "web_page_port")

    plan = made.plan(FakeRuntime(), home.paths(NAME))

    component = plan.components[WEB_PAGE]
    lines = [*component.args, *(f"ready: {probe.url}" for probe in component.ready)]
    golden.check("components/web-page.txt", "\n".join(lines).replace(str(port), "PORT") + "\n")


@pytest.mark.usefixtures("one_more")
async def test_it_runs_as_a_process(home: Home) -> None:
    made = await saved(home, resolved())
    runtime = registry.load("binary", Host(home.workdir))
    described = made.plan(runtime, home.paths(NAME)).components[WEB_PAGE]
    try:
        await runtime.install(Plan(cluster=NAME, components={WEB_PAGE: described}))
        await runtime.start(NAME, WEB_PAGE)
        await wait_ready(runtime, NAME, [described])

        assert await runtime.states(NAME) == {WEB_PAGE: State.RUNNING}
    finally:
        await runtime.uninstall(NAME)
