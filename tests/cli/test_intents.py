"""What people try who do not know the command yet: each word is answered with what does it here."""

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kwokctl.cli import app
from kwokctl.cli.main import run
from kwokctl.cli.parsing import intents
from kwokctl.cli.parsing.parameters import by_spelling
from kwokctl.clusters.state.home import cluster_name
from kwokctl.host.paths import WorkDir, default_workdir
from tests.support.options import cluster_options
from tests.support.recording_runner import RecordingRunner
from tests.support.saved_cluster import save_cluster

Kwokctl = Callable[..., Any]

TRIED = """
list | get clusters
ls | get clusters
ps | get components
clusters | get clusters
nodes | kubectl get nodes
pods | kubectl get pods
node list | kubectl get nodes
node add | scale node
node delete n | kubectl delete node
version | --version
-V | --version
restart | start cluster
save | snapshot save
backup | snapshot save
restore | snapshot restore
load snapshot | snapshot restore
load start | load run
load delete | load clear
load docker-image nginx | no container
import | --format k8s
kubeconfig | get kubeconfig
clone | create cluster --name OTHER --from NAME
fork | create cluster --name OTHER --from NAME
copy | create cluster --name OTHER --from NAME
top | kubectl top
drain | kubectl drain
describe | kubectl describe
apply | kubectl apply
exec | kubectl exec
events | kubectl events
get nodes | kubectl get nodes
get po | kubectl get po
get ns | kubectl get ns
create node | scale node --replicas
create pods | scale pod --replicas
create deployment | kubectl create deployment
delete node x | kubectl delete node
delete cluster x | --name x
delete all | delete cluster --all
delete --all | delete cluster --all
stat | status
rewind | snapshot rewind
record | snapshot record
replay | snapshot replay
mark | snapshot mark
marks | snapshot list
undo | snapshot rewind
rollback | snapshot rewind
reset | snapshot rewind
chaos | --stage node-chaos
fail | --stage node-chaos
kill | --stage node-chaos
addon | addons list
enable | create cluster --enable
disable | addons list
get addons | addons list
addons enable kueue | create cluster --enable
addons ls | addons list
info | status
ui | status --watch
tui | status --watch
dashboard | status --watch
web | get components -o wide
watch | status --watch
open | get components -o wide
use | config use-context
use-context | config use-context
context | --name NAME
contexts | --name NAME
config use-context | --name NAME
config get-contexts | --name NAME
config current-context | --name NAME
upgrade | --kube-version
update | --kube-version
init | create cluster
new | create cluster
up | create cluster
setup | create cluster
quickstart | create cluster
install | artifacts pull
uninstall | delete cluster --all
down | delete cluster
rm | delete cluster
remove | delete cluster
destroy | delete cluster
pause | stop cluster
resume | start cluster
unpause | start cluster
add node | scale node
add | scale node
examples | help scale
docs | help scale
man | help
tutorial | help
template | --config FILE
templates | --config FILE
metrics | top nodes
report | status
usage | help
health | status
check | doctor
diagnose | doctor
validate | stage lint
lint | stage lint
graph | stage graph
explain | stage explain
test | stage test
sets | stage sets
simulate | stage explain
stage list | stage sets
stage ls | stage sets
stage check | stage lint
stage run | stage explain
convert | config convert
schema | config schema
twin | snapshot export
snapshot ls | snapshot list
snapshot create | snapshot save
snapshot take | snapshot save
snapshot delete x | snapshot drop
snapshot rm x | snapshot drop
snapshot undo | snapshot rewind
get snapshots | snapshot list
get contexts | get clusters
get version | --version
get kubeconfig-path | kubeconfig
get status | status
etcd ls | etcd get
artifacts clean | artifacts prune
images | artifacts images
pull | artifacts pull
build | artifacts build
cache | artifacts prune
prune | artifacts prune
profile list | get clusters
cluster create | create cluster
cluster list | get clusters
cluster delete | delete cluster
cluster | create cluster
ssh | env
shell | env
login | env
ip | get components -o wide
service | kubectl get service
tunnel | port-forward
tail | logs COMPONENT --follow
log | logs
scheduler | logs kube-scheduler
kubelet | logs kwok-kubelet
apiserver | logs kube-apiserver
hack | etcdctl
start all | get clusters
stop all | get clusters
stop cluster --all | get clusters
start cluster --component etcd | whatever does not run
create cluster x | --name x
create clusters | cluster
create cluster --image x | --kind-node-image
create cluster --workers 3 | --nodes N
create cluster --replicas 3 | --nodes N
create cluster --node 3 | --nodes
create cluster --count 3 | --nodes
create cluster --gpus 8 | scale node big
create cluster --memory 8 | scale node big
create cluster --addons x | --enable NAME
create cluster --driver x | --runtime NAME
create cluster --port 1 | --kube-apiserver-port
create cluster --context x | --name NAME
create cluster --retain | --keep-on-failure
create cluster --no-wait | --wait
create cluster --verbose | -v DEBUG
create cluster --quiet | -v ERROR
create cluster --force | delete cluster
create cluster --k8s-version 1 | --kube-version
create cluster --kubernetes-version 1 | --kube-version
create cluster --kube-authorization false | '--kube-authorization=false'
create cluster --kube-apiserver-port 70000 | from 0 to 65535
delete cluster --all true | '--all=true'
delete cluster --yes | leave it out
scale node --count 3 | --replicas N
scale node --workers 3 | --replicas N
scale node --nodes 3 | --replicas N
scale node 10 | --replicas 10
scale pod --node x | --on-nodes
scale deployment web --replicas 3 | kubectl scale deployment
scale deploy/web --replicas 3 | kubectl scale deploy/web
logs --all | export logs
status --all | get clusters
help fork | --from NAME
"""
CASES = [tuple(line.split(" | ")) for line in TRIED.strip().splitlines()]
_COMMAND = re.compile(r"'(kwokctl(?: [^']*)?)'")
_OPTION = re.compile(r"use '(--?[a-z-]+)")
_PLACEHOLDERS = {"NAME", "OTHER", "N", "FILE", "COMPONENT", "LOCAL:REMOTE", "VERSION", "JQ"}


@pytest.mark.parametrize(("words", "meant"), CASES, ids=[words for words, _ in CASES])
def test_the_hint_names_what_does_it_here(in_process: Kwokctl, words: str, meant: str) -> None:
    done = in_process(*shlex.split(words))

    hint = done.stderr.partition("\nhint: ")[2]
    assert done.returncode
    assert meant in hint
    assert "commands are:" not in hint
    for command in _COMMAND.findall(hint):
        check(command)


def hints() -> Iterator[tuple[str, str, str]]:
    for path, words in intents.COMMANDS.items():
        yield from ((path, word, hint) for word, hint in words.items())
    for word, verbs in intents.VERBS.items():
        yield from (("kwokctl", f"{word} {verb}", hint) for verb, hint in verbs.items())
    for path, options in intents.OPTIONS.items():
        yield from ((path, option, hint) for option, hint in options.items())


def test_no_hint_leads_astray() -> None:
    for path, word, hint in hints():
        for command in _COMMAND.findall(hint):
            check(command)
        for option in _OPTION.findall(hint):
            assert option in options_of(path or "kwokctl create cluster"), (path, word, option)


def test_no_hint_is_in_the_way_of_a_command_or_an_option() -> None:
    for path, words in intents.COMMANDS.items():
        assert not set(words) & set(command_at(path.split()[1:]).commands)
    for path, options in intents.OPTIONS.items():
        if path:
            assert not set(options) & set(options_of(path)), path


def check(text: str) -> None:
    """Fail unless a command of a hint exists, with its options."""
    _, *words = text.split()
    here, path = app.build(), []
    while words and hasattr(here, "commands") and not words[0].startswith("-"):
        assert words[0] in here.commands, text
        path.append(words[0])
        here = here.commands[words.pop(0)]
    if path[:1] in (["kubectl"], ["etcdctl"]):
        return
    given = [word for word in words if word.startswith("-")]
    assert set(given) <= set(by_spelling(here.params)) | {"--name", "--help", "--version"}, text
    assert not hasattr(here, "commands") or not path or "help" in path, f"{text}: not a command"


def command_at(path: list[str]) -> Any:
    here = app.build()
    for word in path:
        here = here.commands[word]
    return here


def options_of(path: str) -> dict[str, Any]:
    return dict(by_spelling(command_at(path.split()[1:]).params))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("logs scheduler", "kube-scheduler"),
        ("logs etdc", "etcd"),
        ("logs apiserver", "kube-apiserver"),
    ],
)
def test_a_component_may_have_been_meant_by_a_part_of_its_name(
    words: str, meant: str, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    save_cluster(WorkDir(default_workdir()), cluster_name("kwok"), cluster_options())

    assert run(words.split()) == 1
    assert f"did you mean '{meant}'?" in capfd.readouterr().err
