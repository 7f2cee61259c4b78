"""``model/bound``: the golden cases, the extensions against hand computation, and properties."""

from __future__ import annotations

import itertools
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.units import parse_per_byte, parse_rate
from iosonde.model.bound.balance import compute_balance_in_turn, simulate_random_balance
from iosonde.model.bound.bound import compute_bound, compute_ceiling, compute_terms_by_field_value
from iosonde.model.bound.system import System, replace_fields
from iosonde.model.bound.traffic import compute_erasure_coded_bytes
from messages import raises

I = 11.76375e6  # noqa: E741  94.11 Mbit/s
MB = 1e6

# The published formula by hand, on the test bed of its author.
CASES = [
    ((0, 1, 1, 1, 40), 11.76375, ["network_clients", "network_servers"]),
    ((0, 4, 2, 2, 40), 23.5275, ["network_servers"]),
    ((0, 4, 4, 4, 8), 32, ["disks"]),
    ((0.1, 4, 8, 8, 40), 40.0, ["cpu"]),
    ((0, 1, 4, 4, 8), 11.76375, ["network_clients"]),
]


def small(**changes) -> System:
    return System(**{"clients": 4, "servers": 4, "disks": 8, "network": 100 * MB, "disk": 60 * MB, **changes})


@pytest.mark.parametrize(("given_values", "s", "limit"), CASES)
def test_published_formula(given_values, s, limit):
    c, n, m, p, r = given_values
    made = compute_ceiling(System(clients=n, servers=m, disks=p, network=I, disk=r * MB, cpu=c / MB))
    assert made.s == pytest.approx(s * MB, rel=1e-9)
    assert list(made.limit) == limit
    assert made.seconds(3e9) == pytest.approx(3e9 / (s * MB))


def test_fewer_disks_than_servers_are_refused():
    with raises("too-few-disks"):
        compute_ceiling(System(clients=1, servers=4, disks=2, network=I, disk=8 * MB))


@pytest.mark.parametrize(
    "wrong",
    [
        {"network": 0},
        {"disk": -1},
        {"clients": 0},
        {"operation": "append"},
        {"redundancy": "raid"},
        {"stripe_count": 9},
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        compute_ceiling(small(**wrong))


def test_nothing_known_is_refused_and_a_missing_term_is_said():
    with raises("no-limiting-term"):
        compute_ceiling(System())
    assert compute_ceiling(System(network=I)).missing == ("disks",)


def test_settings_take_the_place_of_fields():
    assert compute_bound(small(), {"clients": 1}) == 100 * MB
    with raises("unknown-system-field", field="client") as error:
        compute_bound(small(), {"client": 1})
    assert "clients" in error.value.hint


def test_replication_by_the_client_divides_every_term():
    by_client = compute_ceiling(small(redundancy="client", replicas=2))
    assert {t.name: t.bytes_per_s / MB for t in by_client.terms} == pytest.approx(
        {"network_clients": 200, "network_servers": 200, "disks": 240}
    )
    chained = compute_ceiling(small(redundancy="chained", replicas=2))
    assert {t.name: t.bytes_per_s / MB for t in chained.terms} == pytest.approx(
        {"network_clients": 400, "network_servers": 200, "disks": 240}
    )
    assert compute_bound(small(redundancy="client", replicas=2, operation="read")) == compute_bound(
        small(operation="read")
    )


def test_erasure_code_of_full_stripes():
    made = compute_ceiling(small(redundancy="erasure", data_chunks=4, parity_chunks=2))
    assert {t.name: t.bytes_per_s / MB for t in made.terms} == pytest.approx(
        {"network_clients": 400 * 4 / 6, "network_servers": 400 * 4 / 6, "disks": 320}
    )


@pytest.mark.parametrize(
    ("k", "m", "chunks", "written", "read"),
    [
        (4, 1, 1, 2, 2),  # RAID 5's small write: two reads and two writes
        (4, 2, 1, 3, 3),
        (4, 1, 3, 4 / 3, 1 / 3),  # cheaper to read the one chunk that stays
        (4, 2, 4, 1.5, 0),
        (4, 2, 5, (6 + 3) / 5, 3 / 5),  # a stripe and a chunk
        (2, 1, 0.5, 2, 1),  # half a chunk
    ],
)
def test_partial_stripes_read_first(k, m, chunks, written, read):
    assert compute_erasure_coded_bytes(k, m, 1024, chunks * 1024) == pytest.approx((written, read))


def test_separate_links_fabric_directions_and_measured_terms():
    system = small(client_network=10 * MB, server_network=30 * MB, fabric=35 * MB, disk_read=5 * MB, disk_write=2 * MB)
    assert {t.name: t.bytes_per_s / MB for t in compute_ceiling(system).terms} == pytest.approx(
        {"network_clients": 40, "network_servers": 120, "disks": 16, "fabric": 35}
    )
    assert compute_bound(system, {"operation": "read", "fabric": None}) == 40 * MB
    little = compute_ceiling(System(clients=2, latency=1e-3, request_size=65536, queue_depth=4))
    assert little.s == 2 * 4 * 65536 / 1e-3 and little.limit == ("latency",)
    assert compute_bound(System(metadata_rate=1000, file_size=4096, metadata_operations=2)) == 1000 * 4096 / 2
    assert compute_bound(System(clients=3, memory_copy=1e9, copies=2)) == 1.5e9
    assert compute_bound(System(servers=3, server_cpu=1e-9)) == 3e9


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 12))
def test_dealing_out_in_turn_is_the_busiest_servers_share(files, stripes, servers):
    stripes = min(stripes, servers)
    loads = [0] * servers
    for place in range(files * stripes):
        loads[place % servers] += 1
    assert compute_balance_in_turn(files, stripes, servers) == pytest.approx(files * stripes / servers / max(loads))
    assert max(loads) == ceil(files * stripes / servers)


def test_random_placement_is_the_mean_over_all_placements():
    placements = [max(p.count(s) for s in range(4)) for p in itertools.product(range(4), repeat=4)]
    exact = sum(1 / busiest for busiest in placements) / len(placements)
    mean, low, high = simulate_random_balance(4, 1, 4)
    assert mean == pytest.approx(exact, abs=0.015) and low <= mean <= high
    pairs = list(itertools.combinations(range(3), 2))
    exact = (
        sum(
            2 / max(sum(s in pair for pair in chosen) for s in range(3))
            for chosen in itertools.product(pairs, repeat=3)
        )
        / len(pairs) ** 3
    )
    assert simulate_random_balance(3, 2, 3)[0] == pytest.approx(exact, abs=0.015)


def test_many_files_use_the_same_law():
    few, many = simulate_random_balance(200, 4, 400)[0], simulate_random_balance(2000, 4, 4000)[0]
    assert many == pytest.approx(few, rel=0.35) and many < 1


@pytest.mark.parametrize("redundancy", ["client", "chained"])
@pytest.mark.parametrize(("files", "stripes", "copies"), [(1, 1, 2), (3, 2, 2), (5, 1, 3), (2, 3, 3)])
def test_every_copy_is_a_load_of_its_own(redundancy, files, stripes, copies):
    loads = [0] * 4
    for place in range(files * stripes * copies):
        loads[place % 4] += 1
    system = small(stripe_count=stripes, files=files, replicas=copies, redundancy=redundancy, clients=100)
    # A load is 1/(files·stripes) of the data; the busiest server's link carries all of its own.
    at_server = 100 * MB * files * stripes / max(loads)
    terms = {term.name: term.bytes_per_s for term in compute_ceiling(system).terms}
    assert terms["network_servers"] == pytest.approx(at_server)
    assert terms["disks"] == pytest.approx(at_server / (100 * MB) * 2 * 60 * MB)


def test_of_fixed_groups_with_the_same_copies_chance_chooses_one_for_each_file():
    """Two written files, two groups of two of four servers: on one of them half of the time; a read takes a server."""
    system = small(stripe_count=1, files=2, replicas=2, redundancy="client", placement="groups")
    assert compute_ceiling(system).balance == pytest.approx(0.75, abs=0.02)
    assert compute_ceiling(replace_fields(system, {"placement": "random"})).balance == pytest.approx(7 / 12, abs=0.02)
    assert compute_ceiling(replace_fields(system, {"operation": "read"})).balance == pytest.approx(
        compute_ceiling(small(stripe_count=1, files=2, placement="random")).balance
    )


def test_copies_placed_at_random_lie_on_different_servers_and_a_read_takes_one():
    system = small(stripe_count=1, files=2, servers=3, replicas=2, redundancy="client", placement="random")
    pairs = list(itertools.combinations(range(3), 2))
    exact = (
        sum(4 / 3 / max(sum(s in p for p in chosen) for s in range(3)) for chosen in itertools.product(pairs, repeat=2))
        / 9
    )
    assert compute_ceiling(system).balance == pytest.approx(exact, abs=0.015)
    assert compute_bound(small(operation="read", stripe_count=1, files=1, replicas=2, redundancy="client")) == 100 * MB


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"redundancy": "erasure", "data_chunks": 8, "parity_chunks": 3}, "11 chunks on 8 disks"),
        ({"redundancy": "chained", "replicas": 9}, "9 copies on 8 disks"),
        ({"replicas": 2}, "redundancy is none"),
        ({"parity_chunks": 2}, "redundancy is none"),
        ({"clients": 1e300, "network": 1e300}, "network_clients"),
        ({"clients": 1, "network": 1e-320, "client_network": 1e-323, "redundancy": "client", "replicas": 8}, "units"),
    ],
)
def test_what_a_ceiling_cannot_be_computed_from_is_refused(changes, word):
    with pytest.raises(InputError) as error:
        compute_ceiling(small(**changes))
    assert word in error.value.message + error.value.hint


def test_a_time_beyond_any_number_is_refused():
    with pytest.raises(InputError):
        compute_ceiling(small(network=1e-300)).seconds(1e30)


def test_stripes_limit_by_the_busiest_server_and_not_by_the_mean():
    assert compute_bound(small(stripe_count=1, files=4)) == 400 * MB
    assert compute_bound(small(stripe_count=1, files=5)) == pytest.approx(400 * MB * 5 / 4 / 2)
    assert compute_bound(small(stripe_count=1, files=4, placement="random")) < 300 * MB


@given(st.floats(1, 1e3), st.floats(1, 1e3), st.floats(1, 1e4), st.floats(1e6, 1e11), st.floats(1e6, 1e11))
def test_the_bound_is_the_smallest_term_and_grows_with_every_resource(n, m, extra, network, disk):
    system = System(clients=n, servers=m, disks=m + extra, network=network, disk=disk)
    made = compute_ceiling(system)
    assert made.s == pytest.approx(min(n * network, m * network, (m + extra) * disk))
    assert set(made.limit) <= {t.name for t in made.terms} and made.limit
    for field in ("clients", "network", "disk"):
        assert compute_bound(system, {field: getattr(system, field) * 2}) >= made.s * (1 - 1e-9)
    if made.relieved is not None:
        assert made.relieved > made.s


def test_sweep_gives_every_ceiling():
    lines = compute_terms_by_field_value(small(), "clients", [1, 2, 8])
    assert lines["network_clients"] == [100 * MB, 200 * MB, 800 * MB]
    assert lines["s"] == [100 * MB, 200 * MB, 400 * MB]


@pytest.mark.parametrize(
    ("text", "value"),
    [("117MB/s", 117e6), ("94.11Mbit/s", I), ("1 GiB/s", 2**30), ("1Gbit/s", 1.25e8), ("5 bytes/s", 5), ("1MB/S", 1e6)],
)
def test_rates_are_read(text, value):
    assert parse_rate(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["117", "117MB", "1Mb/s", "-1MB/s", "MB/s", "nanMB/s", "10Gb/s"])
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(InputError):
        parse_rate(text)


def test_times_for_each_byte_are_read():
    assert parse_per_byte("0.02s/MB") == pytest.approx(2e-8)
    assert parse_per_byte("1ns/B") == pytest.approx(1e-9)
    with pytest.raises(InputError):
        parse_per_byte("0.02s")
