"""What no component needs does not keep a cluster from running."""

from pathlib import Path

import pytest

from kwokctl.clusters.create import CreateRequest, create_cluster
from kwokctl.clusters.programs.tools_last import get_tools, lacking_tools
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ArtifactError, UnavailableError
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import changed, cluster_options
from tests.support.recorded_messages import RecordedMessages
from tests.unit.clusters.programs.test_carrying import COMPONENTS, OPTIONS, TOOLS, stocked

NAME = cluster_name("dev")


@pytest.fixture(autouse=True)
def _without_kubectl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def runtime() -> FakeRuntime:
    """Return a runtime in which components cannot start: so nothing is waited for."""
    return FakeRuntime(fails_at={"start": UnavailableError("they were started")})


async def create(home: Home, **options: str) -> None:
    wanted = changed(OPTIONS, **options) if options else OPTIONS
    request = CreateRequest(
        name=NAME,
        resolved=Resolved(options=wanted, chosen=frozenset(), warnings=()),
        kubeconfig=None,
        keep_on_failure=True,
    )
    await create_cluster(home, request)


async def test_components_start_before_the_tools_are_there(tmp_path: Path) -> None:
    home = stocked(tmp_path, COMPONENTS, runtime())

    with pytest.raises(UnavailableError, match="they were started"):
        await create(home)

    assert await lacking_tools(home, OPTIONS) == ("kubectl", "etcdctl", "etcdutl")


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (COMPONENTS[:-1], {}, "kube-scheduler v1.36.3 is not in the store"),
        (COMPONENTS, {"etcdctl_binary": "/not/there"}, "/not/there"),
    ],
)
async def test_what_is_wrong_with_programs_is_an_error_before_anything_starts(
    tmp_path: Path, names: list[str], options: dict[str, str], message: str
) -> None:
    its = runtime()

    with pytest.raises(ArtifactError, match=message):
        await create(stocked(tmp_path, names, its), **options)

    assert "start" not in its.asked


async def test_tools_that_cannot_be_had_are_named_and_the_others_are_got(tmp_path: Path) -> None:
    messages = RecordedMessages()
    home = replace(stocked(tmp_path, COMPONENTS, runtime()), progress=messages)
    with pytest.raises(UnavailableError):
        await create(home)
    messages.lines.clear()
    stocked(tmp_path, TOOLS[1:], runtime())

    missing = await get_tools(home, NAME, TOOLS)

    assert missing == ("kubectl",)
    note, warning = messages.lines
    assert note == "the cluster 'dev' can be used now; kubectl, etcdctl and etcdutl come last"
    assert "the cluster 'dev' runs, but without kubectl" in warning
    assert "kubectl v1.36.3 is not in the store; run 'kwokctl artifacts build'" in warning


async def test_tools_that_are_there_are_not_lacking(tmp_path: Path) -> None:
    home = stocked(tmp_path, [*COMPONENTS, *TOOLS], runtime())

    assert await lacking_tools(home, OPTIONS) == ()


async def test_who_gives_all_programs_has_the_tools_that_they_want(tmp_path: Path) -> None:
    given = cluster_options(
        **{f"{name.replace('-', '_')}_binary": "/bin/true" for name in COMPONENTS}
    )

    assert await lacking_tools(stocked(tmp_path, [], runtime()), given) == ()
