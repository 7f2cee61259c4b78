"""``iosonde bound``: text, JSON, columns of DATA, stores, a probe, and what is refused."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

_native = pytest.importorskip("iosonde.engine._native")
from stats_sample import store  # noqa: E402

from iosonde.core.errors import IosondeError  # noqa: E402
from iosonde.core.system_words import OPTIONS  # noqa: E402
from iosonde.model.bound.shares import ABOVE, MARKS, PERHAPS  # noqa: E402
from messages import assert_problem  # noqa: E402
from terminal import command_of  # noqa: E402

command = command_of("bound")

WRITES = str(Path(__file__).parents[1] / "golden" / "data" / "write_by_process_count.csv")


def invoke(*args: str) -> str:
    done = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def document(*args: str) -> dict:
    return json.loads(invoke(*args, "--json"))


def refused(*args: str) -> IosondeError:
    with pytest.raises(IosondeError) as error:
        CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert error.value.exit_code == 2 and error.value.hint
    return error.value


def test_by_hand():
    made = document(
        "--clients",
        "8",
        "--servers",
        "4",
        "--disks",
        "8",
        "--net",
        "117MB/s",
        "--disk",
        "25MB/s",
        "--cpu",
        "0.02s/MB",
        "--data",
        "3GB",
    )
    assert made["s"] == 200e6 and made["limit"] == ["disks"] and made["t"] == 15.0
    assert {t["name"]: t["bytes_per_s"] for t in made["terms"]}["cpu"] == pytest.approx(8 / 2e-8)
    assert len(made["assumptions"]) >= 4 and not re.search(r"\([I]+\)", made["case"]) and made["advice"]


def test_the_text_names_the_limit_the_assumptions_and_what_comes_next():
    args = ("--clients", "1", "--servers", "4", "--disks", "4", "--net", "94.11Mbit/s", "--disk", "40MB/s")
    text, made = invoke(*args), document(*args)
    words = " ".join(text.split())
    assert " 11.2 MiB/s: " in words and "(I)" in words and made["limit"] == ["network_clients"]
    assert made["assumptions"] and all(" ".join(one.split()) in words for one in (*made["assumptions"], made["case"]))
    assert max(map(len, text.splitlines())) < 80


def test_every_measurement_of_a_table_gets_its_share():
    made = document(WRITES, "--net", "94.11Mbit/s", "--response", "write_kb_s", "--by", "fs", "--unit", "kB/s")
    shares = {row["by"]["fs"]: row for row in made["rows"]}
    assert shares["NFS"]["share"] == pytest.approx(10280.1 / 11763.75)
    assert shares["CASTOR"]["share_low"] < shares["CASTOR"]["share"] < shares["CASTOR"]["share_high"]
    assert not any(row["verdict"] for row in made["rows"])
    assert made["s"] == pytest.approx(11.76375e6) and made["limit"] == ["network_clients", "network_servers"]
    assert shares["NFS"]["n"] == 10 and shares["AFS"]["n"] == 9


def test_a_unit_in_doubt_is_said():
    args = (WRITES, "--net", "94.11Mbit/s", "--response", "write_kb_s", "--by", "fs")
    assert " 1024" in " ".join(invoke(*args).split()) and "1024" not in invoke(*args, "--unit", "kB/s")
    assert document(*args)["missing"] == ["disks"]


def test_above_the_bound_is_flagged_with_its_interval(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("n,rate_MB/s\n1,9\n1,10\n1,11\n2,30\n2,30.1\n2,30.2\n4,41\n4,40\n4,42\n")
    made = document(str(path), "--clients", "n", "--servers", "8", "--net", "10MB/s", "--response", "rate_MB/s")
    assert [(row["s"], row["verdict"]) for row in made["rows"]] == [(1e7, None), (2e7, ABOVE), (4e7, PERHAPS)]
    assert made["s"] is None
    table, *_ = invoke(
        str(path), "--clients", "n", "--servers", "8", "--net", "10MB/s", "--response", "rate_MB/s"
    ).split("\n\n")
    assert [line.split()[-1] for line in table.splitlines()[2:]] == [MARKS[ABOVE], MARKS[PERHAPS]]
    words = ("--clients", "n", "--servers", "8", "--net", "10MB/s", "--response", "rate_MB/s")
    for where, said in (
        ((), r"\b1 of 3 [a-z ]+, 1 "),
        (("--where", "n=2"), r"\b1 of 1 [a-z ]+:"),
        (("--where", "n=4"), r"\b1 of 1 [a-z ]+:"),
    ):
        assert re.search(said, " ".join(invoke(str(path), *words, *where).split()))


def test_times_of_known_data_are_rates_too(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("rep,time_ms\n1,1000\n2,1000\n3,2000\n")
    made = document(str(path), "--net", "10MB/s", "--data", "10MB", "--response", "time_ms", "--by", "")
    assert made["rows"][0]["share"] == pytest.approx((1 + 1 + 0.5) / 3)


def test_a_store_gives_its_nodes_and_its_operations(tmp_path):
    store(tmp_path / "s")
    made = document(str(tmp_path / "s"), "--servers", "4", "--net", "2.5GB/s", "--disks", "4", "--disk-read", "1GB/s")
    assert [(row["operation"], row["by"]["nodes"]) for row in made["rows"]] == [
        ("read_1to1_large", 1),
        ("read_1to1_large", 2),
    ]
    assert [row["s"] for row in made["rows"]] == pytest.approx([2.5e9, 4e9])
    assert made["rows"][0]["share"] == pytest.approx(0.8, abs=0.03)


def probe(tmp_path, **changes) -> str:
    def of(value):
        return {"value": value, "low": 0.9 * value, "high": 1.2 * value, "level": 0.95, "n": 6, "warnings": []}

    made = {
        "version": 1,
        "warnings": [],
        "pairs": [{"medium": "network", "bandwidth": of(1e8), "bandwidth_back": of(0.8e8)}],
        "nodes": [
            {
                "cores": 4,
                "disk_write": of(2e8),
                "disk_read": of(3e8),
                "memory_copy_all_cores": of(1e10),
                "cpu_write": of(4e-9),
                "cpu_read": of(8e-9),
            }
        ],
    }
    path = tmp_path / "probe.json"
    path.write_text(json.dumps(made | changes))
    return str(path)


def test_a_probe_gives_the_slowest_of_everything_with_intervals(tmp_path):
    made = document("--probe", probe(tmp_path), "--clients", "2", "--servers", "2", "--disks", "2")
    assert (made["s"], made["s_low"], made["s_high"]) == pytest.approx((1.6e8, 1.44e8, 1.92e8))
    terms = {t["name"]: t["bytes_per_s"] for t in made["terms"]}
    assert terms["cpu"] == pytest.approx(2 * 4 / 4e-9) and terms["disks"] == 4e8 and terms["memory_copy"] == 2e10
    assert "(137–183)" in invoke("--probe", probe(tmp_path), "--clients", "2", "--servers", "2", "--disks", "2")
    by_hand = document("--probe", probe(tmp_path), "--net", "50MB/s", "--disks", "1")
    assert by_hand["s"] == 5e7


def test_the_disk_that_one_node_probed_is_taken_for_the_only_one(tmp_path):
    made = document("--probe", probe(tmp_path))
    assert {t["name"]: t["bytes_per_s"] for t in made["terms"]}["disks"] == pytest.approx(2e8)
    nfs = ["the target is nfs: its 'disk' is the servers', their caches and the network in between"]
    assert "disks" in document("--probe", probe(tmp_path, warnings=nfs))["missing"]
    assert "disks" in document("--probe", probe(tmp_path), "--servers", "2")["missing"]


def of(value: float) -> dict:
    return {"value": value, "low": value, "high": value, "level": 0.95, "n": 6, "warnings": []}


def server(host: str, write: float, read: float, disks: int = 1) -> dict:
    return {
        "host": host,
        "disks": [{"dir": f"/d{n}", "disk_write": of(write), "disk_read": of(read)} for n in range(disks)],
    }


MOUNTED = {"own_disk": False, "filesystem": "fuse.glusterfs"}


def test_what_was_probed_on_a_mounted_file_system_is_no_disk(tmp_path):
    """One client's rate through the file system, divided by the copies again, gave bounds of half the truth."""
    path = probe(tmp_path, **MOUNTED)
    made = document("--probe", path, "--clients", "2", "--servers", "2", "--disks", "2", "--replicas", "2")
    assert made["missing"] == ["disks"] and made["s"] == pytest.approx(2 * 0.8e8 / 2)
    args = ("--probe", path, "--clients", "2", "--servers", "2")
    assert document(*args)["limit"] == ["network_clients", "network_servers"]
    assert document(*args)["missing"] == ["disks"]
    assert "probe --servers HOSTS --disk-dir DIR" in " ".join(invoke(*args).split())


def test_a_probe_of_clients_says_nothing_of_the_servers_links(tmp_path):
    made = document("--probe", probe(tmp_path, **MOUNTED), "--clients", "4")
    assert made["s"] == pytest.approx(4 * 0.8e8) and made["missing"] == ["network_servers", "disks"]
    text = invoke("--probe", probe(tmp_path, **MOUNTED), "--clients", "4")
    assert text.startswith("write: 4 clients\n") and "--servers and --net" in " ".join(text.split())


def test_disks_that_were_probed_on_the_servers_are_the_disks(tmp_path):
    path = probe(tmp_path, **MOUNTED, servers=[server("s1", 3e7, 5e7, 2), server("s2", 2e7, 6e7, 2)])
    made = document("--probe", path, "--clients", "8")
    terms = {t["name"]: t["bytes_per_s"] for t in made["terms"]}
    assert terms["disks"] == pytest.approx(4 * 2e7) and terms["network_servers"] == pytest.approx(2 * 0.8e8)
    assert made["limit"] == ["disks"] and not made["missing"]
    assert re.match(r".*\b2 .*\b4 ", made["warnings"][0])
    assert document("--probe", path, "--disks", "8", "--servers", "4", "--clients", "8")["s"] == pytest.approx(16e7)
    read = document("--probe", path, "--clients", "8", "--operation", "read")
    assert {t["name"]: t["bytes_per_s"] for t in read["terms"]}["disks"] == pytest.approx(4 * 5e7)


def test_a_disk_by_hand_comes_before_the_probed_one(tmp_path):
    made = document("--probe", probe(tmp_path), "--disks", "1", "--disk", "1MB/s")
    assert made["s"] == 1e6


def test_a_probe_of_a_disk_of_its_own_knows_no_network_to_miss(tmp_path):
    made = document("--probe", probe(tmp_path, own_disk=True, filesystem="xfs", pairs=[]))
    assert made["limit"] == ["disks"] and made["s"] == 2e8 and not made["missing"]


CLUSTER = """
name: a cluster by hand
today:
  clients: 4
  servers: 2
  disks: 8
  network: 100MB/s
  disk: 60MB/s
"""


@pytest.mark.parametrize(
    ("redundancy", "clients", "servers", "disks"),
    [
        ("", 400, 200, 480),
        ("redundancy: client, replicas: 2", 200, 100, 240),  # N·I/r, M·I/r, P·R/r
        ("redundancy: chained, replicas: 2", 400, 100, 240),  # N·I, M·I/r, P·R/r
        ("redundancy: erasure, data_chunks: 4, parity_chunks: 2", 400 / 1.5, 200 / 1.5, 480 / 1.5),  # (k+m)/k = 1.5
    ],
)
def test_a_cluster_by_hand_and_in_a_file_and_as_a_mapping_obeys_the_laws(tmp_path, redundancy, clients, servers, disks):
    from iosonde.commands.bound.answer import bound
    from iosonde.commands.bound.inputs import SystemDescription, read_inputs
    from iosonde.data.query import ResponseQuery

    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER + "".join(f"  {word}\n" for word in redundancy.split(", ") if word))
    terms = {t["name"]: t["bytes_per_s"] / 1e6 for t in document("--cluster", str(path))["terms"]}
    assert terms == pytest.approx({"network_clients": clients, "network_servers": servers, "disks": disks})
    told = {"clients": 4, "servers": 2, "disks": 8, "network": "100MB/s", "disk": "60MB/s"}
    told |= dict(word.split(": ") for word in redundancy.split(", ") if word)
    made = bound(None, read_inputs(SystemDescription(cluster=told), None, 0.95), ResponseQuery())
    assert {t.name: t.bytes_per_s / 1e6 for t in made.alone.terms} == pytest.approx(terms)


def test_what_is_said_by_hand_comes_before_the_cluster_and_that_before_the_probe(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER + "  redundancy: client\n  replicas: 2\n")
    both = ("--cluster", str(path), "--probe", probe(tmp_path, **MOUNTED, servers=[server("s1", 1e6, 1e6)]))
    assert document(*both)["s"] == 100e6
    assert document(*both, "--net", "50MB/s", "--replicas", "1")["s"] == 100e6
    assert document(*both, "--disk-write", "10MB/s")["s"] == 40e6
    assert "memory_copy" in {t["name"] for t in document(*both)["terms"]}  # which only the probe knows


def test_a_range_in_the_cluster_is_an_interval_of_the_bound(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text("today: {clients: 4, servers: 4, network: [90MB/s, 100MB/s, 110MB/s], cpu: [1ns/B, 2ns/B, 3ns/B]}")
    made = document("--cluster", str(path))
    assert (made["s"], made["s_low"], made["s_high"]) == (4e8, 3.6e8, 4.4e8)
    slow = document("--cluster", str(path), "--net", "10GB/s")
    assert (slow["s"], slow["s_low"], slow["s_high"]) == pytest.approx((2e9, 4 / 3e-9, 4e9))


def test_a_cluster_file_that_describes_no_cluster_is_refused(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text("cpus: {a: {points: 1, watts: 2}}")
    assert_problem(refused("--cluster", str(path)), "no-cluster")
    path.write_text("today: {clients: 4, nework: 1MB/s}")
    assert "nework" in str(refused("--cluster", str(path)))


def probed_run(number: int, experiment: str, hosts: list[str], found: dict, machine: str = "fuse.glusterfs"):
    from iosonde.core.hardware import SOURCE
    from iosonde.core.types import Run

    facts = {
        "hosts": hosts,
        "nodes": [*range(len(hosts))],
        "target": "/mnt" if hosts else "",
        "machine": {"mount": {"type": machine}},
        "probe": {"pairs": [], "tcp": [], "nodes": [], **found},
    }
    return Run(
        f"{experiment}-{number}",
        experiment,
        SOURCE,
        f"2026-11-21T1{number}:00:00Z",
        1.0,
        {"nodes": len(hosts), "repetition": 0},
        [],
        facts,
    )


def test_clients_and_servers_that_were_probed_apart_are_taken_together(tmp_path):
    from iosonde.store import Store

    node = {
        "host": "a",
        "rank": 0,
        "cores": 2,
        "disk": {"write": 9e6, "read": 9e6, "way": "x"},
        "copy_one": 1e9,
        "copy_all": 2e9,
        "cpu": {"write": 1e-9, "read": 1e-9},
    }
    disk = {"dir": "/d", "filesystem": "xfs", "write": 3e7, "read": 3e7, "way": "x"}
    held = Store.create(tmp_path / "p")
    held.append(probed_run(0, "clients", ["a"], {"nodes": [node]}))
    assert document("--probe", str(tmp_path / "p"))["limit"] != ["disks"]
    held.append(probed_run(1, "servers", [], {"servers": [{"host": "s", "disks": [disk]}]}))
    made = document("--probe", str(tmp_path / "p"))
    found = {t["name"]: t["bytes_per_s"] for t in made["terms"]}
    assert found == pytest.approx({"cpu": 2e9, "disks": 3e7, "memory_copy": 2e9})


def test_a_store_that_knows_a_probe(tmp_path):
    from iosonde.core.hardware import SOURCE
    from iosonde.core.types import Run
    from iosonde.store import Store

    held = Store.create(tmp_path / "p")
    for repetition, rate in enumerate((190e6, 200e6, 210e6)):
        node = {
            "host": "a",
            "rank": 0,
            "cores": 2,
            "disk": {"write": rate, "read": rate, "way": "x"},
            "copy_one": 1e9,
            "copy_all": 2e9,
            "cpu": {"write": 1e-9, "read": 1e-9},
        }
        facts = {"hosts": ["a"], "nodes": [0], "probe": {"pairs": [], "nodes": [node]}}
        held.append(
            Run(
                id=f"p-{repetition}",
                experiment="p",
                source=SOURCE,
                started_at="2026-11-21T10:00:00Z",
                seconds=1.0,
                factors={"nodes": 1, "repetition": repetition},
                observations=[],
                facts=facts,
            )
        )
    made = document("--probe", str(tmp_path / "p"), "--disks", "1")
    assert made["limit"] == ["disks"] and made["s"] == pytest.approx(200e6)
    assert made["s_low"] == pytest.approx(200e6 - 4.303 * 10e6 / 3**0.5, rel=1e-3)
    store(tmp_path / "without")
    assert_problem(refused("--probe", str(tmp_path / "without")), "no-probe")


def test_memory_that_holds_the_data_is_warned_of():
    made = document("--net", "94Mbit/s", "--data", "512MiB", "--client-memory", "512MiB", "--server-memory", "100MiB")
    assert len(made["warnings"]) == 1 and "client" in made["warnings"][0]


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["--net", "117"], "--net"),
        (["--net", "117Mb/s"], "--net"),
        (["--disks", "x", "--net", "1MB/s"], "--disks"),
        (["--servers", "4", "--disks", "2", "--disk", "8MB/s"], "P/M"),
        (["--erasure", "4", "--net", "1MB/s"], "--erasure"),
        (["--erasure", "4+2", "--redundancy", "client"], "--erasure"),
        ([WRITES, "--net", "nowhere"], "--net"),
        (["--where", "a=1", "--net", "1MB/s"], "DATA"),
        (["--probe", "/nowhere"], "/nowhere"),
        (["--clients", "1.5", "--net", "1MB/s"], "--clients: '1.5'"),
        (["--stripe", "inf", "--net", "1MB/s"], "--stripe: 'inf'"),
        (["--replicas", "nan", "--net", "1MB/s"], "--replicas: 'nan'"),
        (["--net", f"{'9' * 400}MB/s"], "--net"),
        (["--erasure", "²+1", "--net", "1MB/s"], "--erasure"),
        (["--latency", "2ms", "--net", "1MB/s"], "--request"),
        (["--queue-depth", "2", "--net", "1MB/s"], "--latency"),
        (["--metadata-rate", "9", "--net", "1MB/s"], "--file-size"),
        (["--files", "9", "--net", "1MB/s"], "--stripe"),
        (["--placement", "random", "--net", "1MB/s"], "--stripe"),
        (["--chunk", "1MiB", "--net", "1MB/s"], "--erasure"),
        (["--redundancy", "client", "--net", "1MB/s"], "--replicas"),
        (["--copies", "2", "--net", "1MB/s"], "--memory-copy"),
    ],
)
def test_bad_input_names_the_option(args, word):
    assert word in refused(*args).message + refused(*args).hint


@pytest.mark.parametrize(
    ("args", "code", "values"),
    [
        ([], "no-limiting-term", {}),
        (["--servers", "4", "--disks", "2", "--disk", "8MB/s"], "too-few-disks", {"disks": 2, "servers": 4}),
        (["--stripe", "9", "--servers", "4", "--net", "1MB/s"], "stripe-too-wide", {"stripe_count": 9, "servers": 4}),
        ([WRITES, "--net", "1MB/s", "--response", "processes", "--by", "fs"], "no-rate-column", {}),
        (["--net", "1MB/s", "--against", "servers"], "option-requires-plot", {"option": "--against"}),
        (["--plot-kind", "waterfall", "--against", "servers", "--plot", "a.png"], "option-requires-plot", {}),
        (["--net", "1MB/s", "--plot-kind", "waterfall"], "option-requires-plot", {"option": "--plot-kind"}),
    ],
)
def test_what_cannot_be_is_refused(args, code, values):
    assert_problem(refused(*args), code, **values)


@pytest.mark.parametrize(
    ("row", "args", "word"),
    [
        ("-3,1", (), "line 2, column 'rate_MiB/s': -3 "),
        ("0,1", ("--unit", "s", "--data", "1GB"), "line 2, column 'rate_MiB/s': 0 "),
        ("3,x", ("--clients", "link"), "column 'link': 'x'"),
        ("3,117", ("--client-net", "link"), "column 'link': '"),
        ("3,1.5", ("--servers", "link"), "column 'link': '1.5'"),
    ],
)
def test_rows_that_cannot_be_are_named(tmp_path, row, args, word):
    (tmp_path / "t.csv").write_text(f"rate_MiB/s,link\n{row}\n")
    error = refused(str(tmp_path / "t.csv"), "--response", "rate_MiB/s", "--net", "1MB/s", "--by", "link", *args)
    assert word in error.message and error.hint


def test_a_time_of_nothing_is_no_rate(tmp_path):
    (tmp_path / "t.csv").write_text("time_s,a\n0,1\n")
    error = refused(str(tmp_path / "t.csv"), "--response", "time_s", "--by", "a", "--net", "1MB/s", "--data", "1GB")
    assert error.code == "out-of-range" and "line 2" in error.message


def test_the_unit_that_is_given_says_a_time_too(tmp_path):
    (tmp_path / "t.csv").write_text("elapsed,a\n4,1\n")
    made = document(
        str(tmp_path / "t.csv"), "--response", "elapsed", "--by", "a", "--net", "1GB/s", "--unit", "s", "--data", "1GB"
    )
    assert made["rows"][0]["mean"] == 1e9 / 4


def test_a_column_keeps_its_unit(tmp_path):
    (tmp_path / "t.csv").write_text("rate_MiB/s,request_KiB,wait_ms\n3,64,2\n")
    made = document(
        str(tmp_path / "t.csv"),
        "--response",
        "rate_MiB/s",
        "--by",
        "wait_ms",
        "--request",
        "request_KiB",
        "--latency",
        "wait_ms",
    )
    assert made["s"] == pytest.approx(65536 / 0.002)


@pytest.mark.parametrize(
    "many", [("--servers", "1e300"), ("--clients", "1e300"), ("--servers", "1e300", "--clients", "1e300")]
)
def test_chance_is_not_computed_for_more_than_there_can_be(many):
    """A division by zero, and numbers too large for the binomial distribution, were tracebacks."""
    known = {"--client-net": "117MB/s", "--stripe": "1", "--servers": "3", "--clients": "3", "--placement": "random"}
    known |= dict(zip(many[::2], many[1::2], strict=True))
    assert refused(*(word for pair in known.items() for word in pair)).code == "over-limit"


def test_a_probe_that_is_none_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("[1]")
    assert "probe" in refused("--probe", str(tmp_path / "x.json")).message
    assert refused("--probe", probe(tmp_path, pairs=[], nodes=[])).code == "no-limits"


_GOOD = {
    "parse_count": ["1", "2.5", "1e5"],
    "parse_integer": ["1", "3", "16"],
    "parse_rate": ["117MB/s", "1Gbit/s", "1e-300B/s", "1e300B/s"],
    "parse_link_rate": ["993mbit", "117MB/s", "1Gbit/s", "1e-300B/s", "1e300B/s"],
    "parse_per_byte": ["0.02s/MB", "0s/MB"],
    "parse_seconds": ["2ms", "0"],
    "parse_bytes": ["4KiB", "1GB", "0"],
}
_WILD = ["0", "-1", "nan", "inf", "", "x", "1e400", "1e300", "9" * 400, "²"]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_options_end_in_an_answer_or_in_a_sentence(data):
    args = []
    for flag in data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=7, unique=True)):
        args += [flag, data.draw(st.sampled_from(_GOOD[OPTIONS[flag][1].__name__]) | st.sampled_from(_WILD))]
    for flag, values in (
        ("--erasure", ["4+2", "0+1", "²+1"]),
        ("--placement", ["random"]),
        ("--data", ["3GB", "9" * 300]),
    ):
        args += [flag, data.draw(st.sampled_from(values))] if data.draw(st.booleans()) else []
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            made = document(*args)
        except IosondeError as error:
            assert error.message and error.exit_code == 2
        else:
            assert 0 < made["s"] < float("inf") and made["limit"]


def test_several_probes_the_first_that_knows_a_field_tells_it(tmp_path):
    data = Path(__file__).parents[1] / "golden" / "data" / "bound-tools"
    second = tmp_path / "netperf.txt"
    second.write_text((data / "netperf.txt").read_text().replace("94.11", "9411"))
    both = ["--clients", "4", "--servers", "2", "--disks", "2", "--server-memory", "512MiB"]
    for place in (data / "netperf.txt", second, data / "iozone.txt"):
        both += ["--probe", str(place)]
    assert document(*both)["s"] == pytest.approx(2 * 94.11e6 / 8)
    assert document(*both, "--net", "10GB/s")["s"] == pytest.approx(2 * 24990 * 1024)
