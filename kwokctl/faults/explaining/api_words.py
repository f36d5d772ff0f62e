"""The effect of a fault on requests of the API, in words. Pure."""

from collections.abc import Iterator, Mapping

from kwokctl.faults.classes.class_parameters import RESOURCE, USER, USER_AGENT, VERB
from kwokctl.faults.classes.class_schema import FaultApi
from kwokctl.faults.classes.message_texts import rendered
from kwokctl.json_value import Json

_CHOSEN = {
    USER_AGENT: "of the clients '{}'",
    USER: "of the users '{}'",
    VERB: "with the verb '{}'",
    RESOURCE: "for the resources '{}'",
}


def api_words(effect: FaultApi, values: Mapping[str, Json]) -> Iterator[str]:
    """Yield what happens to the requests that a fault with these parameters matches."""
    latency, jitter, code, share, again, every = (
        rendered(text, values)
        for text in (
            effect.latency,
            effect.jitter,
            effect.code,
            effect.share,
            effect.retry_after,
            effect.cut_every,
        )
    )
    if latency:
        span = f", give or take up to {jitter}" if jitter not in ("", "0s") else ""
        yield f"requests are held back for {latency}{span}"
    if code:
        which = "all requests" if share in ("", "100") else f"{share} % of the requests"
        after = f", and Retry-After: {again}" if again else ""
        yield f"{which} are refused with the status {code}{after}"
    if every:
        yield f"open watches are cut every {every}"


def chosen_words(values: Mapping[str, Json]) -> str:
    """Return which requests are meant: `requests of the users 'x'`, or `all requests`."""
    words = [text.format(values[name]) for name, text in _CHOSEN.items() if values.get(name)]
    return " ".join(["requests", *words]) if words else "all requests"
