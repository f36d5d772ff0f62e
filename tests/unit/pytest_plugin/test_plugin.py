"""The plugin as pytest runs it, with a cluster that is only a name."""

import subprocess
import sys
from pathlib import Path

CONFTEST = """
import pytest

OF_ETCD = (
    '{"level":"warn","msg":"rejected connection on client endpoint","error":"tls: bad certificate"}\\n'
    "2026/11/23 07:24:52 WARNING: [core] grpc: addrConn.createTransport failed to connect\\n"
)

class FakeFaults:
    def __init__(self, done):
        self.done = done
    def inject(self, class_name, **words):
        self.done.append(("inject", class_name, words))
    def clear_injected(self):
        self.done.append(("clear_injected",))

class FakeCluster:
    name = "fake"
    components = ("etcd", "kube-scheduler")
    done = []
    faults = FakeFaults(done)
    def __getattr__(self, word):
        return lambda *words, **more: self.done.append((word, *words))
    def changes(self, mark):
        return []
    def find(self, kind, namespace):
        about = {"kind": "Pod", "namespace": "default", "name": "web"}
        event = {"metadata": {}, "involvedObject": about, "type": "Warning"}
        return [event | {"reason": "Failed", "message": "no image", "lastTimestamp": "9999-01-01"}]
    def logs(self, component, *, since):
        return "I1123 03:50:04 all is well\\nW1123 03:50:04 not so well\\n" + OF_ETCD

@pytest.fixture(scope="session")
def kwok_cluster():
    return FakeCluster()
"""
TESTS = """
import pytest

def test_first(kwok):
    kwok.apply("a")
    assert [step for step in kwok.done if step[1:]][-1] == ("apply", "a")

@pytest.mark.kwok(nodes=3)
def test_more(kwok):
    assert ("scale", "node", 2) in kwok.done
    assert ("scale", "node", 3) in kwok.done
    assert ("rewind", "pytest") in kwok.done

@pytest.mark.kwok_fault("leaf-down", count=1)
@pytest.mark.kwok_fault("xid-79", where="gpus > 0", seed=7)
def test_faulty(kwok):
    rewound, first, second = kwok.done[-3:]
    assert rewound[0] == "rewind"
    assert first == ("inject", "leaf-down", {"count": 1})
    assert second == ("inject", "xid-79", {"where": "gpus > 0", "seed": 7})

def test_whole_again(kwok):
    after = kwok.done[[step[0] for step in kwok.done].index("inject"):]
    assert [step[0] for step in after] == ["inject", "inject", "clear_injected", "rewind"]

@pytest.mark.kwok_fault("xid-79", wher="gpus > 0")
def test_misspelt_fault(kwok):
    pass

@pytest.mark.kwok_fault(count=1)
def test_no_class(kwok):
    pass

def test_fails(kwok):
    assert 0

@pytest.mark.kwok(node=3)
def test_misspelt(kwok):
    pass
"""


def _pytest(folder: Path, *words: str) -> str:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers --strict-config\nkwok_nodes = 2\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )
    few = ["-p", "no:cacheprovider", "-p", "no:inline_snapshot"]  # which takes long to load
    command = [sys.executable, "-m", "pytest", *few, "-q", *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


def test_each_test_gets_what_its_markers_say_and_a_failure_shows_what_was_there(
    tmp_path: Path,
) -> None:
    said = _pytest(tmp_path)

    assert "1 failed, 4 passed, 3 errors" in said, said
    assert "@pytest.mark.kwok of test_misspelt: 'node' is not one of nodes, pods" in said
    assert "@pytest.mark.kwok_fault of test_misspelt_fault: 'wher' is no word of an inj" in said
    assert "@pytest.mark.kwok_fault of test_no_class: it takes one class of faults" in said
    assert "- kwok: Events of the test -" in said
    assert "9999-01-01 Warning Failed Pod/default/web: no image" in said
    assert "- kwok: warnings of kube-scheduler -" in said
    assert "W1123 03:50:04 not so well" in said
    assert "all is well" not in said
    assert "bad certificate" not in said
    assert "createTransport" not in said
    assert "objects changed" not in said


def test_logs_may_be_left_out(tmp_path: Path) -> None:
    assert "warnings of" not in _pytest(tmp_path, "--kwok-log-lines", "0")


def test_fixtures_and_options_explain_themselves(tmp_path: Path) -> None:
    assert "kwok_webhook_server [session scope]" in _pytest(tmp_path, "--fixtures")
    assert "--kwok-from=NAME" in _pytest(tmp_path, "--help")
    assert "@pytest.mark.kwok(nodes, pods, crds, stages" in (
        markers := _pytest(tmp_path, "--markers")
    )
    assert "@pytest.mark.kwok_fault(class, ...): a fault of the cluster" in markers


def test_a_run_without_a_cluster_loads_nothing_of_clusters() -> None:
    text = "import sys, kwokctl.pytest_plugin.plugin; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name for name in done.stdout.split() if name.startswith("kwokctl.")}

    assert not [name for name in loaded if name.startswith(("kwokctl.library", "kwokctl.cl"))]
