"""Help, versions, errors and exit codes, as a process shows them; more words in this process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from kwokctl import __version__
from kwokctl.cli import app
from kwokctl.cli.parsing.parameters import by_spelling
from tests.cli.conftest import Kwokctl


def test_version_shows_the_python_and_the_system(kwokctl: Kwokctl) -> None:
    done = kwokctl("--version")
    assert re.fullmatch(rf"kwokctl version v{re.escape(__version__)} python3\S+ \(\S+/\S+\)\n", done.stdout)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert kwokctl("--name", "x", "--version").stdout == done.stdout


def test_help_shows_the_commands_in_the_order_in_which_they_are_needed(kwokctl: Kwokctl) -> None:
    done = kwokctl("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == snapshot("""\
Usage: kwokctl [OPTIONS] COMMAND ...

  Run real Kubernetes control planes with thousands of fake nodes.

Cluster commands:
  create        Create a cluster
  delete        Delete a cluster
  start         Start a cluster that was stopped
  stop          Stop a cluster and keep its data
  get           Show clusters, their components, fleets and access
  status        Show a cluster and its problems on one screen
  doctor        Find problems of this machine and a cluster, with remedies
  scale         Create or delete nodes, GPU machines or pods until there are N
  load          Let Jobs, pods and others arrive in a rhythm, and remove them
  plan          Estimate the etcd size and the memory that nodes and pods need
  fault         Break GPUs, nodes, racks, pods or the API, and undo it exactly
  repair        Repair broken nodes, by hand and by policies
  snapshot      Save and restore a cluster's data, and rewind it
  measure       Measure how fast pods and Jobs are scheduled, run and end
  view          Show a running cluster on a page in the browser
  logs          Print the log of a component
  export        Export the logs and the configuration of a cluster
  port-forward  Forward a port of this machine to a component

Tools:
  kubectl     Run kubectl on a cluster; all arguments go to kubectl
  etcdctl     Run etcdctl on a cluster's etcd; all arguments go to etcdctl
  etcdutl     Run etcdutl, which works on files; all arguments go to etcdutl
  etcd        Read and change objects in etcd directly, past the API server
  kectl       Same as 'etcd', with the command line of the original's kectl
  env         Print the variables with which kubectl and etcdctl use a cluster
  completion  Print the script with which a shell completes commands
  help        Print the help of a command: kwokctl help create cluster
  config      Show, tidy and convert the configuration
  stage       Check, explain and test Stages
  controller  Run the controller in other clusters
  artifacts   Manage the programs that clusters run
  addons      Show the add-ons and optional components

Everywhere:
  --version          Print the version, without a command
  --name NAME        The cluster [default: kwok]
  -c, --config FILE  Configuration file, '-' for standard input; repeatable
  --dry-run          Print the steps, for sh if possible, and change nothing
  -v, --v LEVEL      Log level: DEBUG, WARN, ERROR, INFO+2, 4 [default: INFO]
  -h, --help         Show this help
""")


def test_without_arguments_the_help_is_shown(kwokctl: Kwokctl, in_process: Kwokctl) -> None:
    done = kwokctl()

    assert done.stdout == kwokctl("-h").stdout == in_process("-h").stdout
    assert done.returncode == 0


def test_a_group_alone_shows_its_help(in_process: Kwokctl) -> None:
    done = in_process("snapshot")
    assert done.returncode == 0
    assert (
        done.stdout
        == in_process("snapshot", "--help").stdout
        == snapshot("""\
Usage: kwokctl snapshot [OPTIONS] COMMAND ...

  Save and restore a cluster's data, and rewind it.

Commands:
  save     Save the etcd database, or objects as YAML, to a file that only you
           may read
  restore  Replace the etcd database, or create and update the objects of a
           file
  export   Write the objects of any cluster to a file for 'snapshot restore
           --format k8s'
  record   Record the objects of a cluster and all changes to them, until
           Ctrl-C
  replay   Replay recorded changes with their original timing; scheduler and
           controllers are paused
  mark     Mark the state of a running cluster, to return to it with 'snapshot
           rewind'
  rewind   Return a running cluster to a mark; API server, etcd and watches
           keep running
  list     List the marks of a cluster, the latest last
  drop     Remove a mark; the cluster stays as it is
  serve    Serve marks and rewinds of a cluster to other programs on a unix
           socket, until interrupted

Everywhere:
  --name NAME        The cluster [default: kwok]
  -c, --config FILE  Configuration file, '-' for standard input; repeatable
  --dry-run          Print the steps, for sh if possible, and change nothing
  -v, --v LEVEL      Log level: DEBUG, WARN, ERROR, INFO+2, 4 [default: INFO]
  -h, --help         Show this help
""")
    )


def test_the_help_of_a_command_has_its_options_in_sections(in_process: Kwokctl) -> None:
    text = in_process("create", "cluster", "--help", "all").stdout
    sections = re.findall(r"^(\S.*):$", text, re.MULTILINE)
    assert sections[0] == "Options"
    assert sections[-2:] == ["Everywhere", "Examples"]
    assert {"General", "Components", "etcd", "Fake nodes"} <= set(sections)
    assert "--[no-]etcd-tls" in text
    assert "--dry-run" in text


@pytest.mark.parametrize(
    "words", ["create cluster --help", "create cluster -h", "help create cluster"]
)
def test_the_help_of_a_command_with_many_options_begins_with_the_common_ones(
    in_process: Kwokctl, words: str
) -> None:
    text = in_process(*words.split()).stdout

    assert {"--nodes N", "--wait DURATION", "--kube-version VERSION"} <= set(
        re.findall(r"(--[\w-]+ [A-Z]+)", text)
    )
    assert "--etcd-quota" not in text
    whole = re.search(r"'(kwokctl create cluster --help all)'$", text.rstrip())
    assert whole
    every = in_process(*whole[1].split()[1:]).stdout
    assert "--etcd-quota" in every
    assert in_process("help", "create", "cluster", "all").stdout == every
    assert len(text.splitlines()) < len(every.splitlines()) / 2


def test_every_common_option_exists(in_process: Kwokctl) -> None:
    """A slip in their list would leave one out unseen."""
    command = app.build().commands["create"].commands["cluster"]

    assert set(command.common) <= set(by_spelling(command.params))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "creat cluster",
            "error: 'kwokctl' has no command 'creat'\nhint: did you mean 'create'?\n",
        ),
        (
            "get cluster",
            "error: 'kwokctl get' has no command 'cluster'\nhint: did you mean 'clusters'?\n",
        ),
        (
            "create cluster --etcd-prt 5",
            (
                "error: 'kwokctl create cluster' has no option '--etcd-prt'\n"
                "hint: did you mean '--etcd-port'?\n"
            ),
        ),
        (
            "create cluster mine",
            (
                "error: 'kwokctl create cluster' takes no argument 'mine'\n"
                "hint: name a cluster with '--name mine'\n"
            ),
        ),
        (
            "get nodes",
            (
                "error: 'kwokctl get' has no command 'nodes'\n"
                "hint: for objects in the cluster: 'kwokctl kubectl get nodes'\n"
            ),
        ),
        (
            "snapshot --path f save",
            (
                "error: 'kwokctl snapshot' has no option '--path'\n"
                "hint: write it after the command: 'kwokctl snapshot save --path'\n"
            ),
        ),
        ("-V", "error: 'kwokctl' has no option '-V'\nhint: 'kwokctl --version'\n"),
        (
            "get artifacts --filter x",
            "error: '--filter' is 'x'\nhint: choose from: binary, image\n",
        ),
        (
            "help create clustr",
            ("error: 'kwokctl create' has no command 'clustr'\nhint: did you mean 'cluster'?\n"),
        ),
        (
            "create cluster --wait=soon",
            "error: '--wait' is 'soon', not a duration\nhint: for example: 90s, 15m or 1h30m\n",
        ),
        (
            "--name a/b get components",
            "error: 'a/b' cannot be the name of a cluster\n",
        ),
        (
            "etcd get pods --discovery-srv example.com",
            "error: '--discovery-srv' is not supported\n",
        ),
        (
            "port-forward etcd 8080",
            "error: '8080' is not LOCAL:REMOTE\n",
        ),
        (
            "snapshot export --path x --as-group admins",
            "error: '--as-group' needs '--as'\n",
        ),
        (
            "snapshot save --path x --filter pod",
            "error: '--filter' is for '--format k8s': an etcd snapshot holds all there is\n",
        ),
        (
            "snapshot save",
            (
                "error: 'kwokctl snapshot save' needs '--path FILE'\n"
                "hint: see 'kwokctl snapshot save --help'\n"
            ),
        ),
        (
            "get clusters -v LOUD",
            "error: '--v' is 'LOUD', not a level\n",
        ),
    ],
)
def test_wrong_words_exit_with_2_and_suggest_the_right_one(
    in_process: Kwokctl, words: str, message: str
) -> None:
    done = in_process(*words.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(message)


def test_a_program_gets_errors_as_json_even_for_wrong_words(kwokctl: Kwokctl) -> None:
    done = kwokctl("get", "clusters", "-o", "json", "--nonsense")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["id"] == "usage"


def test_a_reader_that_goes_away_is_no_error(environ: dict[str, str]) -> None:
    program = f"{sys.executable} -m kwokctl create cluster --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", program], env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""


def test_files_that_it_creates_are_never_writable_by_others(
    kwokctl: Kwokctl, tmp_path: Path
) -> None:
    kwokctl("delete", "cluster", umask=0)

    made = list((tmp_path / "kwok").rglob("*"))
    assert made
    assert [path for path in made if path.stat().st_mode & 0o022] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_shell_gets_a_script(in_process: Kwokctl, shell: str) -> None:
    done = in_process("completion", shell)
    assert done.returncode == 0
    assert "_KWOKCTL_COMPLETE" in done.stdout


@pytest.mark.parametrize("words", ["create cluster", "get", "", "completion"])
def test_the_help_flag_works_in_front_of_a_command(in_process: Kwokctl, words: str) -> None:
    shown = in_process("help", *words.split())
    assert shown.returncode == 0
    assert shown.stdout.rstrip() == in_process(*words.split(), "--help").stdout.rstrip()


def test_help_of_a_tool_is_the_help_of_kwokctl(in_process: Kwokctl) -> None:
    assert in_process("help", "kubectl").stdout.startswith("Usage: kwokctl kubectl ARGS...\n")
