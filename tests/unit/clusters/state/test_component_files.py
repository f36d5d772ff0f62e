""""""

from pathlib import Path
from stat import S_IMODE

from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.cluster_plan import selected
from kwokctl.host.paths import WorkDir
from kwokctl.model import Artifact, ClusterName
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options

NAME = ClusterName("dev")


def test_what_a_component_reads_and_writes_is_there_for_its_owner_only(tmp_path: Path) -> None:
    options = cluster_options(prometheus_port=9090)
    names = selected(options)
    programs: dict[str, Artifact] = {
        name: Artifact(name=name, version="v1", command=("/p",)) for name in names
    }
    saved = Saved(
        name=NAME, options=options, names=names, artifacts=programs, patches={}, stages=()
    )
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path / "cache")

    write_files(home, FakeRuntime(), saved)

    paths = home.paths(NAME)
    files = (paths.prometheus_config, paths.prometheus_web, paths.dashboard, paths.fleet_dashboard)
    assert {S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert S_IMODE(paths.prometheus_data.stat().st_mode) == 0o700
    assert (paths.pki / "prometheus-ca.crt").is_file()
