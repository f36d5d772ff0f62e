"""What decides how far a training has come, what it loses, and when its ranks and checks end."""

from kwokctl.controller.known_trainings import rank_reader, trainings
from kwokctl.controller.lifecycle import preflight_run, training_run
from kwokctl.training import check_times, plan, state, training_course
from tests.support.mutants.mutant import Mutant

MUTANTS = (
    # How far a training has come.
    Mutant(plan.TrainingPlan.position, "work - self._before(is_restart=is_restart)", "work"),
    Mutant(plan.TrainingPlan.position, "min(most, int(done / round_ + _BLUR))", "int(done / round_ + _BLUR)"),
    Mutant(plan.TrainingPlan.position, "every * self.step_time + self.checkpoint_cost", "every * self.step_time"),
    Mutant(plan.TrainingPlan.position, "left - rounds * every if rounds == most else every", "every"),
    Mutant(plan.TrainingPlan.position, "rest / self.step_time + _BLUR", "rest / self.step_time"),
    Mutant(plan.TrainingPlan._checkpoints, "(steps - 1)", "steps"),
    Mutant(plan.read_plan, 'if values["step_time"] <= 0:', "if False:"),
    Mutant(plan._value, "if found < 0:", "if False:"),
    # What happens to it.
    Mutant(state.TrainingState.at, "time if end is None else min(time, end)", "time"),
    Mutant(state.TrainingState.at, "passed * self.speed", "passed"),
    Mutant(state.TrainingState.stopped, "lost=then.lost + lost", "lost=lost"),
    Mutant(state.TrainingState.started, "start=self.checkpoint", "start=self.step"),
    Mutant(state.TrainingState.done, "then.kept + then.open", "then.kept"),
    Mutant(state.TrainingState._spent, "after.checkpoint == before.checkpoint", "True"),
    Mutant(state.TrainingState._spent, "(after.stepping - written) / self.speed", "after.stepping - written"),
    Mutant(training_course._gone_on, "min(stops)", "max(stops)"),
    Mutant(training_course._gone_on, "end <= until", "end < now"),
    Mutant(training_course.goes_on, "rank.is_running and", ""),
    Mutant(training_course.goes_on, "and rank.started <= state.begun", ""),
    Mutant(training_course._out, "rank.ended < state.begun", "False"),
    Mutant(training_course._out, "state.begun < rank.started <= rank.ended", "False"),
    Mutant(training_course._out, "state.begun < rank.started <= rank.ended", "state.begun < rank.started"),
    Mutant(training_course._out, "state.begun < rank.started <= rank.ended", "state.begun <= rank.started <= rank.ended"),
    Mutant(training_course._out, "rank.has_succeeded and", ""),
    Mutant(training_course._out, "rank.ended + _WHOLE > end", "True"),
    Mutant(training_course._paced, "is_slower = slowest.speed < state.speed", "is_slower = True"),
    Mutant(training_course._begun, "len(running) < size", "False"),
    Mutant(training_course._begun, 'state.since + _AFTER if state.phase == "Stopped" else 0.0', "0.0"),
    Mutant(training_course._begun, "state.since + _AFTER", "state.since"),
    # What is read, and when programs end.
    Mutant(rank_reader.rank_of, '== "Failed" and rank.has_succeeded', '== ""'),
    Mutant(rank_reader.rank_of, "or pace.run != int(rank.started)", ""),
    Mutant(rank_reader._times, 'if over.get("exitCode") else None', ""),
    Mutant(rank_reader._job_of, 'e.get("controller") and', ""),
    Mutant(trainings.Trainings.ranks, '("", holder.uid)', '("", holder.uid, each.holder_uid)'),
    Mutant(trainings.Holder.is_stale, "rank.version < self.restored", "False"),
    Mutant(trainings.Trainings._forget_gone, 'holder.state.phase == "Running"', "False"),
    Mutant(training_run.TrainingRun.program, "hit.run < ours.run", "True"),
    Mutant(training_run.TrainingRun._ends, "or started > state.begun", ""),
    Mutant(training_run.TrainingRun._ends, "if self.watchdog is None:", "if True:"),
    Mutant(preflight_run.PreflightRun.program, 'if kind == "all-reduce" else ()', ""),
    Mutant(preflight_run.PreflightRun.program, "if each.hit.begins(started) <= end", ""),
    Mutant(
        check_times.together,
        "if each.end > after",
        "",
        equivalent="what has ended before is taken away before that time, and added at it: it counts for nothing",
    ),
    Mutant(check_times.together, "0 < size <= there", "True"),
    Mutant(check_times.together, "0 < size", "True"),
    Mutant(check_times.together, "since is None and", ""),
)  # fmt: skip
