"""Fractions 2^(k-p) and Latin hypercubes: balanced, orthogonal, as good as the published tables, aliases named."""

from itertools import combinations
from math import prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.types import Factor
from iosonde.measure import design
from iosonde.measure.design import fractional, latin, words
from messages import assert_problem, codes, raises

NAMES = ("stripe", "replica", "cache", "ahead", "behind", "quick", "sync", "direct")


def switches(k):
    return [Factor(name, "", ("off", "on")) for name in NAMES[:k]]


def matrix(made, k):
    return np.array([[1 if cell[name] == "on" else -1 for name in NAMES[:k]] for cell in made.cells])


possible = st.sampled_from([(k, p) for k in range(3, 9) for p in range(1, k) if words.has_generators(k, p)])


@given(possible, st.integers(0, 99))
@settings(max_examples=30)
def test_a_fraction_is_balanced_orthogonal_and_its_cells_differ(kp, seed):
    k, p = kp
    made = design.build_cells(switches(k), {"kind": "fractional", "p": p}, seed)
    x = matrix(made, k)
    assert len({tuple(row) for row in x}) == len(x) == 2 ** (k - p)
    assert (x.T @ x == len(x) * np.eye(k)).all()
    assert (x.sum(axis=0) == 0).all()


@given(possible)
@settings(max_examples=30)
def test_the_aliases_are_those_that_the_columns_show(kp):
    """Second implementation: two effects are aliases if and only if their columns are equal up to sign."""
    k, p = kp
    made = design.build_cells(switches(k), {"kind": "fractional", "p": p}, 0)
    x = matrix(made, k)
    effects = [(i,) for i in range(k)] + list(combinations(range(k), 2))
    columns = {":".join(NAMES[i] for i in effect): prod(x[:, i] for i in effect) for effect in effects}
    said = {}
    for group in made.aliases:
        said |= dict.fromkeys(combinations([name.lstrip("-") for name in group], 2))
        for name in group[1:]:
            sign = -1 if name.startswith("-") else 1
            assert (columns[group[0]] == sign * columns[name.lstrip("-")]).all()
    same = {pair for pair in combinations(columns, 2) if abs(columns[pair[0]] @ columns[pair[1]]) == len(x)}
    assert set(said) == same
    sizes = range(1, k + 1)
    products = ((n, prod(x[:, i] for i in some)) for n in sizes for some in combinations(range(k), n))
    assert made.resolution == min(n for n, column in products if abs(column.sum()) == len(x))


# Word-length patterns (from length 3) of minimum aberration designs: Chen, Sun and Wu 1993, tables 2 to 4; Fries and
# Hunter 1980.
PUBLISHED = {
    (5, 2): (2, 1),
    (6, 2): (0, 3),
    (6, 3): (4, 3),
    (7, 2): (0, 1, 2),
    (7, 3): (0, 7),
    (7, 4): (7, 7),
    (8, 2): (0, 0, 2, 1),
    (8, 3): (0, 3, 4),
    (8, 4): (0, 14),
    (9, 3): (0, 1, 4, 2),
    (9, 4): (0, 6, 8),
    (9, 5): (4, 14, 8),
    (10, 4): (0, 2, 8, 4),
    (10, 5): (0, 10, 16),
    (10, 6): (8, 18, 16, 8),
    (11, 5): (0, 4, 14, 8),
    (11, 6): (0, 25, 0, 27),
    (12, 6): (0, 6, 24, 16),
    (12, 7): (0, 38, 0, 52),
    (15, 11): (35, 105, 168, 280),
}


@pytest.mark.parametrize("kp", PUBLISHED)
def test_the_chosen_fraction_has_minimum_aberration(kp):
    k, p = kp
    pattern = words.count_word_lengths(words.compute_defining_words(words.find_generators(k, p)), k)
    assert pattern[: len(PUBLISHED[kp])] == PUBLISHED[kp]


@pytest.mark.parametrize(("k", "p"), [(5, 2), (6, 2), (6, 3), (7, 3), (7, 2)])
def test_no_choice_of_generators_is_better(k, p):
    """Second implementation: all of them."""
    products = [mask for mask in range(2 ** (k - p)) if mask.bit_count() >= 2]
    best = min(
        words.count_word_lengths(
            words.compute_defining_words(words.Generator(k - p + i, m) for i, m in enumerate(chosen)), k
        )
        for chosen in combinations(products, p)
    )
    assert words.count_word_lengths(words.compute_defining_words(words.find_generators(k, p)), k) == best


def test_the_textbook_fraction():
    """2^(7-4) with D=AB, E=AC, F=BC, G=ABC (Box, Hunter and Hunter 2005, ch. 6): A = BD = CE = FG."""
    factors = [Factor(letter, "", (0, 1)) for letter in "ABCDEFG"]
    made = design.build_cells(factors, {"kind": "fractional", "generators": ["D=AB", "E=AC", "F=BC", "G=ABC"]}, 0)
    assert made.resolution == 3
    assert made.aliases[0] == ("A", "B:D", "C:E", "F:G")
    assert made.aliases[6] == ("G", "A:F", "B:E", "C:D")


def test_generators_by_letters_by_names_and_negative():
    by_letter = design.build_cells(switches(4), {"kind": "fractional", "generators": "D=-ABC"}, 0)
    by_name = design.build_cells(
        switches(4), {"kind": "fractional", "generators": ["ahead = -stripe * replica * cache"]}, 0
    )
    assert by_letter == by_name
    assert by_name.generators == ("ahead = -stripe * replica * cache",)
    assert ("stripe:replica", "-cache:ahead") in by_name.aliases
    x = matrix(by_name, 4)
    assert (x[:, 3] == -x[:, 0] * x[:, 1] * x[:, 2]).all()


def test_the_smallest_fraction_of_a_resolution():
    def runs(resolution):
        return len(design.build_cells(switches(8), {"kind": "fractional", "resolution": resolution}, 0).cells)

    assert (runs(3), runs(4), runs(5)) == (16, 16, 64)
    assert len(design.build_cells(switches(7), {"kind": "fractional", "resolution": 3}, 0).cells) == 8


def test_factors_with_more_levels_are_crossed_with_the_fraction():
    nodes = Factor("nodes", "nodes", (1, 2, 4))
    made = design.build_cells([nodes, *switches(4)], {"kind": "fractional", "p": 1, "factors": list(NAMES[:4])}, 0)
    assert len(made.cells) == 3 * 8
    assert made.resolution == 4
    for n in (1, 2, 4):
        x = np.array([[1 if c[f] == "on" else -1 for f in NAMES[:4]] for c in made.cells if c["nodes"] == n])
        assert (x.T @ x == 8 * np.eye(4)).all()


def test_a_constraint_that_breaks_a_fraction_is_said():
    asked = {"kind": "fractional", "p": 1, "constraints": ["not (stripe == 'on' and replica == 'on')"]}
    made = design.build_cells(switches(4), asked, 0)
    assert (len(made.cells), made.n_dropped) == (6, 2)
    assert codes(made.notes) == ["not-orthogonal"]


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({}, "design.p"),
        ({"p": 1, "resolution": 4}, "design.resolution"),
        ({"p": 2}, "design.p"),
        ({"p": 0}, "design.p"),
        ({"resolution": 9}, "design.resolution"),
        ({"generators": 3}, "design.generators"),
        ({"generators": ["D"]}, "design.generators[0]"),
        ({"generators": ["D=A"]}, "design.generators[0]"),
        ({"generators": ["D=ABA"]}, "design.generators[0]"),
        ({"generators": ["D=ABX"]}, "design.generators[0]"),
        ({"generators": ["AB=CD"]}, "design.generators[0]"),
        ({"generators": ["D=ABC", "D=AB"]}, "design.generators[0]: ahead has two generators"),
        ({"generators": ["C=AB", "D=AC"]}, "design.generators[1]: cache has a generator"),
        ({"generators": ["C=AB", "D=AB"]}, "design.generators: they give cache and ahead the same column"),
        ({"generators": ["D=DA"]}, "design.generators[0]"),
    ],
)
def test_a_wrong_fraction_is_named_by_its_key(asked, where):
    with pytest.raises(InputError) as caught:
        design.check_design({"kind": "fractional", **asked}, switches(4))
    assert where in caught.value.message
    assert caught.value.hint


def test_too_few_factors_have_no_fraction():
    with raises("no-such-fraction"):
        design.check_design({"kind": "fractional", "p": 1}, switches(2))


def l2_star(points):
    """Warnock's formula, written from the paper; a second implementation beside scipy's."""
    n, s = len(points), len(points[0])
    first = 3.0**-s
    second = sum(prod((1 - u * u) / 2 for u in point) for point in points) * 2 / n
    third = sum(prod(1 - max(u, v) for u, v in zip(a, b, strict=True)) for a in points for b in points) / n**2
    return sqrt(first - second + third)


@given(st.integers(2, 12), st.integers(1, 4), st.integers(), st.integers(1, 12))
@settings(max_examples=40)
def test_the_best_hypercube_is_one_and_not_worse_than_the_first(n, dimensions, seed, tries):
    cube, discrepancy = latin.find_best_hypercube(n, dimensions, tries, seed)
    for axis in range(dimensions):
        assert sorted(int(point[axis] * n) for point in cube) == list(range(n))  # each stratum once
    assert discrepancy == pytest.approx(l2_star(cube), abs=1e-9)
    assert discrepancy <= latin.find_best_hypercube(n, dimensions, 1, seed)[1]
    assert latin.find_best_hypercube(n, dimensions, tries, seed) == (cube, discrepancy)


@given(st.integers(2, 30), st.integers(0, 9))
@settings(max_examples=30)
def test_levels_and_ranges_of_a_hypercube(points, seed):
    factors = [Factor("fs", "", ("nfs", "lustre")), Factor("size"), Factor("rate"), Factor("kept", "", (8,))]
    size = {"low": "4KiB", "high": "16MiB", "scale": "log", "step": "4KiB"}
    asked = {"kind": "latin", "points": points, "tries": 2, "ranges": {"size": size, "rate": {"low": 0.5, "high": 2}}}
    made = design.build_cells(factors, asked, seed)
    assert len(made.cells) + made.merged == points
    assert made.discrepancy > 0
    for cell in made.cells:
        assert cell["kept"] == 8
        assert isinstance(cell["size"], int)
        assert cell["size"] % 4096 == 0
        assert 4096 <= cell["size"] <= 2**24
        assert 0.5 <= cell["rate"] < 2
    if points >= 4:
        assert {cell["fs"] for cell in made.cells} == {"nfs", "lustre"}


def test_half_of_a_log_range_is_below_its_geometric_mean():
    asked = {"kind": "latin", "points": 20, "tries": 1, "ranges": {"size": {"low": 1, "high": 10_000, "scale": "log"}}}
    made = design.build_cells([Factor("size")], asked, 3)
    assert sum(cell["size"] < 100 for cell in made.cells) == 10


def test_points_that_fall_on_the_same_levels_are_merged_and_said():
    made = design.build_cells(switches(2), {"kind": "latin", "points": 10, "tries": 1}, 1)
    assert len(made.cells) <= 4
    assert made.merged == 10 - len(made.cells)
    assert_problem(made.notes[0], "merged-points", points=made.merged)
    assert made.to_json()["merged"] == made.merged


def test_a_constraint_on_a_hypercube():
    factors = [Factor("stripe", "", (1, 2, 4)), Factor("servers", "", (1, 2, 4))]
    made = design.build_cells(factors, {"kind": "latin", "points": 9, "constraints": "stripe <= servers"}, 1)
    assert all(cell["stripe"] <= cell["servers"] for cell in made.cells)
    assert made.n_dropped + made.merged + len(made.cells) == 9


# Columns A to E are the bits 1, 2, 4, 8, 16: D = -AB, E = AC.
PAIR = [words.Generator(3, 0b00011, -1), words.Generator(4, 0b00101)]


def test_the_algebra_of_a_fraction_by_hand():
    defining = words.compute_defining_words(PAIR)
    assert defining == {0b01011: -1, 0b10101: 1, 0b11110: -1}  # -ABD, ACE, and their product -BCDE
    assert words.compute_resolution(defining) == 3
    assert words.count_word_lengths(defining, 5) == (2, 1, 0)
    rows = words.build_factor_columns(5, PAIR)
    signs = [(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    assert rows == [[a, b, c, -a * b, a * c] for a, b, c in signs]
    assert words.list_aliases(3, {0b111: -1}) == [
        [(0b001, 1), (0b110, -1)],
        [(0b010, 1), (0b101, -1)],
        [(0b100, 1), (0b011, -1)],
    ]
    assert words.list_aliases(4, {0b1111: 1}) == [
        [(0b0011, 1), (0b1100, 1)],
        [(0b0101, 1), (0b1010, 1)],
        [(0b1001, 1), (0b0110, 1)],
    ]
    assert words.list_aliases(5, {0b11111: 1}) == []


def test_generators_of_the_smallest_designs_by_hand():
    def masks(k, p):
        return [(generator.target, generator.sources, generator.sign) for generator in words.find_generators(k, p)]

    assert masks(3, 1) == [(2, 0b11, 1)]
    assert masks(5, 1) == [(4, 0b1111, 1)]
    assert masks(5, 2) == [(3, 0b011, 1), (4, 0b101, 1)]
    assert masks(7, 4) == [(3, 0b011, 1), (4, 0b101, 1), (5, 0b110, 1), (6, 0b111, 1)]


@pytest.mark.parametrize(
    ("k", "p", "is_known"),
    [
        (3, 0, False),
        (3, 1, True),
        (3, 2, False),  # two runs
        (4, 2, False),  # four runs have three columns
        (7, 1, True),  # 64 runs
        (8, 1, False),
        (7, 4, True),
        (8, 5, False),
        (16, 10, True),
        (16, 11, True),
        (17, 11, False),
    ],
)
def test_fractions_that_are_searched(k, p, is_known):
    assert words.has_generators(k, p) is is_known


@pytest.mark.parametrize(
    ("asked", "factors", "code", "values"),
    [
        ({}, 4, "ambiguous-fraction", {"key": "p", "chosen_keys": ""}),
        ({"p": 1, "generators": "D=ABC"}, 4, "ambiguous-fraction", {"key": "generators"}),
        (
            {"resolution": 4, "p": 1},
            4,
            "ambiguous-fraction",
            {"key": "resolution", "chosen_keys": " and ".join(("p", "resolution"))},
        ),
        ({"p": 2}, 4, "no-such-fraction", {"n_factors": 4, "possible_p": "1", "p": 2}),
        ({"p": 1}, 8, "no-such-fraction", {"n_factors": 8, "possible_p": "2, 3, 4", "p": 1}),
        ({"resolution": 5}, 4, "no-such-fraction", {"n_factors": 4, "possible_p": "1", "resolution": 5}),
        ({"resolution": 2}, 4, "not-an-integer", {"key": "resolution", "minimum": 3}),
        ({"p": 0}, 4, "not-an-integer", {"key": "p", "minimum": 1}),
        ({"p": 1}, 2, "no-such-fraction", {"n_factors": 2}),
        ({"generators": ["C=AB", "D=AB"]}, 4, "aliased-generators", {"factors": " and ".join(("cache", "ahead"))}),
        ({"generators": []}, 4, "invalid-generator", {"generators": []}),
        ({"generators": ["D=ABC"] * 13}, 4, "invalid-generator", {}),
        ({"generators": ["D=ABC"] * 12}, 4, "duplicate-generator", {"index": 0, "factor": "ahead"}),
        ({"generators": ["D ABC"]}, 4, "invalid-generator", {"key": "design.generators[0]"}),
        ({"generators": ["D=ABC", "=AB"]}, 5, "invalid-generator", {"key": "design.generators[1]", "generator": "=AB"}),
        ({"generators": ["C=AB", "D=AC"]}, 4, "chained-generator", {"index": 1, "factor": "cache"}),
        ({"generators": ["D=ABE"]}, 4, "unknown-factor", {"factor": "ABE"}),
        ({"generators": ["D=A*x"]}, 4, "unknown-factor", {"key": "design.generators[0]", "factor": "x"}),
    ],
)
def test_the_values_of_a_wrong_fraction(asked, factors, code, values):
    with raises(code, InputError, **values):
        design.check_design({"kind": "fractional", **asked}, switches(factors))


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("ABD", [0, 1, 3]),
        (" cache * stripe ", [2, 0]),
        ("stripe:replica", [0, 1]),
        ("A·cache", [0, 2]),
        ("", []),
        ("AA", [0, 0]),
    ],
)
def test_a_product_names_factors_by_name_or_letter(text, indices):
    assert fractional._parse_factors(text, switches(4), "x") == indices


def test_a_factor_whose_name_is_a_letter_is_meant_by_it():
    factors = [Factor(name, "", (0, 1)) for name in ("B", "A", "C")]
    assert fractional._parse_factors("BAC", factors, "x") == [0, 1, 2]
    assert fractional._parse_factors("J", [Factor(f"f{i}", "", (0, 1)) for i in range(9)], "x") == [8]


@pytest.mark.parametrize(
    ("span", "values"),
    [
        # At 0, a quarter, a half, 0.99
        (latin.Range(0, 10), [0, 2.5, 5, 9.9]),
        (latin.Range(2, 10), [2, 4, 6, 9.92]),
        (latin.Range(1, 10_000, True), [1, 10, 100, 10**3.96]),
        (latin.Range(2, 32, True), [2, 4, 8, 2 * 16**0.99]),
        (latin.Range(1, 11, step=4), [4, 4, 8, 8]),  # no multiple outside the range
        (latin.Range(0, 10, step=3), [0, 3, 6, 9]),
    ],
)
def test_a_range_has_a_value_at_each_place(span, values):
    assert [span.value(u) for u in (0, 0.25, 0.5, 0.99)] == pytest.approx(values)


def test_a_factor_of_levels_is_cut_into_as_many_parts():
    factor = Factor("f", "", ("a", "b", "c"))
    assert [latin._map_value(factor, u, {}) for u in (0, 0.33, 0.34, 0.66, 0.67, 0.99)] == list("aabbcc")
    assert latin._map_value(factor, 0.5, {"f": latin.Range(0, 3)}) == 1.5


@pytest.mark.parametrize(
    ("spec", "span"),
    [
        ({"low": 1, "high": 2}, latin.Range(1, 2)),
        ({"low": "4KiB", "high": "1MiB", "scale": "log"}, latin.Range(4096, 2**20, True)),
        ({"low": -1, "high": 2.5, "scale": "linear", "step": 0.5}, latin.Range(-1, 2.5, False, 0.5)),
        ({"low": 1, "high": 4, "step": 4}, latin.Range(1, 4, False, 4)),
        ({"low": 0.5, "high": 1.5, "step": 1}, latin.Range(0.5, 1.5, False, 1)),
    ],
)
def test_a_range_is_read_with_its_scale_and_step(spec, span):
    assert latin._read_range(spec, "x") == span


@pytest.mark.parametrize(
    ("change", "code", "values"),
    [
        ({"high": 1}, "empty-range", {"key": "x", "low": 1, "high": 1}),
        ({"more": 1}, "invalid-range", {"key": "x"}),
        ({"scale": "exp"}, "unknown-option-value", {"scale": "exp"}),
        ({"low": 0, "scale": "log"}, "nonpositive-value", {"low": 0}),
        ({"low": -1, "scale": "log"}, "nonpositive-value", {"low": -1}),
        ({"step": 0}, "invalid-step", {"step": 0}),
        ({"step": -1}, "invalid-step", {"step": -1}),
        ({"step": 11}, "invalid-step", {"step": 11}),
        ({"low": True}, "invalid-number", {"key": "x.low", "setting": True}),
        ({"high": float("inf")}, "invalid-number", {"key": "x.high"}),
        ({"high": [3]}, "invalid-number", {"key": "x.high", "setting": [3]}),
        ({"step": "soon"}, "invalid-size", {"place": "x.step"}),
    ],
)
def test_a_range_that_is_none_is_refused_by_its_key(change, code, values):
    with raises(code, InputError, **values):
        latin._read_range({"low": 1, "high": 10} | change, "x")


def test_constraints_on_a_hypercube_are_counted_in_its_note():
    asked = {"kind": "latin", "points": 3, "tries": 1, "constraints": "n != 2"}
    made = design.build_cells([Factor("n", "", (1, 2, 4))], asked, 1)
    assert sorted(cell["n"] for cell in made.cells) == [1, 4]
    assert_problem(*made.notes, "constrained-hypercube", dropped=1, cells=3)
    with raises("no-varying-factor"):
        design.check_design({"kind": "latin", "points": 3}, [Factor("n", "", (1,))])
