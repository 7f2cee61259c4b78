"""A race as text: its settings, the leader first, and the result as the last sentence."""

from collections.abc import Iterator

from iosonde.core.level_text import format_level
from iosonde.core.units import choose_human_scale, format_percent, format_significant
from iosonde.layout.text import escape, format_fitting_table, paragraphs, wrapped

from .race import RaceAnswer

_MOST_ROWS = 30


def lines(answer: RaceAnswer) -> Iterator[str]:
    """Yield the lines of the text."""
    plan = answer.state.plan
    yield escape(
        f"race for the best {answer.metric_title}: within {format_percent(plan.margin)}, with "
        f"{100 * plan.confidence:g} % confidence, sealed before"
    )
    yield ""
    headers, rows, sides = build_grid(answer)
    yield from format_fitting_table(headers, rows[:_MOST_ROWS], sides, len(headers) - 3)
    if len(rows) > _MOST_ROWS:
        yield f"and {len(rows) - _MOST_ROWS} more, which are worse"
    yield from paragraphs(f"! {text}" for text in answer.warnings)
    yield ""
    yield from wrapped(answer.sentence)


def build_grid(answer: RaceAnswer) -> tuple[list[str], list[list[object]], str]:
    """Return (headings, a row per setting, alignment)."""
    names = list(answer.state.settings[0])
    rows = [_format_row(answer, place) for place in answer.order]
    return [*names, "trials", "mean", "÷ best", ""], rows, "l" * len(names) + "rrrL"


def _format_row(answer: RaceAnswer, place: int) -> list[object]:
    state = answer.state
    estimate, ratio = answer.estimate_setting(place), state.compute_ratio(place)
    levels = [format_level(level, answer.units.get(name, "")) for name, level in state.settings[place].items()]
    mean = "~"
    if estimate is not None and estimate.value is not None and state.name is not None:
        scale, unit = choose_human_scale(estimate.value, state.name[2])
        mean = f"{format_significant(estimate.value / scale)} {unit}".rstrip()
    return [
        *levels,
        state.counts[place],
        mean,
        "~" if ratio is None else format_significant(ratio),
        answer.describe_setting(place),
    ]
