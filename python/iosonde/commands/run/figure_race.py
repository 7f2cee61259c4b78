"""A race as a figure: a line for each setting, from the first block to the last one that it took part in."""

from iosonde.core.level_text import format_setting
from iosonde.core.units import format_significant
from iosonde.core.words import format_count
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import (
    BLUE,
    MUTED,
    SERIES,
    VERMILION,
    Row,
    build_legend,
    build_name_channel,
    build_number_channel,
    layer,
    number_duplicates,
    view,
)

from .race import RaceAnswer

_MOST_LINES = 40
_ROW_HEIGHT, _WIDTH = 18, 420
_COLOURS = {"best": VERMILION, "leads": VERMILION, "tie": SERIES[2], "remains": BLUE, "left": MUTED}


def race_figure(answer: RaceAnswer) -> Figure:
    """Draw the race, the leader on top; of many settings the best ones."""
    places = [place for place in answer.order if answer.state.counts[place]][:_MOST_LINES]
    names = number_duplicates(format_setting(answer.state.settings[place], answer.units) for place in places)
    rows = [_build_row(answer, place, name) for place, name in zip(places, names, strict=True)]
    states = [state for state in _COLOURS if any(row["series"] == state for row in rows)]
    channels = {
        "y": build_name_channel("", names, "y"),
        "color": build_legend(states, [_COLOURS[state] for state in states]),
    }
    along = build_number_channel("block", "x2", domain=(0, answer.state.n_blocks))
    spec = view(
        layer(rows, "rule", {**channels, "x": {**along, "field": "x"}, "x2": {"field": "x2"}}, strokeWidth=2),
        layer(rows, "point", {**channels, "x": along}, filled=True, size=50),
        width=_WIDTH,
        height=_ROW_HEIGHT * max(len(rows), 1),
    )
    blocks = format_count(answer.state.n_blocks, "block")
    title = f"{answer.metric_title}: who was in the race"
    return Figure(spec, title, f"{format_count(len(rows), 'setting')} over {blocks}: {answer.sentence}")


def _build_row(answer: RaceAnswer, place: int, name: str) -> Row:
    state = answer.describe_setting(place)
    last, ratio = answer.state.find_last_block(place), answer.state.compute_ratio(place)
    tip = [name, f"{format_count(answer.state.counts[place], 'trial')}, {state}"]
    tip += [] if ratio is None else [f"{format_significant(ratio)} of the leader"]
    return {"y": name, "x": 0, "x2": last, "series": state, "tip": "\n".join(tip)}
