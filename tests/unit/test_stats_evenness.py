"""Files on servers held against chance: the exact chances of few files, sets of copies, and what is plainly uneven."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from iosonde.stats.estimate import evenness as module
from iosonde.stats.estimate.evenness import compare_with_random_placement, list_placement_places

ABCD = ("a", "b", "c", "d")


def index(held, sizes, n_places):
    sums = [sum(size for one, size in zip(held, sizes, strict=True) if place in one) for place in range(n_places)]
    return max(sums) * n_places / sum(sums)


@pytest.mark.parametrize("copies", [1, 2])
def test_the_chance_of_few_files_is_that_of_all_their_placements(copies):
    sizes, choices = (1, 2, 3, 4), list(itertools.combinations(range(3), copies))
    every = list(itertools.product(choices, repeat=4))
    for held in (every[1], every[40], every[-1]):
        files, n_bytes = compare_with_random_placement(held, sizes, 3, 0.95)
        for found, weights in ((files, (1,) * 4), (n_bytes, sizes)):
            here = index(held, weights, 3)
            exact = sum(index(one, weights, 3) >= here - 1e-9 for one in every) / len(every)
            assert found.index == pytest.approx(here)
            assert found.p == pytest.approx(exact, abs=0.04)  # 1,999 draws: 0.022 is two standard errors at most


def test_one_large_file_is_uneven_in_bytes_and_no_more_than_chance_makes_it():
    held = [[n % 4] for n in range(40)]
    files, n_bytes = compare_with_random_placement(held, [1000, *[1] * 39], 4, 0.95)
    assert files.index == 1 and not files.uneven
    assert n_bytes.index > 3.8 and not n_bytes.uneven and n_bytes.chance_high >= n_bytes.index


def test_files_that_gather_on_one_server_are_uneven():
    files, n_bytes = compare_with_random_placement([[0]] * 12 + [[1], [2], [3]], [4096] * 15, 4, 0.95)
    assert files.uneven and n_bytes.uneven and files.index == pytest.approx(3.2) and files.chance_high < 3


def sets(*texts):
    return [frozenset(one) for one in texts]


def test_places_of_a_file_system_with_fixed_groups_are_these():
    places, copies = list_placement_places(sets("ab", "cd", "ab"), ABCD, True)
    assert set(places) == {frozenset("ab"), frozenset("cd")} and copies == 1
    places, copies = list_placement_places(sets("ab", "ab"), ABCD, True)  # the other set is there, and empty
    assert set(places) == {frozenset("ab"), frozenset("cd")} and copies == 1
    assert list_placement_places(sets("ab", "bc", "ad"), ABCD, True) is None  # in pieces over several groups
    assert list_placement_places(sets("a", "b"), ABCD, True) == (list(ABCD), 1)
    assert list_placement_places(sets("a", "bc"), ABCD, True) is None


@pytest.mark.parametrize("seen", [("ab", "cd", "ab"), ("ab", "ab"), ("ab", "bc", "ad")])
def test_few_sets_that_happen_not_to_mix_are_no_groups_where_servers_are_chosen_freely(seen):
    assert list_placement_places(sets(*seen), ABCD, False) == (list(ABCD), 2)


def test_at_a_high_level_draws_are_as_many_as_it_needs(monkeypatch):
    """With fewer than 1 ÷ (1 − level) draws nothing could ever be called uneven."""
    monkeypatch.setattr(module, "_NUMBERS", 1.0)  # as of very many files
    files, _ = module.compare_with_random_placement([[0]] * 30, [1] * 30, 4, 0.999)
    assert files.index == 4 and files.uneven


def test_files_and_bytes_are_judged_together():
    held, sizes = [[0]] * 8 + [[1], [2]], [1] * 10
    files, n_bytes = compare_with_random_placement(held, sizes, 3, 0.95)
    assert files.p == n_bytes.p < 0.05 and files.p_holm == 2 * files.p
    assert files.uneven == (2 * files.p < 0.05)


def test_empty_sets_of_servers_are_places_in_their_order():
    servers = ("a", "b", "c", "d", "e", "f")
    assert list_placement_places(sets("ef"), servers, True) == (sets("ef", "ab", "cd"), 1)
    assert list_placement_places(sets("ab", "cd", "ef"), servers, True) == (sets("ab", "cd", "ef"), 1)
    assert list_placement_places(sets("ab"), servers[:5], True) is None  # five servers are no sets of two
    assert list_placement_places(sets("abc", "abc"), servers, True) == (sets("abc", "def"), 1)
    assert list_placement_places([], servers, True) is None


def test_an_evenness_has_its_chance_and_both_corrected_p():
    files, n_bytes = compare_with_random_placement([[0], [0], [0], [1]], [1, 1, 1, 5], 2, 0.9)
    assert (files.what, files.n_places, files.index, files.level) == ("files", 2, 1.5, 0.9)
    assert (n_bytes.what, n_bytes.index) == ("bytes", 1.25)
    assert files.chance_high in (1.5, 2.0) and files.p == pytest.approx(10 / 16, abs=0.04)
    assert n_bytes.chance_high in (1.75, 2.0) and n_bytes.p == pytest.approx(1.0)  # one file holds five of eight bytes
    expected = {
        "what": "files",
        "places": 2,
        "index": 1.5,
        "chance_high": files.chance_high,
        "p": files.p,
        "p_holm": files.p_holm,
        "confidence": 0.9,
        "uneven": False,
    }
    assert files.to_dict() == expected
    assert files.p_holm == pytest.approx(min(1.0, 2 * files.p)) and n_bytes.p_holm == 1.0


def test_a_large_file_list_is_drawn_in_pieces(monkeypatch):
    monkeypatch.setattr(module, "_DRAWS", 199)
    whole = module._simulate_indices(np.ones((40, 2)), 4, 1, 0.95)
    monkeypatch.setattr(module, "_PIECE", 4 * 7)
    pieces = module._simulate_indices(np.ones((40, 2)), 4, 1, 0.95)
    assert whole.shape == pieces.shape == (199, 2)
    assert pieces.mean() == pytest.approx(whole.mean(), rel=0.05) and np.all(pieces >= 1)


@pytest.mark.parametrize(
    ("numbers", "level", "draws"), [(4e7, 0.95, 1999), (1.0, 0.95, 199), (1.0, 0.999, 2000), (12 * 500.0, 0.95, 500)]
)
def test_draws_are_fewer_for_many_files_and_enough_for_the_level(monkeypatch, numbers, level, draws):
    monkeypatch.setattr(module, "_NUMBERS", numbers)
    assert len(module._simulate_indices(np.ones((3, 2)), 4, 1, level)) == draws


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_copies_of_a_file_are_on_distinct_places(copies):
    places = module._draw_file_places(np.random.default_rng(1), 50, 4, copies).reshape(50, copies)
    assert all(len(set(row)) == copies for row in places.tolist()) and set(places.ravel().tolist()) == {0, 1, 2, 3}
