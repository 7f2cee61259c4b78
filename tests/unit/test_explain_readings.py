"""What structure reads like where the way to the servers, or what these took themselves, is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iosonde.explain import readings
from iosonde.explain.causes.target import Agreement, Suspect
from iosonde.explain.known_path import NetworkPath, ServerTimes
from iosonde.explain.readings import Pass, Times
from iosonde.explain.slow_files import SlowFiles
from messages import assert_problem

SURE = Agreement(1.0, 1.0, 1.0, 0.0)
PATH = NetworkPath(50e-6, 32e6)  # 16 KiB take 562 µs on it
SIZE = 16 * 1024


ALIKE = ServerTimes({"server1": (300, 90e-6), "server2": (200, 110e-6)}, least_s=50e-6)


def suspect(code, **evidence):
    return Suspect(code, 1, "", "", SURE, "", evidence)


PLACE = suspect("S406", unit_bytes=128 * 1024, width_bytes=SIZE, crosses=False)
FILES = suspect("S408", files=[1, 5, 8], of=12)
BY_CHANCE = suspect("S412", probability=0.3)


def said(one, **times):
    found = readings.interpret_suspects(
        [one], Times(**{"kind": "write", "size": SIZE, "fast_s": 50e-6, "slow_s": 4e-3, **times})
    )
    return found.mechanism if found else None


def test_what_takes_less_than_its_bytes_do_on_the_link_did_not_wait():
    """Writes through FUSE take 50 µs: too long for a copy, too short for the network."""
    assert said(PLACE) == readings.SLOW_SERVER
    assert said(PLACE, path=PATH) == readings.WRITE_BEHIND
    assert said(PLACE, path=PATH, fast_s=600e-6) == readings.SLOW_SERVER


def test_what_the_servers_saw_less_often_than_it_was_made_did_not_wait():
    assert said(PLACE, path=PATH, fast_s=600e-6, sent=0.5) == readings.WRITE_BEHIND


def test_the_longest_is_no_part_of_what_is_usual():
    assert ServerTimes({"server1": (100, 3e-3)}, longest_s=0.201).usual_s == pytest.approx(1e-3)


def test_it_is_no_cache_where_the_fast_ones_waited_too():
    assert said(BY_CHANCE) == readings.CACHE == said(BY_CHANCE, path=PATH, servers=ALIKE)
    assert said(BY_CHANCE, path=PATH, fast_s=700e-6, servers=ALIKE, sent=1.0) is None
    assert said(BY_CHANCE, path=PATH, fast_s=700e-6, servers=ALIKE, sent=0.8) == readings.CACHE, "many reached none"


def test_several_slow_files_read_like_their_server_and_one_like_nothing():
    assert said(FILES, fast_s=1e-3) == readings.SLOW_SERVER
    assert said(suspect("S408", files=[3], of=12), fast_s=1e-3) is None
    assert said(suspect("S408", ranks=[3], of=12), fast_s=1e-3) is None
    some = replace(FILES, agreement=replace(SURE, kappa=0.5))
    assert said(some, fast_s=1e-3) is None, "files that follow each other share what disturbed them"
    assert said(FILES, path=PATH) is None, "a client's own memory has no slow server"


@pytest.mark.parametrize(
    ("its_s", "mechanism"), [(3.5e-3, readings.SLOW_DISK), (0.3e-3, readings.SLOW_LINK), (1.5e-3, readings.SLOW_SERVER)]
)
def test_the_servers_own_times_tell_a_disk_from_a_link(its_s, mechanism):
    servers = ServerTimes({"server1": (90, 2e-4), "server2": (60, its_s), "server3": (90, 2e-4), "server4": (0, 9.0)})
    assert said(FILES, fast_s=1e-3, slow_s=5e-3, servers=servers) == mechanism
    alone = ServerTimes({"server1": (90, 1.0)})
    assert said(FILES, fast_s=1e-3, slow_s=5e-3, servers=alone) == readings.SLOW_SERVER
    assert said(PLACE, fast_s=1e-3, slow_s=5e-3, servers=alone) == readings.SLOW_SERVER


def test_several_servers_are_told_apart_only_if_all_take_the_time_or_none():
    def mechanism(first_s: float, second_s: float) -> str | None:
        servers = ServerTimes({"server1": (120, 2e-4), "server2": (60, first_s), "server3": (60, second_s)})
        return said(FILES, fast_s=1e-3, slow_s=5e-3, servers=servers)

    assert mechanism(3.5e-3, 3.5e-3) == readings.SLOW_DISK and mechanism(3e-4, 3e-4) == readings.SLOW_LINK
    assert mechanism(3.5e-3, 3e-4) == mechanism(3e-4, 3.5e-3) == readings.SLOW_SERVER


PASS = Pass(
    "read",
    SIZE,
    took_s=0.4,
    typical_s=700e-6,
    lost_s=0.02,
    sequential=True,
    faster=0.0,
    least_s=660e-6,
    sent=1.0,
    is_synchronous=False,
    servers=ALIKE,
)


def test_a_pass_in_which_each_waits_is_not_read_ahead_nor_written_behind():
    assert readings.read_pass(PASS).mechanism == readings.NO_READ_AHEAD
    assert readings.read_pass(replace(PASS, kind="write")).mechanism == readings.NO_WRITE_BEHIND


@pytest.mark.parametrize(
    "other",
    [
        {"sequential": False},
        {"faster": 0.1},
        {"sent": 0.9},
        {"is_synchronous": True},
        {"size": 2**20},
        {"size": 0},
        {"kind": "append"},
    ],
)
def test_of_any_other_pass_nothing_is_said(other):
    assert readings.read_pass(replace(PASS, **other)) is None


def test_a_server_that_itself_took_what_was_lost_is_named():
    slow = replace(
        PASS, kind="write", lost_s=0.2, servers=ServerTimes({"server1": (300, 1e-4), "server2": (200, 1e-3)})
    )
    found = readings.read_pass(slow)
    assert found.mechanism == readings.SLOW_DISK
    assert_problem(found.words, "slow-disk", server="server2", excess="180 ms", lost="200 ms")
    assert readings.read_pass(replace(slow, lost_s=0.38, is_synchronous=True)) is None, "less than half of it"
    assert readings.read_pass(replace(slow, took_s=4.0, is_synchronous=True)) is None, "little was lost"


def test_small_requests_may_pass_a_link_at_once():
    path = NetworkPath(50e-6, 32e6, burst_bytes=SIZE)
    assert path.least_s(SIZE) == 50e-6 and path.least_s(3 * SIZE) == pytest.approx(50e-6 + 2 * SIZE / 32e6)
    assert said(PLACE, path=path) == readings.SLOW_SERVER
    assert said(PLACE, path=path, fast_s=90e-6, servers=ALIKE) == readings.WRITE_BEHIND


SLOW = SlowFiles(count=4, of=20, share=0.2, slow_s=12e-3, others_s=2e-3, lost_s=0.2, in_a_row_p=0.3)
HOLDERS = ServerTimes({"server1": (80, 90e-6), "server2": (240, 110e-6), "server3": (80, 95e-6)})
FROM_FILES = replace(PASS, sequential=False, files=SLOW, servers=HOLDERS)


def test_files_that_are_slow_as_a_whole_are_those_of_the_server_that_has_as_many():
    found = readings.read_pass(FROM_FILES)
    assert found.mechanism == readings.SLOW_LINK
    assert_problem(found.words, "slow-link", n=4, n_files=20, servers="server1 and server3")
    its = replace(HOLDERS, by_server={"server1": (80, 8e-3), "server2": (220, 1e-4), "server3": (200, 1e-4)})
    assert (
        readings.read_pass(replace(FROM_FILES, files=replace(SLOW, share=0.16), servers=its)).mechanism
        == readings.SLOW_DISK
    )
    unclear = replace(its, by_server={**its.by_server, "server1": (80, 4e-3)})
    assert (
        readings.read_pass(replace(FROM_FILES, files=replace(SLOW, share=0.16), servers=unclear)).mechanism
        == readings.SLOW_SERVER
    )


@pytest.mark.parametrize("other", [{"lost_s": 0.05}, {"slow_s": 3e-3}, {"share": 0.4}, {"in_a_row_p": 0.001}])
def test_of_other_files_nothing_is_said(other):
    assert readings.read_pass(replace(FROM_FILES, files=replace(SLOW, **other))) is None


def test_a_class_of_files_is_not_blamed_on_a_server_that_has_others():
    """The slowest server was disturbed, and holds three times as many files as are slow."""
    servers = ServerTimes({"server1": (50, 2e-4), "server2": (150, 3.5e-3), "server3": (50, 2e-4)})
    assert (
        said(suspect("S408", files=[1, 5, 8], of=15), fast_s=1e-3, slow_s=5e-3, servers=servers) == readings.SLOW_LINK
    )
    assert (
        said(suspect("S408", files=[1, 5, 8, 9, 11, 12], of=15), fast_s=1e-3, slow_s=5e-3, servers=servers)
        == readings.SLOW_SERVER
    )
    assert (
        said(suspect("S408", files=[1, 5, 8], of=15), fast_s=1e-3, slow_s=5e-3, servers=servers, trials=2)
        == readings.SLOW_SERVER
    ), "the servers' times are those of the first trial, its files may be others"


def test_the_part_of_one_server_of_several_is_no_more_than_half():
    most = suspect("S406", unit_bytes=128 * 1024, width_bytes=120 * 1024, crosses=False)
    assert said(most, fast_s=1e-3) is None


def test_what_is_slow_the_first_time_is_no_small_cache():
    """Nothing could have had it."""
    place = "on its place in the file"
    assert said(suspect("S405", first=place)) == readings.FIRST_TOUCH


MIB = 2**20


@pytest.mark.parametrize(
    ("code", "evidence", "times", "mechanism"),
    [
        # One slow operation per period: its rate tells a message (10 GB/s) from a transfer (2.5 GB/s).
        (
            "S401",
            {"period_bytes": MIB, "slow_bytes": SIZE, "slow_operations": 1},
            {"kind": "read"},
            readings.READ_AHEAD,
        ),
        ("S401", {"period_bytes": MIB, "slow_bytes": SIZE, "slow_operations": 1}, {}, readings.WRITE_BEHIND),
        ("S401", {"period_bytes": MIB, "slow_bytes": SIZE, "slow_operations": 1}, {"kind": "stat"}, None),
        ("S401", {"period_bytes": MIB, "slow_bytes": 2 * SIZE, "slow_operations": 2}, {}, None),
        ("S401", {"period_operations": 9, "slow_operations": 1}, {}, None),
        ("S401", {"period_bytes": MIB, "slow_bytes": SIZE, "slow_operations": 1}, {"slow_s": 109e-6}, readings.LOCK),
        ("S401", {"period_bytes": MIB, "slow_bytes": SIZE, "slow_operations": 1}, {"slow_s": 400e-6}, None),
        ("S401", {"period_bytes": MIB, "slow_bytes": MIB // 2}, {"fast_s": 1e-3}, readings.SLOW_SERVER),
        ("S401", {"period_bytes": MIB, "slow_bytes": MIB // 2 + 1}, {"fast_s": 1e-3}, None),
        ("S402", {"period_s": 5.0}, {}, readings.LOCK),
        ("S403", {"episodes": 3}, {}, None),
        ("S404", {"late": False}, {"kind": "read"}, readings.WARM_UP),
        ("S404", {"late": True, "bytes_before": MIB}, {}, readings.WRITE_BEHIND),
        ("S404", {"late": True, "bytes_before": MIB}, {"kind": "read"}, None),
        ("S406", {"crosses": True, "unit_bytes": MIB}, {"fast_s": 1e-3}, readings.ALIGNMENT),
        ("S406", {"crosses": True, "unit_bytes": MIB}, {}, readings.WRITE_BEHIND),
        ("S406", {"crosses": False, "unit_bytes": MIB, "width_bytes": SIZE}, {}, readings.WRITE_BEHIND),
        ("S406", {"crosses": False, "unit_bytes": MIB, "width_bytes": SIZE + 1}, {}, None),
        (
            "S406",
            {"crosses": False, "unit_bytes": MIB, "width_bytes": SIZE},
            {"fast_s": 1e-3, "local": True},
            readings.SLOW_DISK,
        ),
        ("S407", {"backwards": True}, {}, readings.SEEK),
        ("S409", {"moments": 9}, {}, readings.LOCK),
        ("S411", {"gap_bytes": MIB}, {}, readings.WRITE_BEHIND),
        ("S411", {"gap_bytes": MIB}, {"kind": "read"}, None),
        ("S411", {"gap_bytes": MIB}, {"fast_s": 1e-3}, None),
        ("S412", {"probability": 0.0049}, {}, readings.DISTURBANCE),
        ("S412", {"probability": 0.005}, {}, readings.CACHE),
    ],
)
def test_each_structure_has_its_reading(code, evidence, times, mechanism):
    at_once = {"fast_s": 5e-6}  # no longer than a copy
    assert said(suspect(code, **evidence), **{**at_once, **times}) == mechanism


@pytest.mark.parametrize(
    ("times", "at_client", "waited"),
    [
        ({"fast_s": 5e-6 + SIZE / 1.5e9}, True, False),
        ({"fast_s": 5.1e-6 + SIZE / 1.5e9}, False, False),
        ({"sent": 0.74, "fast_s": 1.0}, True, False),
        ({"sent": 0.75, "fast_s": 1.0}, False, False),
        ({"path": PATH, "fast_s": 561e-6}, True, False),
        ({"path": PATH, "fast_s": 563e-6}, False, False),
        ({"path": PATH, "fast_s": 611e-6, "servers": ALIKE}, True, False),
        ({"path": PATH, "fast_s": 613e-6, "servers": ALIKE}, False, False),
        ({"path": PATH, "fast_s": 659e-6, "servers": ALIKE}, False, False),
        ({"path": PATH, "fast_s": 661e-6, "servers": ALIKE}, False, True),
        ({"path": PATH, "fast_s": 661e-6, "servers": ALIKE, "sent": 0.97}, False, False),
        ({"path": PATH, "fast_s": 661e-6, "servers": ALIKE, "sent": 0.98}, False, True),
        ({"path": PATH, "fast_s": 661e-6, "servers": ALIKE, "size": 0}, False, False),
    ],
)
def test_a_time_is_compared_with_a_copy_and_with_the_path(times, at_client, waited):
    """The servers take 98 µs on average, 50 µs at least."""
    given = Times(**{"kind": "write", "size": SIZE, "fast_s": 50e-6, "slow_s": 4e-3, **times})
    assert (given.at_client, given.waited) == (at_client, waited)


def test_the_numbers_of_servers():
    servers = ServerTimes({"a": (10, 1e-3), "b": (30, 3e-3), "c": (0, 9.0), "d": (20, 2e-3)}, longest_s=0.05)
    assert servers.count == 60 and servers.mean_s == pytest.approx(0.14 / 60)
    assert servers.usual_s == pytest.approx((0.14 - 0.05) / 59)
    assert servers.slowest == ("b", 3e-3, pytest.approx(0.05 / 30))
    assert servers.excess_s == pytest.approx(30 * (3e-3 - 0.05 / 30))
    assert servers.compute_extra_seconds("d") == pytest.approx(2e-3 - 0.1 / 40)
    assert ServerTimes({"a": (10, 1e-3), "c": (0, 1.0)}).slowest is None
    assert ServerTimes({}).mean_s == ServerTimes({}).usual_s == ServerTimes({"a": (1, 1.0)}).excess_s == 0.0


@pytest.mark.parametrize(
    ("share", "files", "holders"),
    [
        (0.5, 12, ["b"]),
        (0.46, 12, ["b"]),
        (0.41, 12, ["d", "b"]),
        (0.17, 12, ["a"]),
        (0.25, 12, ["a", "d"]),
        (0.7, 12, []),
        (0.7, 6, ["b"]),
    ],
)
def test_the_holders_are_the_servers_with_as_many_files(share, files, holders):
    servers = ServerTimes({"a": (10, 1.0), "b": (30, 1.0), "c": (0, 1.0), "d": (20, 1.0)})
    assert sorted(servers.find_servers_with_share(share, files)) == sorted(holders)
    assert ServerTimes({"a": (10, 1.0)}).find_servers_with_share(1.0, 12) == []


def test_explanations_are_those_of_suspects_nearly_as_good():
    def rate(code: str, kappa: float, **evidence) -> Suspect:
        return Suspect(code, 1, f"cause of {code}", "", Agreement(1.0, 1.0, kappa, 0.0), "", evidence)

    times = Times("write", SIZE, 50e-6, 4e-3)
    chance, jump = rate("S412", 1.0, probability=0.3), rate("S407", 0.85, backwards=False)
    assert readings.list_explanations([], times) == ()
    assert readings.list_explanations([chance, jump], times) == (readings.CACHE, readings.SEEK)
    assert readings.list_explanations([chance, rate("S407", 0.84, backwards=False)], times) == (readings.CACHE,)
    episodes = rate("S403", 1.0, episodes=2)
    assert readings.list_explanations([episodes, jump, rate("S407", 0.9, backwards=True)], times) == (
        "cause of S403",
        readings.SEEK,
    )
    assert readings.interpret_suspects([episodes, jump], times).mechanism == readings.SEEK
    assert readings.interpret_suspects([episodes], times) is None


@pytest.mark.parametrize(
    ("other", "is_seen"),
    [
        ({"faster": 0.05}, True),
        ({"faster": 0.051}, False),
        ({"sent": 0.98}, True),
        ({"size": 64 * 1024}, True),
        ({"size": 64 * 1024 + 1}, False),
    ],
)
def test_a_missing_optimisation_at_its_limits(other, is_seen):
    assert (readings.read_pass(replace(PASS, **other)) is not None) == is_seen


@pytest.mark.parametrize(
    ("its_s", "took_s", "lost_s", "mechanism"),
    [
        (1.1e-3, 2.0, 0.4, readings.SLOW_DISK),  # 200 ms of the 400 ms that were lost, of 2 s
        (1.1e-3, 2.01, 0.4, None),
        (1.1e-3, 2.0, 0.401, None),
        (2.01e-4, 0.1, 0.03, readings.SLOW_DISK),  # twice as long as elsewhere
        (1.99e-4, 0.1, 0.03, None),
    ],
)
def test_a_slow_disk_is_twice_as_slow_and_took_half_of_what_was_lost(its_s, took_s, lost_s, mechanism):
    servers = ServerTimes({"server1": (300, 1e-4), "server2": (200, its_s)})
    given = replace(PASS, took_s=took_s, lost_s=lost_s, is_synchronous=True, servers=servers)
    reading = readings.read_pass(given)
    assert (reading and reading.mechanism) == mechanism


@pytest.mark.parametrize(
    ("its_s", "mechanism"),
    [
        (2.25, readings.SLOW_DISK),
        (2.24, readings.SLOW_SERVER),
        (1.26, readings.SLOW_SERVER),
        (1.25, readings.SLOW_LINK),
    ],
)
def test_a_server_takes_half_of_the_time_itself_or_at_most_a_quarter(its_s, mechanism):
    """Of the 4 s that operations take longer; the others take 0.25 s."""
    servers = ServerTimes({"a": (1, its_s), "b": (3, 0.25)})
    assert readings._decide_by_server_counters("words", ["a"], servers, 4.0).mechanism == mechanism


@pytest.mark.parametrize("other", [{}, {"lost_s": 0.1}, {"slow_s": 4e-3}, {"in_a_row_p": 0.01}])
def test_slow_files_at_their_limits_are_those_of_a_server(other):
    given = replace(FROM_FILES, took_s=0.5, files=replace(SLOW, **other))
    assert readings.read_pass(given).mechanism in (readings.SLOW_LINK, readings.SLOW_SERVER)
