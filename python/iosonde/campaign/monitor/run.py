"""The loop of a monitor: wait until a look is due, carry it out, store it; and the answer when it ends."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iosonde.campaign.caller import Caller
from iosonde.campaign.preflight import refuse_store_on_target
from iosonde.core.errors import InputError
from iosonde.core.front_end import Stop
from iosonde.core.message import Message
from iosonde.core.types import Run
from iosonde.core.units import format_percent, format_seconds, format_size
from iosonde.measure.monitor.window import DIRECTORY, EACH, MIN_SPACE_BYTES, count_looks
from iosonde.measure.target.keeper import Keeper
from iosonde.measure.target.space import Limits, Need
from iosonde.store import Store
from iosonde.store.lock import lock_experiment
from iosonde.store.store import MARKER

from .answer import Monitored
from .looks import Observer, find_mount
from .pace import compute_gap_s, compute_timer_gap_s
from .request import MonitorRequest
from .state import MonitorState, begin_state, read_state, refuse_other_path, write_state

_LOCK = "monitor"
_SLEEP_S = 0.2  # between two checks for the end
_MAX_BUDGET = 0.5


def monitor(request: MonitorRequest, caller: Caller | None = None) -> Monitored:
    """Look at PATH until the looks are done or somebody ends it; each look is stored as a run.

    Raises InputError for impossible options, TargetError or TargetFaultError where the first look cannot begin,
    SystemFaultError if the store fails. A look that fails is stored with what it lacks.
    """
    caller = caller or Caller()
    _check_request(request)
    place = Path(request.store).resolve()
    Store.check_place(place)
    target = None if (place / MARKER).exists() else _examine_target(request, place)  # before a store is made
    store = Store.create(place)
    with lock_experiment(store.path, _LOCK):
        state = _open_state(store, request, target)
        observer = Observer(request.idle_timeout, caller.command)
        try:
            return _Monitor(request, caller, store, observer, state).run()
        finally:
            observer.close()


def remove_files(request: MonitorRequest) -> str:
    """Remove the files of the monitor of a store from its target; return the directory. Raises InputError, TargetError,
    TargetFaultError."""
    store = Store.open(request.store)
    with lock_experiment(store.path, _LOCK):
        state = read_state(store)
        if state is None:
            raise InputError(
                "no-monitor", "the store {store} has no monitor", "name its {spell.store}", store=store.path
            )
        refuse_other_path(state, os.path.abspath(request.path), store.path)
        observer = Observer(request.idle_timeout, ())
        try:
            write_state(store, replace(state, is_clean=False))
            observer.remove_files(state)
        finally:
            observer.close()
    return f"{state.target}/{DIRECTORY}/iosonde-{state.experiment}"


@dataclass
class _Monitor:
    request: MonitorRequest
    caller: Caller
    store: Store
    observer: Observer
    state: MonitorState

    def run(self) -> Monitored:
        runs: list[Run] = []
        begun_s: list[float] = []
        if self.request.once and self._compute_wait_s() > 0:
            return self._conclude(runs, begun_s)
        if not self.request.once:
            self._announce()
        try:
            with self.caller.stopping() as stop:
                while not runs or not self._is_done(len(runs)):
                    self._wait(stop)
                    begun_s.append(time.monotonic())
                    run = self._look()
                    runs.append(replace(run, facts={"look": run.facts["look"]}))  # weeks of them stay in memory
        except KeyboardInterrupt:
            pass  # somebody ended it: every look so far is stored
        return self._conclude(runs, begun_s)

    def _is_done(self, n_looks: int) -> bool:
        return self.request.once or (self.request.looks is not None and n_looks >= self.request.looks)

    def _compute_wait_s(self) -> float:
        """Return the time until the next look may begin, also after a restart; a clock that was set back counts from
        now."""
        if self.state.started_s is None:
            return 0.0
        compute = compute_timer_gap_s if self.request.once else compute_gap_s
        gap_s = compute(self.request.every, self.request.budget, self.state.busy_s, self.state.strain)
        return min(gap_s, max(0.0, gap_s - (time.time() - self.state.started_s)))

    def _wait(self, stop: Stop) -> None:
        until_s = time.monotonic() + self._compute_wait_s()
        stop.check()
        while (remaining_s := until_s - time.monotonic()) > 0:
            time.sleep(min(_SLEEP_S, remaining_s))
            stop.check()

    def _look(self) -> Run:
        before = replace(self.state, is_clean=False)  # if this process is killed, the next look repairs the files
        write_state(self.store, before)
        run, after = self.observer.observe(self.state)
        write_state(self.store, after)
        self.store.append(run)
        self.state = after
        if run.missing:
            self.caller.say(
                Message("failed-look", "{run}: the look failed: {reason}", run=run.id, reason=run.missing[0])
            )
        return run

    def _announce(self) -> None:
        self.caller.say(
            Message(
                "monitoring",
                "a look every {every}, under way at most {budget} of the time; Ctrl-C ends it",
                every=format_seconds(self.request.every),
                budget=format_percent(self.request.budget),
            )
        )

    def _conclude(self, runs: Sequence[Run], begun_s: Sequence[float]) -> Monitored:
        busy_s = sum(float(run.facts["look"]["busy_s"]) for run in runs[:-1])
        share = busy_s / (begun_s[-1] - begun_s[0]) if len(runs) > 1 else None
        return Monitored(
            self.request,
            self.state.experiment,
            self.state.path,
            tuple(runs),
            share,
            self._compute_wait_s(),
            self.state.strain,
        )


def _check_request(request: MonitorRequest) -> None:
    if not 0 < request.budget <= _MAX_BUDGET:
        raise InputError(
            "out-of-range",
            "{spell.budget:{budget}} is not possible",
            "give a share of the time above 0, up to {most}",
            budget=format_percent(request.budget),
            most=format_percent(_MAX_BUDGET),
        )
    if request.every <= 0 or request.idle_timeout <= 0:
        raise InputError("not-positive", "an interval or time limit is zero", "give more than 0 s")
    if request.space < MIN_SPACE_BYTES:
        raise InputError(
            "too-small",
            "{spell.space:{space}} is too little for files that no recent look touched",
            "give {least} or more",
            space=format_size(request.space),
            least=format_size(MIN_SPACE_BYTES),
        )


def _open_state(store: Store, request: MonitorRequest, target: str | None) -> MonitorState:
    """Return the state of the store's monitor, or of a new one. Only the latter touches PATH: one that is down may not
    keep a monitor from going on."""
    path, window = os.path.abspath(request.path), count_looks(request.space)
    state = read_state(store)
    if state is not None:
        refuse_other_path(state, path, store.path)
        return state if state.window == window else replace(state, window=window, is_clean=False)
    target = target or _examine_target(request, store.path)
    state = begin_state(store, path, target, find_mount(target), window)
    write_state(store, state)
    return state


def _examine_target(request: MonitorRequest, store: Path) -> str:
    """Return PATH without links. Raises InputError if the store lies on it, TargetError for one that cannot be
    measured, TargetFaultError without an answer."""
    with Keeper(request.idle_timeout) as keeper:
        target = keeper.resolve(Path(request.path))
        keeper.check(target, Need(request.space, count_looks(request.space) * EACH), Limits())
    refuse_store_on_target(store, target)
    return str(target)
