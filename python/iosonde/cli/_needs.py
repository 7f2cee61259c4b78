"""What the trials of a campaign need and will take: space, files, time. Of commands nothing is known before they ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iosonde.core.types import Trial
    from iosonde.measure.forecast import Forecast
    from iosonde.measure.spec import NativeStep
    from iosonde.store import Store

    from ._campaign import Campaign

Cell = tuple[tuple[str, str], ...]
Measured = dict[Cell, list[float]]


def space(campaign: Campaign) -> tuple[int, int]:
    """(bytes, files) that any trial's native workloads have on the target at once, at most."""
    n_bytes = n_files = 0
    for step in campaign.spec.native:
        sizes = [_space(step, settings, campaign.max_ranks) for settings in _settings(step, campaign)]
        n_bytes += max(size for size, _ in sizes)
        n_files += max(count for _, count in sizes)
    return n_bytes, n_files


def _space(step: NativeStep, settings: Any, ranks: int) -> tuple[int, int]:
    from iosonde.measure import workloads

    producer = workloads.find(step.workload)
    return producer.bytes_needed(settings, ranks), producer.files_needed(settings, ranks)


def _settings(step: NativeStep, campaign: Campaign) -> Iterator[Any]:
    from iosonde.measure.spec_check import cells, settings_at

    for cell in cells(step, campaign.spec):
        yield settings_at(step, {"RANKS": campaign.max_ranks, **cell})


def forecast(campaign: Campaign, trials: Sequence[Trial], measured: Measured) -> Forecast:
    """Seconds of each trial: of earlier trials of its cell, else a guess from the bytes and files that it moves."""
    from statistics import median

    from iosonde.measure import forecast as guesses

    seconds = [
        median(measured[key]) if (key := _cell(trial.factors)) in measured else _guess(campaign, trial)
        for trial in trials
    ]
    earlier = sum(map(len, measured.values()))
    if earlier:
        return guesses.Forecast(seconds, f"measured in {earlier} earlier trials")
    basis = f"a guess: {guesses.GUESS_BYTES_PER_S / 1e6:.0f} MB/s and {guesses.GUESS_FILES_PER_S:.0f} files/s in all"
    unknown = len(campaign.spec.native) < len(campaign.spec.steps)
    return guesses.Forecast(seconds, basis + (", and what the commands take on top" if unknown else ""))


def _guess(campaign: Campaign, trial: Trial) -> float:
    from iosonde.measure import forecast as guesses
    from iosonde.measure import workloads
    from iosonde.measure.spec_check import settings_at

    ranks = int(trial.factors["nodes"]) * int(trial.factors["ranks_per_node"])  # type: ignore[arg-type]
    seconds = guesses.START_S
    for step in campaign.spec.native:
        producer, settings = workloads.find(step.workload), settings_at(step, {"RANKS": ranks, **trial.factors})
        seconds += producer.bytes_moved(settings, ranks) / guesses.GUESS_BYTES_PER_S
        seconds += producer.files_touched(settings, ranks) / guesses.GUESS_FILES_PER_S
    return seconds


def measured_seconds(store: Store | None, campaign: Campaign) -> Measured:
    """Seconds of complete trials by their cell, of the same steps on the same target."""
    measured = defaultdict(list)
    steps, target = campaign.identity()["steps"], str(campaign.spec.target)
    for run in store.runs() if store else ():
        same = run["facts"].get("steps") == steps and run["facts"].get("target") == target
        if same and not run["missing"]:
            own = {name: run["factors"].get(name) for name in (factor.name for factor in campaign.spec.factors)}
            measured[_cell(own)].append(run["seconds"])
    return dict(measured)


def _cell(factors: Mapping[str, Any]) -> Cell:
    return tuple(sorted((name, str(value)) for name, value in factors.items()))
