"""What shells offer: asked for as their scripts do it, and typed into the shells themselves."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kwokctl.cli.main import run
from tests.cli.conftest import Kwokctl, need_shell
from tests.support.recording_runner import RecordingRunner
from tests.support.shell_rig import Shell, shell

SHELLS = {
    "bash": (["bash", "--norc", "-i"], "source <(kwokctl completion bash)"),
    "zsh": (
        ["zsh", "-f", "-i"],
        "bindkey -e; autoload -Uz compinit && compinit -D -u; source <(kwokctl completion zsh)",
    ),
    "fish": (["fish", "--no-config", "-i"], "kwokctl completion fish | source"),
}
"""How a shell is started without what its user has set up, and how it is given the script."""

Offered = Callable[[str], list[str]]


@pytest.fixture
def clusters(tmp_path: Path) -> None:
    for name in ("kwok", "other"):
        folder = tmp_path / "kwok" / "clusters" / name
        folder.mkdir(parents=True)
        components = "components: [{name: etcd}, {name: gate}]" if name == "other" else ""
        (folder / "kwok.yaml").write_text(components)


@pytest.fixture
def offered(
    runner: RecordingRunner,
    clusters: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> Offered:
    """Return the words that are offered for the last one of a line; shells ask a process for them."""
    monkeypatch.setenv("_KWOKCTL_COMPLETE", "1")
    monkeypatch.chdir(tmp_path)

    def call(line: str) -> list[str]:
        run(line.split(" ")[1:], runner)
        said = capfd.readouterr().out
        kind, *lines = said.splitlines() or ["words"]
        return [line.partition("\t")[0] for line in lines] if kind == "words" else [f"<{kind}>"]

    return call


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kwokctl star", ["start"]),
        ("kwokctl measure re", ["report"]),
        ("kwokctl measure --unt", ["--until"]),
        ("kwokctl measure --timeout 5s --unt", ["--until"]),
        ("kwokctl measure --from ", ["due", "sent", "accepted"]),
        ("kwokctl measure --name other st", ["start", "stop"]),
        ("kwokctl measure run.gz --assert-f", ["--assert-file"]),
        ("kwokctl measure run.gz --until", []),
        ("kwokctl measure --record ", ["<files>"]),
        ("kwokctl create cluster --kube-apiserver-p", ["--kube-apiserver-port"]),
        ("kwokctl logs kube-s", ["kube-scheduler"]),
        ("kwokctl scale n", ["node"]),
        ("kwokctl create cluster --runtime k", ["kind", "kind-podman"]),
        ("kwokctl create cluster --stage none,pod-g", ["none,pod-general"]),
        ("kwokctl create cluster --kube-version v1.35", ["v1.35.8"]),
        ("kwokctl create cluster --from ", ["kwok", "other"]),
        ("kwokctl create cluster --from ./", ["<files>"]),
        ("kwokctl stage graph pod-g", ["pod-general"]),
        ("kwokctl stage graph my", ["<files>"]),
        ("kwokctl create cluster --restart ", ["no", "on-failure"]),
        ("kwokctl create cluster --data-path ", ["auto", "api", "etcd"]),
        ("kwokctl create cluster --node-heartbeat s", ["stretched"]),
        ("kwokctl create cluster --artifact-source o", ["offline"]),
        ("kwokctl create cluster --etcd-fsync of", ["off"]),
        ("kwokctl create cluster --disable etcd,kube-sc", ["etcd,kube-scheduler"]),
        (
            "kwokctl create cluster --enable=kw",
            ["--enable=kwok-api-proxy", "--enable=kwok-controller", "--enable=kwok-kubelet"],
        ),
        (
            "kwokctl create cluster --enable ku",
            [
                "kube-apiserver",
                "kube-apiserver-insecure-proxy",
                "kube-controller-manager",
                "kube-scheduler",
                "kube-state-metrics",
                "kueue",
                "kueueviz",
            ],
        ),
        ("kwokctl create cluster --disable lw", ["lws"]),
        ("kwokctl create cluster --components etcd,jobs", ["etcd,jobset"]),
        ("kwokctl create cluster --enable-crds St", ["Stage"]),
        ("kwokctl create cluster --enable-crds Fa", ["Fault"]),
        ("kwokctl fault inject xid-7", ["xid-74", "xid-79"]),
        ("kwokctl fault explain xid-79 --dialect a", ["aks", "azurehpc"]),
        ("kwokctl snapshot save --filter pod,de", ["pod,deployment.apps"]),
        ("kwokctl snapshot export --filter endp", ["endpoints"]),
        ("kwokctl create cluster --etcd-binary ", ["<files>"]),
        ('kwokctl create cluster --restart ""', ["no", "on-failure"]),
        ("kwokctl create cluster --wait --keep", ["--keep-on-failure"]),
        ("kwokctl create cluster --keep-on-failure --keep", []),
        ("kwokctl get components -o w", ["wide"]),
        ("kwokctl scale node --data-path e", ["etcd"]),
        ("kwokctl snapshot save -o ", ["json", "yaml"]),
        ("kwokctl completion z", ["zsh"]),
        ("kwokctl --name ", ["kwok", "other"]),
        ("kwokctl --name=o", ["--name=other"]),
        ("kwokctl get artifacts --filter ", ["binary", "image"]),
        ("kwokctl snapshot save --path ", ["<files>"]),
        ("kwokctl --name other logs ", ["etcd", "gate", "audit"]),
        ("kwokctl --name other port-forward ", ["etcd", "gate"]),
        ("kwokctl port-forward kube-s", ["kube-scheduler"]),
        ("kwokctl export logs ", ["<folders>"]),
        ("kwokctl stage lint a.yaml ", ["<files>"]),
        ("kwokctl kubectl get ", []),
        ("kwokctl nonsense ", []),
    ],
)
def test_completion_offers_the_words_that_are_valid_at_a_place(
    offered: Offered, line: str, words: list[str]
) -> None:
    assert offered(line) == words


def test_every_option_with_a_closed_set_offers_it(kwokctl: Kwokctl) -> None:
    lines = kwokctl("create", "cluster", "-", _KWOKCTL_COMPLETE="1").stdout.splitlines()
    assert any(line.startswith("--output\t") for line in lines)
    assert all("\t" in line for line in lines[1:])


_KUBECTL = """#!/bin/sh
case "$*" in
"__complete get po") printf 'pods\\tv1\\npodtemplates\\n:4\\n' ;;
"__complete get pod/we") printf 'pod/web\\n:6\\n' ;;
"__complete apply -f "*) printf 'json\\nyaml\\n:8\\n' ;;
"__complete cp "*) printf ':0\\n' ;;
"__complete env") printf '%s\\n:4\\n' "$KUBECONFIG" ;;
*) printf ':1\\n' ;;
esac
"""


def fake_kubectl(folder: Path) -> Path:
    """Install a kubectl that completes few words, as programs made with Cobra do."""
    folder.mkdir(parents=True, exist_ok=True)
    tool = folder / "kubectl"
    tool.write_text(_KUBECTL)
    tool.chmod(0o700)
    return tool


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("get po", "words\npods\tv1\npodtemplates\n"),
        ("get pod/we", "words nospace\npod/web\n"),
        ("apply -f x", "files json yaml\n"),
        ("cp x", "files\n"),
        ("nonsense", ""),
    ],
)
def test_words_after_kubectl_are_completed_by_kubectl(
    kwokctl: Kwokctl, tmp_path: Path, words: str, answer: str
) -> None:
    tool = fake_kubectl(tmp_path / "bin")
    path = f"{tool.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
    done = kwokctl("kubectl", *words.split(" "), _KWOKCTL_COMPLETE="1", PATH=path)
    assert done.stdout == answer


def test_the_kubectl_that_was_installed_completes_with_the_access_to_the_cluster(
    kwokctl: Kwokctl, clusters: None, tmp_path: Path
) -> None:
    fake_kubectl(tmp_path / "cache" / "kwokctl" / "store" / "linux-any" / "kubectl" / "v1")
    done = kwokctl(
        *("--name", "other", "kubectl", "env"),
        _KWOKCTL_COMPLETE="1",
        PATH=str(tmp_path / "empty"),
    )
    own = tmp_path / "kwok" / "clusters" / "other" / "kubeconfig.yaml"
    assert (done.stdout, done.stderr) == (f"words\n{own}\n", "")


@pytest.fixture(params=SHELLS)
def typed(
    request: pytest.FixtureRequest,
    environ: dict[str, str],
    clusters: None,
    tmp_path: Path,
) -> Iterator[Shell]:
    """Start a shell that has the script, and in whose PATH kwokctl is."""
    name: str = request.param
    need_shell(name)
    program = tmp_path / "bin" / "kwokctl"
    program.parent.mkdir()
    root = Path(__file__).parents[2]
    program.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} -m kwokctl "$@"\n')
    program.chmod(0o700)
    (tmp_path / "file-of-mine").touch()
    (tmp_path / "folder-of-mine").mkdir()
    (tmp_path / "manifest.yaml").touch()
    (tmp_path / "manifest.text").touch()
    fake_kubectl(program.parent)
    words, setup = SHELLS[name]
    path = {"PATH": f"{program.parent}:{environ['PATH']}"}
    with shell(words, environ | path) as started:
        started.type(f"cd {tmp_path}; {setup}; echo rea''dy\n")
        started.until(r"^ready")
        yield started


def test_a_shell_completes_commands_values_names_and_files(typed: Shell) -> None:
    for begun, whole in (
        ("kwokctl star", "kwokctl start"),
        ("kwokctl create cluster --runtime bin", "kwokctl create cluster --runtime binary"),
        ("kwokctl create cluster --disable etcd,kwok-c", "kwokctl create cluster --disable etcd,kwok-controller"),
        ("kwokctl get components --name=oth", "kwokctl get components --name=other"),
        ("kwokctl snapshot save --path file-", "kwokctl snapshot save --path file-of-mine"),
        ("kwokctl get clusters --config=file-", "kwokctl get clusters --config=file-of-mine"),
        ("kwokctl export logs folder-", "kwokctl export logs folder-of-mine"),
        ("kwokctl --name other logs ga", "kwokctl --name other logs gate"),
        ("kwokctl kubectl get pod/we", "kwokctl kubectl get pod/web"),
        ("kwokctl kubectl apply -f mani", "kwokctl kubectl apply -f manifest.yaml"),
        ("kwokctl kubectl cp file-", "kwokctl kubectl cp file-of-mine"),
    ):  # fmt: skip
        # zsh takes the slash of a folder away again.
        assert typed.completed(begun).removesuffix("/") == whole


@pytest.mark.parametrize("typed", ["zsh", "fish"], indirect=True)
def test_a_shell_that_shows_meanings_shows_them_whole(typed: Shell) -> None:
    typed.type("kwokctl \t\t")
    typed.until("Create or delete nodes, GPU machines or pods until there are N")
