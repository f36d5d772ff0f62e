"""What decides which steps of Stages are planned for all objects of a shape, and what they do."""

from kwokctl.controller import plans
from kwokctl.controller.plans import Plans, _Loosened, plan_of, view_of
from tests.support.mutants.mutant import Mutant

_SOUND = "and is_sound(resource, before, after, changed_parts(known or {}, status or {}))"

MUTANTS = (
    # Which steps.
    Mutant(plan_of, "if isinstance(steps[0], EventStep) else", "if False else"),
    Mutant(plan_of, "if event is None else", "if True else"),
    Mutant(plan_of, "not isinstance(step, PatchStep) or ", ""),
    Mutant(plan_of, " or not _is_plain(step)", ""),
    Mutant(plan_of, "1 + (event is not None)", "1"),
    Mutant(plan_of, "known(after)", "after"),
    Mutant(plans._is_plain, 'step.subresource == "status" and ', ""),
    Mutant(plans._is_plain, "not step.as_user and ", ""),
    Mutant(plans._is_plain, " and step.type in _TYPES", ""),
    Mutant(plans._is_plain, "step.type in _TYPES", "step.type is PatchType.MERGE"),
    Mutant(plans._is_plain, "step.type in _TYPES", "step.type is PatchType.STRATEGIC"),
    # Whether what they do is certain.
    Mutant(plans._after, "if not _is_certain(resource, before, after)", "if False"),
    Mutant(plans._is_certain, "symbolic_matching.surely_differ(known, status)", "known is not status"),
    Mutant(plans._is_certain, "and is_of_status(before, after)", ""),
    Mutant(plans._is_certain, _SOUND, ""),
    Mutant(plans._is_certain, "changed_parts(known or {}, status or {})", "()"),
    Mutant(plans._is_certain, "known or {}", "known"),
    Mutant(
        plans._is_certain, "status or {}", "status",
        equivalent="a pod has a qosClass, so that it is not certain that it may lose its status",
    ),
    Mutant(_Loosened.__call__, "if not isinstance(symbol, Hole)", "if False"),
    Mutant(_Loosened.__call__, "if not isinstance(symbol, Hole)", "if True"),
    Mutant(_Loosened.__call__, "self._loose.setdefault(number, LooseHole(number, symbol.content))", "LooseHole(number, symbol.content)"),
    Mutant(_Loosened.back, "if isinstance(symbol, LooseHole) else", "if True else"),
    # What Stages see.
    Mutant(view_of, "if guard in found.matches", "if True"),
    Mutant(view_of, "[_guarded(stage) for stage in stages]", "stages"),
    Mutant(plans._settled, "if delay is None", "if False"),
    Mutant(plans._settled, "query and ", ""),
    Mutant(
        plans._settled, "symbolic_matching.GuardedQuery(query).values(value)", "query.values(value)",
        equivalent="the grounds of the view have been read with the same guards before",
    ),
    Mutant(plans._guarded, "selector and symbolic_matching.guarded(selector)", "selector"),
    Mutant(plans._guarded, "selector and ", ""),
    Mutant(plans._guarded, "weight_from=_guard(stage.weight_from)", "weight_from=stage.weight_from"),
    Mutant(plans._guarded, "delay=delay\n        and ", "delay="),
    Mutant(
        plans._guarded, "base_from=_guard(delay.base_from)", "base_from=delay.base_from",
        equivalent="delays are settled with the same guard",
    ),
    Mutant(
        plans._guarded, "bound_from=_guard(delay.bound_from)", "bound_from=delay.bound_from",
        equivalent="delays are settled with the same guard",
    ),
    Mutant(plans._guard, "query and ", ""),
    # What is kept.
    Mutant(Plans.form, "self._in_vain > _HOPELESS and ", ""),
    Mutant(Plans.form, "self._in_vain > _HOPELESS", "self._in_vain >= _HOPELESS"),
    Mutant(Plans.form, "self._in_vain > _HOPELESS and self._in_vain % _SOME", "False"),
    Mutant(Plans.form, " and self._in_vain % _SOME", ""),
    Mutant(Plans.form, "if outline is None", "if False"),
    Mutant(Plans.form, "if reading is None", "if False"),
    Mutant(Plans.form, "self._in_vain = 0", "pass"),
    Mutant(Plans.view, "known is None or known[0] is not stages", "known is None"),
    Mutant(Plans.view, "known is None or known[0] is not stages", "True"),
    Mutant(Plans.planned, "stage.steps[step:]", "stage.steps"),
    Mutant(Plans.planned, "(form.shape, stage, step, variant)", "(stage, step, variant)"),
    Mutant(Plans.planned, "(form.shape, stage, step, variant)", "(form.shape, step, variant)"),
    Mutant(Plans.planned, "(form.shape, stage, step, variant)", "(form.shape, stage, variant)"),
    Mutant(Plans.planned, "(form.shape, stage, step, variant)", "(form.shape, stage, step)"),
    Mutant(Plans.planned, "if plan is None", "if False"),
    Mutant(Plans.planned, "continue", "return None"),
    Mutant(Plans.planned, "range(_VARIANTS)", "range(_VARIANTS + 1)"),
    Mutant(Plans.known, "shape.text, shape.contents", "shape.text, ()"),
    Mutant(Plans.known, "len(self._shapes) > _MOST", "False"),
    Mutant(Plans.known, "len(self._shapes) > _MOST", "len(self._shapes) >= _MOST"),
    Mutant(Plans.known, "last=False", "last=True"),
    Mutant(Plans.known, "self._shapes.move_to_end(key)", "pass"),
)  # fmt: skip
"""One for each condition and comparison."""
