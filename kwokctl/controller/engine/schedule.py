"""Schedules the plays of an engine's objects."""

from collections.abc import Callable

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.scheduling.delay_queue import DelayQueue


class ObjectSchedule:
    """Makes objects due after their delays."""

    def __init__(self, delay_queue: DelayQueue, ready: Callable[[ObjectState], None]) -> None:
        """Put waiting objects into `delay_queue`; give objects that are due at once to `ready`."""
        self._delay_queue = delay_queue
        self._ready = ready

    def soon(self, state: ObjectState, delay: float) -> None:
        """Play an object's Stage after a delay."""
        state.due = self._delay_queue.now() + delay
        if delay > 0:
            self._delay_queue.put(state, delay)
        else:
            self._delay_queue.forget(state)
            self._ready(state)

    def stop(self, state: ObjectState) -> None:
        """Play nothing on an object until it is seen again."""
        if state.stage is not None:
            self._delay_queue.forget(state)
            state.due = self._delay_queue.now()
        state.rest()

    def pause(self, state: ObjectState) -> None:
        """Keep the Stage and its time, but not the content of the object."""
        if state.busy:
            self.stop(state)
            return
        self._delay_queue.forget(state)
        state.release()
