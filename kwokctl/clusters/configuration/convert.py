"""Rewrites documents in their present spelling: older Stages, and deprecated options."""

from collections.abc import Callable, Mapping

from kwokctl.json_value import Json

_SUBRESOURCE = "status"
"""The default target of a `statusTemplate`."""
_COMPONENTS: Mapping[str, tuple[str, str]] = {
    "enableMetricsServer": ("enable", "metrics-server"),
    "disableKubeScheduler": ("disable", "kube-scheduler"),
    "disableKubeControllerManager": ("disable", "kube-controller-manager"),
}
"""Deprecated switches: the list that took the place of each, and the component in it."""
_ARCHIVES: Mapping[str, Mapping[str, str]] = {
    "etcdBinaryTar": {
        "etcdBinary": "etcd",
        "etcdctlBinary": "etcdctl",
        "etcdutlBinary": "etcdutl",
    },
    "prometheusBinaryTar": {"prometheusBinary": "prometheus"},
    "jaegerBinaryTar": {"jaegerBinary": "jaeger-all-in-one"},
}
"""By the key of an archive: the keys of the programs in it, and their names there."""


def converted(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return a document in its present spelling; one that has it already comes back the same."""
    kind = body.get("kind")
    part = {"Stage": "spec", "KwokctlConfiguration": "options"}.get(str(kind), "")
    if not isinstance(body.get(part), Mapping):
        return dict(body)
    convert: Callable[[dict[str, Json]], dict[str, Json]] = _stage if kind == "Stage" else _options
    return {**body, part: convert(dict(body[part]))}


def _options(options: dict[str, Json]) -> dict[str, Json]:
    for key, (field, component) in _COMPONENTS.items():
        if options.pop(key, False):
            there = options.get(field) or []
            options[field] = [*there, *([] if component in there else [component])]
    for name, programs in _ARCHIVES.items():
        if archive := options.pop(name, ""):
            for key, member in programs.items():
                options.setdefault(key, f"{archive}#{member}")
    return options


def _stage(spec: dict[str, Json]) -> dict[str, Json]:
    if isinstance(spec.get("selector"), Mapping):
        spec["selector"] = _selector(dict(spec["selector"]))
    if spec.get("weightFrom"):
        spec["weightFrom"] = _source(spec["weightFrom"])
    if isinstance(spec.get("delay"), Mapping):
        spec["delay"] = {
            key: _source(value) if key.endswith("From") else value
            for key, value in spec["delay"].items()
        }
    if spec.get("steps") or not isinstance(spec.get("next"), Mapping):
        return spec
    return {
        ("steps" if key == "next" else key): (_steps(value) if key == "next" else value)
        for key, value in spec.items()
        if key != "steps"
    }


def _selector(selector: dict[str, Json]) -> dict[str, Json]:
    if selector.get("matchExpressions"):
        selector["matchExpressions"] = [
            {"jq": condition} if "key" in condition else condition
            for condition in selector["matchExpressions"]
        ]
    return selector


def _source(source: Json) -> Json:
    if isinstance(source, Mapping) and source.get("expressionFrom"):
        return {"jq": {"expression": source["expressionFrom"]}}
    return source


def _steps(old: Mapping[str, Json]) -> list[Json]:
    """Spell `next` as steps, in the order in which it is carried out."""
    first = {key: old[key] for key in ("event", "finalizers") if old.get(key)}
    patches = old.get("patches") or ([_status(old)] if old.get("statusTemplate") else [])
    last = {"delete": True} if old.get("delete") else {}
    return [step for step in (first, *({"patch": patch} for patch in patches), last) if step]


def _status(old: Mapping[str, Json]) -> dict[str, Json]:
    user = {"impersonation": old["statusPatchAs"]} if old.get("statusPatchAs") else {}
    return {
        "subresource": old.get("statusSubresource", _SUBRESOURCE),
        "root": "status",
        "template": old["statusTemplate"],
        **user,
    }
