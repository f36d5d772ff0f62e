"""The commands by which a node's static pods are ended and begun: their manifests are put aside. Pure.

An engine may give a node another address whenever it starts. kind looks after the manifests in their
usual place then, and does not know of those that are put aside: they follow when any is moved.
"""

from collections.abc import Collection
from pathlib import PurePosixPath

from kwokctl.model import ComponentName

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
  if [ -e "$from/$name.yaml" ]; then mv "$from/$name.yaml" "$to/"; fi
done
"""


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
