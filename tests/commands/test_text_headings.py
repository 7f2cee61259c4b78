"""Columns that become lines above the rows: as few groups as possible, in a time that does not grow with 2^columns."""

import signal
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from here import iosonde
from iosonde.commands.summary.text_cells import choose_headings


def n_groups(columns, keys, above):
    return len(set(zip(keys, *(columns[place] for place in above), strict=True)))


def fits(widths, free, above):
    return sum(width for place, width in enumerate(widths) if place not in above) <= free


@st.composite
def tables(draw, n_columns):
    n_rows = draw(st.integers(1, 12))
    cells = st.lists(st.sampled_from("abc"), min_size=n_rows, max_size=n_rows)
    columns = [draw(cells) for _ in range(draw(n_columns))]
    widths = [draw(st.integers(3, 20)) for _ in columns]
    return columns, widths, draw(st.integers(0, 100)), draw(cells)


@given(tables(st.integers(1, 8)))
def test_few_columns_are_in_the_fewest_groups_of_all_choices(table):
    columns, widths, free, keys = table
    chosen = choose_headings(columns, widths, free, keys)
    places = range(len(columns))
    choices = [above for size in places[1:] for above in combinations(places, size) if fits(widths, free, above)]
    fewest = min((n_groups(columns, keys, above) for above in choices), default=n_groups(columns, keys, places))
    assert n_groups(columns, keys, chosen) == fewest
    assert fits(widths, free, chosen) or chosen == tuple(places)


@given(tables(st.integers(9, 30)))
def test_many_columns_fit_and_none_is_above_without_need(table):
    columns, widths, free, keys = table
    chosen = choose_headings(columns, widths, free, keys)
    assert fits(widths, free, chosen) or len(chosen) == len(columns)
    assert not any(fits(widths, free, set(chosen) - {place}) for place in chosen)


@given(tables(st.integers(9, 12)), st.integers(0, 7))
def test_columns_that_depend_on_one_stand_above_together(table, place):
    """Columns that split no group further are no reason for more groups."""
    columns, widths, _, _ = table
    first = columns[place % len(columns)]
    columns = [first] * (len(columns) - 1) + [[str(row) for row in range(len(first))]]
    chosen = choose_headings(columns, [5] * len(columns), 5, [""] * len(first))
    assert n_groups(columns, [""] * len(first), chosen) == len(set(first))


@pytest.mark.parametrize("n", [23, 60])
def test_summary_of_many_settings_ends(n, tmp_path):
    """Each row has another setting: no column is constant, and every choice of columns is another grouping."""
    names = [f"setting{number}" for number in range(n)]
    rows = [[("off", "on")[(row + number) % 7 == 0] for number in range(n)] for row in range(40)]
    lines = [[*names, "rate"], *([*row, str(100 + number)] for number, row in enumerate(rows))]
    (tmp_path / "runs.csv").write_text("\n".join(map(",".join, lines)))
    signal.alarm(60)  # a search through 2^60 choices does not end
    try:
        done = iosonde("summary", "runs.csv", "--response", "rate", "--by", ",".join(names), where=tmp_path)
    finally:
        signal.alarm(0)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) < 80
