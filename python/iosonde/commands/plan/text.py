"""The plan of a campaign as text: every command as it will be run, in order, and the trials."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from iosonde.campaign.plan import LEVEL, CampaignPlan, PlannedStep
from iosonde.core.message import spell
from iosonde.core.types import Factor, Trial, level_text
from iosonde.core.units import format_seconds, format_size
from iosonde.core.words import format_count
from iosonde.core.workload import MpiIo, Step
from iosonde.layout.text import WIDTH, escape, paragraphs, wrapped
from iosonde.measure.spec import CACHE_DROP, CACHE_NONE, SERVERS, SINGLE, CommandStep, Spec

from . import text_design as design
from .text_design import level_with_unit

_MAX_TRIALS = 24
_PLACE = {"single": "on the first rank", "all": "on all ranks at once", "each": "rank after rank"}


def lines(plan: CampaignPlan) -> Iterator[str]:
    """Yield the lines of the text. All text from files is escaped."""
    campaign, spec = plan.campaign, plan.campaign.spec
    simple = len(spec.factors) == 2 and len(spec.native) == len(spec.steps) == 1 and not spec.set_up
    if campaign.file:
        yield f"experiment  {escape(spec.name or campaign.file['name'])}"
    yield from _format_targets(spec.targets)
    if spec.reserve:
        yield from wrapped(f"{max(campaign.nodes)} nodes, by {escape(spec.reserve)}", " " * 12, f"{'reserved':<12}")
    yield from _format_space(plan)
    yield from _format_cache(plan)
    if not simple or campaign.file:
        yield from (*_format_factors(plan), "", *_format_steps(plan), *_format_faults(spec), "")
    yield from design.describe_design(plan.cells)
    yield from _format_trials(plan, simple)
    yield from _format_labelled("sealed", plan.metrics)
    yield f"            differences below ± {100 * campaign.margin:g}% are negligible"
    if campaign.terms.pace:
        yield f"paced       {campaign.pacing}"
    if campaign.terms.abort_if:
        yield f"ends if     {escape(campaign.terms.abort_if)}   (exit code 0, on this machine, before a trial)"
    yield from _format_time(plan)
    yield from paragraphs(plan.warnings, " " * 12, f"{'warning':<12}")
    yield from design.format_level_times(spec.factors, plan.seconds_by_level)
    if campaign.terms.budget_s is not None:
        yield from design.format_budget(plan.offers, plan.expected.total_s, campaign.terms.budget_s)


def _format_targets(targets: Mapping[str, Path]) -> Iterator[str]:
    if not targets:
        yield "target      none: the commands state where they write"
    wide = max((len(escape(name)) for name in targets), default=0)
    yield from (
        f"{'' if place else 'target':<12}{f'{escape(name):<{wide}}  ' if name else ''}{escape(path)}"
        for place, (name, path) in enumerate(targets.items())
    )


def _format_space(plan: CampaignPlan) -> Iterator[str]:
    spec, space = plan.campaign.spec, plan.space
    if spec.native or space.n_bytes or space.n_files:
        after = ", all removed afterwards" if spec.native else ""
        files = f"{space.n_files} file{'s' * (space.n_files != 1)}"
        yield f"at most     {format_size(space.n_bytes)} and {files} at once{after}"
    for step in space.uncounted:
        yield from wrapped(f"step {step.number}: {escape(step.reason)}", " " * 12, f"{'not counted':<12}")


def _format_cache(plan: CampaignPlan) -> list[str]:
    cache = plan.campaign.spec.cache
    lines = []
    if cache.before_reads:
        lines.append(f"runs        {escape(cache.before_reads)}   (on each node, before each read phase)")
    if cache.between_trials == CACHE_DROP:
        lines.append("caches      dropped on every node between trials")
    elif cache.between_trials != CACHE_NONE:
        both = f"{plan.unmount}; {plan.mount}"
        lines.append(f"caches      {escape(both)}   (on every node, between trials, verified)")
    return lines


def _format_factors(plan: CampaignPlan) -> Iterator[str]:
    spec = plan.campaign.spec
    wide = max(len(factor.name) for factor in spec.factors)
    for place, factor in enumerate(spec.factors):
        levels = ", ".join(level_with_unit(factor, level) for level in factor.levels)
        first = f"{'factors' if place == 0 else '':<10}  {factor.name:<{wide}}  "
        yield from wrapped(levels, indent=" " * len(first), first=first)
        for control in plan.controls:
            if control.factor == factor.name:
                on = "on the first node" if control.on == SINGLE else "on each node"
                yield from (
                    f"{'':<12}{'':<{wide}}  {word} {escape(text)}   ({on})"
                    for word, text in (("set by", control.set), ("read by", control.read))
                    if text
                )
                if control.set:
                    once = "set once for all trials of a whole plot; " if control.factor in plan.set_once else ""
                    yield from wrapped(once + plan.afterwards[control.factor], " " * (14 + wide), " " * (14 + wide))


def _format_steps(plan: CampaignPlan) -> Iterator[str]:
    first = plan.experiment.trials[0]
    heading = f"in this order; the first one is shown: {_format_cell(first, plan.campaign.spec.factors)}"
    yield from wrapped(heading, indent=" " * 12, first="each trial  ")
    for number, planned in enumerate(plan.steps, 1):
        stage, step = planned.stage, planned.step
        label = "" if stage == "step" else f"{stage.replace('_', '-')}: "
        if isinstance(step, CommandStep):
            about = [_describe_place(planned, plan)]
            about += [f"read by {step.parse}" if step.parse != "auto" else "output read"] if step.parse else []
            about += [f"at most {format_seconds(step.timeout_s)}"] if step.timeout_s else []
            about += [f"where {name} is {level_text(level)}" for name, level in step.when.items()]
            about += [f"exit {' or '.join(map(str, step.expect))}"] if step.expect != (0,) else []
            yield from _format_command(f"  {number:2d}  {label}", step)
            yield f"      {escape(', '.join(about))}"
            yield from _format_start(planned)
        else:
            yield f"  {number:2d}  {label}native workload {step.workload}"
            yield from (f"      {line}" for line in _format_phases(planned))


def _format_command(first: str, step: CommandStep) -> Iterator[str]:
    """Format a command as written; one of several lines goes below its name, with its indentation."""
    lines = step.command.splitlines()
    if len(lines) <= 1:
        yield first + escape(step.command)
    else:
        yield (first + escape(step.name or "")).rstrip()
        yield from (f"        {escape(line)}".rstrip() for line in lines)


def _format_faults(spec: Spec) -> Iterator[str]:
    for fault in spec.faults:
        what = " ".join(str(fault[key]) for key in ("fault", "rate") if key in fault)
        lasts = f"for {fault['for']}" if "for" in fault else "until the steps are done"
        begins = f"{fault.get('at', 0)} after {fault.get('during', 'the first that is measured')} begins"
        text = f"fault {what} on {fault['on']}, {begins}, {lasts}; then healed"
        for factor in spec.factors:
            text = text.replace(f"${{{factor.name}}}", "|".join(map(level_text, factor.levels)))
        yield from wrapped(escape(text), "      ", "   ~  ")
    if spec.settle_s is not None:
        text = "the servers are watched until space is freed and copies agree, for at most"
        yield from wrapped(f"{text} {format_seconds(spec.settle_s)}", "      ", "   ~  ")


def _describe_place(planned: PlannedStep, plan: CampaignPlan) -> str:
    on = planned.step.on if isinstance(planned.step, CommandStep) else ""
    if on == SERVERS:
        return f"on each server by ssh: {', '.join(map(escape, plan.campaign.spec.servers))}"
    return _PLACE.get(on) or _describe_job(planned, plan)


def _describe_job(planned: PlannedStep, plan: CampaignPlan) -> str:
    """Format ``as one MPI job of 2 ranks (on: mpi; ior is an MPI program)``."""
    first = plan.experiment.trials[0]
    ranks = first.nodes * first.ranks_per_node
    program_note = f"; {escape(planned.program)} is an MPI program" if planned.program else ""
    return f"as one MPI job of {ranks} rank{'s' if ranks != 1 else ''} (on: mpi{program_note})"


def _format_start(planned: PlannedStep) -> Iterator[str]:
    if planned.launch:
        where = " inside the reservation" if planned.in_reservation else ""
        yield f"      started by {escape(' '.join(planned.launch))}{where}"
    if planned.problem:
        yield f"      cannot be started from here: {escape(planned.problem)}"


def _format_phases(planned: PlannedStep) -> Iterator[str]:
    wide = max(len(phase.operation) for phase in planned.phases)
    for phase in planned.phases:
        if phase.phase is None:
            continue
        timed = "" if phase.timed else "   (not timed)"
        if isinstance(phase.phase, MpiIo):
            yield f"{escape(phase.operation):<{wide}}  {escape(_describe_mpi_io(phase.phase))}{timed}"
            continue
        does = ", ".join(_describe_step(part) for part in phase.phase.steps)
        limit = phase.phase.time_limit_ns
        until = f", for {format_seconds(limit / 1e9)}" if limit else ""
        files = getattr(phase.phase.files, "count", 1)
        many = f"{files} files: " if files > 1 else ""
        yield f"{escape(phase.operation):<{wide}}  {escape(many + does)}{until}{timed}"


def _describe_mpi_io(phase: MpiIo) -> str:
    """Format ``MPI-IO write_at_all: 32 pieces of 1 KiB, romio_ds_write=enable``."""
    call = f"{phase.kind}_at{'_all' if phase.collective else ''}"
    hints = "".join(f", {name}={value}" for name, value in phase.hints.items())
    return f"MPI-IO {call}: {phase.count} pieces of {format_size(phase.piece)}{hints}"


def _describe_step(part: Step) -> str:
    """Format ``32 writes of 64 KiB, 2 MiB``."""
    if part.of:
        shares = [f"{inner.weight} {inner.step.kind}" for inner in part.of]
        return f"mix of {' : '.join(shares)}"
    if not part.transfer_size:
        return str(part.kind)
    offsets = part.offsets if isinstance(part.offsets, str) else next(iter(part.offsets or ("seq",)))
    how = "" if offsets == "seq" else f" at offsets {offsets}"
    sieved = f", sieved by {format_size(part.sieve['buffer'])}" if part.sieve else ""
    each = f"{format_count(part.operations, part.kind)} of {format_size(part.transfer_size)}{how}"
    return f"{each}, {format_size(part.moved_bytes)}{sieved}"


def _format_trials(plan: CampaignPlan, simple: bool) -> Iterator[str]:
    spec, trials = plan.campaign.spec, plan.experiment.trials
    blocks = len({trial.block for trial in trials})
    yield f"trials      {len(trials)} in {blocks} block{'s' if blocks != 1 else ''}, seed {plan.experiment.seed}"
    if simple:
        for block in range(blocks):
            order = [str(trial.factors["nodes"]) for trial in trials if trial.block == block]
            yield f"  block {block + 1:3d}   nodes {', '.join(order)}"
    elif len(trials) > blocks:
        own = [trial for trial in trials if trial.block == trials[0].block]
        yield from (
            f"  {trial.index + 1:5d}     {escape(_format_cell(trial, spec.factors))}" for trial in own[:_MAX_TRIALS]
        )
        if len(own) > _MAX_TRIALS:
            yield f"            and {len(own) - _MAX_TRIALS} more"
        if blocks > 1:
            yield f"            then the next block, in its own order ({spell.json} has all)"
    if spec.against or spec.find:
        yield from _format_labelled("then", [plan.campaign.decision(LEVEL).stopping])
    if spec.until:
        yield f"then        more blocks until every interval is within ± {spec.until:.1%} of its mean"


def _format_labelled(label: str, texts: Iterable[str]) -> Iterator[str]:
    """Yield each text on lines of its own, with the label before the first."""
    parts = (part for text in texts for part in wrapped(text, limit=WIDTH - 12))
    yield from (f"{'' if place else label:<12}{part}" for place, part in enumerate(parts))


def _format_time(plan: CampaignPlan) -> Iterator[str]:
    expected, trials = plan.expected, len(plan.experiment.trials)
    if expected.unknown == trials:
        least = f"; with the breaks at least {format_seconds(expected.total_s)}" if expected.total_s else ""
        yield from wrapped(f"{expected.basis}{least}", " " * 12, f"{'takes':<12}")
        return
    more = f" and {expected.unknown} trials of unknown duration" if expected.unknown else ""
    yield from wrapped(f"about {format_seconds(expected.total_s)}{more} ({expected.basis})", " " * 12, f"{'takes':<12}")


def _format_cell(trial: Trial, factors: tuple[Factor, ...]) -> str:
    """Format the levels of the factors that vary; if none does, nodes and ranks."""
    varying = [factor for factor in factors if len(factor.levels) > 1] or list(factors[:2])
    return ", ".join(f"{factor.name} {level_with_unit(factor, trial.factors[factor.name])}" for factor in varying)
