"""The bench of detectors of changes: one that is told what to see, so that its scores are known."""

from __future__ import annotations

import numpy as np
import pytest

import bench_detectors as bench
import detectors
from detectors import Detector

BEFORE = bench.BEFORE


def sees(place: int, from_night: int, name: str = detectors.OURS) -> Detector:
    """Lists this place in each series from a night on."""
    return Detector(name, "", lambda values, rows: ([place] if values.shape[1] >= from_night else [] for _ in rows))


def row(n_wrong: int, delays: list[int | None], name: str = detectors.OURS) -> bench.Row:
    found = tuple(None if delay is None else bench.Detection(delay, 0) for delay in delays)
    years = tuple(40 if number < n_wrong else None for number in range(16))
    return bench.Row(name, "normal", years, {("−10 %", bench.ONE): found})


def test_the_first_look_that_lists_a_change_without_one_is_a_wrong_change():
    store = bench.draw_store("normal", 0, 60)
    assert bench.find_first_false(sees(10, 44), store) == 44
    assert bench.find_first_false(sees(10, 61), store) is None


@pytest.mark.parametrize(
    ("place", "factor", "expected"),
    [
        (BEFORE + 2, 0.9, bench.Detection(5, 2)),
        (BEFORE - 3, 0.9, bench.Detection(5, -3)),
        (BEFORE - bench.NEAR - 1, 0.9, None),
        (BEFORE, 1.1, None),
    ],
)
def test_a_change_is_found_for_the_worse_and_near_its_night(place, factor, expected):
    change = bench.Change("step", lambda nights: np.full(nights, factor))
    store = bench.plant(np.full((bench.SERIES, BEFORE + 25), 100.0), change, (0,))
    assert bench.find_change(sees(place, BEFORE + 5), store, change, (0,)) == expected


def test_the_same_store_is_drawn_for_each_detector_and_changes_where_it_is_planted():
    for noise in bench.NOISES:
        store = bench.draw_store(noise, 3, 90)
        assert np.array_equal(store, bench.draw_store(noise, 3, 90)) and store.shape == (bench.SERIES, 90)
        assert np.std(store) == pytest.approx(3, rel=0.6)
        changed = bench.plant(store, bench.CHANGES[2], (0,))
        assert np.allclose(changed[0, BEFORE:], 0.9 * store[0, BEFORE:]) and np.array_equal(changed[1:], store[1:])


def test_ours_is_held_to_its_limits():
    assert not bench.broken_limits([row(1, [7] * 12)])
    assert len(bench.broken_limits([row(9, [7] * 12)])) == 1
    assert len(bench.broken_limits([row(0, [None] * 12)])) == len(bench.broken_limits([row(0, [20] * 12)])) == 1


def test_a_peer_that_is_sooner_is_named_where_it_has_no_more_wrong_changes():
    ours = row(1, [7] * 12)
    assert len(list(bench.sooner_peers([ours, row(1, [3] * 12, "peer")]))) == 1
    assert not list(bench.sooner_peers([ours, row(2, [3] * 12, "peer"), row(0, [9] * 12, "peer")]))


def test_a_step_is_found_by_the_product():
    store = bench.plant(bench.draw_store("normal", 1, BEFORE + 12), bench.Change("", lambda n: np.full(n, 0.7)), (0,))
    (places,) = detectors.find_ours(store, (0,))
    assert list(places) == [BEFORE]


def test_a_peer_that_is_not_installed_is_named_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(detectors, "PACKAGES", tmp_path)
    monkeypatch.setattr(detectors, "PEERS", (("Peer", "", "no_such_detector", lambda package: list),))
    available, missing = detectors.load_detectors()
    assert [each.name for each in available] == [detectors.OURS] and len(missing) == 1


def test_the_page_gets_new_tables_and_keeps_its_words(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"Words.\n\n{bench.TABLES}\n\nold\n")
    monkeypatch.setattr(bench, "load_detectors", lambda: ([sees(BEFORE, BEFORE + 4)], ["Peer: not installed"]))
    monkeypatch.setattr(bench, "measure", lambda name, *_: (row(0, [4] * 12), 1.0))
    monkeypatch.setattr("sys.argv", ["bench_detectors.py", "--quick", "--table", str(page)])
    assert bench.main() == 0
    text = page.read_text()
    assert text.startswith("Words.") and "old" not in text and "Peer: not installed" in text
    assert text in capsys.readouterr().out + text
