"""A measured run for Python programs: what `kwokctl measure` records and reports, as an object."""

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.errors import ConflictError, UsageError
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json
from kwokctl.library.calls import shown
from kwokctl.library.loop import LoopJob, loop_thread
from kwokctl.library.measuring.finished_run import FinishedRun
from kwokctl.library.measuring.measure_words import MeasureWords, plan_of
from kwokctl.library.measuring.run_figures import GroupFigures, RunFigures
from kwokctl.library.measuring.with_block import MeasuredBlock
from kwokctl.measure.figures.figure_catalogue import figures_named
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import AssertionReader
from kwokctl.measure.judging.verdict import MeasuredVerdict
from kwokctl.measure.reports.forms import HTML, form_of
from kwokctl.measure.reports.report import Figures
from kwokctl.measure.running.run import measure_own
from kwokctl.model import ClusterName

__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""


class Measurement(RunFigures):
    """A run of a cluster: recorded while a `with` block works, and its figures once the block has ended.

    Durations are floats in seconds. A figure that was not measured says why when it is read (NotFoundError).
    """

    def __init__(self, home: Home, cluster: ClusterName, words: MeasureWords) -> None:
        """Check what is to be measured; UsageError or ConfigError for what cannot be understood."""
        super().__init__({}, "")
        self._home, self._cluster = home, cluster
        self._plan = plan_of(home, cluster, words)
        self._block = MeasuredBlock()
        self._job: LoopJob[History] | None = None
        self._run: FinishedRun | None = None
        self.ends_when_read = False
        """Whether the first figure that is read ends the run, as in tests; otherwise it is refused until the run is over."""

    @property
    def record(self) -> Path:
        """The file of the record, from which `kwokctl measure FILE` computes figures again."""
        return self._plan.run.record

    def begin(self) -> None:
        """Begin to record, and return when everything is watched; a `with` block does so.

        Raises UsageError or ConfigError for loads that cannot be understood, and NotFoundError or ApiError for what the cluster
        lacks or refuses. ConflictError if it has begun already: a run is measured once.
        """
        if self._job is not None:
            raise ConflictError(
                "this run was begun already", hint="call cluster.measure() for each run"
            )
        run = self._plan.run
        reader = AssertionReader(figures_named(
            map(str, run.latencies), run.topology, map(str, run.metrics), map(str, run.phases)
        ))  # fmt: skip
        request = shown(lambda: self._plan.request(self._home, reader, self._block.work))
        thread = loop_thread()
        job = self._job = thread.job(measure_own(self._home, self._cluster, request))
        thread.start(job, until=self._block.begun)
        if job.result.done():  # it has failed, or '--until' held at once
            self._take(shown(lambda: thread.finish(job)))

    def end(self) -> Self:
        """Wait until nothing of the run moves any more, end the recording, and return this; a `with` block does so.

        An interrupt ends it at once: the figures of what was recorded until then are there, and the verdict says so.
        """
        job = self._begun()
        self._block.end()
        try:
            shown(lambda: loop_thread().finish(job))
        finally:
            self._take_what_is_there(job)
        return self

    def break_off(self) -> None:
        """End the recording at once, as an interrupt does."""
        job = self._begun()
        loop_thread().call_off(job)
        self._take_what_is_there(job)

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, so that its figures are known."""
        return self._run is not None

    @property
    def verdict(self) -> MeasuredVerdict:
        """The verdict: whether it has passed, can be relied on, came to its end, and what is wrong."""
        return self._whole().report.verdict

    @property
    def seconds(self) -> float:
        """The length of the run."""
        return self._whole().report.seconds

    @property
    def conditions(self) -> Mapping[str, str]:
        """The conditions under which it was measured: versions, the machine, its load."""
        return self._whole().report.conditions

    @property
    def groups(self) -> Mapping[str, Mapping[str, GroupFigures]]:
        """The figures of groups by their key and name, for `by="load"`: `groups["load"]["short"].jobs.jct.p50`."""
        found = self._whole().report.groups
        return {
            key: {name: GroupFigures(figures, "") for name, figures in named.items()}
            for key, named in found.items()
        }

    def number(self, text: str) -> float:
        """Return a number by its name in assertions: `jobs.jct[load=short].p50`; NotFoundError if it was not measured."""
        return self._whole().number(text)

    def expect(self, *assertions: str) -> Self:
        """Raise AssertionError, with the figures, unless the run has passed and all of these hold; return this.

        An assertion is one of `kwokctl measure --assert`: `pods.created_to_bound.p99 < 5s`. Reports that are written
        afterwards have it, too. UsageError for what is no assertion.
        """
        self._whole().expect(assertions)
        return self

    def report(self, file: str | PathLike[str], *, with_pods: bool = False) -> Path:
        """Write the report into a file, in the form that its ending names, and return its path; UsageError for another ending.

        `with_pods` embeds every pod in a page (`.html`), if they are small enough; UsageError for other forms.
        """
        path = expanded(fspath(file))
        if form_of(path) != HTML and with_pods:
            raise UsageError(
                f"'with_pods' needs a page, and '{path}' is not one", hint="end it in .html"
            )
        if note := self._whole().write(path, with_pods=with_pods):
            self._home.progress.note(note)
        return path

    def to_dict(self) -> dict[str, Json]:
        """Return the report as `kwokctl measure -o json` writes it."""
        found: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(self._whole().report))
        return found

    def known(self) -> Figures:
        """Return all figures of the run."""
        return self._whole().report.figures

    def _whole(self) -> FinishedRun:
        """Return the run; while it goes on that is UsageError, or ends it and demands that it has passed."""
        if self._run is None and self._job is not None and self.ends_when_read:
            self.end().expect()
        if self._run is None:
            raise UsageError(
                "figures are known when the run is over",
                hint="read them after the 'with' block, or call end() first",
            )
        return self._run

    def _begun(self) -> LoopJob[History]:
        if self._job is None:
            raise UsageError(
                "the run has not begun", hint="write: with cluster.measure() as measured: ..."
            )
        return self._job

    def _take_what_is_there(self, job: LoopJob[History]) -> None:
        """Keep what an interrupted run has recorded, too."""
        if job.result.done() and not job.result.cancelled() and job.result.exception() is None:
            self._take(job.result.result())

    def _take(self, history: History) -> None:
        if self._run is None:
            self._run = FinishedRun(history, self._plan)

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """End it: at once if the block has failed, whose error is raised then."""
        if error is None:
            self.end()
        else:
            self.break_off()

    def __str__(self) -> str:
        return self._run.text if self._run else repr(self)

    def _repr_html_(self) -> str | None:
        """Return the page of the run for notebooks; None, so that they show the text, while it is not over."""
        return self._run.notebook if self._run else None

    def __repr__(self) -> str:
        if self._run is None:
            state = "has not begun" if self._job is None else "goes on"
            return f"<measurement of '{self._cluster}': {state}>"
        return f"<measurement of '{self._cluster}': {self._run.headline}>"
