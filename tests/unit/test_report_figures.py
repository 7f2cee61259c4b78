"""Figures as files: the right format, the same bytes twice, no mathematics from data."""

import dataclasses

import pytest

from iosonde.report import figures
from iosonde.report.charts import decades, seconds_text
from page_sample import HOSTILE, partial_page, sample_page

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def drawn(page):
    yield figures.bars_figure([bars for bars in page.bars.items if not bars.empty], page.axis)
    yield figures.latency_figure(page.latencies.items, page.axis)
    yield figures.timeline_figure(page.timelines.items)


@pytest.mark.parametrize("kind", figures.FORMATS)
def test_each_format(kind):
    page = sample_page()
    one = figures.image(figures.bars_figure(page.bars.items[:1], page.axis), kind)
    assert one.startswith(MAGIC[kind])
    assert one == figures.image(figures.bars_figure(page.bars.items[:1], page.axis), kind)


def test_every_kind_is_drawn():
    for figure in drawn(sample_page()):
        assert len(figures.image(figure, "svg")) > 5_000


def test_what_is_missing_does_not_stop_a_figure():
    for figure in drawn(partial_page()):
        assert figures.image(figure, "svg")


def test_text_of_a_title_is_shown_as_it_is():
    bars = dataclasses.replace(sample_page().bars.items[0], title=HOSTILE)
    text = figures.image(figures.bars_figure([bars], "node"), "svg").decode()
    assert "$$x^2$$\\x1b[31m" in text
    assert "<img" not in text


def test_interval_and_trials_are_in_the_bars():
    bars = sample_page().bars.items[0]
    axes = figures.bars_figure([bars], "node").axes[0]
    first = bars.cells[0].estimate
    assert axes.patches[0].get_height() * 2**20 == pytest.approx(first.value)
    ends = axes.collections[0].get_segments()[0][:, 1] * 2**20
    assert ends == pytest.approx([first.low, first.high])


@pytest.mark.parametrize(
    ("least", "most", "texts"),
    [
        (2e-6, 3e-2, ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]),
        (9e-5, 3e-4, ["10 µs", "20 µs", "50 µs", "100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms"]),
    ],
)
def test_round_durations_on_a_log_axis(least, most, texts):
    assert [seconds_text(tick) for tick in decades(least, most)] == texts
