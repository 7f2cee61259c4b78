"""Closed and open networks, the wait for the slowest: against mean value analysis, closed forms and a simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import queue_simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.model.queues import queueing, slowest
from iosonde.model.queues.queueing import (
    Kind,
    OpenLoad,
    Station,
    compute_asymptotic_rate_bounds,
    compute_rate,
    compute_waiting_probability,
    find_bottlenecks,
    open_network,
    raise_if_invalid_network,
    solve_network,
)
from messages import raises

CLIENT = Station("client", 5e-3, kind=Kind.DELAY)
NETWORK = Station("network", 0.2e-3)
DISK = Station("disk", 2e-3, 4)
DISKS = Station("disk", 2e-3, 4, Kind.QUEUES)


def mean_value_analysis(delay_s: float, demands_s: list[float], clients: int) -> tuple[float, list[float]]:
    """Reiser and Lavenberg's recursion for single servers."""
    waiting, rate = [0.0] * len(demands_s), 0.0
    for n in range(1, clients + 1):
        residence = [d * (1 + q) for d, q in zip(demands_s, waiting, strict=True)]
        rate = n / (delay_s + sum(residence))
        waiting = [rate * r for r in residence]
    return rate, waiting


@pytest.mark.parametrize("clients", [1, 2, 10, 500, 3000])
def test_single_servers_agree_with_mean_value_analysis(clients):
    demands = [0.2e-3, 0.15e-3, 0.19e-3]
    made = solve_network([CLIENT, *(Station(f"s{i}", d) for i, d in enumerate(demands))], clients)
    rate, waiting = mean_value_analysis(5e-3, demands, clients)
    assert made.exact and made.rate == pytest.approx(rate, rel=1e-9)
    assert [load.operations for load in made.loads[1:]] == pytest.approx(waiting, rel=1e-7)


@pytest.mark.parametrize("clients", [1, 3, 40])
def test_separate_queues_are_so_many_single_servers(clients):
    together = solve_network([CLIENT, DISKS], clients)
    apart = solve_network([CLIENT, *(Station(f"d{i}", 0.5e-3) for i in range(4))], clients)
    assert together.rate == pytest.approx(apart.rate, rel=1e-12)
    assert together.loads[1].operations == pytest.approx(sum(load.operations for load in apart.loads[1:]))


def test_several_servers_agree_with_the_machine_repairman():
    # M/M/c//N from its birth-death chain.
    n, c, think, serve = 30, 4, 5e-3, 2e-3
    weights = [1.0]
    for k in range(1, n + 1):
        weights.append(weights[-1] * (n - k + 1) / think * serve / min(k, c))
    rate = sum(w * min(k, c) / serve for k, w in enumerate(weights)) / sum(weights)
    assert solve_network([CLIENT, DISK], n).rate == pytest.approx(rate, rel=1e-12)


@given(
    st.lists(st.tuples(st.floats(1e-5, 1), st.integers(1, 50), st.sampled_from(Kind)), min_size=1, max_size=4),
    st.integers(1, 300),
)
@settings(max_examples=40, deadline=None)
def test_every_operation_is_somewhere_and_the_rate_within_its_bounds(drawn, clients):
    stations = [Station("first", 0.01), *(Station(f"s{i}", d, c, k) for i, (d, c, k) in enumerate(drawn))]
    made = solve_network(stations, clients)
    assert sum(load.operations for load in made.loads) == pytest.approx(clients, rel=1e-6)
    assert made.low * (1 - 1e-9) <= made.rate <= made.high * (1 + 1e-9)
    assert all(load.utilisation is None or load.utilisation <= 1 + 1e-9 for load in made.loads)
    assert compute_rate(stations, clients) == pytest.approx(made.rate, rel=1e-9)


def test_more_clients_never_lower_the_rate():
    rates = [solve_network([CLIENT, NETWORK, DISK], n).rate for n in range(1, 60)]
    assert rates == sorted(rates)


@pytest.mark.parametrize(("stations", "clients"), [([CLIENT, NETWORK, DISK], 12), ([CLIENT, NETWORK, DISKS], 12)])
def test_the_rate_is_that_of_a_simulation(stations, clients):
    operations = 8000
    simulated = operations / queue_simulation.run(stations, clients, operations, seed=4)
    assert solve_network(stations, clients).rate == pytest.approx(simulated, rel=0.04)


def test_ten_thousand_clients_are_exact_and_beyond_the_bottleneck():
    made = solve_network([CLIENT, Station("servers", 1e-3, 16, Kind.QUEUES)], 10_000)
    assert made.exact and made.bottlenecks == ("servers",)
    assert made.rate == pytest.approx(16_000, rel=0.002)
    assert made.loads[1].offered_load == pytest.approx(10_000 / 6e-3 * 1e-3 / 16)


def test_more_clients_than_can_be_exact_are_said_to_be_approximate():
    made = solve_network([CLIENT, DISK], 50_000)
    assert not made.exact and made.rate == pytest.approx(2000, rel=1e-3)


def test_bounds_of_one_queue_are_the_classic_ones():
    assert compute_asymptotic_rate_bounds([CLIENT, Station("disk", 2e-3)], 10) == pytest.approx(
        (10 / (5e-3 + 10 * 2e-3), 500.0)
    )


@pytest.mark.parametrize(
    ("stations", "code"),
    [
        ([CLIENT], "no-queueing-station"),
        ([DISK, DISK], "duplicate-station"),
        ([Station("d", -1.0)], "invalid-demand"),
        ([Station("d", 1.0, 0)], "invalid-demand"),
        ([Station("d", 0.0)], "no-queueing-station"),
    ],
)
def test_a_network_without_meaning_is_refused(stations, code):
    with raises(code, InputError):
        raise_if_invalid_network(stations)


def test_an_open_network_is_m_m_c():
    client, one, four, apart = open_network([CLIENT, Station("one", 1e-3), DISK, DISKS], 800)
    assert (client.utilisation, client.residence_s) == (None, 5e-3)
    assert (one.utilisation, one.residence_s) == (pytest.approx(0.8), pytest.approx(5e-3))
    assert (four.utilisation, apart.residence_s) == (pytest.approx(0.4), pytest.approx(2e-3 / 0.6))
    assert 2e-3 < four.residence_s < apart.residence_s
    assert open_network([Station("one", 1e-3)], 1000)[0].residence_s == math.inf


def test_erlang_c_of_one_server_is_its_utilisation():
    assert compute_waiting_probability(1, 0.7) == pytest.approx(0.7)
    assert compute_waiting_probability(2, 1.0) == pytest.approx(1 / 3)


@pytest.mark.parametrize("clients", [1, 10, 1000])
def test_the_slowest_of_exponential_times_is_the_harmonic_number(clients):
    harmonic = sum(1 / k for k in range(1, clients + 1))
    ample = [Station("disk", 1e-3, clients)]
    assert slowest.predict_synchronised_phase(ample, clients, 1).seconds == pytest.approx(harmonic * 1e-3, rel=1e-3)


def test_one_server_has_all_the_work_to_do_whoever_waits():
    made = slowest.predict_synchronised_phase([Station("disk", 1e-3)], 20, 30)
    assert made.seconds == pytest.approx(20 * 30 * 1e-3, rel=1e-4)
    assert made.rate == pytest.approx(1000, rel=1e-4)


def test_one_rank_waits_for_nobody():
    made = slowest.predict_synchronised_phase([CLIENT, DISK], 1, 50)
    assert made.seconds == pytest.approx(50 * 7e-3, rel=1e-4)
    assert made.waiting == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("stations", "clients", "each"),
    [([CLIENT, DISK], 8, 5), ([CLIENT, NETWORK, DISKS], 24, 5), ([CLIENT, DISK], 40, 20)],
)
def test_a_synchronised_phase_takes_what_a_simulation_takes(stations, clients, each):
    phases = max(1, 4000 // (clients * each))
    simulated = np.mean([queue_simulation.run(stations, clients, 0, seed, each) for seed in range(phases)])
    assert slowest.predict_synchronised_phase(stations, clients, each).seconds == pytest.approx(simulated, rel=0.1)


def test_a_solution_of_one_client_by_hand():
    """Alone nobody waits: 5 + 0.2 + 2 ms, and the disk has four servers."""
    made = solve_network([CLIENT, NETWORK, DISK], 1)
    rate = 1 / 7.2e-3
    assert (made.rate, made.response_s, made.clients, made.exact) == (
        pytest.approx(rate),
        pytest.approx(7.2e-3),
        1,
        True,
    )
    assert (made.low, made.high) == pytest.approx((rate, rate))
    assert [load.station for load in made.loads] == [CLIENT, NETWORK, DISK]
    assert [load.operations for load in made.loads] == pytest.approx([5 / 7.2, 0.2 / 7.2, 2 / 7.2])
    assert [load.residence_s for load in made.loads] == pytest.approx([5e-3, 0.2e-3, 2e-3])
    assert [load.utilisation for load in made.loads] == [None, pytest.approx(0.2 / 7.2), pytest.approx(0.5 / 7.2)]
    assert [load.offered_load for load in solve_network([CLIENT, NETWORK, DISK], 36).loads] == [
        None,
        pytest.approx(36 * 0.2 / 7.2),
        pytest.approx(36 * 0.5 / 7.2),
    ]
    assert made.bottlenecks == ("disk",)


@pytest.mark.parametrize(
    ("stations", "names"),
    [
        ([CLIENT, NETWORK, DISK], ["disk"]),  # 5000/s and 2000/s
        ([NETWORK, Station("disk", 0.8e-3, 4)], ["network", "disk"]),
        ([NETWORK, Station("disk", 0.8e-3, 4, Kind.QUEUES)], ["network", "disk"]),
        ([NETWORK, Station("disk", 0.8e-3 * (1 - 1e-6), 4)], ["network"]),
        ([Station("none", 0.0), NETWORK], ["network"]),
    ],
)
def test_the_bottleneck_is_the_lowest_service_rate(stations, names):
    assert [station.name for station in find_bottlenecks(stations)] == names
    assert math.isinf(CLIENT.most) and math.isinf(Station("none", 0.0).most) and DISK.most == 2000


@pytest.mark.parametrize(
    ("stations", "clients", "low", "high"),
    [
        ([CLIENT, DISK], 3, 3 / (7e-3 + 2 * 0.5e-3), 3 / 7e-3),
        ([CLIENT, DISKS], 3, 3 / (7e-3 + 2 * 2e-3), 3 / 7e-3),
        ([CLIENT, DISK], 30, 30 / (7e-3 + 29 * 0.5e-3), 2000),
        ([CLIENT, NETWORK, DISK], 1, 1 / 7.2e-3, 1 / 7.2e-3),
    ],
)
def test_asymptotic_bounds_by_hand(stations, clients, low, high):
    assert compute_asymptotic_rate_bounds(stations, clients) == pytest.approx((low, high))


def test_an_approximate_rate_is_near_the_exact_one():
    stations = [CLIENT, NETWORK, DISK, DISKS]
    for clients in (2, 10, 40):
        exact = solve_network(stations[:3], clients)
        approximate, present = queueing._approximate_rate(stations[:3], clients)
        assert approximate == pytest.approx(exact.rate, rel=0.1) and sum(present) == pytest.approx(clients)
        assert compute_rate(stations[:3], clients) == pytest.approx(exact.rate)


@pytest.mark.parametrize(
    ("station", "arrivals", "utilisation", "residence_s"),
    [
        (CLIENT, 100.0, None, 5e-3),
        (Station("s", 2e-3), 250.0, 0.5, 4e-3),  # M/M/1: D ÷ (1 − ρ)
        (DISKS, 1000.0, 0.5, 4e-3),
        (Station("s", 2e-3, 2), 500.0, 0.5, 2e-3 + (1 / 3) * 2e-3 / (2 - 1)),  # Erlang's C of 2 servers at 1 is 1/3
        (Station("s", 2e-3), 500.0, 1.0, math.inf),
        (DISKS, 2400.0, 1.2, math.inf),
    ],
)
def test_open_stations_by_hand(station, arrivals, utilisation, residence_s):
    (made,) = open_network([station], arrivals)
    assert made == OpenLoad(station, utilisation and pytest.approx(utilisation), pytest.approx(residence_s))


@pytest.mark.parametrize(
    ("stations", "code", "name"),
    [
        ([NETWORK, NETWORK], "duplicate-station", "network"),
        ([Station("s", -1.0)], "invalid-demand", "s"),
        ([Station("s", math.inf)], "invalid-demand", "s"),
        ([Station("s", 1.0, 0)], "invalid-demand", "s"),
    ],
)
def test_a_station_without_meaning_is_named(stations, code, name):
    with raises(code, InputError, station=name):
        raise_if_invalid_network(stations)
    raise_if_invalid_network([Station("idle", 0.0), NETWORK, CLIENT])


def test_a_phase_where_nobody_waits_is_the_mean_of_the_largest_gamma_time():
    """Two ranks of one operation of mean 1: the larger takes 1.5, and the other waits half a second of it."""
    made = slowest.predict_synchronised_phase([Station("client", 1.0, kind=Kind.DELAY)], 2, 1)
    assert (made.clients, made.mean_s, made.seconds) == (2, 1.0, pytest.approx(1.5, rel=1e-6))
    assert (made.rate, made.waiting) == (pytest.approx(2 / 1.5, rel=1e-6), pytest.approx(1 - 2 / 3, rel=1e-5))
    four = slowest.predict_synchronised_phase(
        [Station("a", 0.5, kind=Kind.DELAY), Station("b", 0.5, kind=Kind.DELAY)], 2, 1
    )
    # Two exponential halves are gamma of shape 2: E max = ∫ 1 − (1 − (1 + 2x)·e^(−2x))² dx = 1.375.
    assert four.seconds == pytest.approx(1.375, rel=1e-5)
    eight = slowest.predict_synchronised_phase([Station("client", 1.0, kind=Kind.DELAY)], 2, 2, cv=0.5**0.5)
    assert eight.mean_s == 2.0 and eight.rate == pytest.approx(4 / eight.seconds)
    narrow = slowest.predict_synchronised_phase([Station("client", 1.0, kind=Kind.DELAY)], 2, 1, cv=0.5**0.5)
    assert narrow.seconds == pytest.approx(1.375, rel=1e-5)


def test_the_rate_alone_is_that_of_the_solution():
    for clients in (3, 25_000):
        assert compute_rate([CLIENT, DISK], clients) == pytest.approx(solve_network([CLIENT, DISK], clients).rate)


@pytest.mark.parametrize("clients", [10, 1000])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_the_expectation_over_active_ranks_is_that_of_a_binomial_number(clients, share):
    values = np.arange(clients + 1.0) ** 2
    expected = clients * share * (1 - share) + (clients * share) ** 2
    assert slowest._compute_expectation(values, clients, share) == pytest.approx(expected, rel=1e-9)
    assert slowest._compute_expectation(values + 1, clients, 0.0) == 1.0
    assert slowest._compute_expectation(values, clients, 1.0) == clients**2


@pytest.mark.parametrize("clients", [3, 63, 64, 100])
def test_at_one_server_each_active_rank_slows_all_down(clients):
    made = slowest._compute_slowdown([Station("disk", 2e-3)], clients, 2e-3)
    assert made == pytest.approx(np.arange(clients + 1))


@pytest.mark.parametrize(("operations", "cv"), [(1, 1.0), (3, 0.5), (20, 0.2)])
def test_the_integral_of_the_survival_of_one_rank_is_its_mean(operations, cv):
    x, weight = slowest._build_grid(1, operations, cv)
    assert weight @ slowest._compute_survival(x, operations, cv) == pytest.approx(operations, rel=1e-7)
    assert slowest._compute_survival(np.array([0.0]), operations, cv).tolist() == [1.0]


def test_the_approximate_rate_is_taken_beyond_a_number_of_clients_or_where_weights_vanish(monkeypatch):
    stations = [CLIENT, NETWORK, DISK]
    rate, present = queueing._approximate_rate(stations, 10)
    monkeypatch.setattr(queueing, "MOST_EXACT", 10)
    assert solve_network(stations, 10).exact and compute_rate(stations, 10) == solve_network(stations, 10).rate != rate
    beyond = solve_network(stations, 11)
    assert not beyond.exact and beyond.rate == compute_rate(stations, 11) == queueing._approximate_rate(stations, 11)[0]
    monkeypatch.setattr(queueing, "_compute_weights", lambda some, clients, scale: [np.zeros(clients + 1)] * len(some))
    made = solve_network(stations, 10)
    assert (made.exact, made.rate, tuple(load.operations for load in made.loads)) == (False, rate, tuple(present))
    assert compute_rate(stations, 10) == rate
