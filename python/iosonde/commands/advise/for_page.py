"""From trials to the advised setting on a page. It selects and names; ``explain`` computes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from iosonde.commands.plot.content import Bars
from iosonde.commands.report.axis import format_metric_title
from iosonde.commands.report.terms import select_metric
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.metrics import build_metric, warn_unknown_direction
from iosonde.core.table import Table
from iosonde.core.types import Better, Metric, Role
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.roles import guess_roles
from iosonde.data.source import Source
from iosonde.explain.advise import Advice, Wish, advise_settings
from iosonde.explain.advise_words import describe_advice
from iosonde.explain.rules import Rule
from iosonde.page.tables import Section
from iosonde.page.words import describe_missing_part
from iosonde.stats.assumptions import AssumptionCheck
from iosonde.stats.assumptions.separable import check_separable

from .content import AdviceDefault, AdviceRule, Compared, ResponseAdvice

MOST_RESPONSES = 4
_MOST_DEFAULTS = 12


@dataclass(frozen=True)
class Choosing:
    """Columns to choose, workload columns (None: every other setting that varies), and the setting in use."""

    choose: Sequence[str]
    workload_columns: Sequence[str] | None = None
    current: Mapping[str, str] | None = None


def build_store_advice(
    source: Source, displayed_bars: Sequence[Bars], choosing: Choosing, query: ResponseQuery
) -> Section[ResponseAdvice]:
    """Build one part for each operation and metric that the page shows."""
    trials = source.trials(query.choice).rows
    rows = dict(trials.groups(["operation", "metric"])) if len(trials) else {}
    factors = source.varying_factors
    varying = [factor.name for factor in factors.factors if factor.role is Role.SET]
    twins = [name for pair in factors.confounded.items() for name in pair if "ranks" not in pair]
    metrics = dict.fromkeys((bars.operation, bars.metric, bars.unit) for bars in displayed_bars)
    tables = []
    for operation, metric, unit in metrics:
        title = format_metric_title(operation, metric)
        tables.append((title, build_metric(metric, unit), select_metric(trials, rows[operation, metric], title, unit)))
    return _build_section(tables, choosing, varying, query.level, twins)


def build_table_advice(
    table: Table, responses: Sequence[str], by: Sequence[str] | None, choosing: Choosing, level: float
) -> Section[ResponseAdvice]:
    """Build one part for each response of a table."""
    roles = guess_roles(table, responses, by)
    columns = [table.column(name) for name in roles.responses]
    tables = [(column.name, build_metric(column.label, column.unit), table) for column in columns]
    return _build_section(tables, choosing, roles.settings, level)


def _build_section(
    tables: Sequence[tuple[str, Metric, Table]],
    choosing: Choosing,
    varying: Sequence[str],
    level: float,
    twins: Sequence[str] = (),
) -> Section[ResponseAdvice]:
    """Build the section. ``twins`` always change with another factor. Raises IosondeError if no response has advice;
    otherwise it explains missing ones."""
    items, missing = list[ResponseAdvice](), list[str]()
    first: IosondeError | None = None
    for title, metric, table in tables[:MOST_RESPONSES]:
        chosen = [table.column(name).name for name in choosing.choose]
        instance_factors = (
            [name for name in varying if name not in chosen]
            if choosing.workload_columns is None
            else choosing.workload_columns
        )
        try:
            item = _advise_response(title, metric, table, choosing, instance_factors, level)
            others = [name for name in dict.fromkeys((*varying, *twins)) if name not in (*chosen, *instance_factors)]
            items.append(_withdraw_inseparable(item, check_separable(table, chosen, instance_factors, others)))
        except IosondeError as error:
            first = first or error
            missing.append(describe_missing_part(title, error))
    if first is not None and not items:
        raise first
    if len(tables) > MOST_RESPONSES:
        missing.append(
            Message(
                "too-many-responses",
                "Not advised on here: {responses}; iosonde advise does.",
                responses=", ".join(title for title, *_ in tables[MOST_RESPONSES:]),
            )
        )
    return Section(tuple(items), tuple(missing))


def _advise_response(
    title: str, metric: Metric, table: Table, choosing: Choosing, instance_factors: Sequence[str], level: float
) -> ResponseAdvice:
    lower = metric.better is Better.LOWER
    advice = advise_settings(
        table, title, choosing.choose, instance_factors, level, Wish(metric.unit, lower, current=choosing.current)
    )
    gain = advice.gain
    return ResponseAdvice(
        title=title,
        unit=metric.unit,
        head=_format_heading(advice, lower),
        sentence=describe_advice(advice),
        choose=tuple(advice.instances.choose),
        over=advice.instances.format_setting(gain.over) if gain else "",
        over_set=advice.instances.levels_of(gain.over) if gain else None,
        ratio=gain.ratio if gain and advice.kind != "nothing" else None,
        compared=_list_compared_settings(advice),
        defaults=_list_defaults(advice),
        rules=tuple(map(_build_page_rule, advice.rules)),
        warnings=(*warn_unknown_direction(metric, None), *advice.warnings),
    )


def _withdraw_inseparable(item: ResponseAdvice, checks: Iterable[AssumptionCheck]) -> ResponseAdvice:
    """Return the part without its advice if another column explains it as well."""
    failed = next((check for check in checks if check.instead is not None), None)
    if failed is None or item.ratio is None:
        return item
    return replace(item, sentence=f"No advice: {failed.why}.", ratio=None, rules=())


def _format_heading(advice: Advice, lower: bool) -> str:
    instances = advice.instances
    feature_names = ", ".join(feature.name for feature in instances.features)
    of = f"{format_count(len(instances), 'workload')} ({feature_names})" if feature_names else "one workload"
    settings = f"{format_count(len(instances.settings), 'setting')} ({'/'.join(instances.choose)})"
    return f"{settings} in {of}; {'lower' if lower else 'higher'} is better."


def _build_page_rule(rule: Rule) -> AdviceRule:
    conditions = tuple(condition.to_base_units() for condition in rule.conditions)
    return AdviceRule(rule.when, rule.then, conditions, rule.levels, rule.instances, rule.share, rule.lowest)


def _list_compared_settings(advice: Advice) -> tuple[Compared, ...]:
    """Return the advice next to its references: the setting to beat, and the unreachable optimum."""
    gain, setting_text, levels_of = advice.gain, advice.instances.format_setting, advice.instances.levels_of
    if gain is None:
        return ()
    what = {"rules": "rules", "default": setting_text(advice.best_default)}.get(advice.kind, "rules, not advised")
    over = f"{setting_text(gain.over)} ({'in use' if gain.over == advice.current else 'best default'})"
    rows = [Compared(over, levels_of(gain.over), gain.reference, gain.reference_lowest)]
    if what != setting_text(gain.over):
        levels = levels_of(advice.best_default) if advice.kind == "default" else None
        rows.insert(0, Compared(what, levels, gain.advised, gain.lowest))
    if gain.possible is not None:
        rows.append(Compared("the best of each workload", None, gain.possible, None))
    return tuple(rows)


def _list_defaults(advice: Advice) -> tuple[AdviceDefault, ...]:
    ordered = sorted(advice.defaults, key=lambda d: -d.rel_arith)
    selected = [d for place, d in enumerate(ordered) if place < _MOST_DEFAULTS or d.setting == advice.current]
    setting_text, levels_of = advice.instances.format_setting, advice.instances.levels_of
    notes = {advice.best_default: "best default"} | ({advice.current: "in use"} if advice.current else {})
    return tuple(
        AdviceDefault(
            setting_text(d.setting),
            levels_of(d.setting),
            notes.get(d.setting, ""),
            d.best,
            d.tied,
            d.worst,
            d.rel_arith,
            d.rel_harm,
            d.lowest,
            d.abs,
        )
        for d in selected
    )
