"""The effect of open faults of the API on requests. Pure, but for the numbers of requests that were met."""

import math
from collections.abc import Iterable
from http import HTTPStatus

import msgspec

from kwokctl.api_proxy.api_request import ApiRequest
from kwokctl.api_proxy.word_pattern import word_patterns
from kwokctl.draws.streams import DrawStream
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.classes.class_parameters import RESOURCE, USER, USER_AGENT, VERB
from kwokctl.faults.classes.message_texts import rendered
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.overlays.fault_course import ClassDefinition, course_of, injected_fault
from kwokctl.faults.targets.target_selection import API_UNIT

_COMMA = ","
_HUNDRED = 100.0


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request that is not passed on."""

    fault: str
    """The name of the Fault."""
    code: int
    retry_after: int = 0
    """Seconds of `Retry-After` in the answer; 0 for an answer without."""


class Treatment(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of faults on one request."""

    delay: float = 0.0
    """Seconds for which it is held back."""
    refusal: Refusal | None = None


UNTOUCHED = Treatment()


class ApiFault:
    """An open fault; the decision about a request depends on its seed and on how many it has met before."""

    def __init__(self, fault: StoredFault, definition: ClassDefinition) -> None:
        """Read a fault that has begun; ExpressionError and ValueError for values that no class of kwokctl has."""
        meta, since = fault.metadata, fault.status.clock or 0.0
        injected = injected_fault(fault.spec, name=meta.name, uid=meta.uid, since=since)
        first = course_of(definition, injected, API_UNIT, gpus=0).parts[0]
        values, effect = first.parameters, first.found.spec.effects.api
        if effect is None:
            raise ValueError("the class has no effect on the API")
        self.name, self.uid = meta.name, meta.uid
        self.met = self.hit = 0
        """The requests that it matched, and those of them that were delayed or refused."""
        self.cut = 0
        """The watches that it has cut."""
        texts = {name: rendered(getattr(effect, name), values) for name in effect.__struct_fields__}
        self._latency = _seconds(texts["latency"])
        self._jitter = _seconds(texts["jitter"])
        self._code = int(texts["code"] or 0)
        if self._code:
            HTTPStatus(self._code)  # ValueError for what is no status
        self._share = float(texts["share"] or _HUNDRED) / _HUNDRED
        self._retry_after = math.ceil(_seconds(texts["retry_after"]))
        self.cut_every = _seconds(texts["cut_every"])
        """Seconds between two cuts of all watches that it matches; 0 if it cuts none."""
        self._user_agent = word_patterns(str(values[USER_AGENT]))
        self._user = word_patterns(str(values[USER]), separator=_COMMA)
        self._verb = word_patterns(str(values[VERB]), separator=_COMMA)
        self._resource = word_patterns(str(values[RESOURCE]), separator=_COMMA)
        stream = DrawStream.of(fault.spec.seed, definition.found.name, API_UNIT.name)
        self._shares, self._jitters = stream.below("share"), stream.below("jitter")

    def matches(self, request: ApiRequest) -> bool:
        """Return whether it is about a request."""
        return not request.is_exempt and all(
            not words or any(word.fits(text) for word in words for text in texts)
            for words, texts in (
                (self._user_agent, (request.user_agent,)),
                (self._user, (request.user,)),
                (self._verb, (request.verb,)),
                (self._resource, _names(request)),
            )
        )

    def treat(self, request: ApiRequest) -> Treatment:
        """Decide about a request, and count it."""
        if not (self._latency or self._jitter or self._code) or not self.matches(request):
            return UNTOUCHED
        number, self.met = self.met, self.met + 1
        delay = self._latency
        if self._jitter:
            delay += self._jitter * (2.0 * self._jitters.at(number) - 1.0)
        refusal = None
        if self._code and self._shares.at(number) < self._share:
            refusal = Refusal(fault=self.name, code=self._code, retry_after=self._retry_after)
        self.hit += delay > 0 or refusal is not None
        return Treatment(delay=max(delay, 0.0), refusal=refusal)


def treatment(faults: Iterable[ApiFault], request: ApiRequest) -> Treatment:
    """Return what several faults do to a request: delays add up, and the first refusal counts."""
    delay, refusal = 0.0, None
    for fault in faults:
        one = fault.treat(request)
        delay += one.delay
        refusal = refusal or one.refusal
    return Treatment(delay=delay, refusal=refusal) if delay or refusal else UNTOUCHED


def _names(request: ApiRequest) -> tuple[str, ...]:
    """Return the ways to write a resource: `pods/status`, `leases` and `leases.coordination.k8s.io`."""
    if not request.group:
        return (request.resource,)
    kind, slash, below = request.resource.partition("/")
    return request.resource, f"{kind}.{request.group}{slash}{below}"


def _seconds(text: str) -> float:
    return parse_duration(text) if text else 0.0
