"""GlusterFS in a lab: its kinds of volume, options live, counts, placement, remounts, faults and healing."""

import hashlib
import json
import re
import time
from pathlib import Path

import pytest
from lab_here import SOURCE, command, iosonde

from iosonde.core.errors import InputError
from iosonde_lab import api as labs
from iosonde_lab.filesystems import ganesha, recipe_of
from iosonde_lab.filesystems.glusterfs_options import _PARTS, parts
from messages import assert_problem, codes, raises, with_code

MIB = 2**20


@pytest.fixture(scope="module")
def copies(lab_of):
    """Two servers, each with a copy; two clients, which miss a silent server after 4 and not 42 s."""
    options = {"network.ping-timeout": "4"}
    return lab_of("glusterfs", {"clients": 2, "name": "copies"}, options=options, replica=2)


@pytest.fixture
def healthy(copies):
    """The same, with whatever a test inflicted undone."""
    yield copies
    labs.heal(copies)


def holds_what_its_disks_hold(lab, stored_per_byte: float) -> None:
    """K-10: one mount, whose capacity is that of all bricks less copies and parity."""
    found = labs.status(lab.name).capacity
    assert found.as_should and len(found.servers) == len(lab.servers)
    assert found.mount_bytes == pytest.approx(sum(found.servers.values()) / stored_per_byte, rel=0.01)


def put(lab, name: str, n_bytes: int, client: int = 0) -> str:
    """Write a file through the mount, to the servers; the digest of what was written."""
    script = f'head -c {n_bytes} /dev/urandom > "$0"; sync "$0"; sha256sum < "$0"'
    return lab.clients[client].run("sh", "-ec", script, str(lab.mount_point / name)).split()[0]


def digest(lab, name: str, client: int = 0) -> str:
    told = lab.clients[client].run("sha256sum", str(lab.mount_point / name), limit_s=120)
    return told.split()[0]


# Volumes


def test_a_file_is_on_every_server_of_its_copies(copies):
    holds_what_its_disks_hold(copies, 2)
    put(copies, "a", 3 * MIB)
    assert labs.placement(copies, copies.mount_point / "a").n_bytes == {"server1": 3 * MIB, "server2": 3 * MIB}
    for host in (copies.clients[0], copies.servers[0]):  # asked there, too
        told = host.run("env", f"PYTHONPATH={SOURCE}", *command("lab", "placement", "a", "--json"))
        assert json.loads(told)["bytes"] == {"server1": 3 * MIB, "server2": 3 * MIB}
    told = recipe_of(copies).layout(copies)
    assert (told.copies, told.copied_by, told.parity_parts) == (2, "client", 0)
    with raises("no-such-file", InputError):
        labs.placement(copies, copies.mount_point / "absent")
    with raises("outside-mount", InputError):
        labs.placement(copies, copies.directory / "lab.json")


def test_several_options_are_changed_and_read_at_once(healthy):
    before = labs.get_options(healthy, ("performance.io-cache", "replica", "direct_io")).values
    assert before["replica"] == "2" and before["direct_io"] == "off"
    wanted = {
        "performance.io-cache": "on" if before["performance.io-cache"] == "off" else "off",
        "performance.cache-size": "8MB",
    }
    told = labs.set_options(healthy, wanted)
    assert told.values == wanted and told.was["performance.io-cache"] == before["performance.io-cache"]
    on = wanted["performance.io-cache"] == "on"
    assert all(("io-cache" in parts(healthy, one)) is on for one in healthy.clients)
    with raises("option-rejected", InputError) as caught:
        labs.set_options(
            healthy, wanted | {"performance.io-cache": before["performance.io-cache"], "performance.cache-size": "1MB"}
        )
    assert "cache-size=1MB" in caught.value.values["options"]
    assert labs.get_options(healthy, tuple(wanted)).values == wanted  # all or nothing
    labs.set_options(healthy, {"performance.io-cache": before["performance.io-cache"]})


def test_whatever_ends_on_a_host_leaves_nothing_there(healthy):
    host = healthy.clients[0]
    before = len(host.processes("sleep"))
    for _ in range(3):
        host.shell("(sleep 0.05 &)")
    time.sleep(0.5)
    assert len(host.processes("sleep")) <= before


def test_distributed_a_file_is_on_one_server_and_pieces_of_it_on_many(lab_of):
    lab = lab_of("glusterfs", {"servers": 2, "name": "spread"}, shard="4MiB")
    holds_what_its_disks_hold(lab, 1)
    put(lab, "small", MIB)
    assert sorted(labs.placement(lab, lab.mount_point / "small").n_bytes.values()) == [0, MIB]
    put(lab, "large", 69 * MIB)  # by hash: that all 18 pieces lie on one of two is a chance of 1 in 130,000
    large = labs.placement(lab, lab.mount_point / "large").n_bytes
    assert sum(large.values()) == 69 * MIB and min(large.values()) >= 4 * MIB
    assert {one.file: one.n_bytes for one in labs.placements(lab, lab.mount_point)}["large"] == large
    told = recipe_of(lab).layout(lab)
    assert (told.copies, told.servers_of_a_file) == (1, 2)
    assert labs.status(lab.name).facts["type"] == "Distribute"
    labs.down(lab.name)


def test_many_files_are_spread_by_hash_as_chance_would_and_those_of_one_server_are_not(lab_of):
    """K-11: bytes and files by server, with what chance allows."""
    lab = lab_of("glusterfs", {"servers": 2, "name": "many"})
    lab.clients[0].shell(f"cd {lab.mount_point}; mkdir many one; for n in $(seq 60); do echo $n > many/f$n; done")
    spread = json.loads(iosonde("lab", "placement", "--lab", "many", "many", "--json").stdout)
    assert spread["files"] == 60 == sum(one["files"] for one in spread["servers"].values())
    assert [one["uneven"] for one in spread["spread"]] == [False, False]
    there = [one.file for one in labs.placements(lab, lab.mount_point / "many") if one.n_bytes["server1"]]
    lab.clients[0].shell(f"cd {lab.mount_point}/many; mv {' '.join(there)} ../one")  # data stay where they are
    told = iosonde("lab", "placement", "--lab", "many", "one")
    assert told.returncode == 0 and " 95 %" in told.stdout and " 2.00 " in told.stdout
    labs.down(lab.name)


def test_an_erasure_code_has_its_parity_where_gluster_chose_it(lab_of):
    lab = lab_of("glusterfs", {"servers": 3, "name": "code"}, disperse=3)
    holds_what_its_disks_hold(lab, 1.5)
    put(lab, "a", 2 * MIB)
    assert labs.placement(lab, lab.mount_point / "a").n_bytes == dict.fromkeys(("server1", "server2", "server3"), MIB)
    told = json.loads(iosonde("lab", "placement", "--lab", "code", ".", "--json").stdout)
    assert told["why_not"]
    told = recipe_of(lab).layout(lab)
    assert (told.copies, told.data_parts, told.parity_parts, told.servers_of_a_file) == (1, 2, 1, 3)
    assert labs.get_options(lab, ["redundancy"]).values == {"redundancy": "1"}
    first = digest(lab, "a")
    labs.inflict(lab, "kill-server", lab.servers[1])
    assert digest(lab, "a") == first
    assert labs.heal(lab).healed_s is not None
    labs.down(lab.name)


def test_what_was_asked_for_at_the_start_is_in_force(lab_of):
    asked = {"performance.write-behind": "off", "performance.io-thread-count": "8"}
    lab = lab_of("glusterfs", {"servers": 1, "name": "asked"}, options=asked)
    assert labs.get_options(lab, list(asked)).values == asked
    assert "write-behind" not in parts(lab, lab.clients[0])
    # A client of a single server logs less when it is told of a change.
    for option, value in (
        ("performance.write-behind", "on"),
        ("performance.cache-size", "64MB"),
        ("performance.io-thread-count", "4"),
    ):
        assert labs.set_options(lab, {option: value}).values == {option: value}
    assert "write-behind" in parts(lab, lab.clients[0])
    labs.down(lab.name)


# Options


def test_every_part_of_the_client_can_be_switched_live_and_is_then_there_or_not(copies):
    client = copies.clients[1]
    for option, part in _PARTS.items():
        before = labs.get_options(copies, [option]).values[option]
        for value in ("off", "on"):
            assert labs.set_options(copies, {option: value}).values == {option: value}
            assert (part in parts(copies, client)) is (value == "on"), option
        labs.set_options(copies, {option: before})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("performance.cache-size", "64MB"),
        ("performance.write-behind-window-size", "4MB"),
        ("performance.read-ahead-page-count", "8"),
        ("performance.md-cache-timeout", "10"),
        ("performance.io-thread-count", "8"),
        ("network.frame-timeout", "900"),
    ],
)
def test_an_option_with_a_value_is_read_back(copies, option, value):
    found = labs.set_options(copies, {option: value})
    assert found.values == {option: value} and found.was[option] != value
    assert labs.get_options(copies, [option]).values == {option: value}


def test_options_that_are_none_are_refused_with_the_next_best(copies):
    for given, code, said in (
        ({"performance.wrte-behind": "on"}, "unknown-option", " performance.write-behind"),
        ({"performance.io-thread-count": "many"}, "option-rejected", "io-thread-count"),
        ({"replica": "3"}, "immutable-option", "replica"),
    ):
        with raises(code, InputError) as caught:
            labs.set_options(copies, given)
        assert said in caught.value.message


def test_options_are_set_from_a_client_too_as_an_experiment_does(copies):
    """By the lab's own ssh; a client knows which lab it is in."""
    words = ["lab", "exec", "--lab", "copies", "client1", "iosonde", "lab"]
    done = iosonde(*words, "set", "performance.flush-behind=off")
    assert done.returncode == 0, done.stderr
    words_said = done.stdout.split()
    assert (words_said[:2], words_said[-1]) == (["performance.flush-behind", "off"], "on")
    assert labs.get_options(copies, ["performance.flush-behind"]).values["performance.flush-behind"] == "off"
    assert json.loads(iosonde(*words, "get", "performance.flush-behind", "--json").stdout)["options"]


# Counts


def test_the_servers_count_their_operations_when_they_are_asked_to(copies):
    labs.count_operations(copies, True)
    put(copies, "counted", 8 * MIB)
    found = labs.profile(copies)
    assert [one.server for one in found.servers] == ["server1", "server2"]
    for server in found.servers:
        assert server.written_bytes == 8 * MIB and server.read_bytes == 0
        by_name = {one.operation: one for one in server.operations}
        assert by_name["create"].count == 1 and by_name["write"].count >= 8
        assert sum(one.share for one in server.operations) == pytest.approx(1)
        # Latencies are seconds: none took longer than the file was being written.
        assert 1e-6 < by_name["write"].min_s <= by_name["write"].mean_s <= by_name["write"].max_s < 30
    labs.count_operations(copies, True)
    assert all(one.written_bytes == 0 for one in labs.profile(copies).servers)
    labs.count_operations(copies, False)


# Mounts


def test_a_remount_is_a_new_client_that_remembers_nothing(copies):
    client = copies.clients[0]
    first = put(copies, "kept", MIB)
    before = client.processes("glusterfs")
    labs.unmount(copies, ["client1"])
    assert client.run("ls", str(copies.mount_point)) == ""
    assert_problem(with_code(recipe_of(copies).health(copies), "not-mounted"), "not-mounted", host="client1")
    labs.mount(copies, ["client1"])
    assert not set(before) & set(client.processes("glusterfs"))
    assert digest(copies, "kept") == first and recipe_of(copies).health(copies) == []
    with raises("unknown-client", InputError, client="server1"):
        labs.unmount(copies, ["server1"])


def test_a_client_remounts_itself_between_trials(copies):
    before = copies.clients[0].processes("glusterfs"), copies.clients[1].processes("glusterfs")
    done = iosonde("lab", "exec", "--lab", "copies", "client2", "sh", "-c", "iosonde lab unmount && iosonde lab mount")
    assert done.returncode == 0, done.stderr
    after = copies.clients[0].processes("glusterfs"), copies.clients[1].processes("glusterfs")
    assert after[0] == before[0] and after[1] != before[1]


# Faults


def test_a_killed_server_is_said_its_data_is_read_and_its_copy_heals(healthy):
    """K-26: with two copies any server may go; what was written meanwhile is on both afterwards."""
    first = put(healthy, "before", 4 * MIB)
    fault = labs.inflict(healthy, "kill-server", healthy.servers[1])
    assert fault.pids and healthy.servers[1].processes("glusterfsd") == []
    meanwhile = put(healthy, "meanwhile", 4 * MIB)
    assert digest(healthy, "before", 1) == first and digest(healthy, "meanwhile", 1) == meanwhile
    status = labs.status(healthy.name)
    assert status.problem and [one.kind for one in status.faults] == ["kill-server"]
    assert_problem(with_code(status.health, "server-down"), "server-down", host="server2", daemon="brick")
    assert {"copies-differ", "not-connected"} <= set(codes(status.health))
    assert all(one.values["servers"] == "server2" for one in status.health if codes([one]) == ["not-connected"])
    assert labs.placement(healthy, healthy.mount_point / "meanwhile").n_bytes["server2"] == 0

    healing = labs.heal(healthy)
    assert [one.kind for one in healing.undone] == ["kill-server"] and 0 < healing.healed_s < 60
    assert not labs.status(healthy.name).problem
    brick = healthy.servers[1].resolve_path(healthy.servers[1].disk / "brick" / "meanwhile")
    assert hashlib.sha256(brick.read_bytes()).hexdigest() == meanwhile


def test_a_stopped_server_stops_those_that_wait_for_it_until_it_goes_on(healthy):
    client = healthy.clients[0]
    labs.inflict(healthy, "stop", healthy.servers[0])
    file = str(healthy.mount_point / "stopped")
    client.start("sh", "-ec", f'head -c 65536 /dev/zero > "{file}"; sync "{file}"; touch /run/done', log="stopped")
    time.sleep(1)
    assert not client.resolve_path("/run/done").exists()
    assert labs.heal(healthy).healed_s is not None
    healthy.wait("the write goes on", client.resolve_path("/run/done").exists, 20)


def test_a_cut_link_is_mended(healthy):
    labs.inflict(healthy, "cut-link", healthy.servers[1])
    meanwhile = put(healthy, "cut", MIB)
    healthy.wait("clients notice", lambda: any("not connected" in one for one in recipe_of(healthy).health(healthy)))
    assert labs.heal(healthy, limit_s=120).healed_s is not None
    brick = healthy.servers[1].resolve_path(healthy.servers[1].disk / "brick" / "cut")
    assert hashlib.sha256(brick.read_bytes()).hexdigest() == meanwhile


def test_a_client_that_holds_a_copy_reads_it_without_the_network(lab_of):
    """F-31: the first client is a server, too; runs on it are told to be such."""
    words = {"servers": 2, "clients": 2, "clients_on_servers": 1, "name": "holder"}
    lab = lab_of("glusterfs", words, replica=2)
    assert [one.name for one in lab.clients] == ["server1", "client1"]
    assert lab.clients[0].shell("ls /run/disk/").split() == ["brick"]
    assert not lab.clients[1].shell("ls /run/disk 2>/dev/null || :")
    first, received = put(lab, "a", 4 * MIB), []
    labs.remount(lab)
    for number, client in enumerate(lab.clients):
        counter = "sed -n 's/.*eth0: *\\([0-9]*\\).*/\\1/p' /proc/net/dev"
        before = int(client.shell(counter))
        assert digest(lab, "a", number) == first
        received.append(int(client.shell(counter)) - before)
    assert received[0] < MIB < 4 * MIB < received[1]
    labs.down(lab.name)


def test_both_sides_of_a_partition_write_and_nothing_is_lost_or_a_conflict_is_said(healthy):
    """F-02, F-08: what one side alone wrote is on both afterwards; of what both wrote each copy is kept, and told."""
    put(healthy, "both", 1000)
    labs.inflict(healthy, "partition", healthy.servers[1])
    alone = [put(healthy, f"side{one}", 1000, one) for one in (0, 1)]
    twice = [put(healthy, "both", 2000, one) for one in (0, 1)]
    healing = labs.heal(healthy, limit_s=12)
    bricks = [one.resolve_path(one.disk / "brick" / "both") for one in healthy.servers]
    kept = [hashlib.sha256(one.read_bytes()).hexdigest() for one in bricks]
    labs.remount(healthy)
    read = healthy.clients[0].shell(f'cat "{healthy.mount_point}/both" 2>&1 || :')
    right = f"{healthy.servers[1].address}:{healthy.servers[1].disk}/brick"  # somebody has to say so
    healthy.servers[0].run("gluster", "volume", "heal", "lab", "split-brain", "source-brick", right, "/both")
    assert healing.problem
    assert_problem(with_code(healing.health, "split-brain"), "split-brain", files=1)
    assert kept == twice and "Input/output error" in read
    assert [digest(healthy, f"side{one}", 1 - one) for one in (0, 1)] == alone
    assert not labs.heal(healthy, limit_s=30).problem and digest(healthy, "both") == twice[1]


def seconds_to_put(lab, n_bytes: int) -> float:
    begin = time.monotonic()
    put(lab, "timed", n_bytes)
    return time.monotonic() - begin


def test_a_slow_link_and_a_slow_disk_are_as_slow_as_was_asked_for(healthy):
    for kind, rate, server in (("slow-link", "16mbit", 0), ("slow-disk", "2MB/s", 1)):
        labs.inflict(healthy, kind, healthy.servers[server], rate)
        assert seconds_to_put(healthy, 6 * MIB) > 2.5
        assert labs.heal(healthy, healthy.servers[server].name).healed_s is not None
        assert seconds_to_put(healthy, 6 * MIB) < 2.5


def test_a_full_disk_drops_its_copy_in_silence_and_heals_also_where_its_brick_has_ended(healthy):
    labs.inflict(healthy, "fill-disk", healthy.servers[0])
    meanwhile = put(healthy, "full", 4 * MIB)
    assert with_code(recipe_of(healthy).health(healthy), "copies-differ").values["host"] == "server2"
    for brick in recipe_of(healthy).server_processes(healthy, healthy.servers[0]):  # as its own look at the disk does
        healthy.servers[0].run("kill", str(brick))
    assert labs.heal(healthy).healed_s is not None
    brick = healthy.servers[0].resolve_path(healthy.servers[0].disk / "brick" / "full")
    assert hashlib.sha256(brick.read_bytes()).hexdigest() == meanwhile


def test_a_fault_for_a_while_undoes_itself_and_says_how_long_it_took(healthy):
    done = iosonde("lab", "fault", "--lab", "copies", "kill-server", "server1", "--for", "1s", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [one["kind"] for one in told["undone"]] == ["kill-server"] and told["healed_s"] > 0
    assert labs.in_force(healthy) == []


def test_faults_that_cannot_be_are_refused_and_change_nothing(healthy):
    for words, code in (
        (("kill-server", "client1"), "no-server-process"),
        (("fill-disk", "client1"), "host-without-disk"),
        (("slow-disk", "server1"), "rate-mismatch"),
        (("cut-link", "server1", "10mbit"), "rate-mismatch"),
        (("slow-disk", "client1", "1MB/s"), "host-without-disk"),
        (("cut-link", "server9"), "unknown-host"),
        (("slow-link", "server1", "fast"), "invalid-rate"),
        (("slow-link", "server1", "0mbit"), "out-of-range"),
    ):
        kind, name, *rate = words
        with raises(code, InputError):
            labs.inflict(healthy, kind, healthy.host(name), *rate)
        done = iosonde("lab", "fault", "--lab", "copies", *words)
        assert done.returncode in (2, 3), (words, done.stderr)
        assert labs.in_force(healthy) == []
    labs.inflict(healthy, "cut-link", healthy.clients[1])
    with raises("fault-active", InputError, kind="cut-link"):
        labs.inflict(healthy, "cut-link", healthy.clients[1])


# Runs


def test_clients_measure_it_and_the_store_names_what_it_is(copies, tmp_path):
    sizes = ["--large-size", "4MiB", "--small-files", "8", "--repetitions", "1", "--store", tmp_path / "store"]
    done = iosonde("lab", "run", "--lab", "copies", "--nodes", "1,2", *sizes, limit_s=300)
    assert done.returncode == 0, done.stderr
    shown = json.loads(iosonde("show", tmp_path / "store", "--json").stdout)
    assert len(shown["runs"]) == 2 and all(one["complete"] for one in shown["runs"])
    assert copies.clients[0].run("ls", str(copies.mount_point)).count("iosonde-") == 0


def test_an_experiment_sets_options_and_remounts_as_the_page_shows(copies, tmp_path):
    """K-33, K-53: set and read back before each trial, and a new mount, which iosonde sees in the mount table."""
    page = (Path(__file__).parents[4] / "docs" / "lab.md").read_text(encoding="utf-8")
    file = tmp_path / "experiment.yaml"
    file.write_text(re.search(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1])
    before = copies.clients[0].processes("glusterfs")
    done = iosonde("lab", "run", "--lab", "copies", file, "--repetitions", "1", "--store", tmp_path / "s", limit_s=300)
    assert done.returncode == 0, done.stderr
    shown = json.loads(iosonde("show", tmp_path / "s", "--json").stdout)
    assert sorted(one["factors"]["write_behind"] for one in shown["runs"]) == ["off", "on"]
    assert all(one["complete"] for one in shown["runs"])
    assert not set(before) & set(copies.clients[0].processes("glusterfs"))


@pytest.mark.skipif(not Path(ganesha.library("gluster")).exists(), reason="no nfs-ganesha-gluster here")
def test_one_volume_by_nfs(lab_of):
    """What goes through the first server is on both, and the lab says who sends the copies."""
    lab = lab_of("glusterfs", {"clients": 1, "name": "by-nfs"}, options={"access": "nfs"}, replica=2)
    digest = put(lab, "a", 4 * MIB)
    bricks = [one.run("sha256sum", str(one.disk / "brick" / "a")).split()[0] for one in lab.servers]
    assert bricks == [digest] * 2
    assert recipe_of(lab).placement(lab, lab.mount_point / "a") == {"server1": 4 * MIB, "server2": 4 * MIB}
    assert recipe_of(lab).layout(lab).copied_by == "servers" and recipe_of(lab).health(lab) == []
    assert recipe_of(lab).facts(lab)["access"].split()[::2] == ["NFS-Ganesha", "server1"]
    assert "nfs" in lab.clients[0].shell(f"stat -f -c %T {lab.mount_point}; grep {lab.mount_point} /proc/self/mounts")
