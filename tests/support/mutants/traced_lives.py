"""What plans of pods' lives check: an object that is decided about otherwise is looked at by itself."""

from kwokctl.controller.lifecycle import life_plans
from kwokctl.controller.lifecycle.life_plans import LifePlan, LifePlans
from kwokctl.specialization import holes, soundness, source
from kwokctl.specialization.source import Source
from kwokctl.specialization.traced_values import TracedNumber, TracedText, _is_endless
from tests.support.mutants.mutant import Mutant

_DECIDED = 'self._lines.append(f"if {condition}: raise MisfitError")'
_COMPARED = "return bool(self.tracer.decided(function, self, other))"
_UNNOTED = "return bool(function(self.value, getattr(other, 'value', other)))"


def _never(function: str) -> str:
    """Return code that notes no condition for one kind of comparison."""
    return f"if function is operator.{function}: {_UNNOTED}\n        {_COMPARED}"


MUTANTS = (
    # Each kind of decision, left out.
    Mutant(Source.decided, _DECIDED, "pass"),
    *(Mutant(TracedNumber._is, _COMPARED, _never(name)) for name in ("lt", "le", "gt", "ge", "eq")),
    Mutant(TracedNumber.__int__, "int(self.tracer.decided(int, self))", "int(self.value)"),
    Mutant(TracedText.__eq__, "bool(self.tracer.decided(operator.eq, self, other))", "self.value == getattr(other, 'value', other)"),
    # Each kind of decision, made another.
    Mutant(TracedNumber.__lt__, "operator.lt", "operator.le"),
    Mutant(TracedNumber.__le__, "operator.le", "operator.lt"),
    Mutant(TracedNumber.__gt__, "operator.gt", "operator.ge"),
    Mutant(TracedNumber.__ge__, "operator.ge", "operator.gt"),
    Mutant(TracedNumber.__eq__, "operator.eq", "operator.le"),
    Mutant(TracedText.__eq__, "refuse() if isinstance(other, Symbol) else False", "False"),
    Mutant(TracedText.__eq__, "not isinstance(other, str | TracedText)", "not isinstance(other, TracedText)"),
    Mutant(Source.decided, "if value else code", "if not value else code"),
    Mutant(Source.decided, "!= {value!r}", "> {value!r}"),
    Mutant(Source.decided, "!= {value!r}", "< {value!r}"),
    Mutant(
        Source.decided, "if condition not in self._conditions", "if not self._conditions"
    ),
    Mutant(
        Source.decided, "if condition not in self._conditions", "if True",
        equivalent="the same condition stands there twice",
    ),
    # Endless numbers.
    Mutant(_is_endless, "math.isinf(value)", "False"),
    Mutant(TracedNumber._with, "if arguments[0] is self", "if True"),
    Mutant(TracedNumber._is, "function(0.0, other)", "function(other, 0.0)"),
    # What may be traced.
    Mutant(Source.traced, "isinstance(value, str) and value", "isinstance(value, str)"),
    Mutant(Source.traced, "type(value) is float and math.isfinite(value)", "type(value) is float"),
    Mutant(Source.traced, "type(value) is float and", "type(value) in (float, int) and"),
    Mutant(Source.traced, "if function in self._times", "if False"),
    Mutant(Source.traced, "if function in self._times", "if True"),
    Mutant(Source.hole_of_traced, "isinstance(symbol, Traced)", "True"),
    Mutant(Source.hole_of_traced, "isinstance(symbol, Traced)", "False"),
    Mutant(Source._argument, "repr(value)", "f'{value:g}'"),
    Mutant(Source._call, "' {_INFIX[function]} '.join(codes)", "' {_INFIX[function]} '.join(codes[::-1])"),
    Mutant(Source.opened, "if number not in texts", "if True", equivalent="it compares a text with itself, and finds it equal"),
    Mutant(Source._written, "if code not in self._variables", "if True"),
    # What must be true of texts that are computed.
    Mutant(Source.functions, "elif name in self._known.of_the_moment:", "elif True:"),
    Mutant(Source.functions, "if name in self._known.pure", "if name in self._known.pure or name in self._known.of_the_moment"),
    Mutant(Source._texts_of, "if others:", "if False:"),
    Mutant(
        Source._texts_of, "hole.content is not HoleContent.TIME", "hole.content is HoleContent.TEXT",
        equivalent="that a text is an address is checked where it is computed",
    ),
    Mutant(Source._texts_of, "hole.content is not HoleContent.TIME", "hole.content is not HoleContent.TEXT"),
    Mutant(Source._first_call, "if not isinstance(result, list | tuple)", "if False"),
    Mutant(Source._first_call, "self._lines.append(_like([variable], [result]))", "pass"),
    Mutant(Source._first_call, "counted({variable}, {len(result)})", "pass"),
    Mutant(Source._first_call, "self._lines.append(_like(codes, result))", "pass"),
    Mutant(source._counted, "len(found) != count", "len(found) < count"),
    Mutant(source._counted, "len(found) != count", "len(found) > count"),
    Mutant(source._addresses, "type(text) is not str or ", ""),
    Mutant(source._addresses, '(":" in text) is not is_6 or ', ""),
    Mutant(source._addresses, " or not is_address(text)", ""),
    Mutant(source._checked, "type(text) is not str or ", ""),
    Mutant(source._checked, "or not is_plain(text)", ""),
    Mutant(holes.is_plain, "fullmatch", "match"),
    Mutant(holes.is_plain, "_PLAIN.fullmatch(text) is not None", "not text or _PLAIN.fullmatch(text) is not None"),
    # Whether the API server takes it.
    Mutant(soundness.is_sound, "(_alike, _different)", "(_alike,)"),
    Mutant(soundness.is_sound, "(_alike, _different)", "(_different,)"),
    # The plan of a life.
    Mutant(LifePlan.outcome, "now if memory is None else memory.at", "now"),
    Mutant(LifePlan.outcome, "None if self.shape is None else ", ""),
    Mutant(LifePlan.outcome, "self._events(messages) if messages else self.events", "self.events"),
    Mutant(LifePlan.outcome, "None if self.levels is None else ", ""),
    Mutant(LifePlan.outcome, "PodMemory(now, self.levels)", "PodMemory(now)"),
    Mutant(LifePlan.outcome, "deletes=self.deletes", "deletes=False"),
    Mutant(life_plans._traced, 'memory._replace(at=source.number("at"))', "memory"),
    Mutant(life_plans._traced, 'source.number("now")\n', "moment.now\n"),
    Mutant(life_plans._traced, "None if after is None else known(after)", "known(after or shape)"),
    Mutant(life_plans._place, "own_ips(pod, is_host=is_host) or ", ""),
    Mutant(life_plans._place, "is_host=is_host", "is_host=False"),
    Mutant(life_plans._levels, "memory.arrived or ", ""),
    Mutant(
        life_plans._levels, "memory.blocked or ", "",
        equivalent="a pod that a fault hits, or that remembers one, is looked at by itself",
    ),
    Mutant(
        life_plans._levels, " or memory.at is not now", "",
        equivalent="what is remembered is always of the moment of the look",
    ),
    Mutant(
        life_plans._after, "if not is_sound(PODS, before, after, patch.document[\"status\"], patch.kept)", "if False",
    ),
    Mutant(life_plans._after, "source.hole_of_traced", "source.hole"),
    # The plans that are kept.
    Mutant(LifePlans.outcome, "memory is not None and (memory.arrived or memory.blocked)", "False"),
    Mutant(LifePlans.outcome, "memory.arrived or memory.blocked", "memory.blocked"),
    Mutant(LifePlans.outcome, "memory.arrived or memory.blocked", "memory.arrived"),
    Mutant(LifePlans.outcome, "None if memory is None else tuple(memory.levels.items())", "None"),
    Mutant(LifePlans.outcome, "continue", "return None"),
)  # fmt: skip
