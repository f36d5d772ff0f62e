"""The options that the commands of `measure` share."""

from collections.abc import Callable
from typing import Annotated

import typer

from kwokctl.cli.parsing.option_values import checked, duration, number, one_of, whole_number
from kwokctl.cli.parsing.shared_options import (
    file_option,
    format_option,
    namespace_option,
)
from kwokctl.config import checks
from kwokctl.errors import UsageError
from kwokctl.kube.names import is_qualified_name


def percentage(flag: str) -> Callable[[str], float]:
    """Make the reader of a share such as `5%` or `0.5 %`; it returns 0.05 for 5 %."""
    read = number(flag, least=0, most=1000)

    def share(text: str) -> float:
        percent = str(text).strip()
        if not percent.endswith("%"):
            raise UsageError(f"'{flag}' is '{text}', not a percentage", hint="for example: 5%")
        return read(percent[:-1].strip()) / 100

    return share


def file_to_make(word: str) -> checks.InvalidText | None:
    """Accept the path of a file that does not exist yet."""
    if checks.is_folder(word) or not word.strip():
        return checks.InvalidText("not a file", "give the path of a file")
    return None


def label_key(word: str) -> checks.InvalidText | None:
    """Accept the key of a label."""
    if is_qualified_name(word):
        return None
    return checks.InvalidText("not the key of a label", "for example: example.com/gang")


def _budget(text: str) -> str:
    from kwokctl.measure.scoring.score_words import NodeBudget

    if text:
        NodeBudget.read(text)
    return text


Budget = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="NODES",
        help="The most nodes that may be unavailable at a time, such as 20 or 20%: what exceeds it is a breach",
        parser=_budget,
    ),
]
Assert = Annotated[
    list[str] | None,
    typer.Option(
        "--assert",
        metavar="EXPRESSION",
        help="What must hold, such as 'pods.created_to_bound.p99 < 5s'; may be repeated: all are tried",
    ),
]
AssertFile = Annotated[
    str, file_option("--assert-file", "File with the least and the most that figures may be")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="KEY",
        help="Also compute the figures of each group of pods: namespace, owner, priority, size, load, "
        "phase, gang (the kind) or label:NAME; may be repeated",
    ),
]
Since = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="TIME",
        help="The time of an arrival from which latencies count: when it was due, sent or accepted "
        "[default: due]",
        parser=one_of("--from", "due", "sent", "accepted"),
    ),
]
Report = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write the report into this file: .html for a page with charts, .txt, .md, .json, .csv, "
        "or .xml for JUnit; may be repeated",
    ),
]
AllowUndrained = Annotated[
    bool,
    typer.Option(
        "--allow-undrained", help="Do not fail if pods or Jobs of the run are still on their way"
    ),
]
Format = Annotated[
    str, format_option("text", "markdown", "html", "json", "csv", "junit", usual="text")
]
RunFormat = Annotated[
    str,
    format_option("summary", "text", "markdown", "html", "json", "csv", "junit", usual="summary"),
]
WithPods = Annotated[
    bool,
    typer.Option(
        "--with-pods",
        help="Keep the times of every pod in the page, as a file that it offers [default: NAME.pods.csv beside "
        "it]",
    ),
]
RecordFile = Annotated[
    str,
    typer.Option(
        "--record",
        metavar="FILE",
        help="The record to write; compressed if it ends in .gz [default: a new one in the work folder]",
        parser=checked("--record", file_to_make),
    ),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Also write whole objects, as 'snapshot record' does, beside the record: NAME.yaml.gz",
    ),
]
Loads = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        metavar="FILE",
        help="Run the loads of this file meanwhile: then only what they make counts; may be repeated",
        parser=checked("--load", checks.file),
    ),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        metavar="N",
        help="Number of runs; before each the cluster is rewound to its present state, and also after the "
        "last. Each has a record of its own: NAME-1.jsonl.gz and so on",
        parser=whole_number("--repeat", least=1, most=1000),
    ),
]
WarmUp = Annotated[
    int | None,
    typer.Option(
        "--warm-up",
        metavar="N",
        help="Runs before those of '--repeat', which do not count [default: 0]",
        parser=whole_number("--warm-up", least=0, most=100),
    ),
]
VarySeed = Annotated[
    bool,
    typer.Option(
        "--vary-seed",
        help="Add 1 to the seed of the loads with each run; else all runs get the same load",
    ),
]
Reset = Annotated[
    str,
    typer.Option(
        "--reset",
        metavar="COMMAND",
        help="Shell command that brings the cluster into the state with which each run begins, in place of a "
        "rewind: for clusters that kwokctl has not made",
    ),
]
Until = Annotated[
    str,
    typer.Option(
        "--until",
        metavar="EXPRESSION",
        help="End when this holds, such as 'pods.running >= 500', also loads and the command [default: when "
        "these have ended, nothing of the run is on its way, and nothing has changed for 3s; without them "
        "Ctrl-C]",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        help="How long the run may go on after loads and the command have ended [default: 10m]",
        parser=duration("--timeout"),
    ),
]
Selector = Annotated[
    str,
    typer.Option(
        "--selector",
        "-l",
        metavar="SELECTOR",
        help="Only pods and Jobs with these labels, also those that are there already",
    ),
]
Namespace = Annotated[str, namespace_option("Only this namespace")]
Latencies = Annotated[
    list[str] | None,
    typer.Option(
        "--latency",
        metavar="NAME=KIND,FROM,TO",
        help="Measure objects of any kind from one condition to another, such as "
        "'ready=nodes,exists,Ready'; may be repeated",
    ),
]
Phases = Annotated[
    list[str] | None,
    typer.Option(
        "--phase",
        metavar="PHASE",
        help="Also measure how long after a fault its node is so: NAME=CEL over the node as 'self', or NAME=KIND,CEL with the name of the "
        "node that an object is about, such as asked=rebootnodes,self.spec.nodeName; may be repeated",
    ),
]
Topology = Annotated[
    list[str] | None,
    typer.Option(
        "--topology",
        metavar="LABEL",
        help="A label of nodes, such as that of their rack: over how many of its values the pods of a gang are "
        "spread; may be repeated [default: topology.kubernetes.io/zone]",
        parser=checked("--topology", label_key),
    ),
]
GangLabel = Annotated[
    str,
    typer.Option(
        "--gang-label",
        metavar="KEY",
        help="Label whose value is the name of the gang that a pod belongs to, before all else that says so",
        parser=checked("--gang-label", label_key),
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="METRIC",
        help="Any metric of a component, and its rate, delta, max or p99, such as "
        "'workqueue_depth{name=\"job\"} max' or 'etcd:etcd_mvcc_put_total rate'; may be repeated",
    ),
]
Profiles = Annotated[
    bool,
    typer.Option(
        "--profile-components",
        help="Keep CPU profiles of the components, of 10 s each, beside the record",
    ),
]
Kubeconfig = Annotated[
    str,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig whose current context names the cluster [default: that of --name]",
        parser=checked("--kubeconfig", checks.file),
    ),
]
Record = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A record of 'measure run', or a recording of 'snapshot record'",
        parser=checked("FILE", checks.file),
    ),
]
Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- COMMAND ...",
        help="What to run meanwhile, with the cluster's KUBECONFIG; its output goes to standard error",
        show_default=False,
    ),
]
Sides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="A B",
        help="Records of A and of B: a folder, a pattern in quotes, or what was given to '--record' of repeated runs",
        show_default=False,
    ),
]
RunA = Annotated[
    str,
    typer.Option(
        "--run-a",
        metavar="COMMAND",
        help="Shell command to measure as A; its runs and those of '--run-b' alternate",
    ),
]
RunB = Annotated[
    str, typer.Option("--run-b", metavar="COMMAND", help="Shell command to measure as B")
]
Figures = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="NAME",
        help="What is compared, such as 'pods.created_to_bound.p99'; may be repeated "
        "[default: pods.created_to_bound.p50 and .p99, jobs.jct.p50]",
    ),
]
MaxWorse = Annotated[
    float | None,
    typer.Option(
        "--max-worse",
        metavar="PERCENT",
        help="Fail if a figure of B is worse by more than this, such as 5%: if the interval lies wholly beyond it",
        parser=percentage("--max-worse"),
    ),
]
Across = Annotated[
    list[str] | None,
    typer.Option(
        "--across",
        metavar="CONDITION",
        help="Compare although this condition differs, such as 'kubernetes'; may be repeated",
    ),
]
