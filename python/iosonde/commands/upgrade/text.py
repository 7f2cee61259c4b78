"""An upgrade as text: gains, refusals and why, the trap, what to buy first, and the tables."""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core import cluster_nodes
from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_rate, format_seconds, format_significant
from iosonde.core.words import join_names
from iosonde.explain.upgrade import UpgradeOption
from iosonde.explain.upgrade_tables import ConfigurationStep, ListedCpu, Score
from iosonde.layout.text import CANNOT_TELL, WIDTH, paragraphs, table, wrapped
from iosonde.model.bound.bound import Ceiling
from iosonde.model.bound.words import NAMES

from .answer import Upgrade

_STEPS = 8


def lines(answer: Upgrade) -> Iterator[str]:
    """Yield the lines of the text: a section per part of the file, separated by empty lines."""
    sections = [
        _format_nodes(answer.cluster_file.nodes) if answer.cluster_file.nodes.nodes else (),
        _format_cluster(answer) if answer.cluster_file.cluster is not None else (),
        _format_options(answer.options, answer.path, answer.level) if answer.options else (),
        _format_cpus(answer.cpus) if answer.cpus else (),
        _format_measured(answer.times, answer.steps) if answer.cluster_file.measured else (),
        _format_scores(answer.scores) if answer.scores else (),
    ]
    for place, section in enumerate(filter(None, (list(section) for section in sections))):
        yield from [""] if place else []
        yield from section


def _format_nodes(nodes: ClusterNodes) -> Iterator[str]:
    yield from wrapped(cluster_nodes.format_node_counts(nodes) + ".")
    yield from paragraphs((f"~ {warning}." for warning in nodes.warnings()), "  ")


def _format_cluster(answer: Upgrade) -> Iterator[str]:
    query, ceiling, need = answer.cluster_file, answer.ceiling, answer.totals
    assert query.cluster is not None and need is not None
    name, derived = query.cluster.name, query.compute_derived_quantities()
    if ceiling is not None:
        yield from wrapped(
            f"{name} today: {ceiling.system.operation} at most {format_rate(ceiling.s, 'bytes/s')}, "
            f"{describe_bottleneck(ceiling)}."
        )
    facts = [
        f"needs {need.watts:g} W" if need.watts is not None else "",
        f"fills {need.rack_units:g} U at {need.nodes_per_rack_unit:g} in a rack unit" if need.rack_units else "",
        "holds {:.3g} TB on each disk".format(derived["capacity_per_disk"] / 1e12)
        if "capacity_per_disk" in derived
        else "",
        _describe_delivery(derived.get("bandwidth_per_server"), query.bandwidth, ceiling),
        "costs {:.4g} for each TB".format(derived["cost_per_terabyte"]) if "cost_per_terabyte" in derived else "",
    ]
    if any(facts):
        yield from wrapped(f"{'It' if ceiling else name} {'; '.join(fact for fact in facts if fact)}.")


def describe_bottleneck(ceiling: Ceiling) -> str:
    """Return the bottleneck as the end of a sentence: ``the disks limit``."""
    several = ceiling.limit[0] in ("disks", "cpu", "server_cpu", "metadata") or len(ceiling.limit) > 1
    return f"{format_terms(ceiling.limit)} limit{'' if several else 's'}"


def format_terms(terms: Sequence[str]) -> str:
    """Return several terms of a bound as a list in a sentence."""
    return join_names([NAMES[term] for term in terms])


def _describe_delivery(each: float | None, total: float | None, ceiling: Ceiling | None) -> str:
    if each is None:
        return ""
    share = f", {100 * total / ceiling.s:.0f} % of the bound" if total and ceiling else ""
    return f"delivers {format_rate(each, 'bytes/s')} a server{share}"


def _format_options(
    options: Sequence[UpgradeOption], steps: Sequence[tuple[str, float, float]], level: float
) -> Iterator[str]:
    divisor, unit = choose_human_scale(max(option.ceiling.s for option in options), "bytes/s")
    yield from table(
        ["change", "gain", "interval", unit, "cost", "per 1000", "per W", ""],
        [
            [
                option.candidate.name,
                _format_gain(option.gain.value),
                _format_interval(option.gain),
                format_significant(option.ceiling.s / divisor),
                f"{option.cost:g}",
                "" if option.per_money is None else format_significant(1000 * option.per_money / divisor),
                "" if option.per_watt is None else format_significant(option.per_watt / divisor),
                "✗" if option.refused else "",
            ]
            for option in options
        ],
        "lrrrrrrl",
        WIDTH,
    ).splitlines()
    yield ""
    for option in options:
        name = option.candidate.name
        if option.refused:
            yield from wrapped(f"✗ {name}: {'; '.join(option.refused)}", "  ")
        if option.trap:
            then = (
                f"; after {option.first[0]}: {_format_gain(option.first[1])}"
                if option.first
                else "; nor after any other"
            )
            yield from wrapped(
                f"~ {name}: {_format_gain(option.gain.value)}, {format_terms(option.ceiling.limit)} still "
                f"limiting{then}",
                "  ",
            )
        if option.model_gain is not None:
            remarks = f"; {'; '.join(option.remarks)}" if option.remarks else ""
            yield from wrapped(
                f"  {name}, the model: {_format_gain(option.model_gain.value)} "
                f"({_format_interval(option.model_gain)}){remarks}",
                "  ",
            )
        elif option.remarks:
            yield from wrapped(f"  {name}: {'; '.join(option.remarks)}", "  ")
        yield from wrapped(_compare_with_measured(option), "  ") if option.steps else ()
    if all(option.gain.low is None for option in options):
        yield from wrapped("~ gains have no interval: write measured inputs as [low, high]", "  ")
    yield from wrapped(
        _format_closing(steps, level if any(option.gain.low is not None for option in options) else None)
    )


def _compare_with_measured(option: UpgradeOption) -> str:
    """Compare the gain by the bound with measured ones, the furthest apart first."""
    beyond = option.beyond
    texts = []
    for step in beyond or option.steps:
        interval = "" if step.speedup.low is None else f" ({_format_interval(step.speedup, 1.0)})"
        texts.append(f"{step.before} → {step.after} {_format_times(step.speedup.value)} times as fast{interval}")
    predicted = f"the bound predicts {1 + (option.gain.value or 0.0):.2f}"
    words = f"! {option.candidate.name}: measured {', '.join(texts)}, {predicted}"
    if not beyond:
        return f"  {words[2:]}"
    return f"{words}: the actual bottleneck is not among its terms. Rely on the measurement"


def _format_closing(steps: Sequence[tuple[str, float, float]], level: float | None) -> str:
    if not steps:
        return "No allowed change alone gains anything: check the bottleneck."
    texts = [f"{name} ({_format_gain(gain)})" for name, gain, _ in steps]
    cost = f", {steps[-1][2]:g} in all" if steps[-1][2] else ""
    note = "Gains are of the bound, which is a ceiling" + ("." if level is None else f"; {100 * level:g} % intervals.")
    return f"Buy first {', then '.join(texts)}{cost}. {note}"


def _format_cpus(cpus: Sequence[ListedCpu]) -> Iterator[str]:
    rows = [
        [
            cpu.name,
            f"{cpu.points:g}",
            f"{cpu.watts:g}",
            format_significant(cpu.points_per_watt, 4),
            f"refused: {cpu.refused}" if cpu.refused else "",
        ]
        for cpu in cpus
    ]
    yield from table(["CPU", "points", "W", "points/W", ""], rows, "lrrrl", WIDTH).splitlines()
    yield ""
    allowed = [cpu for cpu in cpus if not cpu.refused]
    if allowed:
        yield from wrapped(f"Most points for each watt: {allowed[0].name}.")
    else:
        yield from wrapped("No CPU satisfies the limits.")


def _format_measured(times: Mapping[str, Estimate], steps: Sequence[ConfigurationStep]) -> Iterator[str]:
    rows = [[name, "" if e.value is None else format_seconds(e.value), e.n] for name, e in times.items()]
    yield from table(["measured", "time", "n"], rows, "lrr", WIDTH).splitlines()
    yield ""
    alone = [step for step in steps if len(step.changed) == 1]
    rows = [
        [
            step.changed[0],
            step.before,
            step.after,
            _format_times(step.speedup.value),
            _format_interval(step.speedup, 1.0),
        ]
        for step in alone
    ]
    yield from table(["changed alone", "from", "to", "times as fast", "interval"], rows, "lllrr", WIDTH).splitlines()
    mixed = [step for step in steps if len(step.changed) > 1][:_STEPS]
    if mixed:
        yield ""
        rows = [
            [" and ".join(step.changed), step.before, step.after, _format_times(step.speedup.value)] for step in mixed
        ]
        yield from table(["changed together", "from", "to", "times as fast"], rows, "lllr", WIDTH).splitlines()
    yield ""
    if any(step.speedup.low is None for step in steps):
        yield from wrapped("~ a single timing has no interval: repeat it 6 times or more", "  ")
    if alone:
        best = alone[0]
        yield from wrapped(
            f"The largest step of one factor alone is {best.changed[0]}: {best.before} → {best.after}, "
            f"{_format_times(best.speedup.value)} times as fast."
        )


def _format_scores(scores: Sequence[Score]) -> Iterator[str]:
    header = ["criterion", *(score.name for score in scores)]
    rows = [[name, *(f"{score.marks[name]:g}" for score in scores)] for name in scores[0].marks]
    rows.append(["weighted mean", *(f"{score.total:.2f}" for score in scores)])
    yield from table(header, rows, "l" + "r" * len(scores), WIDTH).splitlines()
    yield ""
    best = scores[0]
    yield from wrapped(
        f"{best.name} scores best, {best.total:.2f} of 5; its weakest criterion is {best.weakest}. "
        "Marks are judgements: nothing here is measured."
    )


def _format_gain(value: float | None) -> str:
    if value is None:
        return CANNOT_TELL
    percent = abs(100 * value)
    sign = "+" if value >= -1e-12 else "−"
    return f"{sign} {percent:.0f} %" if percent >= 10 or percent < 0.05 else f"{sign} {percent:.1f} %"


def _format_interval(estimate: Estimate, scale: float = 0.01) -> str:
    if estimate.low is None or estimate.high is None:
        return CANNOT_TELL
    if scale == 1.0:
        return f"{estimate.low:.2f}–{estimate.high:.2f}"
    return f"{estimate.low / scale:.0f} to {estimate.high / scale:.0f} %"


def _format_times(value: float | None) -> str:
    return CANNOT_TELL if value is None else f"{value:.2f}"
