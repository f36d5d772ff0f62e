"""Which components stay on the host, beside those that an engine runs."""

from dataclasses import replace

from kwokctl.model import KWOK_CONTROLLER, Plan

ON_HOST = frozenset({KWOK_CONTROLLER})
"""Placed as processes of this host: the embedded controller is kwokctl itself, and is no image."""


def placed(plan: Plan, *, on_host: bool) -> Plan:
    """Return the part of a plan that is placed on the host, or with the engine."""
    chosen = {name: c for name, c in plan.components.items() if (name in ON_HOST) == on_host}
    return replace(plan, components=chosen)
