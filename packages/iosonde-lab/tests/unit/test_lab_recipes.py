"""File systems of a lab, as far as no lab is needed: what their tools print, as data; what they can be and not be."""

import json
import os
import shlex
import socket
import sys
import threading
from types import SimpleNamespace

import pytest

from iosonde.core.errors import InputError
from iosonde_lab import place, tools
from iosonde_lab.api import LabDescription
from iosonde_lab.filesystems import (
    MODULES,
    ceph_admin,
    ceph_layout,
    ceph_profile,
    hadoop,
    hdfs_state,
    moosefs_state,
    recipe,
)
from iosonde_lab.filesystems.recipe import ServerState
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import planned
from iosonde_lab.listing import listing
from iosonde_lab.profile import summed
from iosonde_lab.tools import LabError
from messages import assert_problem, raises


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(place.ROOT, str(tmp_path))
    monkeypatch.setattr(place, "FACTS", str(tmp_path / "facts"))


@pytest.fixture
def told(monkeypatch):
    """What hosts were told, and what they say: the first answer whose words are among the command's."""
    asked: list[tuple[str, str]] = []
    answers: list[tuple[str, str | None]] = []

    def run(self, *words, **_):
        said = " ".join(words)
        asked.append((self.name, said))
        for part, answer in answers:
            if part in said:
                if answer is None:
                    raise LabError("no-response", "{host}: it fails", host=self.name)
                return answer
        return ""

    monkeypatch.setattr(LabHost, "run", run)
    monkeypatch.setattr(LabHost, "start", lambda self, *words, log: asked.append((self.name, " ".join(words))))
    monkeypatch.setattr(LabHost, "processes", lambda self, name: [])
    return SimpleNamespace(asked=asked, answers=answers)


def lab_of(file_system: str, servers: int = 2, clients: int = 2, **options: str):
    how = recipe(file_system)
    lab = planned(LabDescription(file_system, "one", servers, clients, options=options), how.extra_hosts)
    lab.directory.mkdir()
    return how, lab


# MooseFS

SERVERS = """\
chunk servers:|10.99.0.2|9422|3|-|3.0.117|0|maintenance_off|1|108150784|1006632960|-|0|0|0
chunk servers:|10.99.0.3|9422|2|-|3.0.117|0|maintenance_off|1|108150784|1006632960|-|0|0|0
disconnected chunk servers:|10.99.0.4|9422|1|-|maintenance_off
"""
REMOVED = "to be removed"
CHUNKS = """\
all chunks matrix:|goal/copies/chunks:|3|2|5
all chunks matrix:|chunkclass missing:|0
all chunks matrix:|chunkclass endangered:|0
all chunks matrix:|chunkclass undergoal:|5
all chunks matrix:|chunkclass stable:|7
all chunks matrix:|chunkclass overgoal:|0
all chunks matrix:|chunkclass pending deletion:|0
all chunks matrix:|chunkclass to be removed:|0
"""


def test_what_a_master_says():
    assert moosefs_state.connected(SERVERS) == {"10.99.0.2", "10.99.0.3"}
    found = moosefs_state.chunk_classes(CHUNKS)
    assert (found["undergoal"], found["stable"], found[REMOVED]) == (5, 7, 0)
    assert moosefs_state.connected("\n\n") == set()  # none was ever connected
    for wrong in ("", "section 'IC' not allowed\n", "all chunks matrix:|goal/copies/chunks:|1|0|1\n"):
        with pytest.raises(ValueError):  # noqa: PT011 — read_answer makes an error of it
            moosefs_state.chunk_classes(wrong)


def test_where_a_file_lies_is_read_or_refused():
    said = "/mnt/f:\n\tchunk 0: 1_1 / (id:1 ver:1)\n\t\tcopy 1: 10.99.0.2:9422 (status:VALID)\n"
    said += "\tchunk 1: 2_1 / (id:2 ver:1)\n\t\tcopy 1: 10.99.0.3:9422 (status:VALID)\n"
    assert moosefs_state.bytes_by_address(said, 2**26 + 5) == {"10.99.0.2": 2**26, "10.99.0.3": 5}
    empty = "/mnt/f:\n\tno chunks - empty file\n"
    assert moosefs_state.bytes_by_address(empty, 0) == {}
    with pytest.raises(ValueError):  # noqa: PT011 — read_answer makes an error of it
        moosefs_state.bytes_by_address("/mnt/f: no such file\n", 5)


def test_moosefs_names_the_server_that_is_missing_and_counts_the_chunks_that_lack_copies(told):
    how, lab = lab_of("moosefs", servers=3)
    told.answers += [("-SCS", SERVERS), ("-SIC", CHUNKS), ("mfsgetgoal", "/mnt: 2\n"), ("cat", _mounted(lab))]
    assert how.states(lab)["server1"] == ServerState("connected", True)
    assert how.states(lab)["server3"] == ServerState("missing", False)
    missing, lacking = how.health(lab)
    assert_problem(missing, "not-connected", host="server3")
    assert_problem(lacking, "missing-copies", count=5, state="undergoal")
    assert list(how.facts(lab).values()) == ["2", "auto", ", ".join(("5 undergoal", "7 stable"))]
    told.answers.insert(0, ("mfscli", None))
    assert {name: one.well for name, one in how.states(lab).items()} == {"master": False}


def test_a_goal_is_there_when_chunks_agree(told, monkeypatch):
    how, lab = lab_of("moosefs", servers=3)
    agreed = CHUNKS.replace("undergoal:|5", "undergoal:|0")
    answers = iter([CHUNKS, CHUNKS, agreed.replace("overgoal:|0", "overgoal:|2"), agreed])
    monkeypatch.setattr(
        "iosonde_lab.filesystems.moosefs._query_master", lambda parse, master, what: parse(next(answers))
    )
    how.change(lab, "goal", "3")
    assert next(answers, None) is None
    assert told.asked[0] == ("client1", f"mfssetgoal -r 3 {lab.mount_point}")


# Ceph

OSD = {
    "osd": {
        "op_in_bytes": 16790595,
        "op_out_bytes": 16777216,
        "op_r_latency": {"avgcount": 128, "sum": 0.064, "avgtime": 0.0005},
        "op_w_latency": {"avgcount": 29, "sum": 0.87, "avgtime": 0.03},
        "op_rw_latency": {"avgcount": 0, "sum": 0.0, "avgtime": 0.0},
        "subop_w_latency": {"avgcount": 19, "sum": 0.266, "avgtime": 0.014},
    },
}
MDS = {
    "mds_server": {
        "handle_client_request": 8,
        "req_create_latency": {"avgcount": 1, "sum": 0.007},
        "req_getattr_latency": {"avgcount": 6, "sum": 0.0012},
        "req_unlink_latency": {"avgcount": 0, "sum": 0.0},
    }
}


def test_the_sums_of_a_daemon_are_means_without_extremes():
    found = ceph_profile.build_osd_profile("server1", OSD, 5)
    assert (found.read_bytes, found.written_bytes, found.seconds) == (16777216, 16790595, 5)
    assert [(one.operation, one.count) for one in found.operations] == [
        ("write", 29),
        (ceph_profile._OF_OSD["subop_w_latency"], 19),
        ("read", 128),
    ]
    write = found.operations[0]
    assert (write.mean_s, write.min_s, write.max_s) == (pytest.approx(0.03), None, None)
    assert write.share == pytest.approx(0.87 / 1.2)
    create, getattr_ = ceph_profile.build_mds_profile("monitor", MDS, 5).operations
    every = [ceph_profile.build_osd_profile("server1", OSD, 5), ceph_profile.build_mds_profile("monitor", MDS, 5)]
    assert list(summed(every)["by_server"]) == ["server1"]  # who serves metadata alone has no share of the data
    assert (create.operation, create.count, getattr_.operation, getattr_.count) == ("create", 1, "getattr", 6)


def test_parts_of_a_layout_must_fit_each_other():
    ceph_layout.check({})
    ceph_layout.check({"stripe_count": "2", "stripe_unit": "1MiB"})
    for options, code, values in [
        ({"stripe_count": "0"}, "invalid-number", {"setting": 0}),
        ({"stripe_count": "two"}, "invalid-number", {"setting": "two"}),
        ({"stripe_unit": "100KiB"}, "not-a-multiple", {"size": "100KiB"}),
        ({"object_size": "6MiB"}, "not-a-multiple", {"object_size": 6 * 2**20}),
        ({"stripe_unit": "3MiB"}, "not-a-multiple", {"stripe_unit": 3145728}),
    ]:
        with raises(code, InputError, **values):
            ceph_layout.check(options)


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({"object_size": "1MiB", "stripe_unit": "64KiB"}, ["stripe_unit", "object_size"]),
        ({"object_size": "16MiB", "stripe_unit": "8MiB"}, ["object_size", "stripe_unit"]),
        ({"stripe_count": "2"}, ["stripe_count"]),
    ],
)
def test_a_layout_is_changed_without_a_moment_that_ceph_refuses(told, options, order):
    _, lab = lab_of("ceph")
    told.answers += [("stripe_count", "1"), ("stripe_unit", "4194304"), ("object_size", "4194304")]
    ceph_layout.change(lab, lab.clients[0], options)
    assert [said.split()[2].rpartition(".")[2] for _, said in told.asked if said.startswith("setfattr")] == order


def test_ceph_tells_of_each_osd_and_of_what_troubles_it(told, monkeypatch):
    how, lab = lab_of("ceph")
    assert_problem(*how.health(lab), "server-down", host="monitor")
    monkeypatch.setattr(LabHost, "processes", lambda self, name: [7])
    dump = {"osds": [{"osd": 0, "up": 1, "in": 1}, {"osd": 1, "up": 0, "in": 0}]}
    fsmap = {"fsmap": {"filesystems": [{"mdsmap": {"info": {"gid_4": {"gid": 4, "state": "up:active"}}}}]}}
    health = {"status": "HEALTH_WARN", "checks": {"OSD_DOWN": {"summary": {"message": "1 osds down"}, "muted": False}}}
    told.answers += [("osd dump", json.dumps(dump)), ("mds stat", json.dumps(fsmap)), ("health", json.dumps(health))]
    states = {name: (*one.says.split(), one.well) for name, one in how.states(lab).items()}
    assert states == {
        "monitor": ("mds", "active", True),
        "server1": ("osd.0", "up", True),
        "server2": ("osd.1", "down", "out", False),
    }
    assert_problem(*how.health(lab), "ceph-health", check="OSD_DOWN", summary="1 osds down")
    told.answers.insert(0, ("health", json.dumps({"status": "HEALTH_OK", "checks": {}})))
    assert how.health(lab) == []


def test_one_copy_is_what_ceph_wants_to_be_asked_for_twice(told):
    how, lab = lab_of("ceph")
    told.answers += [("pool get", '{"size": 1}'), ("status", '{"pgmap": {"num_pgs": 0}}')]
    how.change(lab, "size", "1")
    assert any(said.endswith("size 1 --yes-i-really-mean-it") for _, said in told.asked)
    with raises("out-of-range", n_servers=2):
        how.change(lab, "size", "3")


# Options of mounts


@pytest.mark.parametrize(
    ("name", "option", "value", "said"),
    [
        ("nfs", "sync", "on", "-o sync,vers=3"),
        ("sshfs", "direct_io", "on", "direct_io"),
        ("moosefs", "client_cache", "direct", "mfscachemode=DIRECT"),
        ("ceph", "client_cache", "off", "client_oc=false"),
    ],
)
def test_an_option_of_mounts_is_changed_where_it_is_mounted_and_kept_for_the_next_mount(
    told, name, option, value, said
):
    how, lab = lab_of(name, servers=recipe(name).usual_servers)
    told.answers.extend([("cat", _mounted(lab)), ("df", "mfs")])
    before = how.read(lab, option)
    how.change(lab, option, value)
    assert how.read(lab, option) == value != before
    for client in ("client1", "client2"):
        mine = [words for who, words in told.asked if who == client]
        assert any(one.startswith("umount") for one in mine) and any(said in one for one in mine)
    told.asked.clear()
    how.mount(lab, lab.clients[1])
    assert any(said in words for _, words in told.asked)


def test_a_client_that_has_it_not_mounted_is_left_alone(told):
    how, lab = lab_of("sshfs", servers=1)
    how.change(lab, "direct_io", "on")
    assert [words for _, words in told.asked if "mount" in words.split()[0]] == []
    with raises("unknown-option-value"):
        how.change(lab, "direct_io", "maybe")
    assert how.read(lab, "direct_io") == "on"


def test_ceph_is_mounted_by_a_process_that_keeps_its_standard_streams(told):
    """Else libfuse's pipes have their numbers, and what is written to stderr is taken for a request."""
    how, lab = lab_of("ceph")
    told.answers.append(("cat", _mounted(lab)))
    how.mount(lab, lab.clients[0])
    (started,) = (words for _, words in told.asked if words.startswith("ceph-fuse "))
    assert " -f " in started


# What a recipe does not have


@pytest.mark.parametrize("name", MODULES)
def test_what_a_recipe_does_not_have_is_said_in_a_sentence(name):
    how, lab = lab_of(name, servers=recipe(name).usual_servers)
    if name != "glusterfs":  # Gluster knows itself which options it has
        for ask in (lambda: how.read(lab, "colour"), lambda: how.change(lab, "colour", "red")):
            with pytest.raises(InputError) as error:
                ask()
            assert error.value.code in ("unknown-option", "immutable-option")
            assert error.value.values["option"] == "colour"
            assert all(option in error.value.hint for option in how.live) and error.value.hint
    if not how.profiled:
        for ask in (lambda: how.profile(lab), lambda: how.count_operations(lab, True)):
            with raises("unsupported-operation", file_system=how.title):
                ask()
    assert set(how.mount_defaults) <= set(how.live) and set(how.live) >= set()


def test_the_list_tells_what_each_can_do():
    found = {one.name: one for one in listing().possible}
    assert {name for name, one in found.items() if one.profiled} == {"glusterfs", "ceph"}
    assert {name for name, one in found.items() if one.keeps_data} == {"glusterfs", "ceph", "moosefs", "openafs"}
    assert found["moosefs"].placed and not found["ceph"].placed
    assert list(found["moosefs"].live) == ["goal", "client_cache"]


def test_a_server_is_up_down_or_silent(told):
    how, lab = lab_of("sshfs", servers=1)
    for answer, state in (
        ("7\n", ServerState("up", True)),
        ("", ServerState("down", False)),
        (None, ServerState("no answer", False)),
    ):
        told.answers[:] = [("pgrep", answer)]
        assert how.states(lab) == {"server1": state}
    how, lab = lab_of("local", servers=1) if not (lab.directory).exists() else (recipe("local"), lab)
    assert how.states(lab) == {}


# Without root


def test_who_is_not_root_is_told_the_command(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    words = ["lab", "exec", "client1", "sh", "-c", "df -h"]
    for program, said in (("/venv/bin/iosonde", "/venv/bin/iosonde"), ("/x/cli/main.py", "iosonde.cli.main")):
        monkeypatch.setattr(sys, "argv", [program, *words])
        with raises("root-required", InputError) as error:
            tools.need_root()
        first, *rest = shlex.split(error.value.values["sudo_command"])
        assert first == "sudo" and rest[-7:] == [said, *words]
    monkeypatch.setattr(sys, "argv", ["notebook"])
    with pytest.raises(InputError) as error:
        tools.need_root()
    assert error.value.hint.endswith("sudo")


def _mounted(lab) -> str:
    return f"545 316 0:110 / {lab.mount_point} rw,nosuid - fuse x rw\n"


@pytest.mark.parametrize(
    ("answer", "n_bytes"), [(b'{"bluestore": {"bluestore_allocated": 8192}}', 8192), (b"{}", None), (b"", None)]
)
def test_an_osd_tells_what_its_data_takes_or_nothing(tmp_path, answer, n_bytes):
    place, heard = tmp_path / "osd.asok", []
    with socket.socket(socket.AF_UNIX) as osd:
        osd.bind(str(place))
        assert ceph_admin.allocated_bytes(place) is None  # down
        osd.listen()

        def speak():
            asker, _ = osd.accept()
            with asker:
                heard.append(asker.recv(4096))
                asker.sendall(len(answer).to_bytes(4, "big") + answer)

        speaking = threading.Thread(target=speak)
        speaking.start()
        assert ceph_admin.allocated_bytes(place) == n_bytes
        speaking.join(5)
    assert heard[0].endswith(b"\0") and json.loads(heard[0][:-1])["prefix"].split() == ["perf", "dump"]


# HDFS

NODES = {"LiveNodes": json.dumps({"server1.lab:9866": {"capacity": 10**9}, "server2.lab:9866": {"capacity": 0}})}
BLOCKS = {
    "LocatedBlocks": {
        "locatedBlocks": [
            {"block": {"numBytes": 64}, "locations": [{"hostName": "server1.lab"}, {"hostName": "server2.lab"}]},
            {"block": {"numBytes": 36}, "locations": [{"hostName": "server2.lab"}, {"hostName": "server3.lab"}]},
        ]
    }
}


def test_what_a_name_node_says():
    assert hdfs_state.live(NODES) == {"server1"}, "one that has not said what it can hold takes no block"
    assert hdfs_state.live({}) == set() and hdfs_state.lacking({"MissingBlocks": 0}) == []
    (lacking,) = hdfs_state.lacking({"LowRedundancyBlocks": 3})
    assert_problem(lacking, "missing-copies", count=3, state="LowRedundancyBlocks")
    assert hdfs_state.bytes_by_host(BLOCKS) == {"server1": 64, "server2": 100, "server3": 36}


def test_hdfs_names_the_data_node_that_is_missing_or_does_not_listen(told):
    how, lab = lab_of("hdfs", servers=2)
    told.answers += [
        ("NameNodeInfo", json.dumps({"beans": [NODES]})),
        ("FSNamesystem", '{"beans": [{}]}'),
        ("sport = :9866", "LISTEN 0 4096 *:9866 *:*\n"),
    ]
    assert how.states(lab) == {"server1": ServerState("live", True), "server2": ServerState("dead", False)}
    assert_problem(*how.health(lab), "server-down", host="server2", state="dead")
    told.answers.insert(0, ("sport = :9866", ""))
    assert not how.states(lab)["server1"].well
    told.answers.insert(0, ("curl", None))
    assert_problem(how.health(lab)[-1], "no-response", host="namenode")


@pytest.mark.parametrize("options", [{"replication": "3"}, {"replication": "0"}, {"block_size": "1000000"}])
def test_hdfs_refuses_what_its_name_node_would(options):
    how, _ = lab_of("hdfs", servers=2)
    with pytest.raises(InputError):
        how.check(2, options)


def test_hadoops_configuration_is_escaped(tmp_path):
    assert "<value>a&amp;b</value>" in hadoop._xml({"x": "a&b"})


def test_what_no_package_has_is_asked_of_no_package_manager(monkeypatch):
    """One unknown name, and apt-get installs none of the others."""
    monkeypatch.setattr(tools, "has_command", lambda command: False)
    wanted = listing().packages
    assert "glusterfs-server" in wanted and not tools.UNPACKAGED.keys() & set(wanted)
    assert "default-jre-headless" not in wanted, "of no use without the jars, which make lab-hdfs brings"
