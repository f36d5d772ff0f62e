"""The alarms of a real etcd: listed and disarmed, as an administrator does."""

from typing import Any

from kwokctl.etcd import shim
from kwokctl.etcd.kv.kv import Kv

_ALARM = "/etcdserverpb.Maintenance/Alarm"


async def alarms(kv: Kv) -> list[str]:
    """Return the names of the alarms that are raised."""
    names = {shim.load().etcdrpc.NOSPACE: "NOSPACE"}
    raised = (await _ask(kv, {})).alarms
    return [names.get(alarm.alarm, str(alarm.alarm)) for alarm in raised]


async def disarm(kv: Kv) -> None:
    """Take all alarms back. One whose reason is still there is raised again by the next write."""
    for alarm in (await _ask(kv, {})).alarms:
        await _ask(kv, {"action": 2, "memberID": alarm.memberID, "alarm": alarm.alarm})


async def refuse_writes(kv: Kv) -> None:
    """Raise the alarm of an etcd that has reached its quota."""
    await _ask(kv, {"action": 1, "alarm": shim.load().etcdrpc.NOSPACE})


async def _ask(kv: Kv, words: dict[str, int]) -> Any:
    rpc = shim.load().etcdrpc
    request = rpc.AlarmRequest(**words).SerializeToString()
    return rpc.AlarmResponse.FromString(await kv.channel.call(_ALARM, request, within=30.0))
