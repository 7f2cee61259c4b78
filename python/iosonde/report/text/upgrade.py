"""An upgrade as text: what gains, what is refused and why, the trap, what to buy first, and the tables beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from iosonde.core import cluster_nodes
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate, format_seconds, human_scale, significant
from iosonde.core.words import listed
from iosonde.model.bound.words import NAMES

from .layout import CANNOT_TELL, WIDTH, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.upgrade import Upgrade
    from iosonde.core.cluster_nodes import ClusterNodes
    from iosonde.explain.upgrade import UpgradeOption
    from iosonde.explain.upgrade_tables import ConfigurationStep, ListedCpu, Score
    from iosonde.model.bound.bound import Ceiling

_STEPS = 8


def lines(answer: Upgrade) -> Iterator[str]:
    """The lines of the text: a section for each part of the file, empty lines between."""
    sections = [
        _nodes(answer.asked.nodes) if answer.asked.nodes.nodes else (),
        _cluster(answer) if answer.asked.cluster is not None else (),
        _options(answer.options, answer.path, answer.level) if answer.options else (),
        _cpus(answer.cpus) if answer.cpus else (),
        _measured(answer.times, answer.steps) if answer.asked.measured else (),
        _scores(answer.scores) if answer.scores else (),
    ]
    for place, section in enumerate(filter(None, (list(section) for section in sections))):
        yield from [""] if place else []
        yield from section


def _nodes(nodes: ClusterNodes) -> Iterator[str]:
    """How many nodes of which role, and what one should know of them."""
    yield from wrapped(cluster_nodes.described(nodes) + ".")
    for warning in nodes.warnings():
        yield from wrapped(f"~ {warning}.", "  ")


def _cluster(answer: Upgrade) -> Iterator[str]:
    """What there is today, and what follows from it; without a bound where too little is known for one."""
    asked, made, need = answer.asked, answer.ceiling, answer.totals
    assert asked.cluster is not None and need is not None
    name, derived = asked.cluster.name, asked.derived()
    if made is not None:
        yield from wrapped(f"{name} today: {made.system.operation} at most {format_rate(made.s, 'bytes/s')}, "
                           f"{limiting(made)}.")  # fmt: skip
    facts = [
        f"needs {need.watts:g} W" if need.watts is not None else "",
        f"fills {need.rack_units:g} U at {need.nodes_per_rack_unit:g} in a rack unit" if need.rack_units else "",
        "holds {:.3g} TB on each disk".format(derived["capacity_per_disk"] / 1e12)
        if "capacity_per_disk" in derived else "",
        _delivers(derived.get("bandwidth_per_server"), asked.bandwidth, made),
        "costs {:.4g} for each TB".format(derived["cost_per_terabyte"]) if "cost_per_terabyte" in derived else "",
    ]  # fmt: skip
    if any(facts):
        yield from wrapped(f"{'It' if made else name} {'; '.join(fact for fact in facts if fact)}.")


def limiting(made: Ceiling) -> str:
    """What limits, as the end of a sentence: ``the disks limit``."""
    several = made.limit[0] in ("disks", "cpu", "server_cpu", "metadata") or len(made.limit) > 1
    return f"{named(made.limit)} limit{'' if several else 's'}"


def named(terms: Sequence[str]) -> str:
    """Several terms of a bound in a sentence."""
    return listed([NAMES[term] for term in terms])


def _delivers(each: float | None, whole: float | None, made: Ceiling | None) -> str:
    if each is None:
        return ""
    share = f", {100 * whole / made.s:.0f} % of the bound" if whole and made else ""
    return f"delivers {format_rate(each, 'bytes/s')} a server{share}"


def _options(found: Sequence[UpgradeOption], steps: Sequence[tuple[str, float, float]], level: float) -> Iterator[str]:
    """The table of changes, the trap, what disagrees, what is refused, and what to buy first."""
    divisor, unit = human_scale(max(option.ceiling.s for option in found), "bytes/s")
    rows = []
    for option in found:
        per = "" if option.per_money is None else significant(1000 * option.per_money / divisor)
        per_watt = "" if option.per_watt is None else significant(option.per_watt / divisor)
        rows.append([option.candidate.name, _gain(option.gain.value), _between(option.gain),
                     significant(option.ceiling.s / divisor), f"{option.cost:g}", per, per_watt,
                     "✗" if option.refused else ""])  # fmt: skip
    header = ["change", "gain", "interval", unit, "cost", "per 1000", "per W", ""]
    yield from table(header, rows, "lrrrrrrl", WIDTH).splitlines()
    yield ""
    for option in found:
        name = option.candidate.name
        if option.refused:
            yield from wrapped(f"✗ {name}: {'; '.join(option.refused)}", "  ")
        if option.trap:
            then = f"; after {option.first[0]}: {_gain(option.first[1])}" if option.first else "; nor after any other"
            yield from wrapped(
                f"~ {name}: {_gain(option.gain.value)}, {named(option.ceiling.limit)} still limiting{then}", "  "
            )
        if option.model_gain is not None:
            said = f"; {'; '.join(option.remarks)}" if option.remarks else ""
            yield from wrapped(f"  {name}, the model: {_gain(option.model_gain.value)} "
                               f"({_between(option.model_gain)}){said}", "  ")  # fmt: skip
        elif option.remarks:
            yield from wrapped(f"  {name}: {'; '.join(option.remarks)}", "  ")
        yield from wrapped(_beside_measured(option), "  ") if option.steps else ()
    if all(option.gain.low is None for option in found):
        yield from wrapped("~ gains have no interval: write measured inputs as [low, high]", "  ")
    known = any(option.gain.low is not None for option in found)
    yield from wrapped(_closing(steps, level if known else None))


def _beside_measured(option: UpgradeOption) -> str:
    """What the bound says of a change beside what it brought where it was measured, the furthest apart first."""
    beyond = option.beyond
    said = []
    for one in beyond or option.steps:
        interval = "" if one.speedup.low is None else f" ({_between(one.speedup, 1.0)})"
        said.append(f"{one.before} → {one.after} {_times(one.speedup.value)} times as fast{interval}")
    words = (
        f"! {option.candidate.name}: measured {', '.join(said)}, the bound says {1 + (option.gain.value or 0.0):.2f}"
    )
    if not beyond:
        return f"  {words[2:]}"
    return f"{words}: what limited there is none of its terms. Go by what was measured"


def _closing(steps: Sequence[tuple[str, float, float]], level: float | None) -> str:
    if not steps:
        return "No allowed change gains anything by itself: look at what limits."
    said = [f"{name} ({_gain(gain)})" for name, gain, _ in steps]
    cost = f", {steps[-1][2]:g} in all" if steps[-1][2] else ""
    told = "Gains are of the bound, which is a ceiling" + ("." if level is None else f"; {100 * level:g} % intervals.")
    return f"Buy first {', then '.join(said)}{cost}. {told}"


def _cpus(found: Sequence[ListedCpu]) -> Iterator[str]:
    """CPUs by points for each watt."""
    rows = [[one.name, f"{one.points:g}", f"{one.watts:g}", significant(one.points_per_watt, 4),
             f"refused: {one.refused}" if one.refused else ""] for one in found]  # fmt: skip
    yield from table(["CPU", "points", "W", "points/W", ""], rows, "lrrrl", WIDTH).splitlines()
    yield ""
    allowed = [one for one in found if not one.refused]
    if allowed:
        yield from wrapped(f"Most points for each watt: {allowed[0].name}.")
    else:
        yield from wrapped("No CPU fulfils the limits.")


def _measured(times: Mapping[str, Estimate], steps: Sequence[ConfigurationStep]) -> Iterator[str]:
    """Times, and what each change of one factor brought."""
    rows = [[name, "" if e.value is None else format_seconds(e.value), e.n] for name, e in times.items()]
    yield from table(["measured", "time", "n"], rows, "lrr", WIDTH).splitlines()
    yield ""
    alone = [one for one in steps if len(one.changed) == 1]
    rows = [[one.changed[0], one.before, one.after, _times(one.speedup.value), _between(one.speedup, 1.0)]
            for one in alone]  # fmt: skip
    yield from table(["changed alone", "from", "to", "times as fast", "interval"], rows, "lllrr", WIDTH).splitlines()
    mixed = [one for one in steps if len(one.changed) > 1][:_STEPS]
    if mixed:
        yield ""
        rows = [[" and ".join(one.changed), one.before, one.after, _times(one.speedup.value)] for one in mixed]
        yield from table(["changed together", "from", "to", "times as fast"], rows, "lllr", WIDTH).splitlines()
    yield ""
    if any(one.speedup.low is None for one in steps):
        yield from wrapped("~ one timing has no interval: repeat it, 6 times or more", "  ")
    if alone:
        best = alone[0]
        yield from wrapped(f"The largest step of one factor alone is {best.changed[0]}: {best.before} → {best.after}, "
                           f"{_times(best.speedup.value)} times as fast.")  # fmt: skip


def _scores(found: Sequence[Score]) -> Iterator[str]:
    """The scorecard, best first."""
    header = ["criterion", *(one.name for one in found)]
    rows = [[name, *(f"{one.marks[name]:g}" for one in found)] for name in found[0].marks]
    rows.append(["weighted mean", *(f"{one.total:.2f}" for one in found)])
    yield from table(header, rows, "l" + "r" * len(found), WIDTH).splitlines()
    yield ""
    best = found[0]
    yield from wrapped(f"{best.name} is marked best, {best.total:.2f} of 5; its weakest side is {best.weakest}. "
                       "Marks are judgements: nothing here is measured.")  # fmt: skip


def _gain(value: float | None) -> str:
    if value is None:
        return CANNOT_TELL
    shown = abs(100 * value)
    sign = "+" if value >= -1e-12 else "−"
    return f"{sign} {shown:.0f} %" if shown >= 10 or shown < 0.05 else f"{sign} {shown:.1f} %"


def _between(estimate: Estimate, scale: float = 0.01) -> str:
    if estimate.low is None or estimate.high is None:
        return CANNOT_TELL
    if scale == 1.0:
        return f"{estimate.low:.2f}–{estimate.high:.2f}"
    return f"{estimate.low / scale:.0f} to {estimate.high / scale:.0f} %"


def _times(value: float | None) -> str:
    return CANNOT_TELL if value is None else f"{value:.2f}"
