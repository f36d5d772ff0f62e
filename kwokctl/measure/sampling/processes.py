"""Samples the CPU time and the memory of components whose processes this host can see."""

from collections.abc import Callable

from kwokctl.errors import KwokctlError
from kwokctl.host.processes.process_usage import look
from kwokctl.measure.record.plane_lines import ProcessSample
from kwokctl.measure.sampling.metric_sources import Components, Processes
from kwokctl.measure.watching.numbered_texts import Emit, Texts


class ProcessSampler:
    """Looks at processes, and writes a line about all of them."""

    def __init__(
        self, components: Components, emit: Emit, texts: Texts, now: Callable[[], int]
    ) -> None:
        self._components = components
        self._emit = emit
        self._texts = texts
        self._now = now
        self._known: Processes = {}
        self._complete = 0
        """The number of components that ran when they were looked for last."""

    async def sample(self) -> None:
        """Look once. Processes are looked for again when one of them has ended, for an engine answers slowly."""
        spent = look(self._known)
        if not self._known or len(spent) < self._complete:
            self._known = await self._found()
            spent = look(self._known)
            self._complete = max(self._complete, len(spent))
        self._emit(ProcessSample(
            self._now(),
            tuple(map(self._texts.number, spent)),
            tuple(each.identity for each in spent.values()),
            tuple(each.cpu for each in spent.values()),
            tuple(each.memory for each in spent.values()),
            tuple(self._texts.number(name) for name, each in spent.items() if each.is_stopped),
        ))  # fmt: skip

    async def _found(self) -> Processes:
        find = self._components.processes
        try:
            return await find() if find else {}
        except KwokctlError:
            return {}  # the engine does not answer
