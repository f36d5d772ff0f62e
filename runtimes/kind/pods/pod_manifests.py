"""The manifests of static pods in the node: the kubelet runs what lies in one folder.

https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/

kubeadm makes the pod of etcd once, with the node, and its manifest stays as it is. One of an older kwokctl has an
abstract socket for peers, and accepts every client certificate of the cluster. Only that is changed (`mended`), before
the next start; what the user has said to kubeadm stays.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from uuid import uuid4

from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.model import Component, ComponentName
from runtimes.engine.inside import Inside
from runtimes.kind.pods.pod_settings import sight, volumes

KUBERNETES = PurePosixPath("/etc/kubernetes")
_SCRIPT = """\
stopped=$1/stopped from=$1/$2 to=$1/$3
shift 3
mkdir -p "$from" "$to"
for family in 4 6; do
  now=$(getent "ahostsv$family" "$(hostname)" | head -n 1 | cut -d ' ' -f 1)
  was=$(cat "$stopped/address$family" 2>/dev/null)
  if [ -n "$was" ] && [ -n "$now" ] && [ "$was" != "$now" ]; then
    pattern=$(printf %s "$was" | sed 's/[.]/[.]/g')
    find "$stopped" -name '*.yaml' -exec sed -i "s/\\b$pattern\\b/$now/g" {} +
  fi
  printf %s "$now" >"$stopped/address$family"
done
for name; do
  if [ ! -e "$from/$name.yaml" ]; then continue; fi
  if [ "$from" = "$stopped" ]; then
    uid=$(tr -d - </proc/sys/kernel/random/uuid)
    sed -i -e '/^  uid:/d' -e "s/^metadata:\\$/&\\n  uid: $uid/" "$from/$name.yaml"
  fi
  mv "$from/$name.yaml" "$to/"
done
"""
"""Ends and begins static pods by moving their manifests. An engine may give a node another address whenever
it starts. kind looks after the manifests in their usual place then, and does not know of those that
are put aside: they follow when any is moved.

What begins again is another pod, by its uid: the kubelet takes the end of a pod that it knows for a
crash, and lets it wait ten seconds and more."""
_END_AT_ONCE = """\
names=$1
shift
systemctl stop kubelet
"$@"
while :; do
  left=
  for process in /proc/[0-9]*; do
    { read -r name <"$process/comm"; } 2>/dev/null || continue
    case " $names " in
      *" $name "*) left=yes; kill -KILL "${process#/proc/}" 2>/dev/null ;;
    esac
  done
  if [ -z "$left" ]; then break; fi
  sleep 0.05
done
systemctl start kubelet
"""
"""Kills programs while there is no kubelet that would begin them again, or wait for their end."""
_COMM = 15
"""So many letters of a program's name the kernel shows (proc_pid_comm(5))."""
PODS_LOGS = "/var/log/pods"
_RUN, _STOPPED = f"{KUBERNETES}/manifests", f"{KUBERNETES}/stopped"
_PODS = "/var/lib/kubelet/pods"
"""Has a folder for each pod until the kubelet is done with it."""

# The kubelet reads no file whose name begins with a dot.
_PLACE = """\
mkdir -p "$1" "$2"
printf %s "$4" >"$1/.$3"
mv "$1/.$3" "$1/$3.yaml"
rm -f "$2/$3.yaml"
"""
_READ = """\
if [ -e "$1/$2.yaml" ]; then cat "$1/$2.yaml"; fi
"""
_REPLACE = """\
printf %s "$3" >"$1/.$2"
mv "$1/.$2" "$1/$2.yaml"
"""
_WHICH = """\
run=$1 stopped=$2 place=$3
shift 3
for folder in "$run" "$stopped"; do
  for name; do
    id=$(sed -n 's/.*"uid": "\\([^"]*\\)".*/\\1/p' "$folder/$name.yaml" 2>/dev/null)
    if [ -n "$id" ] && holds; then echo "$name"; fi
  done
done
"""
# A pod that kubeadm has made has no uid in its manifest, but in the name of its logs.
_IS_KNOWN = (
    """\
holds() { [ -e "$place/$id" ]; }
logs=$1
shift
"""
    + _WHICH
    + """\
for name; do
  for log in "$logs/kube-system_$name-$(hostname)_"*; do
    if [ -e "$place/${log##*_}" ]; then echo "$name"; fi
  done
done
"""
)
# While a pod is begun there is its sandbox; when its only program has ended, that is ended, too. Of
# one that is revived there is then a second log.
_HAS_ENDED = (
    """\
tasks=$(ctr --namespace=k8s.io tasks list --quiet)
holds() {
  set -- "$place"/*_"$id/$name"/*.log
  if [ ! -e "$1" ]; then return 1; fi
  if [ $# -gt 1 ]; then return 0; fi
  for of in $(ctr --namespace=k8s.io containers list --quiet "labels.\\"io.kubernetes.pod.uid\\"==$id")
  do
    case "$tasks" in *"$of"*) return 1 ;; esac
  done
}
"""
    + _WHICH
)


def putting_aside(
    names: Collection[ComponentName], folder: PurePosixPath = KUBERNETES
) -> tuple[str, ...]:
    """Return the command after which the kubelet ends these pods."""
    return ("sh", "-c", _SCRIPT, "sh", str(folder), "manifests", "stopped", *names)


def taking_up(
    names: Collection[ComponentName], folder: PurePosixPath = KUBERNETES
) -> tuple[str, ...]:
    """Return the command after which the kubelet begins these pods."""
    return ("sh", "-c", _SCRIPT, "sh", str(folder), "stopped", "manifests", *names)


def ending_at_once(
    names: Collection[ComponentName], folder: PurePosixPath = KUBERNETES
) -> tuple[str, ...]:
    """Return the command that kills the programs of these pods, and has the kubelet begin without them."""
    programs = " ".join(name[:_COMM] for name in sorted(names))
    return ("sh", "-c", _END_AT_ONCE, "sh", programs, *putting_aside(names, folder))


def asking_which_are_known(
    names: Collection[ComponentName],
    folder: PurePosixPath = KUBERNETES,
    *,
    logs: PurePosixPath | str = PODS_LOGS,
    pods: PurePosixPath | str = _PODS,
) -> tuple[str, ...]:
    """Return the command that names those of some pods that the kubelet is not done with."""
    folders = (logs, folder / "manifests", folder / "stopped", pods)
    return ("sh", "-c", _IS_KNOWN, "sh", *map(str, folders), *names)


class Manifests:
    """The pods of one node. Those of kubeadm are in a folder; each start of any other component makes a new pod."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def resume(self, names: Collection[ComponentName]) -> None:
        """Let the kubelet run pods whose manifests were withdrawn."""
        await self._inside.run(*taking_up(names))

    async def change(
        self, name: ComponentName, change: Callable[[Mapping[str, object]], Mapping[str, object]]
    ) -> None:
        """Change a pod whose manifest was withdrawn; nothing happens if it was not."""
        text = await self._script(_READ, _STOPPED, name)
        if not text:
            return
        pod = yaml.load(text)
        if (wanted := change(pod)) != pod:
            await self._script(_REPLACE, _STOPPED, name, yaml.dump_all([wanted]))

    async def withdraw(self, names: Collection[ComponentName]) -> None:
        """Let the kubelet end pods; it will after a while."""
        await self._inside.run(*putting_aside(names))

    async def remove(self, names: Collection[ComponentName]) -> None:
        """Remove withdrawn manifests."""
        await self._inside.run("rm", "-f", *(f"{_STOPPED}/{name}.yaml" for name in names))

    async def place(self, name: ComponentName, pod: Mapping[str, Json]) -> None:
        """Let the kubelet run a pod, in place of a former one of its name.

        It has an id of its own: the kubelet does not run one again that has ended.
        """
        metadata = {**pod["metadata"], "uid": uuid4().hex}
        text = json.dumps({**pod, "metadata": metadata})
        await self._script(_PLACE, _RUN, _STOPPED, name, text)

    async def ended(self, names: Collection[ComponentName]) -> set[str]:
        """Name those placed pods whose programs have been run, and have ended."""
        said = await self._script(_HAS_ENDED, _RUN, _STOPPED, PODS_LOGS, *names)
        return set(said.split())

    async def known(self, names: Collection[ComponentName]) -> set[str]:
        """Name those withdrawn pods that the kubelet is not done with."""
        return set((await self._inside.run(*asking_which_are_known(names))).split())

    async def _script(self, script: str, *words: str) -> str:
        return await self._inside.run("sh", "-c", script, "sh", *words)


_PEERS = "--listen-peer-urls="
_OPEN = f"{_PEERS}unix:///"
_CLIENTS = "--client-cert-allowed-hostname="


def mended(pod: Mapping[str, Json], etcd: Component, root: Path) -> Mapping[str, Json]:
    """Return etcd's pod with both closed; one that was made without them is returned as it is."""
    container, *others = pod["spec"]["containers"]
    if not any(word.startswith(_OPEN) for word in container["command"]):
        return pod
    seen = sight(etcd)
    mounts, parts = seen["volumeMounts"], volumes(etcd, root)
    closed = {
        **container,
        "command": [
            *(word for word in container["command"] if not word.startswith((_PEERS, _CLIENTS))),
            *(word for word in etcd.args if word.startswith((_PEERS, _CLIENTS))),
        ],
        "workingDir": seen["workingDir"],
        "volumeMounts": _with_new(container["volumeMounts"], mounts, by="mountPath"),
    }
    spec = {
        **pod["spec"],
        "containers": [closed, *others],
        "volumes": _with_new(pod["spec"]["volumes"], parts, by="name"),
    }
    return {**pod, "spec": spec}


def _with_new(
    there: Sequence[Mapping[str, Json]], wanted: Sequence[Mapping[str, Json]], *, by: str
) -> list[Mapping[str, Json]]:
    known = {each[by] for each in there}
    return [*there, *(each for each in wanted if each[by] not in known)]
