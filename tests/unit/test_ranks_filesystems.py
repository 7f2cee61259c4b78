"""What file systems say of themselves, from what real ones printed: GlusterFS 10.3, MooseFS 3.0.117, Ceph 16.2.15."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.ranks.machine import filesystems, mount, reading
from iosonde.ranks.machine.filesystems import ceph, gluster, gluster_graph, lustre, moosefs, others

SERVERS = ("10.94.0.1", "10.94.0.2")


def on(path: Path, source: str, kind: str, root: str = "/") -> mount.Mount:
    return mount.Mount(str(path), kind, source, "rw", "rw", (0, 63), root)


# --- GlusterFS


def brick(volume: str, number: int, host: str, connected: int) -> dict[str, str]:
    """``private`` as 10.3 prints it, and the options that say which brick it is."""
    name = f"{volume}-client-{number}"
    return {
        f"{name}/type": "protocol/client",
        f"{name}/private": f"[xlator.protocol.client.{name}.priv]\nconnected = {connected}\ntotal_bytes_read = 3940\n"
        "ping_timeout = 42\n",
        f"{name}/options/remote-host": host,
        f"{name}/options/remote-subvolume": f"/bricks/{number}",
        f"{name}/options/process-uuid": "CTX_ID:552ca844",
    }


def volume(root: Path, name: str, hosts: str, groups: dict[str, int] | None = None, down=(), **more) -> Path:
    """A mount's .meta with its bricks, the translators of ``groups`` (type: how many), and ``more`` (name: type)."""
    files: dict[str, str] = {}
    places = hosts.split()
    for number, host in enumerate(places):
        files |= brick(name, number, host, 0 if number in down else 1)
    for kind, count in (groups or {}).items():
        for number in range(count):
            for child in range(len(places) // count):
                files[f"{name}-{kind}-{number}/subvolumes/{child}"] = ""
            files[f"{name}-{kind}-{number}/type"] = f"cluster/{kind}"
    for one, kind in {"dht": "cluster/distribute", "quick-read": "performance/quick-read", **more}.items():
        files[f"{name}-{one}/type"] = kind
    active = root / ".meta" / "graphs" / "active"
    for path, content in files.items():
        (active / path).parent.mkdir(parents=True, exist_ok=True)
        (active / path).write_text(content)
    (active / "volfile").write_text("volume …")
    (root / ".meta" / "version").write_text('{ \n  "Package Version": "10.3"\n}')
    return active


INFO = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<cliOutput><opRet>0</opRet><volInfo><volumes><volume>
  <name>rep2</name><status>1</status><statusStr>Started</statusStr>
  <brickCount>2</brickCount><distCount>1</distCount><replicaCount>2</replicaCount><arbiterCount>0</arbiterCount>
  <disperseCount>0</disperseCount><redundancyCount>0</redundancyCount><typeStr>Replicate</typeStr>
  <bricks>
    <brick uuid="c3">10.94.0.1:/bricks/0<name>10.94.0.1:/bricks/0</name><isArbiter>0</isArbiter></brick>
    <brick uuid="67">10.94.0.2:/bricks/1<name>10.94.0.2:/bricks/1</name><isArbiter>0</isArbiter></brick>
  </bricks>
  <options>
    <option><name>performance.client-io-threads</name><value>off</value></option>
    <option><name>auth.allow</name><value>node1,node2</value></option>
    <option><name>performance.write-behind-window-size</name><value>16MB</value></option>
  </options>
</volume><count>1</count></volumes></volInfo></cliOutput>
"""


@pytest.fixture
def tools(monkeypatch, tmp_path):
    """name, what it prints (a later call replaces it); what was asked is in ``asked``. No other tool is found."""
    place = tmp_path / "bin"
    place.mkdir()
    for name in ("cat", "sh"):
        (place / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(place))
    gluster._silent.clear()

    def make(name: str, said: str) -> Path:
        (place / name).write_text(f"#!/bin/sh\necho \"$@\" >> {place}/asked\ncat <<'END'\n{said}\nEND\n")
        (place / name).chmod(0o755)
        return place / "asked"

    return make


@pytest.fixture
def graph_of(tmp_path):
    def read(*arguments, **more) -> gluster_graph.Graph:
        volume(tmp_path, *arguments, **more)
        found = gluster_graph.read_graph(str(tmp_path))
        assert found
        return found

    return read


TWO, FOUR = " ".join(SERVERS), " ".join(SERVERS * 2)


@pytest.mark.parametrize(
    ("hosts", "groups", "shape", "kind", "copies", "parts", "spare"),
    [
        (TWO, {}, {}, "distribute", 1, None, None),
        (TWO, {"replicate": 1}, {}, "replicate", 2, None, None),
        (FOUR, {"replicate": 2}, {}, "distributed-replicate", 2, None, None),
        ("a b c", {"replicate": 1}, {"replicate-0/options/arbiter-count": "1"}, "replicate", 2, None, None),
        ("a b c", {"disperse": 1}, {"disperse-0/options/redundancy": "1"}, "disperse", 1, 2, 1),
        ("a b c d e f", {"disperse": 2}, {"disperse-0/options/redundancy": "1"}, "distributed-disperse", 1, 2, 1),
    ],
)
def test_a_gluster_client_tells_its_volume(tmp_path, hosts, groups, shape, kind, copies, parts, spare):
    active = volume(tmp_path, "v", hosts, groups)
    for path, said in shape.items():
        (active / f"v-{path}").parent.mkdir(exist_ok=True)
        (active / f"v-{path}").write_text(said)
    made = gluster.layout_from_graph(gluster_graph.read_graph(str(tmp_path)))
    assert (made["type"], made["copies"], made["copied_by"]) == (kind, copies, "client")
    assert (made["data_parts"], made["parity_parts"]) == (parts, spare)
    assert made["servers"] == list(dict.fromkeys(hosts.split()))
    assert len(made["bricks"]) == len(hosts.split()) and made["bricks"][1].endswith(":/bricks/1")


def test_bricks_are_in_the_volumes_order_however_many_there_are(graph_of):
    graph = graph_of("v", " ".join(f"n{i}" for i in range(12)), {"replicate": 6}, down=(11,))
    assert [one.host for one in graph.bricks] == [f"n{i}" for i in range(12)]
    assert gluster.list_disconnected_bricks(graph) == ["n11 down"]
    assert [one.name for one in graph.select_type("cluster/replicate")] == [f"v-replicate-{i}" for i in range(6)]


@pytest.mark.parametrize(
    ("down", "said"),
    [((), []), ((1,), ["10.94.0.2:/bricks/1 down"]), ((1, 3), ["10.94.0.2 down"]), ((0, 1, 3), None)],
)
def test_a_brick_that_is_away_is_named_by_its_server_where_all_of_that_is_away(graph_of, down, said):
    found = gluster.list_disconnected_bricks(graph_of("dr", FOUR, {"replicate": 2}, down=down))
    assert found == (["10.94.0.1:/bricks/0 down", "10.94.0.2 down"] if said is None else said)


def test_a_client_that_says_nothing_of_a_brick_is_not_known_to_be_well(tmp_path):
    active = volume(tmp_path, "v", TWO, {"replicate": 1})
    (active / "v-client-1" / "private").write_text("")
    assert gluster.list_disconnected_bricks(gluster_graph.read_graph(str(tmp_path))) is None


WRITE_BEHIND = "[xlator.performance.write-behind.priv]\naggregate_size = 131072\nwindow_size = 16777216\n"


def test_options_are_those_in_effect_and_not_those_the_graph_was_made_with(tmp_path):
    """After ``volume set … window-size 16MB`` 10.3 still showed the option 8MB, and 16777216 as its own state."""
    active = volume(tmp_path, "v", TWO, {"replicate": 1}, **{"write-behind": "performance/write-behind"})
    (active / "v-write-behind" / "private").write_text(WRITE_BEHIND)
    (active / "v-write-behind" / "options").mkdir()
    (active / "v-write-behind" / "options" / "cache-size").write_text("8MB")
    found = gluster.list_live_options(gluster_graph.read_graph(str(tmp_path)))
    assert found["write-behind.window_size"] == "16777216" and "8MB" not in found.values()
    assert (found["performance.write-behind"], found["performance.quick-read"]) == ("on", "on")
    assert found["performance.read-ahead"] == "off" and found["client.ping_timeout"] == "42"
    assert not [name for name in found if "uuid" in name or "remote" in name]


def test_gluster_is_asked_without_a_daemon_on_this_node(tmp_path, tools):
    volume(tmp_path / "g", "rep2", TWO, {"replicate": 1}, shard="features/shard")
    (tmp_path / "g/.meta/graphs/active/rep2-shard/private").write_text("shard-block-size = 64.0MB\n")
    asked = tools("gluster", INFO)
    found = on(tmp_path / "g", "10.94.0.1:/rep2/sub", "fuse.glusterfs")
    facts = filesystems.identify_file_system(tmp_path / "g" / "not" / "yet", found)
    assert (facts["family"], facts["volume"], facts["version"]) == ("gluster", "rep2", "10.3")
    assert (facts["status"], facts["type"], facts["shard_block_size"]) == ("Started", "replicate", "64.0MB")
    assert facts["options_set"] == {
        "performance.client-io-threads": "off",
        "performance.write-behind-window-size": "16MB",
    }, "who may mount it is nobody's business"
    assert asked.read_text() == "--mode=script --remote-host=10.94.0.1 volume info rep2 --xml\n"
    now = filesystems.query_condition(tmp_path / "g", found)
    assert now["health"] == [] and now["at"].endswith("Z")
    assert now["options"]["performance.write-behind-window-size"] == "16MB"
    assert now["options"]["performance.quick-read"] == "on"
    json.dumps([facts, now])


@pytest.mark.parametrize(
    ("counts", "kind", "copies", "parts", "spare"),
    [
        ({}, "replicate", 2, None, None),
        ({"distCount": 2}, "distributed-replicate", 2, None, None),
        ({"replicaCount": 3, "arbiterCount": 1}, "replicate", 2, None, None),
        ({"replicaCount": 1, "distCount": 2}, "distribute", 1, None, None),
        ({"replicaCount": 1, "disperseCount": 3, "redundancyCount": 1}, "disperse", 1, 2, 1),
    ],
)
def test_a_mount_without_meta_leaves_what_the_servers_daemon_says(tools, tmp_path, counts, kind, copies, parts, spare):
    said = INFO
    for name, count in counts.items():
        start = said.index(f"<{name}>") + len(name) + 2
        said = f"{said[:start]}{count}{said[said.index('<', start) :]}"
    tools("gluster", said)
    facts = filesystems.identify_file_system(tmp_path, on(tmp_path, "10.94.0.1:/rep2", "fuse.glusterfs"))
    assert (facts["type"], facts["copies"], facts["data_parts"], facts["parity_parts"]) == (kind, copies, parts, spare)
    assert facts["bricks"] == ["10.94.0.1:/bricks/0", "10.94.0.2:/bricks/1"] and facts["servers"] == list(SERVERS)
    now = filesystems.query_condition(tmp_path, on(tmp_path, "10.94.0.1:/rep2", "fuse.glusterfs"))
    assert now["health"] is None, "whether its bricks are there is not known"


def test_a_server_whose_daemon_does_not_answer_is_asked_once(tools, tmp_path):
    volume(tmp_path / "g", "rep2", TWO, {"replicate": 1})
    asked = tools("gluster", "Connection failed. Please check if gluster daemon is operational.")
    found = on(tmp_path / "g", "10.94.0.1:/rep2", "fuse.glusterfs")
    facts = filesystems.identify_file_system(tmp_path / "g", found)
    assert (facts["copies"], facts["status"], facts["options_set"]) == (2, None, {})
    for _ in range(3):
        assert filesystems.query_condition(tmp_path / "g", found)["health"] == []
    assert len(asked.read_text().splitlines()) == 1


def test_nothing_of_gluster_is_known_where_nobody_answers(tools, tmp_path):
    found = on(tmp_path, "10.94.0.1:/rep2", "fuse.glusterfs")
    facts = filesystems.identify_file_system(tmp_path, found)
    assert (facts["volume"], facts["type"], facts["copies"], facts["servers"]) == ("rep2", None, None, None)
    assert filesystems.query_condition(tmp_path, found) is None


def test_meta_is_at_the_root_of_the_volume_where_a_directory_of_it_is_mounted(monkeypatch, tmp_path):
    lines = "47 1 0:63 / /whole rw - fuse.glusterfs s:/v rw\n48 1 0:63 /d /part rw - fuse.glusterfs s:/v rw\n"
    monkeypatch.setattr(reading, "read_text", lambda path: lines)
    assert mount.find_root_mount(on(Path("/part"), "s:/v", "fuse.glusterfs", "/d")) == "/whole"
    assert mount.find_root_mount(on(Path("/whole"), "s:/v", "fuse.glusterfs")) == "/whole"
    assert mount.find_root_mount(replace(on(Path("/x"), "s:/v", "fuse.glusterfs", "/d"), device=(0, 9))) is None


PATHINFO = (
    "(<REPLICATE:rep2-replicate-0> <POSIX(/b/rep2):fa1:/b/rep2/d/f> <POSIX(/b/rep2):fa2:/b/rep2/d/f>)"  # GlusterFS 10.3
)


def test_where_a_file_lies():
    assert gluster.parse_placement(PATHINFO) == ["fa1:/b/rep2", "fa2:/b/rep2"]
    assert gluster.parse_placement("") is None


# --- MooseFS

BOTH = """chunk servers:|10.94.0.1|9422|1|-|3.0.117|0|maintenance_off|1|112705536|1505755136|-|0|0|0
chunk servers:|10.94.0.2|9422|2|-|3.0.117|0|maintenance_off|0|113135616|1505755136|-|0|0|0
"""
ONE = f"""{BOTH.splitlines()[0]}


Disconnected chunk servers:|10.94.0.2|9422|2|maintenance_off
"""
NO_MASTER = "Working master servers not found !!! - maybe you are using wrong port number or wrong dns name"


def test_moosefs_is_known_by_its_source_and_told_by_its_master(tools, tmp_path):
    tools("mfsgetgoal", "/mnt/m/d: 2")
    asked = tools("mfscli", BOTH)
    found = on(tmp_path, "mfs#10.94.0.1:9421", "fuse")  # what mfsmount 3.0.117 has in the mount table
    facts = filesystems.identify_file_system(tmp_path, found)
    assert facts == {
        "family": "moosefs",
        "server": "10.94.0.1:9421",
        "version": "3.0.117",
        "copies": 2,
        "copied_by": "servers",
        "data_parts": None,
        "parity_parts": None,
        "servers": list(SERVERS),
    }
    assert "-H 10.94.0.1 -P 9421 -SCS" in asked.read_text()
    now = filesystems.query_condition(tmp_path, found)
    assert (now["health"], now["options"]) == ([], {"goal": "2"})
    tools("mfscli", ONE)
    assert filesystems.query_condition(tmp_path, found)["health"] == ["10.94.0.2:9422 down"]
    tools("mfscli", NO_MASTER)
    assert filesystems.query_condition(tmp_path, found)["health"] is None


def test_moosefs_without_its_tools_is_not_known(tools, tmp_path):
    found = on(tmp_path, "mfs#master:9421/sub", "fuse")
    assert moosefs.parse_master(found.source) == ("master", "9421")
    assert filesystems.identify_file_system(tmp_path, found)["copies"] is None
    assert filesystems.query_condition(tmp_path, found) is None


@pytest.mark.parametrize(("said", "goal"), [("d: 2\n", 2), ("/a: b/c: 3\n", 3), ("d: 2CP\n", None), ("", None)])
def test_the_goal_is_a_number_of_copies(said, goal):
    assert moosefs.parse_goal(said) == goal


# --- Ceph

INSECURE = {"severity": "HEALTH_WARN", "detail": [{"message": "mon.a has …"}], "muted": False}
DOWN = {"severity": "HEALTH_WARN", "detail": [{"message": "osd.1 (root=default,host=fa3) is down"}], "muted": False}
HOST_DOWN = {"severity": "HEALTH_WARN", "detail": [{"message": "host fa3 (root=default) (1 osds) is down"}]}


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ({"AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED": INSECURE}, []),
        ({"OSD_DOWN": DOWN, "OSD_HOST_DOWN": HOST_DOWN}, ["osd.1 on fa3 down"]),
        ({"PG_DEGRADED": {"detail": []}, "OSD_DOWN": DOWN}, ["osd.1 on fa3 down", "PG_DEGRADED"]),
        ({"PG_DEGRADED": {"muted": True}}, []),
        ({}, []),
    ],
)
def test_of_ceph_s_warnings_those_count_that_change_what_is_measured(checks, said):
    assert ceph.list_problems({"status": "HEALTH_WARN", "checks": checks}) == said


TREE = {
    "nodes": [
        {"name": "default", "type": "root", "children": [-3, -2]},
        {"name": "fa2", "type": "host", "children": [0]},
        {"name": "osd.0", "type": "osd"},
        {"name": "fa3", "type": "host", "children": [1]},
        {"name": "empty", "type": "host"},
    ]
}


def test_how_a_pool_keeps_its_data():
    found = ceph.compute_redundancy({"pool": "data", "size": 2}, None, TREE)
    assert (found["copies"], found["copied_by"], found["servers"]) == (2, "servers", ["fa2", "fa3"])
    coded = ceph.compute_redundancy({"size": 3, "erasure_code_profile": "p"}, {"k": "2", "m": "1"}, None)
    assert (coded["copies"], coded["data_parts"], coded["parity_parts"], coded["servers"]) == (1, 2, 1, None)
    assert ceph.compute_redundancy(None, None, None)["copies"] is None


def test_the_layout_is_that_of_the_nearest_directory_that_has_one(monkeypatch):
    said = b"stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data"
    asked = []

    def getxattr(path, name):
        asked.append(str(path))
        if (str(path), name) == ("/mnt/c", "ceph.dir.layout"):
            return said
        raise OSError("No such attribute")

    monkeypatch.setattr(os, "getxattr", getxattr)
    assert ceph.read_layout(Path("/mnt/c/d/e"), Path("/mnt/c"))["pool"] == "data"
    assert ceph.read_layout(Path("/mnt/x/d"), Path("/mnt/x")) is None
    assert "/mnt" not in asked, "above the mount is another file system"


def test_ceph_s_tool_is_asked_no_more_once_it_did_not_answer(tools, tmp_path):
    asked = tools("ceph", "no json")
    for kind in ("ceph", "fuse.ceph-fuse"):
        found = on(tmp_path, "ceph-fuse", kind)
        assert filesystems.identify_file_system(tmp_path, found)["copies"] is None
        assert filesystems.query_condition(tmp_path, found) is None
    assert [line.split()[2] for line in asked.read_text().splitlines()] == ["version", "health"] * 2


def test_how_many_copies_a_pool_has_now_is_asked_before_each_trial(tools, monkeypatch, tmp_path):
    """It may be changed between two trials, and is then a factor."""
    monkeypatch.setattr(ceph, "read_layout", lambda path, mount_point: {"pool": "data"})
    asked = tools("ceph", '{"status": "HEALTH_OK", "checks": {}, "pool": "data", "size": 3}')
    now = filesystems.query_condition(tmp_path, on(tmp_path, "ceph-fuse", "fuse.ceph-fuse"))
    assert (now["health"], now["options"]) == ([], {"pool_size": "3"})
    assert "osd pool get data size" in asked.read_text()


def test_a_file_system_that_says_nothing_of_itself_is_not_asked_how_it_is(tmp_path):
    for kind in ("ext4", "nfs4", "xfs"):
        assert filesystems.query_condition(tmp_path, on(tmp_path, "/dev/vda", kind)) is None
    assert filesystems.identify_file_system(tmp_path, on(tmp_path, "/dev/vda", "ext4")) is None


def test_every_translator_that_an_option_switches_is_said_to_be_on_or_off(graph_of):
    kinds = {
        "write-behind": "performance/write-behind",
        "stat-prefetch": "performance/md-cache",
        "client-io-threads": "performance/io-threads",
    }
    found = gluster.list_live_options(graph_of("v", TWO, {"replicate": 1}, **kinds))
    switched = {
        name: state for name, state in found.items() if name.startswith("performance.") and state in ("on", "off")
    }
    assert switched == {
        f"performance.{name}": "on" if name in (*kinds, "quick-read") else "off"
        for name in (
            "write-behind",
            "read-ahead",
            "io-cache",
            "quick-read",
            "open-behind",
            "stat-prefetch",
            "readdir-ahead",
            "nl-cache",
            "client-io-threads",
        )
    }


@pytest.mark.parametrize(
    ("output", "answer"), [('{"a": 1}', {"a": 1}), ("[1]", None), ("x", None), ("", None), (None, None)]
)
def test_ceph_answers_as_json_or_not_at_all(monkeypatch, output, answer):
    asked = []
    monkeypatch.setattr(ceph.reading, "run_tool", lambda words: asked.append(words) or output)
    assert ceph._query_ceph("osd", "tree") == answer
    assert asked == [["ceph", "--connect-timeout", "4", "osd", "tree", "--format", "json"]]


@pytest.mark.parametrize(
    ("answers", "asked", "expected"),
    [
        ({}, ["version"], (None, None, None, None)),
        ({"version": {"version": "18"}}, ["version", "osd pool get p all", "osd tree"], ("18", None, None, None)),
        (
            {"version": {"version": "18"}, "osd pool get p all": {"size": 3}, "osd tree": TREE},
            ["version", "osd pool get p all", "osd tree"],
            ("18", 3, None, ["fa2", "fa3"]),
        ),
        (
            {
                "version": {"version": "18"},
                "osd pool get p all": {"size": 3, "erasure_code_profile": "e"},
                "osd erasure-code-profile get e": {"k": "4", "m": "2"},
            },
            ["version", "osd pool get p all", "osd erasure-code-profile get e", "osd tree"],
            ("18", 1, 4, None),
        ),
    ],
)
def test_ceph_is_asked_as_long_as_it_answers(monkeypatch, tmp_path, answers, asked, expected):
    queries = []
    monkeypatch.setattr(ceph, "read_layout", lambda path, mount_point: {"pool": "p"})
    monkeypatch.setattr(ceph, "_query_ceph", lambda *words: queries.append(" ".join(words)) or answers.get(queries[-1]))
    facts = ceph._read_identity(tmp_path, on(tmp_path, "ceph-fuse", "fuse.ceph-fuse"))
    assert queries == asked
    assert (facts["version"], facts["copies"], facts["data_parts"], facts["servers"]) == expected
    assert facts["layout"] == {"pool": "p"}


@pytest.mark.parametrize(
    ("layout", "pool", "options"),
    [
        ({"pool": "p"}, {"size": 3}, {"pool_size": "3"}),
        ({"pool": "p"}, None, {}),
        ({}, {"size": 3}, {}),
        (None, {"size": 3}, {}),
    ],
)
def test_the_condition_of_ceph_is_its_health_and_the_copies_of_the_pool(monkeypatch, tmp_path, layout, pool, options):
    answers = {"health detail": {"checks": {"OSD_DOWN": DOWN}}, "osd pool get p size": pool}
    monkeypatch.setattr(ceph, "read_layout", lambda path, mount_point: layout)
    monkeypatch.setattr(ceph, "_query_ceph", lambda *words: answers.get(" ".join(words)))
    mounted = on(tmp_path, "ceph-fuse", "fuse.ceph-fuse")
    state = ceph._read_condition(tmp_path, mounted)
    expected = "osd.1 on fa3 down"
    assert (state["health"], state["options"]) == ([expected], options)
    answers.clear()
    assert ceph._read_condition(tmp_path, mounted) is None


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ({"OSD_DOWN": {"detail": []}}, ["OSD_DOWN"]),
        ({"OSD_HOST_DOWN": HOST_DOWN}, ["OSD_HOST_DOWN"]),
        ({"SLOW_OPS": DOWN, "OSD_FULL": {}}, ["OSD_FULL", "SLOW_OPS"]),
        ({"OSD_DOWN": DOWN | {"muted": True}}, []),
        ({"POOL_APP_NOT_ENABLED": DOWN}, []),
    ],
)
def test_each_trouble_of_ceph_is_named_by_its_code_or_its_osds(checks, said):
    assert ceph.list_problems({"checks": checks}) == said


@pytest.mark.parametrize(
    ("type_", "source", "name"),
    [
        ("lustre", "n1:/x", "lustre"),
        ("glusterfs", "x", "gluster"),
        ("ceph", "x", "ceph"),
        ("fuse.ceph", "x", "ceph"),
        ("nfs", "x", "nfs"),
        ("nfs4", "x", "nfs"),
        ("xfs", "x", "xfs"),
        ("zfs", "x", "zfs"),
        ("gpfs", "x", "gpfs"),
        ("beegfs", "x", "beegfs"),
        ("ext4", "x", None),
        ("fuse", "x", None),
    ],
)
def test_a_mount_belongs_to_a_family_by_its_type(tmp_path, type_, source, name):
    family = filesystems._find_family(on(tmp_path, source, type_))
    assert (family.name if family else None) == name


@pytest.mark.parametrize(
    ("kind", "parts", "spare", "arbiters", "expected"),
    [
        ("replicate", 3, None, 1, (2, None, None)),
        ("replicate", 2, None, None, (2, None, None)),
        ("disperse", 6, 2, None, (1, 4, 2)),
        ("disperse", 6, None, None, (1, None, None)),
        ("distribute", 1, 0, 0, (1, None, None)),
    ],
)
def test_the_redundancy_of_gluster_without_arbiters(kind, parts, spare, arbiters, expected):
    found = gluster._describe_redundancy(kind, parts, spare, arbiters, ["a", "b", "a"])
    assert (found["copies"], found["data_parts"], found["parity_parts"]) == expected
    assert (found["copied_by"], found["servers"]) == ("client", ["a", "b"])
    assert gluster._describe_redundancy(kind, parts, spare, arbiters, [])["servers"] is None


@pytest.fixture
def asked(monkeypatch):
    """The words of each tool that was asked, and its answers."""
    state = SimpleNamespace(words=[], answers={})

    def run(words, timeout_s=5.0, whatever_code=False):
        state.words.append(" ".join(words) + " !" * whatever_code)
        return state.answers.get(" ".join(words))

    monkeypatch.setattr(others.reading, "run_tool", run)
    return state


def test_tools_of_other_file_systems_are_asked_once(asked, tmp_path):
    mounted = on(tmp_path, "/dev/fs1", "x")
    zfs = "zfs get -H -o property,value recordsize,compression,atime,sync,primarycache,checksum,dedup /dev/fs1"
    calls = ["mmlsfs fs1 -B -V", zfs, f"xfs_info {tmp_path}"]
    families = (others.GPFS, others.ZFS, others.XFS)
    facts = [family.identity(tmp_path, mounted) for family in families]
    assert (asked.words, facts) == (calls, [{"mmlsfs": None}, {"properties": {}}, {"xfs_info": None}])
    asked.answers = dict(zip(calls, ("a\nb", "sync\tdisabled\nx\natime\toff", "c\n"), strict=True))
    assert [family.identity(tmp_path, mounted) for family in families] == [
        {"mmlsfs": ["a", "b"]},
        {"properties": {"sync": "disabled", "atime": "off"}},
        {"xfs_info": ["c"]},
    ]


def test_beegfs_is_asked_by_its_old_tool_then_by_its_new_one(asked, tmp_path):
    mounted = on(tmp_path, "beegfs_nodev", "beegfs")
    old, new = f"beegfs-ctl --getentryinfo {tmp_path}", f"beegfs entry info {tmp_path}"
    assert others.BEEGFS.identity(tmp_path, mounted) == {"entry": None}
    assert asked.words == [old, new]
    asked.answers[new] = "+ Chunk size: 512K\n"
    assert others.BEEGFS.identity(tmp_path, mounted) == {"entry": {"chunk_size": "512K"}}
    asked.answers[old] = "Type: RAID0\n"
    assert others.BEEGFS.identity(tmp_path, mounted) == {"entry": {"type": "RAID0"}}


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ("\topts:\trw,vers=3\n", {}),  # before any device
        ("device s:/a mounted on /m with fstype ext4\n\topts:\trw\n", {}),
        ("device s:/a mounted on /m with fstype nfs4\n\n\tage:\t7\ndevice x\n\tage:\t8\n", {"age_s": 7}),
        (
            "device s:/a mounted on /m with fstype nfs\n"
            "\topts:\trw,vers=4.2,acregmin=3,acdirmax=60,password=x\n\txprt:\trdma 0\n",
            {
                "options": "rw,vers=4.2,acregmin=3,acdirmax=60,password=***",
                "vers": "4.2",
                "acregmin": 3,
                "acdirmax": 60,
                "connections": 1,
                "transport": "rdma",
            },
        ),
    ],
)
def test_the_part_of_a_mount_in_the_statistics_of_nfs(content, facts):
    assert others.parse_mountstats(content, "/m") == facts


def test_lustre_is_asked_for_its_imports_and_options(asked, tmp_path, monkeypatch):
    mounted = on(tmp_path, "n1@tcp:/scratch/sub", "lustre")
    monkeypatch.setattr(lustre, "parse_imports", lambda text, name: {(text, name): 1} if text else {})
    monkeypatch.setattr(lustre, "parse_parameters", lambda text, name: {"a": f"{text} {name}"} if text else {})
    monkeypatch.setattr(lustre, "list_disconnected_targets", list)
    imports = "lctl get_param osc.*.import mdc.*.import"
    assert lustre._read_condition(tmp_path, mounted) is None
    options, second = asked.words
    assert (second, options.endswith(" !")) == (imports + " !", True)
    names = [f"{part}.*.{option}" for part, several in lustre._OPTIONS.items() for option in several]
    assert options.split()[2:-1] == names
    asked.answers[imports] = "i"
    state = lustre._read_condition(tmp_path, mounted)
    assert (state["health"], state["options"]) == ([("i", "scratch")], {})
    asked.answers = {options.removesuffix(" !"): "o"}
    state = lustre._read_condition(tmp_path, mounted)
    assert (state["health"], state["options"]) == (None, {"a": "o scratch"})


@pytest.mark.parametrize(
    ("striping", "imports", "expected"),
    [
        ({"stripe_count": 1}, {}, None),
        (
            {"stripe_count": 1},
            {"OST0": ("FULL", "s2"), "OST1": ("FULL", "s1"), "MDT0": ("FULL", "m")},
            (1, ["s1", "s2"]),
        ),
        ({"mirrors": 1}, {"OST0": ("FULL", "")}, (1, None)),
        ({"mirrors": 2}, {"OST0": ("FULL", "s1")}, (None, ["s1"])),
        ({}, {"OST0": ("FULL", "s1")}, (None, ["s1"])),
    ],
)
def test_lustre_has_one_copy_unless_it_has_mirrors(striping, imports, expected):
    found = lustre._describe_redundancy(striping, imports)
    assert (found and (found["copies"], found["servers"])) == (expected or {})


@pytest.mark.parametrize(("there", "pool"), [("/m/a/b", "b"), ("/m/a", "a"), ("/m", "m"), ("/", None)])
def test_the_layout_is_that_of_the_nearest_ancestor_within_the_mount(monkeypatch, there, pool):
    def read(path, name):
        if str(path) != there or name != "ceph.file.layout":
            raise OSError
        return f"stripe_unit=4 word pool={Path(there).name}".encode()

    monkeypatch.setattr(ceph.os, "getxattr", read)
    expected = {"stripe_unit": "4", "pool": pool} if pool else None
    assert ceph.read_layout(Path("/m/a/b"), Path("/m")) == expected


def test_translators_of_a_type_are_in_the_order_of_their_numbers():
    names = {"v-replicate-10": "r", "v-replicate-9": "r", "v-client-1": "c", "a": "r"}
    translators = {name: gluster_graph.Translator(name, kind, 0, {}, {}) for name, kind in names.items()}
    selected = gluster_graph.Graph(translators, ()).select_type("r")
    assert [translator.name for translator in selected] == ["a", "v-replicate-9", "v-replicate-10"]
