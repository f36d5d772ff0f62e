"""Writes as shell how components that are processes of this host are launched and stopped.

The functions do what `lifecycle` and `supervise` do, in the same files; so what a script has
launched is stopped by kwokctl, and the other way round.
"""

from collections.abc import Iterable

from kwokctl.host.processes.launcher import BECOME
from kwokctl.host.processes.launches import KEEPER, Launches, launch_of
from kwokctl.model import ComponentName, Plan
from kwokctl.script.posix_shell import FAIL
from kwokctl.script.steps import Action, Call, Command, Folder, ShellFunction

_THERE = 'cd "$0" && exec "$@"'
RUNS = ShellFunction(
    "runs",
    """\
# Whether a component runs: its pid file holds the number, the start and the boot of its process.
runs() {
  [ -s "$cluster/pids/$1.pid" ] || return 1
  read -r pid start boot <"$cluster/pids/$1.pid"
  [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
  set -- $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null)
  [ "${20:-}" = "$start" ] && [ "$1" != Z ]
}""",
)
LAUNCH = ShellFunction(
    "launch",
    f"""\
# Launches a component in a session of its own, unless it runs.
launch() {{
  name=$1
  shift
  rm -f "$cluster/pids/$name.stopped"
  if runs "$name"; then
    return
  fi
  rm -f "$cluster/pids/$name.pid"
  echo "=== $(date -u +%Y-%m-%dT%H:%M:%SZ) started by a script ===" >>"$cluster/logs/$name.log"
  chmod 600 "$cluster/logs/$name.log"
  setsid sh -c '{BECOME}' sh "$cluster/pids/$name.pid" "$cluster" "$@" \\
    </dev/null >>"$cluster/logs/$name.log" 2>&1 &
  left=100
  until [ -s "$cluster/pids/$name.pid" ]; do
    [ "$left" -gt 0 ] || fail "$name cannot be launched: see $cluster/logs/$name.log"
    left=$((left - 1))
    sleep 0.05
  done
}}""",
    uses=(FAIL, RUNS),
)
HALT = ShellFunction(
    "halt",
    """\
# Ends components, and kills those that have not ended after the first word's seconds.
halt() {
  left=$(($1 * 10))
  shift
  for name; do
    if [ "$left" -gt 0 ] && runs "$name"; then
      kill -s TERM -- "-$pid" || true
    fi
  done
  for name; do
    while [ "$left" -gt 0 ] && runs "$name"; do
      left=$((left - 1))
      sleep 0.1
    done
    while runs "$name"; do
      kill -s KILL -- "-$pid" || true
      sleep 0.05
    done
    rm -f "$cluster/pids/$name.pid"
  done
}""",
    uses=(RUNS,),
)


class CrewScript:
    """The work of `Crew` for the components of a plan, as steps of a script."""

    def __init__(
        self, launches: Launches, plan: Plan, *, first: tuple[Folder, ...], grace: float
    ) -> None:
        """Describe these components; `grace` are the seconds before a stop becomes a kill."""
        self._first = first
        self._launches = launches
        self._plan = plan
        self._grace = grace

    def install(self) -> Iterable[Action]:
        """Write how every component is launched."""
        yield from self._first
        yield from self._launches.installation(self._plan)
        mark = str(self._launches.keep_mark)
        yield Command(("touch", mark) if self._plan.restart else ("rm", "-f", mark))

    def start(self, *names: ComponentName) -> Iterable[Action]:
        """Launch what does not run, and the process that revives components if there is to be one."""
        for name in names:
            launch = launch_of(self._plan.components[name], 0)
            env = [f"{key}={value}" for key, value in launch.env.items()]
            there = ["sh", "-c", _THERE, launch.folder] if launch.folder else []
            yield Call(LAUNCH, (name, *(["env", *env] if env else []), *there, *launch.argv))
        if names and self._plan.restart:
            yield Call(LAUNCH, (KEEPER, *self._launches.keeper_words))

    def stop(self, *names: ComponentName) -> Iterable[Action]:
        """End components together, and with the last of them the process that revives them."""
        if not names:
            return
        yield Command(("touch", *(str(self._launches.stopped_mark(name)) for name in names)))
        last = [component.name for component in list(self._plan.stop_waves())[-1]]
        keeper = [KEEPER] if self._plan.restart and set(last) <= {*names} else []
        yield Call(HALT, (f"{self._grace:.0f}", *names, *keeper))

    def uninstall(self) -> Iterable[Action]:
        """Kill what runs, and remove what was written for it."""
        yield Command(("rm", "-f", str(self._launches.keep_mark)))
        names = [component.name for wave in self._plan.stop_waves() for component in wave]
        keeper = [KEEPER] if self._plan.restart else []
        yield Call(HALT, ("0", *keeper, *names))
        paths = self._launches.paths
        yield Command(("rm", "-rf", *map(str, (paths.launch, paths.pids, paths.logs))))

    def running(self, name: ComponentName) -> Call:
        """Return the call that fails unless a component runs."""
        return Call(RUNS, (name,))
