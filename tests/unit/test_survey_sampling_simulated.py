"""A tree of five files, known in full: its true numbers and the draws of simulated surveys by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import binomial_interval
from iosonde.survey.sampling import resampling
from iosonde.survey.sampling.population import CAPACITY, COMPRESSED, COUNT, TYPE, Population, TrueNumber
from iosonde.survey.sampling.resampling import BY_COUNT, BY_SIZE, WITH_REPLACEMENT, WRONG, DrawnAgain


@dataclass(frozen=True)
class Files:
    """Five files of 16 bytes: those of kind a have 6, of kind b 10; there is none of kind c."""

    sizes: np.ndarray = field(default_factory=lambda: np.array([4.0, 0.0, 2.0, 2.0, 8.0]))
    ages: np.ndarray = field(default_factory=lambda: np.arange(5.0))
    kinds: tuple[str, ...] = ("a", "b", "c")
    kind: np.ndarray = field(default_factory=lambda: np.array([0, 1, 0, 1, 1]))
    part: np.ndarray = field(default_factory=lambda: np.array([0, 0, 1, 1, 1]))
    pieces: dict[str, np.ndarray] = field(default_factory=dict)
    first: np.ndarray = field(default_factory=lambda: np.array([0, 8, 8, 9, 13, 18]))


PIECES = np.array([0, 1, 0, 1, 0, 1, 1, 1, 0.5, 0, 0, 0, 1, 0, 0, 1, 0.5, 0.5])
EVERY = np.arange(5)


class Fixed:
    """A generator of one number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.full(shape, self.number)


def test_the_true_numbers_of_all_files_by_count_and_by_size():
    whole = Population(Files(pieces={"zeros": PIECES, "lz4": PIECES / 2}))
    assert (whole.kinds, whole.totals) == (("b", "a"), {COUNT: 5.0, CAPACITY: 16.0})
    quantiles = [("size", "0.5", "bytes"), ("size", "0.9", "bytes"), ("age", "0.5", "s"), ("age", "0.9", "s")]
    assert whole.list_true_numbers(COUNT) == [
        TrueNumber(TYPE, "b", COUNT, "share", 0.6),
        TrueNumber(TYPE, "a", COUNT, "share", 0.4),
        *(TrueNumber(w, q, COUNT, u, x) for (w, q, u), x in zip(quantiles, (2.0, 8.0, 2.0, 4.0), strict=True)),
    ]
    zeros = (4 * 5 / 8 + 2 * 0.5 + 2 * 0.25 + 8 * 0.375) / 16
    assert whole.list_true_numbers(CAPACITY) == [
        TrueNumber(TYPE, "b", CAPACITY, "share", 0.625),
        TrueNumber(TYPE, "a", CAPACITY, "share", 0.375),
        TrueNumber("zeros", "", CAPACITY, "share", pytest.approx(zeros)),
        TrueNumber(COMPRESSED, "lz4", CAPACITY, "share", pytest.approx(zeros / 2)),
        *(TrueNumber(w, q, CAPACITY, u, x) for (w, q, u), x in zip(quantiles, (4.0, 8.0, 3.0, 4.0), strict=True)),
    ]
    assert whole.has("a", np.array([0, 4, 2])).tolist() == [True, False, True]


def test_kinds_are_the_eight_largest_of_a_thousandth_or_more():
    def kinds_of(counts: list[int]) -> tuple[str, ...]:
        kind = np.repeat(np.arange(len(counts)), counts)
        names = tuple(f"k{place}" for place in range(len(counts)))
        return Population(Files(np.ones(kind.size), np.zeros(kind.size), names, kind)).kinds

    assert kinds_of([1, 999]) == ("k1", "k0")
    assert kinds_of([1, 1000]) == ("k1",)
    assert kinds_of([1, 2, 3, 4, 5, 6, 7, 8, 9]) == tuple(f"k{place}" for place in range(8, 0, -1))


def test_a_mean_of_pieces_is_that_of_the_quarters_that_have_any():
    whole = Population(Files(pieces={"zeros": PIECES}))
    assert whole.exactly("zeros", EVERY).tolist() == [0.625, 0.0, 0.5, 0.25, 0.375]
    assert whole.exactly("zeros", np.array([4, 2])).tolist() == [0.375, 0.5]


@pytest.mark.parametrize(
    ("number", "means", "variance_of_0", "variance_of_4"),
    [(0.0, [0.25, 0, 0.5, 0.25, 0.375], 0.0625, 0.0572916667), (0.99, [1.0, 0, 0.5, 0.25, 0.375], 0.0, 0.0572916667)],
)
def test_a_survey_reads_one_piece_of_each_quarter_and_small_files_whole(number, means, variance_of_0, variance_of_4):
    """File 0 has 2 pieces a quarter: the first of each are 0, 0, 0, 1, the last are 1, 1, 1, 1."""
    values, within, pieces = Population(Files(pieces={"zeros": PIECES})).drawn("zeros", EVERY, Fixed(number))
    assert values.tolist() == means
    assert within == pytest.approx([variance_of_0, 0, 0, 0.0625, variance_of_4])
    assert pieces.tolist() == [4, 0, 0, 4, 4]


KEYS = np.array([0.5, np.inf, 0.1, 0.4, 0.02])


def test_the_smallest_keys_are_selected_in_order_with_the_one_after():
    assert resampling._select_smallest(KEYS, 2).tolist() == [4, 2, 3]
    assert resampling._select_smallest(KEYS, 4).tolist() == [4, 2, 3, 0, 1]


def test_a_draw_of_all_ends_before_the_last_of_the_order_which_is_the_threshold():
    whole = Population(Files())
    draw = resampling._draw_from_all(whole, BY_COUNT, KEYS, np.array([4, 2, 3]))
    (sample,) = draw.samples
    assert ([chosen.tolist() for chosen in draw.chosen], sample.mass) == ([[4, 2]], 5.0)
    assert (sample.masses.tolist(), sample.chances.tolist()) == ([1, 1], [0.4, 0.4])
    draw = resampling._draw_from_all(whole, BY_SIZE, KEYS, np.array([4, 2, 3]))
    (sample,) = draw.samples
    assert ([chosen.tolist() for chosen in draw.chosen], sample.mass) == ([[4, 2]], 16.0)
    assert (sample.masses.tolist(), sample.chances.tolist()) == ([8, 2], [1.0, 0.8])  # min(1, size · 0.4)
    every = resampling._draw_from_all(whole, BY_SIZE, KEYS, np.array([4, 2, 3, 0, 1]))
    assert every.samples[0].chances.tolist() == [1, 1, 1, 1]
    assert resampling._find_end_key(KEYS, np.array([], int)) is resampling._find_end_key(KEYS, np.array([1])) is None
    assert resampling._find_end_key(KEYS, np.array([3, 0])) == 0.4


def test_parts_are_drawn_each_by_itself_with_its_share_of_the_draws():
    """By size part 0 has 4 bytes in two files, part 1 has 12 in three; the least of a part are two."""
    keys = np.array([0.2, 0.9, 0.6, 0.3, 0.1])
    whole = Population(Files())
    draw = resampling._draw_from_parts(whole, BY_COUNT, keys, np.arange(5))
    assert [chosen.tolist() for chosen in draw.chosen] == [[0, 1], [4, 3]]
    assert [(sample.mass, sample.chances.tolist()) for sample in draw.samples] == [
        (2.0, [1.0, 1.0]),
        (3.0, [pytest.approx(2 / 3)] * 2),
    ]
    draw = resampling._draw_from_parts(whole, BY_SIZE, keys / 8, np.arange(5))
    assert [chosen.tolist() for chosen in draw.chosen] == [[0, 1], [4, 3, 2]]
    draw = resampling._draw_from_parts(whole, BY_SIZE, np.array([0.2, np.inf, 0.25, 0.3, 0.1]), np.arange(4))
    assert [chosen.tolist() for chosen in draw.chosen] == [[0, 1], [4, 2]]
    assert [(sample.mass, sample.masses.tolist(), sample.chances.tolist()) for sample in draw.samples] == [
        (4.0, [4, 0], [1, 1]),
        (12.0, [8, 2], [1.0, 0.6]),
    ]


def list_draws(settings: DrawnAgain) -> list[tuple[str, int, int, list[int]]]:
    draws = resampling._iterate_draws(Population(Files()), np.random.default_rng(1), settings)
    return [(way, size, n, [len(chosen) for chosen in draw.chosen]) for way, size, n, draw in draws]


def test_each_way_is_drawn_with_each_size_below_the_number_of_files():
    assert list_draws(DrawnAgain(1, 1, 0.95, [2, 4, 5])) == [
        *((way, n, n, [n]) for n in (2, 4) for way in (BY_COUNT, BY_SIZE, WRONG)),
        (WITH_REPLACEMENT, 2, 2, [2]),
        (WITH_REPLACEMENT, 4, 4, [4]),
    ]
    assert {(size, n) for _, size, n, _ in list_draws(DrawnAgain(1, 1, 0.95, [5, 9]))} == {(2, 2)}
    assert list_draws(DrawnAgain(1, 1, 0.95, [4], parts=True)) == [
        (BY_COUNT, 4, 4, [2, 2]),
        (BY_SIZE, 4, 4, [2, 3]),
    ]
    assert list_draws(DrawnAgain(1, 1, 0.95, [2, 9], until=0.01)) == [(BY_COUNT, 4, 4, [4]), (BY_SIZE, 4, 4, [4])]
    assert list_draws(DrawnAgain(1, 1, 0.95, [2], until=0.01)) == [(BY_COUNT, 2, 2, [2]), (BY_SIZE, 2, 2, [2])]


def test_a_way_that_no_survey_uses_estimates_types_of_the_capacity_alone():
    whole = Population(Files(pieces={"zeros": PIECES}))
    numbers = {of: whole.list_true_numbers(of) for of in (COUNT, CAPACITY)}
    assert resampling._select_targets(BY_COUNT, numbers) == numbers[COUNT]
    assert resampling._select_targets(BY_SIZE, numbers) == numbers[CAPACITY]
    for way in (WRONG, WITH_REPLACEMENT):
        assert resampling._select_targets(way, numbers) == numbers[CAPACITY][:2]


@pytest.mark.parametrize(
    ("low", "high", "covered"),
    [
        (1.0, 2.0, True),
        (2.0, 3.0, True),
        (1.0, 1.9, False),
        (2.1, 3.0, False),
        (2.0 + 1e-9, 3.0, True),
        (1.0, 2.0 - 1e-9, True),
        (2.0 + 3e-9, None, False),
        (None, 2.0 - 3e-9, False),
        (None, 2.0, True),
        (2.0, None, True),
        (None, None, False),
    ],
)
def test_an_interval_covers_the_truth_if_no_end_that_it_has_excludes_it(low, high, covered):
    assert resampling._is_covered(Estimate(2.0, low, high, 0.95, 9), 2.0) is covered


def test_estimates_of_all_repetitions_are_summarised():
    number = TrueNumber(TYPE, "a", COUNT, "share", 0.5)
    values = [0.75, 0.25, 0.5, 1.0]
    estimates = [Estimate(value, value - 0.3, value + 0.3, 0.9, 4) for value in values]
    made = resampling._summarise_estimates(BY_COUNT, 7, number, estimates)
    low, high = binomial_interval(3, 4, 0.95)
    expected = {
        "way": BY_COUNT,
        "what": TYPE,
        "kind": "a",
        "of": COUNT,
        "unit": "share",
        "n": 7,
        "truth": 0.5,
        "mean": 0.625,
        "sd": pytest.approx(np.std(values, ddof=1)),
        "error_p95": pytest.approx(0.25 + 0.85 * 0.25),  # errors 0, 0.25, 0.25, 0.5
        "p5": pytest.approx(0.25 + 0.15 * 0.25),
        "p95": pytest.approx(0.75 + 0.85 * 0.25),
        "first": 0.75,
        "coverage": Estimate(0.75, low, high, 0.95, 4).to_json(),
    }
    assert made.to_json() == expected
    assert len(made.bins) == 24 and (made.bins[0][0], made.bins[-1][1]) == (0.25, 1.0)
    assert [(low, many) for low, _, many in made.bins if many] == [(0.25, 1), (0.5, 1), (0.75, 1), (0.96875, 1)]


def test_every_number_of_a_simulated_survey_of_all_but_one_file():
    """Four of five files, so that by size all 16 bytes are drawn unless the empty one is."""
    whole = Population(Files(pieces={"zeros": PIECES}))
    made = list(resampling.simulate_estimates(whole, DrawnAgain(6, 1, 0.95, [4])))
    by_way = {way: [one for one in made if one.way == way] for way in (BY_COUNT, BY_SIZE, WRONG, WITH_REPLACEMENT)}
    assert {way: len(numbers) for way, numbers in by_way.items()} == {
        BY_COUNT: 6,
        BY_SIZE: 7,
        WRONG: 2,
        WITH_REPLACEMENT: 2,
    }
    assert [one.true_number for one in by_way[BY_SIZE]] == whole.list_true_numbers(CAPACITY)
    exact = [one for one in by_way[BY_SIZE] if one.true_number.what != "zeros"]
    assert {(one.true_number.name, one.mean - one.true_number.truth, one.sd, one.n) for one in exact[:2]} == {
        ("b", 0.0, 0.0, 4),
        ("a", 0.0, 0.0, 4),
    }
    assert all(one.coverage.value == 1.0 for one in exact)
    assert all(one.coverage.n == 6 for one in made)


def test_draws_until_intervals_are_narrow_end_at_the_first_look_that_shows_it():
    n = 100
    whole = Population(Files(np.arange(1.0, n + 1), np.zeros(n), ("a", "b"), np.arange(n) % 2, np.zeros(n, int)))

    def draws_until(margin: float) -> list[tuple[str, int, int, int, int]]:
        settings = DrawnAgain(1, 1, 0.95, [90], until=margin)
        draws = resampling._iterate_draws(whole, np.random.default_rng(1), settings)
        return [(way, size, n, len(draw.chosen[0]), len(draw.samples[0].masses)) for way, size, n, draw in draws]

    assert draws_until(0.3) == [(BY_COUNT, 90, 64, 64, 64), (BY_SIZE, 90, 64, 64, 64)]
    assert draws_until(0.001) == [(BY_COUNT, 90, 90, 90, 90), (BY_SIZE, 90, 90, 90, 90)]
