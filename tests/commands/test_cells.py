"""Many cells and settings on the page: folded, the lowest and the highest seen; names and intervals readable."""

import dataclasses
import re

import pytest

from iosonde.commands.plot.content import Bars, Cell
from iosonde.commands.regress.content import ResponseSummary, SummaryRow
from iosonde.commands.report.section import group_bars, render
from iosonde.commands.report.section_summary import (
    FOLD_BEYOND,
    MOST_FACTORS,
    MOST_ROWS,
    build_summary_tables,
    group_tables,
)
from iosonde.commands.report.section_top import build_top_tables
from iosonde.core.types import Estimate, Finding, Severity
from iosonde.layout.text import format_estimate_parts
from iosonde.page.strip import STRIP_WIDTH, StripAxis
from iosonde.page.tables import Section
from page_sample import model_page, sample_page


def first_summary_table(response):
    return build_summary_tables([response])[0]


def summary(n, by=("size",)):
    def row(number):
        value = Estimate(100.0 + (number * 7) % n, 90.0, 300.0, 0.95, 3)
        return SummaryRow((str(number),) * len(by), (number,) * len(by), value, value, 1.0, 0.1)

    return ResponseSummary("rate", "", by, tuple(row(number) for number in range(n)))


@pytest.mark.parametrize("n", [1, FOLD_BEYOND, FOLD_BEYOND + 1, MOST_ROWS + 5])
def test_of_many_cells_the_lowest_and_the_highest_are_seen(n):
    made = first_summary_table(summary(n))
    assert len(made.lines) + made.left_out == n
    if n <= FOLD_BEYOND:
        assert not made.ends
    else:
        means = [row.mean.value for row in made.summary.rows]
        assert [float(line.mean[0]) for line in made.ends] == [min(means), max(means)]


def test_cells_without_a_value_are_no_ends():
    rows = tuple(
        dataclasses.replace(row, mean=Estimate(None, None, None, 0.95, 0)) if place % 2 else row
        for place, row in enumerate(summary(20).rows)
    )
    ends = first_summary_table(ResponseSummary("rate", "", ("size",), rows)).ends
    assert all(int(line.levels[0]) % 2 == 0 for line in ends)


def test_folded_cells_are_all_on_the_page_once_opened():
    page = dataclasses.replace(model_page(), summary=(summary(40), summary(3)))
    html = render(page)
    (folded,) = (part for part in re.findall(r"<details.*?</details>", html, re.DOTALL) if "strip-cell" in part)
    assert re.search(r"<summary>[^<]* 40 [^<]*rate", folded)
    assert len(re.findall(r"<td class=\"strip-cell\">", folded)) == 41  # the axis, then the cells


def test_very_many_factors_are_one_column_of_what_a_cell_has_a_level_of():
    names = tuple("abcdefgh")
    row = dataclasses.replace(summary(1, names).rows[0], levels=("1",) * 7 + ("(missing)",), setting=(1,) * 7 + (None,))
    many = first_summary_table(dataclasses.replace(summary(1, names), rows=(row,)))
    assert many.by == ("setting",) and many.lines[0].levels == ("a=1, b=1, c=1, d=1, e=1, f=1, g=1",)
    assert first_summary_table(summary(1, names[:MOST_FACTORS])).by == names[:MOST_FACTORS]


def settings(title, unit="bytes/s", sizes=(4096, 65536), nodes=(1, 2), left_out=()):
    """A response by size and nodes, 100 MiB/s and more."""
    rows = tuple(
        SummaryRow(
            (f"{size // 1024} KiB", str(count)),
            (size, count),
            Estimate((100 + 10 * place + count) * 2.0**20, 90.0 * 2**20, 150.0 * 2**20, 0.95, 3),
            Estimate(None, None, None, 0.95, 3),
            None,
            0.01 * count,
        )
        for place, size in enumerate(sizes)
        for count in nodes
        if (size, count) not in left_out
    )
    return ResponseSummary(title, unit, ("size", "nodes"), rows)


def tops(*responses):
    return build_top_tables(dataclasses.replace(sample_page(), summary=responses))


def test_settings_of_two_factors_are_laid_out_as_in_the_text():
    """Columns by the factor of the fewest levels, rows by the other, a table for each response."""
    write, read = tops(settings("write", sizes=(4096, 65536, 2**20)), settings("read", sizes=(4096, 65536, 2**20)))
    assert (write.title, write.heads, write.columns) == ("write, MiB/s", ("size",), ("1 node", "2 nodes"))
    assert [row.heads for row in write.rows] == [("4 KiB",), ("64 KiB",), ("1024 KiB",)]
    assert [[number.value for number in row.numbers] for row in write.rows][:2] == [["101", "102"], ["111", "112"]]
    assert write.below == "n 3, cv 1.0 % to 2.0 %" and read.title == "read, MiB/s"
    assert not write.unsure


def test_a_setting_that_was_not_measured_is_an_empty_place():
    (made,) = tops(settings("write", left_out=[(65536, 2)]))
    assert [number.value for row in made.rows for number in row.numbers] == ["101", "102", "111", ""]
    assert len(made.rows[1].marks) == 1


def test_levels_that_read_alike_are_not_one():
    rows = tuple(dataclasses.replace(row, levels=("4 KiB", row.levels[1])) for row in settings("write").rows)
    (made,) = tops(dataclasses.replace(settings("write"), rows=rows))
    assert len(made.rows) == 2


def test_three_metrics_of_two_factors_are_rows_of_one_table_a_unit_with_one_axis():
    sizes = (4096, 65536)
    stat = settings("stat", "operations/s", sizes=sizes)
    bandwidth, rate = tops(settings("write", sizes=sizes), settings("read", sizes=sizes), stat)
    assert (bandwidth.heads, bandwidth.columns) == (("metric", "size"), ("1 node", "2 nodes"))
    assert [row.heads for row in bandwidth.rows] == [
        ("write", "4 KiB"),
        ("write", "64 KiB"),
        ("read", "4 KiB"),
        ("read", "64 KiB"),
    ]
    assert [row.is_again for row in bandwidth.rows] == [False, True, False, True]
    assert {row.unit for row in bandwidth.rows} == {"MiB/s"} and len(rate.rows) == 2
    assert all(number.interval for row in bandwidth.rows for number in row.numbers)


def test_one_table_far_apart_makes_the_strips_of_all_logarithmic():
    def scaled(title, unit, factor):
        rows = [
            dataclasses.replace(row, mean=Estimate(row.mean.value * times, None, None, 0.95, 3))
            for row, times in zip(settings(title, unit).rows, (1.0, factor, 1.0, factor), strict=True)
        ]
        return dataclasses.replace(settings(title, unit), rows=tuple(rows))

    near = [scaled("write", "bytes/s", 2.0), scaled("read", "bytes/s", 2.0)]
    assert {table.logarithmic for table in tops(*near, scaled("stat", "operations/s", 2.0))} == {False}
    assert {table.logarithmic for table in tops(*near, scaled("stat", "operations/s", 100.0))} == {True}


def test_many_rows_have_a_table_for_each_metric():
    every = [settings(name, sizes=tuple(4096 * n for n in range(1, 12))) for name in ("write", "read", "stat")]
    assert [table.heads for table in tops(*every)] == [("size",)] * 3


def test_too_many_settings_are_left_to_the_cells():
    assert tops(settings("write", sizes=tuple(4096 * n for n in range(1, 41)))) == []
    assert tops(summary(3)) == []


@pytest.mark.parametrize(("least", "most"), [(30e3, 2e6), (1.0, 1e9), (900.0, 40e3)])
def test_texts_of_an_axis_do_not_meet(least, most):
    ticks = StripAxis(least, most).ticks("operations/s")
    assert ticks and all(0 <= x <= STRIP_WIDTH for x, _ in ticks)
    assert all(b[0] - a[0] >= 7 * max(len(a[1]), len(b[1])) for a, b in zip(ticks, ticks[1:], strict=False))


def test_an_interval_that_goes_on_beyond_the_strip_has_an_arrow_there():
    axis = StripAxis(1e3, 1e6)
    assert axis.logarithmic
    assert axis.cut(0.0, 1e5) == ((axis.place(axis.start), -1),), "no logarithm reaches zero"
    assert axis.cut(2e3, 1e9) == ((axis.place(axis.end), 1),)
    assert axis.cut(2e3, 1e5) == () == axis.cut(None, None)
    assert StripAxis(10.0, 100.0).cut(0.0, 100.0) == (), "from zero, zero is there"


def test_all_strips_of_a_page_have_one_kind_of_scale_and_it_is_named_and_so_are_arrows():
    means = [Estimate(10.0, 5.0, 30.0, 0.95, 3), Estimate(1e3, 0.0, 3e3, 0.95, 3), Estimate(1e5, 5e4, 3e5, 0.95, 3)]
    rows = tuple(dataclasses.replace(row, mean=one) for row, one in zip(summary(3).rows, means, strict=True))
    far = dataclasses.replace(summary(3), rows=rows)
    assert first_summary_table(far).logarithmic and first_summary_table(far).is_cut
    usual = Estimate(100.0, 90.0, 120.0, 0.95, 3)
    near = dataclasses.replace(summary(3), rows=tuple(dataclasses.replace(row, mean=usual) for row in rows))
    assert not first_summary_table(near).logarithmic and not first_summary_table(near).is_cut
    html = render(dataclasses.replace(model_page(), summary=(far, near)))
    classes = [set(found.split()) for found in re.findall(r'class="([^"]*)"', html)]
    assert classes.count({"scale"}) == 2 and {"interval", "beyond"} in classes
    plain = render(dataclasses.replace(model_page(), summary=(near,)))
    assert 'class="scale"' not in plain and 'beyond"' not in plain


def test_an_interval_below_zero_has_no_dash_before_a_minus():
    assert format_estimate_parts(Estimate(-33.5, -51.2, -15.9, 0.95, 8)) == ("-33.5", "-51.2 to -15.9")
    assert format_estimate_parts(Estimate(1.0, -3.0, 5.0, 0.95, 8))[1] == "-3.00–5.00"


def test_a_name_keeps_its_small_letter_at_the_beginning_of_a_finding():
    texts = ["rate: not straight", "rate is odd", "some cells lack"]
    said = [Finding("S1", Severity.WARNING, text) for text in texts]
    html = render(dataclasses.replace(model_page(), summary=(summary(3),), findings=tuple(said)))
    assert all(text in html for text in (*texts[:2], texts[2].capitalize()))


def many_settings(n):
    def bars(number, operation):
        value = Estimate((1.0 + number * 5 % n) * 2**20, None, None, 0.95, 1)
        cells = (Cell(1, value), Cell(2, value))
        return Bars(operation, "bandwidth_last_done", f"{operation}, size={number}", "bytes/s", cells)

    items = tuple(bars(number, operation) for operation in ("write", "read") for number in range(n))
    return dataclasses.replace(sample_page(), bars=Section(items))


def test_too_many_figures_are_folded_by_metric_and_each_keeps_its_place():
    page = many_settings(18)
    (write, of_write), (_, of_read) = group_bars(page)
    assert write == "write, bandwidth_last_done"
    assert [number for number, _ in (*of_write, *of_read)] == list(range(1, 37))
    html = render(page)
    assert html.count('data-figure="bars-') == 36 and "18 settings" in html
    assert [title for title, _ in group_bars(sample_page())] == [""]


@pytest.mark.parametrize("far", [999.9999999999999, 1e15 - 1, 9.999999999999999e-07, 0.9999999999999999])
def test_an_axis_that_ends_just_below_a_power_of_ten_has_a_tick(far):
    """The logarithm of 999.9999999999999 is 3: of 5000, 2000 and 1000 none is inside."""
    assert len(StripAxis(far, far).ticks("s")) == 2


def test_responses_of_other_factors_have_tables_of_their_own_and_a_score_is_the_first():
    sizes = (4096, 65536)
    other = dataclasses.replace(settings("create", "operations/s", sizes=sizes), by=("items", "nodes"))
    made = tops(settings("write", sizes=sizes), settings("read", sizes=sizes), other)
    assert [table.heads[0] for table in made] == ["size", "size", "items"]
    groups = group_tables(build_summary_tables([settings("write"), other, settings("read")]))
    assert [len(group) for group in groups] == [2, 1]
    alone = [
        dataclasses.replace(settings(title, unit, (4096,)), by=("x", "nodes"))
        for title, unit in (("write", "bytes/s"), ("find", "operations/s"), ("score, total", ""))
    ]
    assert tops(*alone)[0].title.lower().startswith("score")
