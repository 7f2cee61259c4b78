"""A race while it is measured: after each block, who is still in it."""

from iosonde.core.types import Experiment, Run, Trial
from iosonde.selection.plan import RacePlan
from iosonde.selection.runs import RaceRuns, RaceState
from iosonde.selection.standing import FIRST_STAGE
from iosonde.store import Store

from .complete_runs import create_unknown_metric_error, iterate_complete_runs, list_clocked_rows


class Race:
    """The complete runs of one race: those in a store, and new ones. It has no state of its own."""

    def __init__(self, plan: RacePlan, experiment: Experiment, store: Store | None = None) -> None:
        self._runs = RaceRuns(plan, experiment)
        self._state: RaceState | None = None
        for factors, rows in iterate_complete_runs(store, experiment) if store else ():
            self._runs.add(factors, rows)

    def add(self, run: Run) -> None:
        """Add a stored run; incomplete ones never count."""
        if run.complete:
            self._runs.add(run.factors, list_clocked_rows(run))
            self._state = None

    def judge(self) -> RaceState:
        """Return where the race stands."""
        if self._state is None:
            self._state = self._runs.judge()
        return self._state

    def needed(self, experiment: Experiment) -> int:
        """Return the total number of blocks: one more than now, until the race is over."""
        have = 1 + max(trial.repetition for trial in experiment.trials)
        return have if self.finished() else min(have + 1, self._runs.plan.most)

    def needs_trial(self, trial: Trial) -> bool:
        """Return whether the setting of a trial is still in the race."""
        return not self.judge().is_out(self._runs.find_setting(trial.factors))

    def check_metric(self) -> None:
        """Raise InputError as soon as the runs lack the metric that decides."""
        if missing := self._runs.list_missing_terms():
            raise create_unknown_metric_error(missing[0], self._runs.list_common_names())

    def finished(self) -> bool:
        """Return whether one setting is left, or the runs have no number that decides."""
        state = self.judge()
        return state.standing.is_settled or (state.name is None and state.n_blocks >= FIRST_STAGE)
