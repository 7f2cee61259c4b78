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


def cell(direction="read", state="cached", memory="off0", place="seq", size=4096, n=4, **more):
    seconds = np.arange(1, n + 1) * 1e-6
    return path_models.PathCell(direction, state, memory, place, size, seconds, np.arange(n) % 2 == 0, **more)


@pytest.mark.parametrize(
    ("levels", "reach"),
    [
        ({}, "near"),
        ({"place": "reverse", "memory": "seq"}, "near"),
        ({"place": "rnd"}, "far"),
        ({"memory": "rnd"}, "far"),
        ({"state": "discard", "place": "rnd"}, "near"),
        ({"state": "discard", "memory": "rnd"}, "far"),
    ],
)
def test_a_cell_is_near_if_both_its_places_are_ordered(levels, reach):
    assert cell(**levels).reach == reach


@pytest.mark.parametrize(
    ("levels", "microseconds"),
    [
        ({}, [1, 2, 3, 4]),
        ({"verified": False}, None),
        ({"n": 0}, None),
        # Data that is not cached: the first touch of each page, if nothing can foresee it.
        ({"state": "uncached"}, None),
        ({"state": "uncached", "place": "rnd"}, [1, 3]),
        ({"state": "uncached", "place": "stride8", "direction": "write", "size": 4095}, [1, 3]),
        ({"state": "uncached", "place": "rnd8", "direction": "write", "size": 4096}, None),
        ({"state": "first", "direction": "write", "place": "rnd"}, [1, 2, 3, 4]),
    ],
)
def test_the_times_of_a_known_condition_are_its_reference(levels, microseconds):
    reference = cell(**levels).reference
    assert (None if reference is None else (reference * 1e6).round(3).tolist()) == microseconds


@pytest.mark.parametrize(
    ("levels", "conditions"),
    [
        ({}, ("cached",)),
        ({"state": "discard"}, ("discard",)),
        ({"state": "uncached"}, ("cached",)),
        ({"state": "uncached", "place": "rnd"}, ("uncached",)),
        ({"state": "uncached", "direction": "write", "place": "rnd", "size": 4095}, ("uncached",)),
        ({"state": "uncached", "direction": "write", "place": "rnd", "size": 4096}, ("again", "first")),
        ({"state": "uncached", "direction": "write", "place": "seq", "size": 1}, ("again", "first")),
        ({"state": "first", "direction": "write"}, ("first",)),
    ],
)
def test_the_best_case_of_an_access_has_its_conditions(levels, conditions):
    assert path_models.meant(cell(**levels)) == conditions


def straight(name, fixed, per_byte, spread=0.1, largest=0, n=9):
    return path_lines.PathLine(name, np.array([fixed]), np.array([per_byte]), spread, n, largest)


LINES = (straight("discard (near)", 1e-6, 0.0), straight("cached", 1e-5, 1e-9), straight("uncached", 1e-3, 0, 0.2, 100))
READS = path_models.PathModels("read", LINES)


@pytest.mark.parametrize(
    ("size", "seconds", "condition", "nearest"),
    [
        # Pure: at most 3 spreads away in the logarithm, e^0.3 = 1.3499 and e^0.6 = 1.822.
        (1, 1e-6, "discard (near)", "discard (near)"),
        (1, 1.3498e-6, "discard (near)", "discard (near)"),
        (1, 1.3500e-6, "mixed", "discard (near)"),
        (1, 0.1e-6, "discard (near)", "discard (near)"),
        (10_000, 2e-5, "cached", "cached"),
        (10_000, 2.0e-5 * 1.36, "slower", "cached"),
        (100, 1.822e-3, "uncached", "uncached"),
        (100, 1.823e-3, "slower", "uncached"),
        (101, 1e-3, "slower", "cached"),
    ],
)
def test_an_operation_is_assigned_to_the_nearest_line(size, seconds, condition, nearest):
    assigned = READS.assign(np.array([float(size)]), np.array([seconds]))
    assert assigned.names == ("discard (near)", "cached", "uncached", "mixed", "slower")
    assert (assigned.names[assigned.codes[0]], assigned.names[assigned.nearest[0]]) == (condition, nearest)


def test_shares_count_every_operation_once():
    assigned = READS.assign(np.full(4, 1.0), np.array([1e-6, 1e-6, 1e-4, 1.0]))
    assert assigned.shares() == {"discard (near)": 0.5, "cached": 0, "uncached": 0, "mixed": 0.25, "slower": 0.25}
    nothing = READS.assign(np.zeros(0), np.zeros(0))
    assert set(nothing.shares().values()) == {0.0}


def test_a_condition_has_its_own_line_near_and_far_or_one_for_both():
    assert READS.line("discard", "near") is LINES[0] and READS.line("discard", "far") is None
    assert READS.line("cached", "near") is READS.line("cached", "far") is LINES[1]


def test_parts_are_differences_of_conditions():
    def line(name, fixed, per_byte, n):
        return path_lines.PathLine(name, np.array(fixed), np.array(per_byte), 0.1, n)

    models = path_models.PathModels(
        "read",
        (
            line("discard", [1.0, 0.5, 1.5], [0.1, 0.1, 0.1], 5),
            line("cached", [3.0, 3.0, 3.0], [0.3, 0.2, 0.4], 4),
            line("uncached", [10.0, 9.0, 12.0], [0.35, 0.2, 0.2], 7),
        ),
    )
    told = [
        (part.name, *((e.value, e.low, e.high, e.n) for e in (part.fixed_s, part.per_byte)))
        for part in path_models.parts(models, 0.5)
    ]
    # Percentiles 25 and 75 of two replicates; not below 0, and with the best between them.
    assert told == [
        ("m", pytest.approx((1.0, 0.75, 1.25, 5)), pytest.approx((0.1, 0.1, 0.1, 5))),
        ("p", pytest.approx((2.0, 1.75, 2.25, 4)), pytest.approx((0.2, 0.15, 0.25, 4))),
        ("n + c + d", pytest.approx((7.0, 6.75, 8.25, 4)), pytest.approx((0.05, 0.0, 0.05, 4))),
    ]
    assert [part.name for part in path_models.parts(path_models.PathModels("read", models.lines[1:]), 0.5)] == [
        "n + c + d"
    ]


def test_an_interval_holds_its_best_value_and_has_no_ends_without_replicates():
    def ends(*values):
        estimate = path_lines.interval(np.array(values, float), 0.8, 3)
        return estimate.value, estimate.low, estimate.high

    assert ends(5) == (5, None, None)
    assert ends(5, *range(11)) == pytest.approx((5, 1, 9))
    assert ends(20, *range(11)) == pytest.approx((20, 1, 20))
    assert ends(-20, *range(11)) == pytest.approx((-20, -20, 9))


def test_a_line_of_few_cells_says_so_and_one_beyond_its_largest_access_has_no_time():
    assert [bool(straight("x", 1, 1, n=n).warnings) for n in (5, 6)] == [True, False]
    line = straight("x", 2.0, 0.5, largest=10)
    assert line.seconds(np.array([10.0, 11.0])).tolist() == [7.0, pytest.approx(np.nan, nan_ok=True)]
    assert line.replicates(11).tolist() == [7.5]


def test_the_spread_of_a_line_is_that_of_single_operations():
    sizes = np.array([1.0, 10.0, 100.0, 1000.0])
    noise = np.random.default_rng(3).normal(0, 0.3, (4, 4000))
    times = [(1e-6 + 1e-9 * size) * np.exp(own) for size, own in zip(sizes, noise, strict=True)]
    assert path_lines.line("x", sizes, times).spread == pytest.approx(0.3, rel=0.05)
    assert path_lines.line("x", sizes, [np.full(9, 1e-6)] * 4).spread == 0.02
