import pytest

from kwokctl.cli.parsing import hints

NAMES = ("create", "delete", "start", "stop", "get", "scale", "snapshot")


@pytest.mark.parametrize(
    "word",
    ["pods", "pod", "po", "deployment", "ingress", "networkpolicy", "deploy/web", "node,pod", "a.b.io"],
)  # fmt: skip
def test_objects_of_the_cluster_are_kubectls_affair(word: str) -> None:
    expected = f"for objects in the cluster: 'kwokctl kubectl get {word}'"
    assert hints.for_command("kwokctl get", word, ["clusters", "components"]) == expected


@pytest.mark.parametrize("word", ["cluster", "component", "kubeconfigs", "wine"])
def test_what_is_no_object_of_the_cluster_is_a_slip(word: str) -> None:
    assert not hints.is_resource(word)


@pytest.mark.parametrize(
    ("path", "word", "meant"),
    [
        ("kwokctl", "apply", "for objects in the cluster: 'kwokctl kubectl apply'"),
        ("kwokctl", "hack", "'kwokctl etcdctl' reads and writes etcd"),
        ("kwokctl", "version", "'kwokctl --version'"),
        ("kwokctl", "list", "'kwokctl get clusters'"),
        ("kwokctl", "clusters", "'kwokctl get clusters'"),
        ("kwokctl", "shell", "'kwokctl env' prints the variables that a shell needs"),
        ("kwokctl", "rescue", "commands are: create, delete, start, stop, get, scale, snapshot"),
        ("kwokctl", "stat", "did you mean 'start'?"),
        ("kwokctl delete", "all", "'kwokctl delete cluster --all'"),
        ("kwokctl", "nonsense", "commands are: create, delete, start, stop, get, scale, snapshot"),
    ],
)
def test_a_word_that_is_no_command_gets_a_suggestion(path: str, word: str, meant: str) -> None:
    assert hints.for_command(path, word, NAMES) == meant


def test_an_option_is_compared_with_those_that_there_are() -> None:
    assert hints.for_option("kwokctl", "-V", ["--v"]) == "'kwokctl --version'"
    assert hints.for_option("kwokctl", "--nme", ["--name", "-n"]) == "did you mean '--name'?"
    assert hints.for_option("kwokctl", "--zebra", ["--name"]) is None
