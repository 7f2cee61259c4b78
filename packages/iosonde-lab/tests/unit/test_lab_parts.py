"""Parts of a lab that need no root: where it lives, commands, warnings, the words of a run, faults' memory, counts."""

import json
import os
import shlex
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from iosonde.core.emulated import GOODPUT
from iosonde.core.errors import InputError
from iosonde_lab import calibrate, faults, hosts, links, live, place, teardown, tools
from iosonde_lab.api import LabDescription, run_words
from iosonde_lab.filesystems import glusterfs_profile, recipe
from iosonde_lab.lab import labs, only, open_lab, planned
from iosonde_lab.links import SWITCH
from iosonde_lab.listing import listing
from messages import assert_problem, codes, raises


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    """An own root of labs, whose owner is taken for root."""
    monkeypatch.setenv(place.ROOT, str(tmp_path))
    monkeypatch.setattr(place, "FACTS", str(tmp_path / "facts"))
    monkeypatch.setattr(place, "OWNER", os.getuid())
    return tmp_path


def lab_of(name: str = "one", **words):
    assert place.claim(name)
    lab = planned(LabDescription("local", **words).with_name(name), [])
    lab.write("up", {})
    return lab


# Where labs live


def test_a_name_can_be_claimed_once_and_is_a_lab_from_then_on(root):
    assert place.claim("one") and not place.claim("one")
    assert place.names() == ["one"]
    (root / "one" / place.FILE).unlink()
    assert place.names() == ["one"]  # ended before anything was in it
    (root / "one" / "other").touch()
    assert place.names() == []


def test_directories_of_others_are_no_labs(root):
    for name in ("papers", "empty"):
        (root / name).mkdir()
    (root / "papers" / place.FILE).write_text("{}")
    (root / "sticky").mkdir(mode=0o1755)
    (root / "sticky" / "file").touch()
    assert place.names() == []


def test_a_root_that_is_a_link_is_taken_where_it_leads(root, monkeypatch):
    (root / "real").mkdir()
    (root / "link").symlink_to("real")
    monkeypatch.setenv(place.ROOT, str(root / "link"))
    assert place.root() == root / "real"


def test_a_host_knows_the_lab_that_it_is_in(root, monkeypatch):
    lab = lab_of()
    lab_of("two")
    (root / "facts").write_text(lab.file.read_text())
    monkeypatch.setenv(place.ROOT, "/nowhere")
    assert place.around() == root / "one" and only() == "one"
    program, *options, host, command = lab.clients[0].words("hostname", directory="/a b")
    assert (program, host) == ("ssh", "client1")
    assert shlex.split(command) == ["cd", "/a b", "&&", "exec", "hostname"]
    assert "ControlMaster=auto" in options  # one connection for all that is asked
    monkeypatch.setattr(teardown, "need_root", lambda: None)
    with raises("inside-lab"):
        teardown.down("one")


def test_the_only_lab_needs_no_name(root):
    with raises("no-lab"):
        only()
    lab_of()
    assert only() == "one" and open_lab().name == "one"
    lab_of("two")
    with raises("ambiguous-lab", labs="one, two"):
        open_lab()
    with raises("unknown-lab", lab="three"):
        open_lab("three")


def test_a_lab_is_read_back_as_it_was_planned(root):
    made = lab_of(servers=2, clients=3)
    found = open_lab("one")
    assert found == made
    assert [one.name for one in found.hosts] == ["server1", "server2", "client1", "client2", "client3"]
    assert [one.address for one in found.hosts] == [f"{hosts.SUBNET}.{n}" for n in range(1, 6)]
    assert len({one.name for one in (*found.hosts, found.switch)}) == 6 and found.switch.name == SWITCH
    assert labs() == [("one", "up", [])]
    with raises("unknown-host", host="server9") as error:
        found.host("server9")
    assert "client3" in error.value.hint


def test_healing_starts_what_ended_by_itself_and_nothing_that_somebody_killed(root, monkeypatch):
    lab, done = lab_of(servers=3), []
    (lab.directory / "faults.json").write_text(json.dumps([faults.LabFault("kill-server", "server1", 0.0).to_dict()]))
    how = SimpleNamespace(
        killable=lambda lab: lab.servers,
        server_processes=lambda lab, server: [7] * (server.name == "server3"),
        restart=lambda lab, server: done.append(server.name),
        heal=lambda lab: done.append("healed"),
    )
    monkeypatch.setattr(faults, "recipe_of", lambda lab: how)
    faults.ask(lab)
    assert done == ["server2", "healed"]


def test_what_needs_root_says_so(root, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    lab = lab_of()
    for wish in (
        lambda: teardown.down("one"),
        lambda: faults.inflict(lab, "cut-link", lab.servers[0]),
        lambda: faults.heal(lab),
    ):
        with raises("root-required") as error:
            wish()
        assert "sudo" in error.value.hint
    assert codes([listing().why_not]) == ["root-required"]


# Commands


def test_a_command_that_fails_says_where_and_its_last_word():
    with raises("lab-command-failed", tools.LabError, reason="no space"):
        tools.run(["sh", "-c", "echo first >&2; echo no space >&2; exit 3"], label="server1: sh -c …")
    with raises("lab-command-failed", tools.LabError, reason="exit code 4"):
        tools.run(["sh", "-c", "exit 4"])
    with raises("lab-command-failed", tools.LabError):
        tools.run(["/no/such/tool"])
    with raises("no-response", tools.LabError, timeout_s="0.1"):
        tools.run(["sleep", "9"], limit_s=0.1)
    assert tools.run(["cat"], stdin_text="text") == "text"


def test_what_is_missing_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(tools, "has_command", lambda command: command not in ("glusterd", "gluster", "tc"))
    wanted = {"glusterd": "glusterfs-server", "gluster": "glusterfs-server", "mount.glusterfs": "glusterfs-client"}
    with raises("tool-missing", tools="tc, glusterd, gluster") as error:
        tools.need(wanted)
    assert error.value.values["install_commands"].split()[-2:] == ["iproute2", "glusterfs-server"]
    found = listing()
    assert found.missing == ("iproute2",)
    assert {one.name: one.missing for one in found.possible}["glusterfs"] == ("glusterfs-server",)
    assert {one.name: one.missing for one in found.possible}["local"] == ()


# What was emulated


def test_what_is_off_by_more_than_a_tenth_is_said(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    asked = LabDescription("local", net_bits_per_s=1e9, disk_read=100e6, disk_write=100e6, scale=10)
    wanted = 1e8 / 8 * GOODPUT
    links = [{"from": "a", "to": "b", "bytes_per_s": share * wanted} for share in (0.91, 1.09, 0.89)]
    disks = [{"host": "s", "read_bytes_per_s": 8.9e6, "write_bytes_per_s": 10.9e6}]
    told = calibrate.off(asked, {"links": links, "disks": disks, "load": 2.5})
    assert codes(told) == ["link-off", "disk-off"]
    assert_problem(told[0], "link-off", host="a", other="b")
    assert_problem(told[1], "disk-off", host="s", kind="read")
    assert all("89%" in warning for warning in told)
    assert_problem(*calibrate.busy(2.5), "busy-machine", load=2.5, cpus=2)
    assert calibrate.busy(2.0) == []
    assert calibrate.off(LabDescription("local"), {"links": links, "disks": disks, "load": 1.0}) == []


def test_a_delay_is_held_against_what_is_added_to_a_round_trip():
    asked = LabDescription("local", delay_s=0.001)
    trips = [{"from": "a", "to": "b", "bytes_per_s": 1e9, "rtt_s": rtt} for rtt in (1.13e-3, 1.25e-3, 2.15e-3)]
    found = {"links": trips, "disks": [], "load": 0.0, "rtt_without_delay_s": 1e-4}
    warnings = calibrate.off(asked, found)
    assert codes(warnings) == ["delay-off"] * 2
    assert [warning.values["added"] for warning in warnings] == ["1.15 ms", "2.05 ms"]
    assert {warning.values["delay"] for warning in warnings} == {"1.00 ms"}


def test_a_round_trip_is_delayed_once_by_what_was_asked_for():
    """It passes four queues: out of each host, and out of the switch to each. What is delayed is then let through at
    the rate."""
    (delayed, shaped) = links.queues(993e6, 0.01)
    assert delayed[:6] == ["root", "handle", "1:", "netem", "delay", "2500us"] and shaped[:2] == ["parent", "1:1"]
    assert [words[0] for words in links.queues(993e6, None)] == ["root"]
    assert links.queues(None, None) == [] and "tbf" not in links.queues(None, 0.01)[0]


def test_a_kernel_that_cannot_delay_says_so_before_anything_is_made(monkeypatch):
    def refuses(words, **_):
        raise tools.LabError("unshare-error-specified-qdisc-kind", "unshare: Error: Specified qdisc kind is unknown.")

    monkeypatch.setattr(links, "run", refuses)
    links.check_delay(None)
    with raises("kernel-feature-missing", delay="1.00 ms") as error:
        links.check_delay(0.001)
    assert "sch_netem" in error.value.hint


def test_rate_program_tells_goodput_and_round_trip():
    program = [sys.executable, str(calibrate._PROGRAM)]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    with subprocess.Popen([*program, "receive", port]) as receiver:
        told = json.loads(tools.run([*program, "send", "127.0.0.1", port, "0.05"]))
        assert receiver.wait(60) == 0
    assert told["bytes_per_s"] > 1e6 and 0 < told["rtt_s"] < 1


# Runs


def test_a_run_gets_the_mount_and_the_clients_unless_they_are_said(root):
    lab = lab_of(clients=2)
    words = run_words(lab, ["--nodes", "1,2"])
    assert words[0] == sys.executable and words[3:6] == ("run", "--nodes", "1,2")
    assert words[6:] == ("--target", str(lab.mount_point), "--hosts", str(root / "one" / "client-hosts"))
    assert (root / "one" / "client-hosts").read_text() == "client1\nclient2\n"
    assert "--hosts" not in run_words(lab, ["--target=/x", "--hosts=h"])[6:]
    alone = lab_of("alone", clients=1)
    assert "--hosts" not in run_words(alone, [])


# Faults


@pytest.fixture
def switches(monkeypatch):
    """Links that are only told of; nobody needs to be root."""
    told = []
    monkeypatch.setattr(faults, "need_root", lambda: None)
    monkeypatch.setattr(faults.links, "cut", lambda switch, host: told.append(("cut", host.name)))
    monkeypatch.setattr(faults.links, "mend", lambda switch, host: told.append(("mend", host.name)))
    monkeypatch.setattr(faults.links, "shape", lambda switch, host, rate, delay: told.append((rate, host.name)))
    return told


def test_faults_are_kept_until_they_are_undone_the_last_one_first(switches):
    lab = lab_of(net_bits_per_s=1e9)
    faults.inflict(lab, "cut-link", lab.servers[0])
    faults.inflict(lab, "slow-link", lab.servers[1], "10mbit")
    assert [(one.kind, one.host, one.rate) for one in faults.in_force(open_lab("one"))] == [
        ("cut-link", "server1", None),
        ("slow-link", "server2", 10e6),
    ]
    healing = faults.heal(lab, "server1")
    assert [one.host for one in healing.undone] == ["server1"] and not healing.problem and healing.healed_s < 60
    assert [one.kind for one in faults.undo(lab)] == ["slow-link"] and faults.in_force(lab) == []
    assert switches == [("cut", "server1"), (10e6, "server2"), ("mend", "server1"), (1e9, "server2")]


def test_a_fault_that_fails_half_way_is_undone_and_not_kept(switches, monkeypatch):
    lab = lab_of()

    def half(switch, host):
        raise tools.LabError("half-cut", "half cut")

    monkeypatch.setattr(faults.links, "cut", half)
    with raises("half-cut", tools.LabError):
        faults.inflict(lab, "cut-link", lab.servers[0])
    assert switches == [("mend", "server1")] and faults.in_force(lab) == []


def test_what_does_not_heal_in_time_says_why(switches, monkeypatch):
    lab = lab_of()
    complaints = ["server1: its brick is down"]
    monkeypatch.setattr(type(faults.recipe_of(lab)), "health", lambda self, lab: complaints)
    healing = faults.heal(lab, limit_s=0.05)
    assert healing.problem and healing.health == tuple(complaints)
    assert json.loads(json.dumps(healing.to_dict()))["healed_s"] is None


# Gluster's counts

PROFILE = """\
Brick: 10.99.0.1:/lab/server1/disk/brick
----------------------------------------
Cumulative Stats:
   Block Size:             131072b+ 
 No. of Reads:                    0 
No. of Writes:                   96 
 %-latency   Avg-latency   Min-Latency   Max-Latency   No. of calls         Fop
 ---------   -----------   -----------   -----------   ------------        ----
      0.00       0.00 {0}       0.00 {0}       0.00 {0}              2     RELEASE
     25.00  100000.00 {0}   50000.00 {0}  200000.00 {0}             10       WRITE
     75.00 3000000.00 {0} 3000000.00 {0} 3000000.00 {0}              1       FSYNC
 
    Duration: 259 seconds
   Data Read: 7 bytes
Data Written: 12582912 bytes
"""  # noqa: W291


@pytest.mark.parametrize(("unit", "second"), [("ns", 1e-9), ("us", 1e-6)])
def test_latencies_are_in_the_unit_that_gluster_names(unit, second):
    lab = planned(LabDescription("glusterfs", servers=1).with_name("one"), [])
    (server,) = glusterfs_profile.profiles_from_text(PROFILE.format(unit), lab.servers)
    assert (server.server, server.seconds, server.read_bytes, server.written_bytes) == ("server1", 259, 7, 12582912)
    fsync, write, release = server.operations
    assert (fsync.operation, fsync.count, fsync.share) == ("fsync", 1, 0.75)
    assert (write.count, write.mean_s, write.min_s, write.max_s) == pytest.approx(
        (10, 1e5 * second, 5e4 * second, 2e5 * second)
    )
    assert release.share == 0


# What people do twice, or at odd places


@pytest.mark.parametrize("where", ["/tmp/a b", "/tmp/$(touch x)", "/tmp/it's", "/tmp/a\nb", "/tmp/" + "x" * 200])
def test_a_root_that_shells_and_mount_tables_do_not_take_as_it_is_is_refused(monkeypatch, where):
    monkeypatch.setenv(place.ROOT, where)
    with raises("invalid-path"):
        place.root()


def test_a_directory_in_which_anybody_may_make_files_is_no_lab_whatever_lies_in_it(root):
    (root / "tmp").mkdir()
    (root / "tmp" / place.FILE).write_text("{}")
    (root / "tmp").chmod(0o1777)
    assert place.names() == []


def test_what_is_mounted_stays_and_what_is_not_needs_no_unmounting(monkeypatch):
    lab, done = lab_of(clients=2), []
    monkeypatch.setattr(live, "need_root", lambda: None)
    table = f"31 1 0:45 / {lab.mount_point} rw - fuse x rw\n"
    monkeypatch.setattr(hosts.LabHost, "run", lambda self, *words, **_: table if self.name == "client1" else "")
    for what in ("mount", "unmount"):
        monkeypatch.setattr(
            type(live.recipe_of(lab)), what, lambda self, lab, one, did=what: done.append((did, one.name))
        )
        getattr(live, what)(lab)
    assert done == [("mount", "client2"), ("unmount", "client1")]


def test_a_profile_before_it_was_turned_on_says_how(monkeypatch):
    def refuses(self, *words, **_):
        raise tools.LabError(
            "lab-command-failed", "server1: {reason}", reason="gluster: Profile on Volume lab is not started"
        )

    monkeypatch.setattr(hosts.LabHost, "run", refuses)
    with raises("profiling-disabled", InputError):
        recipe("glusterfs").profile(lab_of())


# Taking down


def test_a_lab_with_a_foreign_mount_is_left_as_it_is(root, monkeypatch):
    lab, table = lab_of(), root / "mountinfo"
    (lab.directory / "mnt").mkdir()
    (lab.directory / "mnt" / "thesis").write_text("mine")
    table.write_text(f"31 1 8:1 /data {lab.directory}/mnt rw - ext4 /dev/sda1 rw\n")
    monkeypatch.setattr("iosonde.foreign.mounts._TABLE", table)
    monkeypatch.setattr(teardown, "need_root", lambda: None)
    monkeypatch.setattr(hosts, "end", lambda *_: pytest.fail("its hosts were ended"))
    with raises("mounted-inside") as error:
        teardown.down("one")
    assert "one" in error.value.hint.split()
    assert (lab.directory / "mnt" / "thesis").read_text() == "mine" and place.names() == ["one"]
