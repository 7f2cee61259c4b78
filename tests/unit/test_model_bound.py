"""``model/bound``: the golden cases, the extensions against hand computation, and properties."""

from __future__ import annotations

import itertools
import math
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.core.units import parse_per_byte, parse_rate
from iosonde.model.bound import words
from iosonde.model.bound.balance import (
    compute_balance,
    compute_balance_in_turn,
    compute_random_balance,
    get_evenly_placed_system,
    simulate_random_balance,
)
from iosonde.model.bound.bound import CHENG, compute_bound, compute_ceiling, compute_terms_by_field_value
from iosonde.model.bound.roofline import build_rooflines, build_specified_roofline
from iosonde.model.bound.shares import ABOVE, PERHAPS, MeasuredShare, estimate_share_of_bound
from iosonde.model.bound.system import System, find_unused_field, raise_if_invalid_system, replace_fields
from iosonde.model.bound.traffic import Traffic, compute_erasure_coded_bytes, compute_traffic
from messages import codes, raises, with_code

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


EVERY = {
    "cpu": 1e-8,
    "fabric": 500 * MB,
    "server_cpu": 1e-8,
    "memory_copy": 1e9,
    "latency": 1e-3,
    "request_size": 65536,
}
FILES = {"metadata_rate": 1000, "file_size": 4096}


@pytest.mark.parametrize(
    ("changes", "formulas"),
    [
        ({}, {"network_clients": "N·I", "network_servers": "M·I", "disks": "P·R"}),
        (
            {**EVERY, **FILES},
            {
                "cpu": "N/c",
                "network_clients": "N·I",
                "network_servers": "M·I",
                "disks": "P·R",
                "fabric": "F",
                "server_cpu": "M/c",
                "memory_copy": "N·B/copies",
                "latency": "N·q·b/L",
                "metadata": "K·f/o",
            },
        ),
        (
            {**EVERY, "redundancy": "client", "replicas": 2, "stripe_count": 1, "files": 5},
            {
                "cpu": "N/c",
                "network_clients": "N·I/2",
                "network_servers": "M·I/2·0.833",
                "disks": "P·R/2·0.833",
                "fabric": "F/2",
                "server_cpu": "M/c/2·0.833",
                "memory_copy": "N·B/copies",
                "latency": "N·q·b/L",
            },
        ),
        (
            {"redundancy": "chained", "replicas": 3, "fabric": 1e9},
            {"network_clients": "N·I", "network_servers": "M·I/3", "disks": "P·R/3", "fabric": "F/3"},
        ),
        (
            {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2},
            {"network_clients": "N·I/1.5", "network_servers": "M·I/1.5", "disks": "P·R/1.5"},
        ),
        (
            {
                "redundancy": "erasure",
                "data_chunks": 4,
                "parity_chunks": 1,
                "chunk_size": 1024,
                "request_size": 1024,
                "fabric": 1e9,
            },
            # RAID 5's small write: two written, two read; of full-duplex links the busier direction counts.
            {"network_clients": "N·I/2", "network_servers": "M·I/2", "disks": "P·R/4", "fabric": "F/4"},
        ),
        (
            {"stripe_count": 1, "files": 1},
            {"network_clients": "N·I", "network_servers": "M·I·0.25", "disks": "P·R·0.25"},
        ),
    ],
)
def test_formulas_carry_what_multiplies_them(changes, formulas):
    assert {term.name: term.formula for term in compute_ceiling(small(**changes)).terms} == formulas


def test_json_has_every_term_with_the_share_of_it_that_s_uses():
    document = compute_ceiling(System(clients=2, servers=4, network=100.0, cpu=0.01, operation="read")).to_json()
    assert document == {
        "s": 200.0,
        "limit": ["cpu", "network_clients"],
        "relieved": 400.0,
        "balance": 1.0,
        "missing": ["disks"],
        "terms": [
            {"name": "cpu", "bytes_per_s": 200.0, "formula": "N/c", "source": CHENG, "used": 1.0},
            {"name": "network_clients", "bytes_per_s": 200.0, "formula": "N·I", "source": CHENG, "used": 1.0},
            {"name": "network_servers", "bytes_per_s": 400.0, "formula": "M·I", "source": CHENG, "used": 0.5},
        ],
    }
    assert compute_ceiling(System(network=100.0)).relieved is None
    assert compute_ceiling(System(disks=2, disk=5.0)).missing == ("network_clients", "network_servers")
    assert compute_ceiling(System(client_network=1.0)).missing == ("network_servers", "disks")
    assert compute_ceiling(System(cpu=1.0, path="local")).missing == ("disks",)


@pytest.mark.parametrize(
    ("changes", "disks"),
    [
        ({"operation": "read", "disk_read": 30 * MB}, 240),
        ({"operation": "write", "disk_read": 30 * MB}, 480),
        ({"disk_write": 20 * MB}, 160),
        ({"disk": None, "disk_read": 30 * MB}, None),
        ({"operation": "read", "disk": None, "disk_write": 30 * MB}, None),
        ({"disks": None}, None),
        # Two written bytes at 20 MB/s and two read ones at 40 MB/s are 0.15 s for each MB.
        (
            {
                "redundancy": "erasure",
                "data_chunks": 4,
                "parity_chunks": 1,
                "chunk_size": 1024,
                "request_size": 1024,
                "disk_write": 20 * MB,
                "disk_read": 40 * MB,
            },
            8 / 0.15,
        ),
    ],
)
def test_disks_have_the_rate_of_their_direction(changes, disks):
    terms = {term.name: term.bytes_per_s / MB for term in compute_ceiling(small(**changes)).terms}
    assert terms.get("disks") == (None if disks is None else pytest.approx(disks))


@pytest.mark.parametrize(
    ("changes", "moved"),
    [
        ({}, Traffic(disk_written=1.0)),
        ({"redundancy": "client", "replicas": 3}, Traffic(3.0, 3.0, 3.0, 3.0)),
        ({"redundancy": "chained", "replicas": 3}, Traffic(1.0, 3.0, 3.0, 3.0)),
        ({"redundancy": "erasure", "data_chunks": 2, "parity_chunks": 1}, Traffic(1.5, 1.5, 1.5, 1.5)),
        (
            # Half a chunk of two: itself and its parity are written, the cheaper of two old halves or 1.5 chunks read.
            {
                "redundancy": "erasure",
                "data_chunks": 2,
                "parity_chunks": 1,
                "chunk_size": 1024,
                "request_size": 2048 + 512,
            },
            Traffic(1.6, 1.6, 1.8, 1.6, 0.2),
        ),
        ({"redundancy": "client", "replicas": 3, "operation": "read"}, Traffic(disk_read=1.0)),
        ({"redundancy": "erasure", "data_chunks": 2, "parity_chunks": 1, "operation": "read"}, Traffic(disk_read=1.0)),
    ],
)
def test_bytes_that_move_for_one_of_the_application(changes, moved):
    assert vars(compute_traffic(small(**changes))) == pytest.approx(vars(moved))


@pytest.mark.parametrize(
    ("changes", "code", "values"),
    [
        ({"disks": 3}, "too-few-disks", {"disks": 3, "servers": 4}),
        ({"disks": 4}, None, {}),
        ({"stripe_count": 5}, "stripe-too-wide", {"stripe_count": 5, "servers": 4}),
        ({"stripe_count": 4}, None, {}),
        ({"latency": 0, "cpu": 0, "server_cpu": 0, "parity_chunks": 0}, None, {}),
        ({"copies": 0}, "not-positive", {"name": "copies", "number": 0}),
        ({"latency": -1}, "not-positive", {"name": "latency", "number": -1}),
        ({"fabric": math.nan}, "not-positive", {"name": "fabric"}),
        ({"fabric": math.inf}, "not-finite", {"name": "fabric"}),
        ({"placement": "luck"}, "unknown-option-value", {"name": "placement", "choice": "luck"}),
        ({"path": "air"}, "unknown-option-value", {"name": "path", "choices": "network, local"}),
        ({"servers": 3.5, "stripe_count": 1}, "not-an-integer", {"name": "servers", "number": 3.5}),
        ({"files": 2.5, "stripe_count": 1}, "not-an-integer", {"name": "files", "number": 2.5}),
        ({"servers": 3.5}, None, {}),
        ({"replicas": 2, "redundancy": "erasure"}, "conflicting-options", {"replicas": 2, "redundancy": "erasure"}),
        ({"replicas": 2, "redundancy": "chained"}, None, {}),
        ({"data_chunks": 2}, "conflicting-options", {"redundancy": "none"}),
        ({"parity_chunks": 1, "redundancy": "client"}, "conflicting-options", {"redundancy": "client"}),
        ({"redundancy": "erasure", "data_chunks": 6, "parity_chunks": 2}, None, {}),
        (
            {"redundancy": "erasure", "data_chunks": 7, "parity_chunks": 2},
            "too-few-disks",
            {"pieces": 9, "piece_kind": "chunks", "disks": 8},
        ),
        ({"redundancy": "client", "replicas": 8}, None, {}),
        ({"redundancy": "client", "replicas": 9}, "too-few-disks", {"pieces": 9, "piece_kind": "copies"}),
        ({"disks": None, "redundancy": "client", "replicas": 9}, None, {}),
    ],
)
def test_a_system_is_checked_field_by_field(changes, code, values):
    system = small(**changes)
    if code is None:
        assert raise_if_invalid_system(system) is system
    else:
        with raises(code, InputError, **values):
            raise_if_invalid_system(system)


@pytest.mark.parametrize(
    ("names", "available", "idle_field"),
    [
        (["latency"], ["latency"], ("latency", "request_size")),
        (["latency"], ["request_size"], None),
        (["servers", "copies", "files"], ["stripe_count"], ("copies", "memory_copy")),
        (["metadata_rate", "file_size"], ["metadata_rate", "file_size"], None),
        (["servers"], [], None),
    ],
)
def test_a_field_that_no_term_uses_is_named_with_the_one_it_lacks(names, available, idle_field):
    assert find_unused_field(names, available) == idle_field


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({"stripe_count": None}, 1.0),
        ({}, 1.0),  # one file for each of four clients, on four servers
        ({"clients": 5}, 5 / 8),
        ({"files": 3}, 3 / 4),
        ({"files": 3, "stripe_count": 2}, 6 / 8),
        ({"files": 3, "redundancy": "client", "replicas": 2}, 6 / 8),
        ({"files": 3, "redundancy": "client", "replicas": 2, "operation": "read"}, 3 / 4),
    ],
)
def test_files_dealt_out_in_turn_leave_servers_idle(changes, share):
    assert compute_balance(small(**{"stripe_count": 1, **changes})) == share


def test_random_placement_is_exact_where_one_file_is_placed_and_refused_beyond_its_limit():
    alone_on_one = small(stripe_count=1, files=1, placement="random")
    assert compute_random_balance(alone_on_one) == (0.25, 0.25, 0.25) and compute_balance(alone_on_one) == 0.25
    assert compute_random_balance(small(stripe_count=4, files=9, placement="random")) == (1.0, 1.0, 1.0)
    assert (
        compute_random_balance(small(stripe_count=2, files=9, replicas=2, redundancy="client", placement="groups"))[0]
        == 1.0
    )
    assert compute_balance(get_evenly_placed_system(small(stripe_count=1, files=5, placement="random"))) == 5 / 8
    with raises("over-limit", InputError, files=int(1e9) + 1, limit=1e9):
        compute_random_balance(small(stripe_count=1, files=10**9 + 1, placement="random"))


def test_the_ends_of_random_placement_are_quantiles_of_all_placements():
    """Two files on two servers: together half of the time, which is half of the sum."""
    mean, low, high = simulate_random_balance(2, 1, 2)
    assert (low, high) == (0.5, 1.0) and mean == pytest.approx(0.75, abs=0.03)
    # Four on four: the busiest has 1, 2, 3 or 4 in 24, 180, 48, 4 of 256 placements.
    assert simulate_random_balance(4, 1, 4, 0.5)[1:] == (0.5, 0.5)
    assert simulate_random_balance(4, 1, 4, 0.95)[1:] == (pytest.approx(1 / 3), 1.0)


def test_many_files_have_the_mean_and_ends_of_independent_binomial_loads():
    from scipy.special import betainc

    files, servers = 20_000, 16
    mean, low, high = simulate_random_balance(files, 1, servers)
    counts = np.arange(files // servers - 500, files // servers + 500)
    below = betainc(files - counts, counts + 1, 1 - 1 / servers)  # of one server's load to be at most so many
    chance = below**servers
    expected = counts[0] + float(np.sum(1 - chance))
    assert mean == pytest.approx(files / servers / expected, rel=1e-5)
    assert low == pytest.approx(files / servers / counts[np.searchsorted(chance, 0.975)], rel=1e-9)
    assert high == pytest.approx(files / servers / counts[np.searchsorted(chance, 0.025)], rel=1e-9)
    assert low < mean < high < 1


# Three trials of 90, 100 and 110: mean 100, Student's half interval 4.30265·10/√3 = 24.84.
HALF = 4.302652729911275 * 10 / 3**0.5


@pytest.mark.parametrize(
    ("s", "ends", "share", "verdict"),
    [
        (200.0, (None, None), (0.5, (100 - HALF) / 200, (100 + HALF) / 200), ""),
        (100.0, (None, None), (1.0, (100 - HALF) / 100, (100 + HALF) / 100), ""),
        (99.0, (None, None), (100 / 99, (100 - HALF) / 99, (100 + HALF) / 99), PERHAPS),
        (75.0, (None, None), (100 / 75, (100 - HALF) / 75, (100 + HALF) / 75), ABOVE),
        (75.0, (70.0, 80.0), (100 / 75, (100 - HALF) / 80, (100 + HALF) / 70), PERHAPS),
        (200.0, (160.0, None), (0.5, (100 - HALF) / 200, (100 + HALF) / 160), ""),
    ],
)
def test_the_share_of_the_bound_holds_both_intervals(s, ends, share, verdict):
    mean, ratio, judged = estimate_share_of_bound(
        np.array([90.0, 100.0, 110.0]), compute_ceiling(System(network=s)), 0.95, *ends
    )
    assert (mean.value, mean.n) == (100.0, 3)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx(share) and judged == verdict


def test_luck_of_placement_is_not_above_the_bound():
    """One of two trials has all files on different servers: only beyond this best case a rate cannot be true."""
    system = compute_ceiling(System(clients=4, servers=2, network=100.0, stripe_count=1, files=2, placement="random"))
    assert system.s == pytest.approx(150, abs=6)
    assert estimate_share_of_bound(np.array([195.0, 195.0]), system, 0.95)[2] == ""
    assert estimate_share_of_bound(np.array([205.0]), system, 0.95)[2] == PERHAPS, "one trial has no interval"
    assert estimate_share_of_bound(np.array([205.0, 205.1]), system, 0.95)[2] == ABOVE


def cell(value: float, **changes) -> MeasuredShare:
    mean = Estimate(value, value - 1, value + 1, 0.95, 3, ("few",))
    settings = {"nodes": changes.get("clients", 4), "fs": changes.pop("fs", "a")}
    system = compute_ceiling(small(**changes))
    share = Estimate(value / system.s, None, None, 0.95, 3, ("few", "more"))
    columns = {"clients": "nodes"}
    return MeasuredShare(settings, "write", "bw", system, mean, share, "", ("r1",), columns, {}, {"clients": "--on"})


def test_a_measured_share_in_json():
    assert cell(100 * MB).to_json() == {
        "by": {"nodes": 4, "fs": "a"},
        "operation": "write",
        "metric": "bw",
        "n": 3,
        "s": 400 * MB,
        "limit": ["network_clients", "network_servers"],
        "mean": 100 * MB,
        "mean_low": 100 * MB - 1,
        "mean_high": 100 * MB + 1,
        "share": 0.25,
        "share_low": None,
        "share_high": None,
        "used": {"network_clients": 0.25, "network_servers": 0.25, "disks": pytest.approx(100 / 480)},
        "verdict": None,
        "inputs": {"clients": {"value": 4, "from": "--on"}},
        "warnings": ["few", "more"],
    }


def test_a_roofline_by_hand_begins_at_one_and_goes_to_four_times_the_system():
    lines = build_specified_roofline(compute_ceiling(small()), "clients")
    assert (lines.title, lines.x_name, lines.points, lines.sizes) == ("write, by hand", "clients", (), False)
    assert lines.xs == tuple(range(1, 17))
    assert lines.ceilings["network_clients"] == tuple(100 * MB * x for x in lines.xs)
    assert lines.s == tuple(min(100 * MB * x, 400 * MB) for x in lines.xs)
    assert set(lines.ceilings) == {"network_clients", "network_servers", "disks"}


def test_a_roofline_against_servers_has_no_more_than_disks_and_no_fewer_than_a_stripe_needs():
    assert build_specified_roofline(compute_ceiling(small()), "servers").xs == tuple(range(1, 9))  # 8 disks
    assert build_specified_roofline(compute_ceiling(small(stripe_count=3)), "servers").xs == tuple(range(3, 9))
    assert build_specified_roofline(compute_ceiling(small(disks=None, cpu=1.0)), "servers").xs == tuple(range(1, 17))
    assert build_specified_roofline(compute_ceiling(small()), "clients").xs[-1] == 16, (
        "clients are not limited by disks"
    )


def test_a_roofline_against_the_request_is_in_bytes_and_needs_one():
    lines = build_specified_roofline(compute_ceiling(small(request_size=4096, latency=1e-3)), "request")
    assert (lines.sizes, len(lines.xs), lines.xs[0], lines.xs[-1]) == (True, 64, 1.0, pytest.approx(4 * 4096))
    assert lines.xs[1] / lines.xs[0] == pytest.approx(lines.xs[63] / lines.xs[62])
    with raises("missing-option", InputError):
        build_specified_roofline(compute_ceiling(small()), "request")
    with raises("unknown-axis", InputError, axis="disks", axes="clients, servers, request"):
        build_specified_roofline(compute_ceiling(small()), "disks")


def test_cells_that_differ_in_the_axis_alone_share_a_panel():
    cells = [cell(100.0, clients=2), cell(200.0, clients=8), cell(50.0, clients=4, disk=1 * MB, fs="b")]
    first, second = build_rooflines(cells, "clients", lambda share: share.operation)
    assert [mark.x for mark in first.points] == [2, 8] and [mark.measured.value for mark in first.points] == [100, 200]
    assert first.xs == (2, 3, 4, 5, 6, 7, 8), "from the smallest to the largest that was measured"
    assert second.xs == tuple(range(4, 17)), "a single size: four times as far"
    assert (second.ceilings["disks"][0], first.ceilings["disks"][0]) == (8 * MB, 480 * MB)
    assert first.title.startswith("write, ") and first.title != second.title
    (only,) = build_rooflines(cells[:2], "clients", lambda share: share.operation)
    assert only.title == "write"
    assert build_rooflines(cells[:2], "clients")[0].title != "write", (
        "without titles of the caller its setting is named"
    )
    assert [mark.above for mark in only.points] == [False, False]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, ["even-load"]),
        ({"stripe_count": 1}, ["round-robin"]),
        ({"stripe_count": 1, "placement": "random"}, ["random-placement"]),
        ({"stripe_count": 1, "placement": "groups", "redundancy": "client"}, ["random-placement", "full-duplex"]),
        ({"path": "local"}, ["local-path"]),
        ({"redundancy": "client", "replicas": 4}, ["even-load", "full-duplex"]),
        ({"redundancy": "client", "replicas": 5}, ["even-load", "shared-servers", "full-duplex"]),
        (
            {"redundancy": "erasure", "data_chunks": 4, "parity_chunks": 1},
            ["even-load", "full-stripes", "shared-servers", "full-duplex"],
        ),
        ({"redundancy": "erasure", "data_chunks": 4, "operation": "read"}, ["even-load", "full-duplex"]),
        ({"redundancy": "erasure", "chunk_size": 1024}, ["even-load", "full-stripes", "full-duplex"]),
        ({"redundancy": "erasure", "chunk_size": 1024, "request_size": 1}, ["even-load", "full-duplex"]),
        ({"redundancy": "client", "replicas": 5, "network": None}, ["even-load", "full-duplex"]),
    ],
)
def test_assumptions_of_the_extensions_are_listed(changes, wanted):
    messages = words.list_bound_assumptions(compute_ceiling(small(**changes)))
    general = [] if changes.get("path") == "local" else list(words.ASSUMPTIONS)
    assert messages[: len(general)] == general and codes(messages[len(general) :]) == wanted


def test_unknown_terms_and_remedies_are_by_term():
    made = compute_ceiling(System(client_network=1.0, cpu=1.0))
    assert [message.values["term"] for message in words.list_unknown_inputs(made)] == ["network_servers", "disks"]
    assert words.list_limit_remedies(made) == [words.ADVICE["cpu"], words.ADVICE["network_clients"]]
    assert words.join_term_names(("cpu", "disks")).count(words.format_term_name("disks")) == 1
    shared = with_code(
        words.list_bound_assumptions(compute_ceiling(small(redundancy="client", replicas=5))), "shared-servers"
    )
    assert (shared.values["pieces"], shared.values["servers"]) == (5, 4)


@pytest.mark.parametrize(
    ("changes", "symbols"),
    [
        ({"disk": 200 * MB}, "(N·I, M·I)"),
        ({"disk": 200 * MB, "clients": 1}, "(I)"),
        ({"disk": 200 * MB, "servers": 1}, "(I)"),
        ({"disk": 100 * MB, "servers": 1, "disks": 1}, "(I, P·R)"),
        ({"disk": 40 * MB}, "(N·I, M·I, P·R; "),
        ({"network": None, "server_network": 10 * MB}, "(N·I, M·I)"),
        ({"path": "local"}, "(P·R, N/c)"),
    ],
)
def test_the_case_of_a_system_names_what_s_depends_on(changes, symbols):
    assert symbols in words.name_cheng_case(small(**changes))


@pytest.mark.parametrize(("disk", "behind"), [(40, False), (49, False), (60, True), (99, True), (100, False)])
def test_disks_of_one_server_that_together_outrun_its_link_are_named(disk, behind):
    """Two disks a server behind a link of 100 MB/s."""
    single = words.name_cheng_case(small(disk=disk * MB, disks=4))
    assert (words.name_cheng_case(small(disk=disk * MB)) != single) is behind


@pytest.mark.parametrize(
    "changes", [{"network": None}, {"disk": None}, {"operation": "read", "disk": None, "disk_write": 1}]
)
def test_a_case_needs_a_link_and_a_disk(changes):
    assert codes([words.name_cheng_case(small(**changes))]) == ["unknown-case"]
