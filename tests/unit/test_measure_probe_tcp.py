"""TCP between nodes: who streams to whom, what iperf3 says, and how it is shown."""

from __future__ import annotations

import os
import subprocess
import threading
from types import SimpleNamespace

import pytest

import thread_ranks
from iosonde.campaign.probe import list_probe_warnings, summarise_repetitions
from iosonde.commands.probe import text as text_of
from iosonde.measure.probe import repetition
from iosonde.measure.probe import tcp as probe_tcp
from iosonde.stats.overview import hardware
from messages import codes


def facts(*links):
    nodes = [{"host": f"n{i + 1}", "rank": i, "cores": 2, "copy_one": 5e9, "copy_all": 8e9} for i in range(3)]
    pair = {"a": 0, "b": 1, "sweep": [[8, 1e-6]], "forth": 2e9, "back": 2e9, "sent_bytes": 10, "crossed_bytes": 10}
    return {
        "hosts": ["n1", "n2", "n3"],
        "nodes": [0, 1, 2],
        "probe": {"pairs": [pair], "tcp": list(links), "nodes": nodes},
    }


def link(a, b, forth=1e9, error=""):
    return {"a": a, "b": b, "forth": forth, "back": 8e8, "error": error, "outputs": ["{1}", "{2}"]}


def test_every_node_streams_to_the_next_one_and_none_twice():
    assert [probe_tcp.pair_neighbours(n) for n in (1, 2, 3)] == [[], [(0, 1)], [(0, 1), (1, 2), (0, 2)]]
    assert len({tuple(sorted(pair)) for pair in probe_tcp.pair_neighbours(32)}) == 32


def test_tcp_is_a_table_a_factor_rows_and_raw_output():
    one = facts(link(0, 1, 9e8), link(1, 2))
    made = hardware.summarise_probe([one, facts()], 0.95)
    assert [(each["hosts"], each["bandwidth"].value, each["bandwidth"].n) for each in made["tcp"]] == [
        (["n1", "n2"], 9e8, 1),
        (["n2", "n3"], 1e9, 1),
    ]
    assert hardware.find_slowest_parts(made)["tcp_bandwidth"] == 8e8
    text = "\n".join(text_of.lines(summarise_repetitions([one, facts()], 0.95)))
    assert "n2 → n1" in text
    assert any("1.86 GiB/s" in line and "763 MiB/s" in line for line in text.splitlines())
    assert all(len(line) < 80 for line in text.splitlines())
    found = one["probe"]
    assert {
        (row.operation, row.rank) for row in repetition.results_to_observations(found) if row.operation[:3] == "tcp"
    } == {
        ("tcp_to_1", 0),
        ("tcp_to_0", 1),
        ("tcp_to_2", 1),
        ("tcp_to_1", 2),
    }
    assert repetition.get_iperf3_outputs(found)["iperf3-0001-0002-back.json"] == b"{2}"


def test_a_link_that_failed_is_a_warning_and_no_number():
    one = facts(link(0, 1, error="iperf3 is not on n2"))
    made = hardware.summarise_probe([one], 0.95)
    assert made["tcp"] == []
    assert "tcp_bandwidth" not in hardware.find_slowest_parts(made)
    assert any(made["tcp_error"] in warning for warning in list_probe_warnings(made, {}))
    assert not [row for row in repetition.results_to_observations(one["probe"]) if row.operation[:3] == "tcp"]


FAKE_IPERF3 = """#!/bin/sh
case "$*" in
*--server*) echo "$*" > "$LOG.server"; echo "Server listening on 1"; exec sleep 60 ;;
*) echo "$*" >> "$LOG"; cat <<'END'
{0}
END
;;
esac
"""


@pytest.fixture
def iperf3(tmp_path, monkeypatch):
    """Put a program of this name first on PATH that prints so."""

    def prints(text):
        program = tmp_path / "iperf3"
        program.write_text(FAKE_IPERF3.format(text))
        program.chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    return prints


@pytest.mark.parametrize(
    ("printed", "rate", "error"),
    [
        ('{"end": {"sum_received": {"bits_per_second": 8e9}}}', 1e9, ""),
        ('{"error": "unable to connect to server:\\nConnection refused"}', 0, "to server: Connection refused"),
        ("{}", 0, "cannot read its output (exit code 0)"),
        ("[]", 0, "cannot read its output (exit code 0)"),
        ("Segmentation fault", 0, "cannot read its output (exit code 0)"),
        (
            '{"end": {"sum_received": {"bits_per_second": 1' + "0" * 400 + "}}}",
            0,
            "cannot read its output (exit code 0)",
        ),
        ('{"end": {"sum_received": {"bits_per_second": 0}}}', 0, "it reports that 0 bytes/s arrived"),
        ('{"end": {"sum_received": {"bits_per_second": -8}}}', 0, "it reports that -1 bytes/s arrived"),
        ('{"end": {"sum_received": {"bits_per_second": NaN}}}', 0, "it reports that nan bytes/s arrived"),
        ('{"end": {"sum_received": {"bits_per_second": 1e999}}}', 0, "it reports that inf bytes/s arrived"),
        ('{"end": {"sum_received": {"bits_per_second": null}}}', 0, "cannot read its output (exit code 0)"),
    ],
)
def test_what_iperf3_says_is_a_rate_or_a_reason(iperf3, tmp_path, printed, rate, error):
    iperf3(printed)
    output, found, why = probe_tcp.run_iperf3_client("10.0.0.2", 5000, 2**20, True)
    assert (output.strip(), found) == (printed, rate)
    assert error in why and bool(error) == bool(why)
    assert "--client 10.0.0.2 --port 5000 --bytes 1048576 --json" in (tmp_path / "log").read_text()


def test_a_server_says_its_port_once_it_listens(iperf3, tmp_path, monkeypatch):
    iperf3("{}")
    server, port = probe_tcp.start_server()
    with server:
        assert 0 < port < 65536
        server.kill()
    assert (tmp_path / "log.server").read_text().split() == [
        "--server",
        "--one-off",
        "--port",
        str(port),
        "--forceflush",
    ]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert probe_tcp.start_server() == (None, 0)
    assert codes(probe_tcp.run_iperf3_client("10.0.0.2", 0, 1, False)[2:]) == ["server-not-started"]


class FakeServer:
    """Stands in for an iperf3 that has listened; it ends when it is waited for, or does not."""

    def __init__(self, hangs=False):
        self.hangs, self.calls = hangs, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.calls.append("closed")

    def wait(self, limit_s):
        self.calls.append(limit_s)
        if self.hangs:
            raise subprocess.TimeoutExpired("iperf3", limit_s)

    def kill(self):
        self.calls.append("killed")


@pytest.fixture
def links(monkeypatch):
    """Measure the links of ranks on hosts without iperf3: each server has its own port, a client reports its call."""

    def measure(hosts, answer=lambda port, backwards: (f"{port}", port * 1e6, ""), lacking=(), hangs=False):
        asked, servers, ports = [], [], iter(range(5001, 5100))

        def start():
            servers.append(FakeServer(hangs))
            return servers[-1], next(ports)

        def run(address, port, size, backwards):
            asked.append((address, port, size, backwards))
            return answer(port, backwards)

        monkeypatch.setattr(probe_tcp, "start_server", start)
        monkeypatch.setattr(probe_tcp, "run_iperf3_client", run)
        monkeypatch.setattr(probe_tcp.shutil, "which", lambda _: lacking_here())
        here = threading.local()

        def lacking_here():
            return None if here.name in lacking else "/bin/iperf3"

        def program(ranks):
            here.name = ranks.hosts[ranks.rank].name
            return probe_tcp.measure_all_links(ranks, [f"10.0.0.{rank}" for rank in range(ranks.size)], 1e7)

        return thread_ranks.run_ranks(thread_ranks.on_hosts(*hosts), program), asked, servers

    return measure


def test_each_link_is_measured_in_both_directions_by_a_server_each(links):
    (found, *others), asked, servers = links(["n1", "n2", "n3"])
    size = 3_000_000  # 0.3 s of 10 MB/s
    # Link after link; the server is at the second rank, and the client of the first connects to its port.
    assert asked == [
        ("10.0.0.1", 5001, size, False),
        ("10.0.0.1", 5002, size, True),
        ("10.0.0.2", 5003, size, False),
        ("10.0.0.2", 5004, size, True),
        ("10.0.0.2", 5005, size, False),
        ("10.0.0.2", 5006, size, True),
    ]
    rows = [
        {"a": a, "b": b, "forth": port * 1e6, "back": (port + 1) * 1e6, "outputs": (f"{port}", f"{port + 1}")}
        for a, b, port in ((0, 1, 5001), (0, 2, 5005), (1, 2, 5003))
    ]
    assert found == [{**row, "error": ""} for row in rows]
    assert others == [[], []]
    assert [server.calls for server in servers] == [[probe_tcp.ENDS_S, "closed"]] * 6


def test_ranks_of_one_node_have_no_link_and_a_stream_has_its_least_size(links, monkeypatch):
    assert links(["n1", "n1"])[:2] == ([[], []], [])
    monkeypatch.setattr(probe_tcp, "STREAM_S", 1e-3)
    found, asked, _ = links(["n1", "n1", "n2"])
    assert [(row["a"], row["b"]) for row in found[0]] == [(0, 2), (1, 2)]
    assert {size for _, _, size, _ in asked} == {2**20}


def test_the_first_link_that_fails_ends_the_tests_and_a_server_nobody_reaches_is_ended(links):
    def answer(port, backwards):
        return ("", 0.0, "refused") if port == 5002 else ("out", 1e6, "")

    (found, *_), asked, servers = links(["n1", "n2", "n3"], answer, hangs=True)
    assert found == [
        {"a": 0, "b": 1, "forth": 0.0, "back": 0.0, "outputs": (), "error": "iperf3 from n1 to 10.0.0.1: refused"}
    ]
    assert len(asked) == 2
    assert [server.calls for server in servers] == [[probe_tcp.ENDS_S, "killed", "closed"]] * 2


def test_nothing_is_measured_if_a_node_lacks_the_program(links):
    found, asked, _ = links(["n1", "n2", "n3"], lacking=("n2", "n3"))
    assert [(row["a"], row["b"], row["error"]) for row in found[0]] == [(0, 1, "iperf3 is not on n2")]
    assert asked == []
    assert links(["n1", "n1"], lacking=("n1",))[0] == [[], []], "nothing is lacking where nothing is to be measured"


def test_a_server_stays_until_the_peer_says_that_its_test_is_over(monkeypatch):
    calls, server = [], FakeServer()
    ranks = SimpleNamespace(
        send=lambda data, peer: calls.append(("send", int.from_bytes(data, "little"), peer)),
        receive=lambda data, peer: calls.append(("receive", len(data), peer, list(server.calls))),
    )
    monkeypatch.setattr(probe_tcp, "start_server", lambda: (server, 5003))
    probe_tcp._serve_test(ranks, 4)
    assert calls == [("send", 5003, 4), ("receive", 1, 4, [])] and server.calls == [probe_tcp.ENDS_S, "closed"]
    monkeypatch.setattr(probe_tcp, "start_server", lambda: (None, 0))
    probe_tcp._serve_test(ranks, 4)
    assert calls[2:] == [("send", 0, 4), ("receive", 1, 4, [probe_tcp.ENDS_S, "closed"])]


def test_a_client_that_does_not_answer_or_is_not_there(monkeypatch):
    asked = []

    def fail(words, limit_s, in_child):
        asked.append((words, limit_s))
        raise asked_error[0]

    monkeypatch.setattr(probe_tcp, "run_program", fail)
    asked_error = [subprocess.TimeoutExpired("iperf3", 30)]
    output, rate, why = probe_tcp.run_iperf3_client("n2", 5, 9, False)
    assert (output, rate) == ("", 0.0) and codes([why]) == ["no-response"] and why.values["limit_s"] == 30.0
    words = ["iperf3", "--client", "n2", "--port", "5", "--bytes", "9", "--json", "--connect-timeout", "5000"]
    assert asked == [(words, 30.0)]
    asked_error[0] = OSError(2, "no")
    assert codes(probe_tcp.run_iperf3_client("n2", 5, 9, True)[2:]) == ["no-response"]
    assert asked[1][0] == [*words, "--reverse"]


def test_a_long_error_is_cut_and_an_empty_one_is_none(iperf3):
    iperf3('{"error": "%s"}' % ("x" * 300))
    assert probe_tcp.run_iperf3_client("n2", 5, 9, True)[2] == "x" * 200
