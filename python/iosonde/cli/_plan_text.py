"""What ``plan`` shows, as text and as JSON: every command as it will be run, in order, and the trials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iosonde.core.units import format_seconds, format_size
from iosonde.core.workload import MpiIo
from iosonde.measure import placeholders
from iosonde.measure.spec import CACHE_DROP, CACHE_NONE, SINGLE, CommandStep, Step
from iosonde.report.text import escape

from . import _design_text
from ._campaign import MARGIN, Campaign

if TYPE_CHECKING:
    from iosonde.core.types import Experiment, Factor, FactorValue, Trial
    from iosonde.measure.design import Cells
    from iosonde.measure.design.smaller import Offer
    from iosonde.measure.forecast import Forecast

_SHOWN_TRIALS = 24
_PLACE = {"single": "on the first rank", "all": "on all ranks at once", "each": "rank after rank"}


@dataclass(frozen=True)
class Plan:
    """All that is shown. ``n_bytes`` and ``n_files`` are what native workloads have on the target at once."""

    campaign: Campaign
    experiment: Experiment
    expected: Forecast
    n_bytes: int
    n_files: int
    offers: list[Offer]


def to_json(plan: Plan) -> dict[str, Any]:
    """The stable JSON form."""
    trials = [
        {"index": trial.index, "repetition": trial.repetition, "block": trial.block, **trial.factors,
         "seconds": None if seconds is None else round(seconds, 1)}
        for trial, seconds in zip(plan.experiment.trials, plan.expected.seconds, strict=True)
    ]  # fmt: skip
    spec = plan.campaign.spec
    return {
        "version": 1,
        "trials": trials,
        "seconds": round(plan.expected.total_s, 1),
        "unknown": plan.expected.unknown,
        "seconds_by_level": [
            {"factor": name, "level": level, "seconds": round(seconds, 1)}
            for name, levels in _by_level(plan).items()
            for level, seconds in levels.items()
        ],
        "basis": plan.expected.basis,
        "design": _cells(plan).to_json(),
        "smaller": [offer.to_json() for offer in plan.offers],
        "bytes": plan.n_bytes,
        "files": plan.n_files,
        "seed": plan.experiment.seed,
        "experiment": plan.campaign.identity(),
        "steps": list(_steps_json(plan)),
        "controls": [vars(control) for control in spec.controls],
        "cache": vars(spec.cache),
    }


def _steps_json(plan: Plan) -> Iterator[dict[str, Any]]:
    """Every step as the first trial does it."""
    for stage, step in _staged(plan):
        if isinstance(step, CommandStep):
            filled = {**vars(step), "command": _filled(step.command, plan, step.on), "expect": list(step.expect)}
            yield {"stage": stage, **filled}
        else:
            yield {"stage": stage, "workload": step.workload, "settings": _first_settings(step, plan).to_json()}


def _staged(plan: Plan) -> Iterator[tuple[str, Step]]:
    spec = plan.campaign.spec
    for stage, steps in (("set_up", spec.set_up), ("step", spec.steps), ("tear_down", spec.tear_down)):
        yield from ((stage, step) for step in steps)


def as_text(plan: Plan) -> str:
    """For a terminal. Whatever came from a file is escaped."""
    campaign, spec = plan.campaign, plan.campaign.spec
    simple = len(spec.factors) == 2 and len(spec.native) == len(spec.steps) == 1 and not spec.set_up
    lines = []
    if campaign.file:
        lines.append(f"experiment  {escape(spec.name or campaign.file['name'])}")
    lines.append(f"target      {escape(spec.target) if spec.target else 'none: the commands say where they write'}")
    if spec.native:
        lines.append(
            f"at most     {format_size(plan.n_bytes)} and {plan.n_files} files at once, all removed afterwards"
        )
    lines += _cache(plan)
    if not simple or campaign.file:
        lines += [*_factors(plan), "", *_steps(plan), ""]
    lines += [*_design_text.cells(_cells(plan)), *_trials(plan, simple)]
    lines += [f"{'' if place else 'sealed':<12}{part}" for place, part in enumerate(campaign.metrics())]
    lines.append(f"            differences below ± {MARGIN:.0%} do not matter")
    lines += [*_time(plan), *_design_text.levels(spec.factors, _by_level(plan))]
    if campaign.terms.budget_s is not None:
        lines += _design_text.smaller(plan.offers, plan.expected.total_s, campaign.terms.budget_s)
    return "\n".join(lines)


def _cache(plan: Plan) -> list[str]:
    cache = plan.campaign.spec.cache
    lines = []
    if cache.before_reads:
        lines.append(f"runs        {escape(cache.before_reads)}   (on each node, before each read phase)")
    if cache.between_trials == CACHE_DROP:
        lines.append("caches      dropped on every node between trials")
    elif cache.between_trials != CACHE_NONE:
        both = f"{_filled(cache.unmount, plan)}; {_filled(cache.mount, plan)}"
        lines.append(f"caches      {escape(both)}   (on every node, between trials, verified)")
    return lines


def _factors(plan: Plan) -> Iterator[str]:
    spec = plan.campaign.spec
    wide = max(len(factor.name) for factor in spec.factors)
    for place, factor in enumerate(spec.factors):
        levels = ", ".join(escape(_design_text.level_text(factor, level)) for level in factor.levels)
        yield f"{'factors' if place == 0 else '':<10}  {factor.name:<{wide}}  {levels}"
        for control in spec.controls:
            if control.factor == factor.name:
                on = "on the first node" if control.on == SINGLE else "on each node"
                at_first = {placeholders.LEVEL: plan.experiment.trials[0].factors[factor.name]}
                for word, text in (("set by", control.set), ("read by", control.read)):
                    if text:
                        yield f"{'':<12}{'':<{wide}}  {word} {escape(_filled(text, plan, more=at_first))}   ({on})"


def _steps(plan: Plan) -> Iterator[str]:
    first = plan.experiment.trials[0]
    yield f"each trial  in this order; shown is the first one: {escape(_cell(first, plan.campaign.spec.factors))}"
    for number, (stage, step) in enumerate(_staged(plan), 1):
        label = "" if stage == "step" else f"{stage.replace('_', '-')}: "
        if isinstance(step, CommandStep):
            text = escape(_filled(step.command, plan, step.on))
            about = [_PLACE[step.on]]
            about += [f"read by {step.parse}" if step.parse != "auto" else "output read"] if step.parse else []
            about += [f"at most {format_seconds(step.timeout_s)}"] if step.timeout_s else []
            about += [f"exit {' or '.join(map(str, step.expect))}"] if step.expect != (0,) else []
            yield f"  {number:2d}  {label}{text}"
            yield f"      {', '.join(about)}"
        else:
            yield f"  {number:2d}  {label}native workload {step.workload}"
            yield from (f"      {line}" for line in _phases(step, plan))


def _phases(step: Any, plan: Plan) -> Iterator[str]:
    """What rank 0 does in each phase."""
    from iosonde.measure import workloads

    plans = workloads.find(step.workload).plan(_first_settings(step, plan), 0, plan.campaign.max_ranks, 0)
    wide = max(len(one.operation) for one in plans)
    for one in plans:
        if one.phase is None:
            continue
        timed = "" if one.timed else "   (not timed)"
        if isinstance(one.phase, MpiIo):
            yield f"{escape(one.operation):<{wide}}  {escape(_by_mpi_io(one.phase))}{timed}"
            continue
        does = ", ".join(_does(part) for part in one.phase.steps)
        limit = one.phase.time_limit_ns
        until = f", for {format_seconds(limit / 1e9)}" if limit else ""
        files = getattr(one.phase.files, "count", 1)
        many = f"{files} files: " if files > 1 else ""
        yield f"{escape(one.operation):<{wide}}  {escape(many + does)}{until}{timed}"


def _by_mpi_io(phase: MpiIo) -> str:
    """``MPI-IO write_at_all: 32 pieces of 1 KiB, romio_ds_write=enable``."""
    call = f"{phase.kind}_at{'_all' if phase.collective else ''}"
    hints = "".join(f", {name}={value}" for name, value in phase.hints.items())
    return f"MPI-IO {call}: {phase.count} pieces of {format_size(phase.piece)}{hints}"


def _does(part: Any) -> str:
    """``write 2 MiB by 64 KiB``."""
    if part.of:
        shares = [f"{inner['weight']} {inner['step']['kind']}" for inner in part.of]
        return f"mix of {' : '.join(shares)}"
    if not part.transfer_size:
        return str(part.kind)
    length = part.count * part.transfer_size if part.count else part.size or part.transfer_size
    how = (
        ""
        if part.offsets in (None, "seq")
        else f" {part.offsets if isinstance(part.offsets, str) else next(iter(part.offsets))}"
    )
    sieved = f", sieved by {format_size(part.sieve['buffer'])}" if part.sieve else ""
    return f"{part.kind}{how} {format_size(length)} by {format_size(part.transfer_size)}{sieved}"


def _trials(plan: Plan, simple: bool) -> Iterator[str]:
    spec, trials = plan.campaign.spec, plan.experiment.trials
    blocks = len({trial.block for trial in trials})
    yield f"trials      {len(trials)} in {blocks} block{'s' if blocks != 1 else ''}, seed {plan.experiment.seed}"
    if simple:
        for block in range(blocks):
            order = [str(trial.factors["nodes"]) for trial in trials if trial.block == block]
            yield f"  block {block + 1:3d}   nodes {', '.join(order)}"
    elif len(trials) > blocks:
        own = [trial for trial in trials if trial.block == trials[0].block]
        for trial in own[:_SHOWN_TRIALS]:
            yield f"  {trial.index + 1:5d}     {escape(_cell(trial, spec.factors))}"
        if len(own) > _SHOWN_TRIALS:
            yield f"            and {len(own) - _SHOWN_TRIALS} more"
        if blocks > 1:
            yield "            then the next block, in an order of its own (--json has all)"
    if spec.until:
        yield f"then        more blocks until every interval is within ± {spec.until:.1%} of its mean"


def _cells(plan: Plan) -> Cells:
    from iosonde.measure import design

    return design.cells(plan.campaign.spec.factors, plan.campaign.spec.design, plan.experiment.seed)


def _by_level(plan: Plan) -> dict[str, dict[FactorValue, float]]:
    from iosonde.measure.forecast import by_level

    return by_level(plan.experiment.trials, plan.expected.seconds) if plan.expected.total_s else {}


def _time(plan: Plan) -> Iterator[str]:
    expected, trials = plan.expected, len(plan.experiment.trials)
    if expected.unknown == trials:
        yield f"takes       {expected.basis}"
        return
    more = f" and {expected.unknown} trials of which nobody knows" if expected.unknown else ""
    yield f"takes       about {format_seconds(expected.total_s)}{more} ({expected.basis})"


def _cell(trial: Trial, factors: tuple[Factor, ...]) -> str:
    """The levels of the factors that vary; of none the ranks."""
    varying = [factor for factor in factors if len(factor.levels) > 1] or list(factors[:2])
    return ", ".join(
        f"{factor.name} {_design_text.level_text(factor, trial.factors[factor.name])}" for factor in varying
    )


def _first_settings(step: Any, plan: Plan) -> Any:
    from iosonde.measure.spec_check import settings_at

    return settings_at(step, _values(plan))


def _filled(text: str, plan: Plan, on: str = "", more: dict[str, Any] | None = None) -> str:
    """A command as the first trial runs it; what differs from rank to rank stays a name, unless one rank runs it."""
    own = {name: f"${{{name}}}" for name in placeholders.RANK}
    if on == SINGLE:
        own |= {name: "0" for name in placeholders.RANK if name != "HOSTNAME"}
    return placeholders.fill(text, {**_values(plan), **own, **(more or {})})


def _values(plan: Plan) -> dict[str, FactorValue]:
    trial = plan.experiment.trials[0]
    nodes, per_node = int(trial.factors["nodes"]), int(trial.factors["ranks_per_node"])  # type: ignore[arg-type]
    known: dict[str, FactorValue] = {name: f"${{{name}}}" for name in placeholders.TRIAL}
    known |= {"RANKS": nodes * per_node, "NODES": nodes, "RANKS_PER_NODE": per_node, "TRIAL": trial.index,
              "REPETITION": trial.repetition, "SEED": trial.seed}  # fmt: skip
    if plan.campaign.spec.target:
        root = plan.campaign.spec.target
        known |= {"TARGET_ROOT": str(root), "TARGET": f"{root}/iosonde-ID/trial-{trial.index:04d}"}
    return known | trial.factors
