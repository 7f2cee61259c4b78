"""Models of paths on scripted machines, whose costs and classes are known."""

import numpy as np
import pytest
from machine_cells import cells_of, matrix

from iosonde_extras.path_study import lines as path_lines
from iosonde_extras.path_study import models as path_models


@pytest.fixture(scope="module")
def study():
    """A machine with read-ahead: 300 ns, 10 GB/s copy, 120 µs and 5 ns a byte for a miss."""
    cells = cells_of("read-ahead", matrix())
    return cells, path_models.fit(cells)


def test_a_line_finds_the_costs_that_the_machine_has(study):
    _, models = study
    lines = {line.name: line for line in models["read"].lines}
    cached, uncached = lines["cached (near)"], lines["uncached"]
    assert 295e-9 < cached.fixed(0.95).value < 310e-9
    assert 0.095e-9 < cached.per_byte(0.95).value < 0.105e-9
    assert 0.04 < cached.spread < 0.07  # gamma noise of 5 %
    # A page at least: 120 µs + 4096 · 5 ns.
    assert 115e-6 < uncached.fixed(0.95).value < 145e-6
    assert 4.5e-9 < uncached.per_byte(0.95).value < 5.6e-9


def test_one_outlying_cell_of_ten_moves_a_line_little():
    sizes = 4.0 ** np.arange(10)
    times = [np.full(50, 1e-6 + size * 1e-9) for size in sizes]
    times[6] = times[6] * 30
    line = path_lines.line("x", sizes, times)
    assert line.fixed_s[0] == pytest.approx(1e-6, rel=0.1) and line.s_per_byte[0] == pytest.approx(1e-9, rel=0.1)


def test_the_interval_of_a_line_holds_the_truth_about_as_often_as_it_says():
    draw = np.random.default_rng(5)
    sizes = 4.0 ** np.arange(12)
    held = 0
    for _ in range(100):
        medians = (2e-6 + sizes * 1e-9) * np.exp(draw.normal(0, 0.2, sizes.size))
        fixed = path_lines.line("x", sizes, [np.full(3, one) for one in medians]).fixed(0.95)
        held += fixed.low <= 2e-6 <= fixed.high
    assert 82 <= held <= 99


def test_operations_are_put_to_what_the_machine_did(study):
    _, models = study
    cells = cells_of(
        "read-ahead", matrix(places=("seq", "reverse", "rnd"), states=("uncached",), sizes=(4096, 65536)), seed=99
    )
    meant = {"miss": "uncached", "cached": "cached", "read_ahead": "cached"}
    right = total = 0
    for cell in cells:
        told = models["read"].assign(np.full(cell.seconds.size, float(cell.access_size)), cell.seconds)
        for truth, code in zip(cell.truth, told.codes, strict=True):
            if truth in meant:
                total += 1
                right += path_models.state_of(told.names[code]) == meant[truth]
    assert total > 2500 and right / total > 0.98


def test_between_two_conditions_is_mixed_and_beyond_all_is_slower(study):
    _, models = study
    reads = models["read"]
    told = reads.assign(np.full(4, 4096.0), np.array([700e-9, 10e-6, 140e-6, 5e-3]))
    assert [path_models.state_of(told.names[code]) for code in told.codes] == ["cached", "mixed", "uncached", "slower"]
    assert path_models.state_of(reads.lines[told.nearest[3]].name) == "uncached"


def test_the_best_case_is_the_time_that_the_machine_would_take(study):
    cells, models = study
    rows = {row.name: row for row in path_models.rows(cells, models, 0.95)}
    reverse, random = rows["U-off0-reverse R"], rows["U-off0-rnd R"]
    truth = sum(cell.seconds.size * (300e-9 + 0.1e-9 * cell.access_size) for cell in cells if cell.name == reverse.name)
    assert reverse.best_s.value == pytest.approx(truth, rel=0.05)
    assert reverse.best_s.low <= reverse.best_s.value <= reverse.best_s.high
    assert reverse.lost.value > 0.9 and reverse.intended == ("cached (near)",)
    # Nobody can foresee it; the largest sizes pass over the file twice, and find what they had read.
    assert -0.4 < random.lost.value < 0.05 and random.intended == ("uncached",)
    assert sum(reverse.shares.values()) == pytest.approx(1)


def test_states_are_told_apart_from_times_alone_where_they_differ(study):
    cells, models = study
    confusion = path_models.measure_confusion(cells, models["read"])
    assert confusion.shares["uncached"]["uncached"] > 0.9
    assert confusion.shares["cached"]["cached"] > 0.8
    assert all(sum(row.values()) == pytest.approx(1) for row in confusion.shares.values())


def test_m_and_p_are_those_of_the_machine_and_what_is_not_verified_is_no_reference(study):
    cells, models = study
    parts = {part.name: part for part in path_models.parts(models["read"], 0.95)}
    assert parts["m"].fixed_s.value == pytest.approx(300e-9, rel=0.05)
    assert 1 / parts["p"].per_byte.value == pytest.approx(10e9, rel=0.12)
    blind = [
        path_models.PathCell(
            c.direction,
            c.state,
            c.memory,
            c.place,
            c.access_size,
            c.seconds,
            c.untouched,
            verified=c.state != "uncached",
        )
        for c in cells
    ]
    assert "uncached" not in [line.name for line in path_models.fit(blind)["read"].lines]
