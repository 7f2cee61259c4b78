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
    assert said(FILES, fast_s=1e-3, slow_s=5e-3, servers=ServerTimes({"server1": (90, 1.0)})) == readings.SLOW_SERVER


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
