"""What a lab's links carry, as the guess before anything was measured in it."""

from __future__ import annotations

import pytest

from iosonde.campaign import forecast
from iosonde.campaign.forecast import TrialWork
from iosonde.campaign.needs import count_labs, speeds_from_links
from iosonde.core.types import Trial
from messages import assert_problem

LAB = {"file_system": ["glusterfs", "local"], "servers": [1, 2], "net": ["100mbit", "1gbit"], "scale": 10}


def trial(index: int, repetition: int = 0, nodes: int = 1, **factors) -> Trial:
    usual = {"file_system": "glusterfs", "servers": 1, "net": "100mbit"}
    return Trial(index, {**usual, **factors, "nodes": nodes}, repetition, 0, 1)


@pytest.mark.parametrize(
    ("cell", "rate"),
    [
        ({}, 1.25e6),
        ({"nodes": 4}, 1.25e6),
        ({"nodes": 4, "servers": 2}, 2.5e6),
        ({"net": "1gbit"}, 12.5e6),
        ({"file_system": "local"}, 200e6),
    ],
)
def test_as_many_links_at_once_as_clients_or_servers(cell, rate):
    speeds = speeds_from_links(LAB)
    assert speeds is not None
    assert speeds(trial(0, **cell).factors).bytes_per_s == pytest.approx(rate)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ({}, 8.0),
        ({"set": {"replica": 2}}, 12.0),
        ({"set": {"replica": 2, "access": "nfs"}}, 8.0),
        ({"set": {"disperse": 3, "redundancy": 1}}, 10.0),
        ({"file_system": "moosefs", "set": {"goal": 2}}, 8.0),
        ({"set": {"replica": 2}, "net": "100gbit"}, 0.5),
    ],
)
def test_what_is_written_passes_the_link_once_for_each_copy_that_the_client_sends(words, seconds):
    """Half of 100 MB is written, by one client over 12.5 MB/s; a link that is no limit is none with copies either."""
    speeds = speeds_from_links({"file_system": "glusterfs", "servers": 2, "net": "100mbit", **words})
    assert speeds is not None
    found = speeds({"nodes": 1}).seconds(TrialWork(100e6, n_written=50e6))
    assert found - speeds({"nodes": 1}).start_s == pytest.approx(seconds)


def test_copies_are_a_level_of_a_trial():
    speeds = speeds_from_links({"file_system": "glusterfs", "servers": 3, "net": "100mbit", "set": {"replica": [1, 3]}})
    assert speeds is not None
    written = [speeds({"nodes": 1, "replica": copies}).written_per_s for copies in (1, 3)]
    assert written == [None, pytest.approx(12.5e6 / 3)]
    ahead = [Trial(0, {"nodes": 1, "replica": 3}, 0, 0, 1)]
    found = forecast.forecast_trials(ahead, [], lambda cell: TrialWork(25e6, 0, 25e6), speeds)
    assert found.seconds == [pytest.approx(7.5)]
    assert_problem(found.basis, "forecast-basis", guessed=1, is_sent_by_clients=True)


def test_a_link_that_is_one_word_of_a_level():
    section = {"file_system": "nfs", "levels": {"link": {"slow": {"net": "10mbit"}, "fast": {"net": "20mbit"}}}}
    speeds = speeds_from_links(section)
    assert speeds is not None and speeds({"link": "fast", "nodes": 1}).bytes_per_s == pytest.approx(2.5e6)
    assert speeds({"nodes": 1}).bytes_per_s == 200e6  # an earlier trial that does not know its link


def test_links_that_nobody_limits_say_nothing():
    assert speeds_from_links({}) is None and speeds_from_links({"file_system": "nfs", "servers": 2}) is None


def test_the_forecast_says_that_it_is_a_guess_of_links():
    found = forecast.forecast_trials(
        [trial(0), trial(1, net="1gbit")], [], lambda cell: TrialWork(25e6), speeds_from_links(LAB)
    )
    assert found.seconds == [pytest.approx(21.5), pytest.approx(3.5)]
    assert_problem(
        found.basis, "forecast-basis", guessed=2, speeds="1.25 to 12.5 MB/s and 2000 files/s", is_sent_by_clients=False
    )


def test_labs_are_counted_as_they_are_brought_up():
    trials = [trial(0), trial(1, nodes=4), trial(2, repetition=1), trial(3, repetition=1, servers=2)]
    assert count_labs(LAB, trials) == 3
    assert count_labs({"file_system": "nfs"}, trials) == 1 and count_labs({}, trials) == 0
