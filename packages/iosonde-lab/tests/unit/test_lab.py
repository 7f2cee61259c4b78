"""A lab as text: what it is, what is wrong with it, what can be had; never wider than a terminal. The words themselves
are a golden page (``tests/golden/lab.md``)."""

import re

import pytest

from iosonde_lab.command import text as lab
from iosonde_lab.listing import LabListing
from iosonde_lab.profile import LabProfile, ProfiledOperation, ServerProfile
from lab_text_sample import (
    BRICK_DOWN,
    LAYOUTS,
    MIB,
    POSSIBLE,
    PROFILE,
    delayed,
    healings,
    holding,
    serving,
    status,
    well,
    wrong,
)


def text(found) -> str:
    return "\n".join(lab.lines(found))


def test_a_lab_that_is_well():
    assert not well().problem and "! " not in text(well())
    (row,) = (line for line in lab.lines(well()) if line.startswith("server1"))
    assert row.split() == ["server1", "10.99.0.1", "113", "MiB/s", "140", "MiB/s", "110", "MiB/s", "2.2", "s"]


def test_round_trips_are_told_with_what_was_added():
    assert "60.0 µs" in text(delayed(False)) and "110 µs" in text(delayed(False))
    assert all(number in text(delayed(True)) for number in ("1.08 ms", "1.00 ms", "80.0 µs"))


def test_what_is_wrong_is_said():
    found = wrong()
    marked = [line for line in lab.lines(found) if line.startswith("  ! server1: ")]
    assert found.problem and len(marked) == 3 and BRICK_DOWN in marked[-1]
    assert "slow-link" in marked[0] and "977 KiB/s" in marked[0] and "12:00:05" in marked[0]
    assert "starting" in text(found) and not status(hosts=found.hosts[:1]).problem
    (gone,) = (line for line in lab.lines(found) if line.startswith("client1"))
    assert gone.split() == ["client1", "10.99.0.2", "gone"]


@pytest.mark.parametrize(
    ("mount_bytes", "should", "sizes"),
    [
        (2 * MIB, 2 * MIB, ["2 MiB", "4 MiB"]),
        (3 * MIB, 2 * MIB, ["3 MiB", "2 MiB", "4 MiB"]),
        (1 * MIB, None, ["1 MiB", "4 MiB"]),
    ],
)
def test_how_much_it_holds_is_said_and_whether_that_is_right(mount_bytes, should, sizes):
    holds = holding(mount_bytes, should)
    at = [text(holds).index(f" {size}") for size in sizes]
    assert at == sorted(at)
    told = holds.to_dict()["capacity"]
    wrong_mark = text(holds).count("\n  ~") - text(status()).count("\n  ~")
    assert told["as_should"] is (None if should is None else not wrong_mark) and told["disks_bytes"] == 4 * MIB


@pytest.mark.parametrize(("layout", "numbers"), zip(LAYOUTS, (set(), {"1"}, {"3"}, {"2", "1"}), strict=True))
def test_how_data_lies(layout, numbers):
    (line,) = set(lab.lines(status(layout=layout))) - set(lab.lines(status()))
    assert set(re.findall(r"\d+", line)) == numbers


def test_the_list_says_what_is_ready_and_what_is_missing():
    listing = "\n".join(lab.listing(LabListing((("g1", "up", 5),), POSSIBLE)))
    for words in (["g1", "up", "5", "hosts"], ["--set", "replica=…:", "copies"]):
        assert words in [line.split() for line in listing.splitlines()]
    (needed,) = (line for line in listing.splitlines() if line.lstrip().startswith("glusterfs "))
    assert needed.endswith(" glusterfs-server") and "performance.io-cache" in listing
    reason = "it needs root"
    none = "\n".join(lab.listing(LabListing((), POSSIBLE, ("iproute2",), reason)))
    assert reason in none and " iproute2" in none and "g1" not in none


def test_counts_of_servers():
    rows = [line.split() for line in lab.profile(PROFILE)]
    assert ["write", "96", "87.0", "µs", "56.0", "µs", "338", "µs", "90.0%"] in rows
    assert PROFILE.to_dict()["servers"][0]["operations"][0]["mean_s"] == 87e-6


def test_faults_and_their_healing():
    undone, nothing, still = healings()
    assert "3.2 s" in "\n".join(lab.healing(undone)) and "250 ms" in "\n".join(lab.healing(undone))
    assert len(list(lab.healing(nothing))) == 1
    assert list(lab.healing(still))[1:] == [f"  ! {BRICK_DOWN}"]


def test_nothing_is_wider_than_a_terminal_or_steers_it():
    long = tuple(f"server{n}: its brick knows of {n} files whose copies do not agree with others" for n in range(3))
    evil = status(name="g1\x1b[31m", health=long, facts={f"performance.option-{n}": "on" for n in range(20)})
    for line in lab.lines(evil):
        assert len(line) <= 80 and "\x1b" not in line


def test_what_serves_is_a_column_where_it_is_known_and_without_root_it_is_said_that_it_is_not():
    head, row = text(serving()).splitlines()[3:5]
    assert head.endswith("  serves") and row.split()[-2:] == serving().hosts[0].serves.split()
    assert "serves" not in text(status(hosts=status().hosts[:1]))
    reason = "asking the servers needs root"
    assert text(status(hosts=status().hosts[:1], not_asked=reason)).endswith(f"~ {reason}")


def test_the_list_says_what_each_can_do_besides_and_sums_have_no_extremes():
    rows = [line.split() for line in lab.listing(LabListing((), POSSIBLE[2:]))]
    assert ["lab", "set:", "size"] in rows and ["lab", "profile"] in rows and ["lab", "placement"] not in rows
    create = ProfiledOperation("create", 2, 1e-3, None, None, 1.0)
    shown = list(lab.profile(LabProfile("c1", (ServerProfile("monitor", 3, 0, 0, (create,)),))))
    assert shown[-1].split() == ["create", "2", "1.00", "ms", "100.0%"]
