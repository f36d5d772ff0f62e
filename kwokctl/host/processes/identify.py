"""Finds the process of a component: by its pid file or, where that was lost, by what it runs."""

from collections.abc import Callable, Sequence
from functools import cache

from kwokctl.errors import ConfigError
from kwokctl.host.processes.holding import held_words
from kwokctl.host.processes.launcher import is_on_its_way
from kwokctl.host.processes.launches import Launches
from kwokctl.host.processes.supervise import Process, read_pid_file, working_in
from kwokctl.model import ComponentName

Working = Callable[[], Sequence[Process]]


def working_for(launches: Launches) -> Working:
    """Return what lists the processes in a cluster's folder, once: each of the machine is looked at."""
    return cache(lambda: list(working_in(launches.paths.root)))


def find_process(
    launches: Launches, name: ComponentName, working: Working | None = None
) -> Process | None:
    """Return the process of a component; the one that has ended last if none runs, as far as known.

    A caller that looks for several components lists the processes once for all of them.
    """
    recorded = read_pid_file(launches.pid_file(name))
    if recorded and recorded.is_alive:
        return recorded
    return _without_pid_file(launches, name, working or working_for(launches)) or recorded


def _without_pid_file(launches: Launches, name: ComponentName, working: Working) -> Process | None:
    """Return a process that was launched as this component, and that no pid file names.

    Each works in its cluster's folder. What only works there, such as a user's shell, runs
    something else.
    """
    try:
        how = launches.read(name)
    except ConfigError:
        return None
    argv = how.argv
    launched = (argv, held_words(argv, how.held_at))
    # What is on its way holds the component's lock, and writes its pid file itself.
    found = [
        each
        for each in working()
        if each.words[-len(argv) :] in launched and not is_on_its_way(each.pid)
    ]
    # Read after the processes were: what has become its program by then has its pid file.
    known = [read_pid_file(file) for file in launches.paths.pids.glob("*.pid")] if found else []
    return next((each for each in found if each not in known), None)
