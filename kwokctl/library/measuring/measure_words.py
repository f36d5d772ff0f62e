"""The keyword arguments of a measurement, as the options of `kwokctl measure run` are called."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TypedDict, TypeVar

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.errors import UsageError
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json
from kwokctl.kube.names import is_qualified_name
from kwokctl.library.keywords import demand_known
from kwokctl.load.load_documents import LoadSource
from kwokctl.measure.figures.figure import Since
from kwokctl.measure.figures.figure_catalogue import figures_named
from kwokctl.measure.grouping.pod_groups import check_keys, labels_of
from kwokctl.measure.judging.assertion_file import read_assertions
from kwokctl.measure.judging.assertions import Assertion, AssertionReader
from kwokctl.measure.record.record_names import new_record
from kwokctl.measure.reports.report import ReportRequest
from kwokctl.measure.running.request import MeasureRequest, Work
from kwokctl.measure.running.run_words import RunWords
from kwokctl.measure.sampling.metric import read_metrics_asked
from kwokctl.measure.watching.kinds import Latency
from kwokctl.measure.watching.phases import IncidentPhase
from kwokctl.model import ClusterName

T = TypeVar("T")
MeasuredLoad = str | PathLike[str] | Mapping[str, Json]
"""A file of loads, or a document of kind Load as a mapping."""
_SINCE: Sequence[Since] = ("due", "sent", "accepted")


class MeasureWords(TypedDict, total=False):
    """The words of a measurement: what runs meanwhile, what is recorded, what its report says."""

    load: MeasuredLoad | Sequence[MeasuredLoad]
    """Loads that run meanwhile: then only what they make counts."""
    seed: int
    """Of all that loads draw."""
    speed: float
    """The divisor of the times of loads."""
    until: str
    """An assertion that ends the run when it holds, such as `pods.running >= 500`."""
    timeout: float
    """Seconds that the run may go on after the block and loads have ended; 600 unless given."""
    selector: str
    """Only pods and Jobs with these labels count, also those that are there already."""
    namespace: str
    latency: str | Sequence[str]
    """Latencies of objects of any kind: `ready=nodes,exists,Ready`."""
    phase: str | Sequence[str]
    """Phases of incidents: `returned=!('example.com/state' in self.metadata.labels)`."""
    topology: str | Sequence[str]
    """Labels of nodes, such as that of their rack, for `fleet.spread`."""
    gang_label: str
    metric: str | Sequence[str]
    """Metrics of components: `waited=scheduler_pod_scheduling_sli_duration_seconds p99`."""
    profile_components: bool
    record: str | PathLike[str]
    """The file of the record; a new one in the work folder unless given."""
    full: bool
    """Whether whole objects are recorded beside it."""
    since: Since
    """The time of an arrival from which latencies count: `due` unless given."""
    by: str | Sequence[str]
    """Keys of groups whose figures are computed, too: `load`, `label:team`."""
    assertions: str | Sequence[str]
    """Assertions: `pods.created_to_bound.p99 < 5s`."""
    assert_file: str | PathLike[str]
    allow_undrained: bool
    """Whether it is no failure if something of the run does not come to its end."""


WORDS = tuple(MeasureWords.__annotations__)
"""The names of all of them."""


def demand_measure_words(words: Mapping[str, object]) -> None:
    """Raise UsageError, with the nearest one, for an unknown keyword."""
    demand_known(words, WORDS, "a measurement")


class MeasurePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A run to measure and its report; all words are checked."""

    run: RunWords
    by: tuple[str, ...]
    since: Since
    assertions: tuple[Assertion, ...]
    allow_undrained: bool

    def request(self, home: Home, reader: AssertionReader, work: Work) -> MeasureRequest:
        """Return the request of the run beside which `work` is done."""
        return msgspec.structs.replace(self.run, work=work).request(home, reader)

    def report_request(self, assertions: Sequence[Assertion]) -> ReportRequest:
        """Return the request of the report, with these assertions."""
        return ReportRequest(
            record=str(self.run.record),
            since=self.since,
            by=self.by,
            assertions=tuple(assertions),
            allow_undrained=self.allow_undrained,
        )


def plan_of(home: Home, cluster: ClusterName, words: MeasureWords) -> MeasurePlan:
    """Return the plan of a measurement; UsageError or ConfigError for what cannot be understood."""
    demand_measure_words(words)
    latencies = tuple(map(Latency.read, _several(words.get("latency", ()))))
    topology = _several(words.get("topology", ()))
    metrics = read_metrics_asked(list(_several(words.get("metric", ()))))
    phases = tuple(map(IncidentPhase.read, _several(words.get("phase", ()))))
    named = (map(str, latencies), topology, map(str, metrics), map(str, phases))
    reader = AssertionReader(figures_named(*named))
    by, since = _several(words.get("by", ())), words.get("since", "due")
    check_keys(by, "'by'")
    _check(words, topology, since)
    record = words.get("record")
    return MeasurePlan(
        run=RunWords(
            record=_path(record) if record else new_record(home.workdir.measurements, cluster),
            load=_loads(words.get("load", ())),
            seed=words.get("seed", 0),
            speed=words.get("speed", 1.0),
            until=words.get("until", ""),
            timeout=words.get("timeout"),
            selector=words.get("selector", ""),
            namespace=words.get("namespace", ""),
            full=words.get("full", False),
            latencies=latencies,
            phases=phases,
            topology=topology,
            gang_label=words.get("gang_label", ""),
            metrics=metrics,
            profiles=words.get("profile_components", False),
            labels=labels_of(by),
        ),
        by=by,
        since=since,
        assertions=_assertions(words, reader),
        allow_undrained=words.get("allow_undrained", False),
    )


def _check(words: MeasureWords, topology: Sequence[str], since: str) -> None:
    """Raise UsageError for values that the options of the command would not take."""
    for word, key in (("topology", each) for each in topology):
        _check_label(word, key)
    if gang_label := words.get("gang_label", ""):
        _check_label("gang_label", gang_label)
    if since not in _SINCE:
        raise UsageError(f"'since' is '{since}'", hint=f"choose from: {', '.join(_SINCE)}")
    if words.get("speed", 1.0) <= 0:
        raise UsageError(
            f"'speed' is {words['speed']}", hint="1 is the usual speed, 2 is twice as fast"
        )
    if words.get("timeout", 1.0) <= 0:
        raise UsageError(f"'timeout' is {words['timeout']}", hint="give seconds, such as 60")


def _check_label(word: str, key: str) -> None:
    if not is_qualified_name(key):
        raise UsageError(
            f"'{word}' is '{key}', not the key of a label", hint="for example: example.com/rack"
        )


def _loads(given: MeasuredLoad | Sequence[MeasuredLoad]) -> tuple[LoadSource, ...]:
    several = [given] if isinstance(given, str | PathLike | Mapping) else given
    return tuple(
        each if isinstance(each, Mapping) else str(expanded(fspath(each))) for each in several
    )


def _assertions(words: MeasureWords, reader: AssertionReader) -> tuple[Assertion, ...]:
    found = [reader.read(text, "'assertions'") for text in _several(words.get("assertions", ()))]
    if file := words.get("assert_file"):
        found += read_assertions(_path(file), reader)
    return tuple(found)


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _path(given: str | PathLike[str]) -> Path:
    return expanded(fspath(given)).absolute()
