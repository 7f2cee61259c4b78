"""``iosonde scale``: the keys that others rely on, the text, and wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stats_sample
from click.testing import CliRunner

from iosonde.core.errors import DataError, InputError, IosondeError
from messages import raises
from terminal import command_of

scale = command_of("scale")

PROCESSES = str(Path(__file__).parents[1] / "golden" / "data" / "write_by_process_count.csv")
ARGS = (PROCESSES, "--on", "processes", "--response", "write_kb_s", "--by", "fs")


def invoke(*args: str) -> str:
    return CliRunner().invoke(scale, list(args), catch_exceptions=False, standalone_mode=False).stdout


def csv(tmp_path, text: str) -> str:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    return str(path)


def test_json_has_every_promised_key():
    made = json.loads(invoke(*ARGS, "--where", "fs=NFS", "--at", "20,1000", "--json"))
    assert {"schema", "level", "on", "series", "warnings"} <= set(made)
    series = made["series"][0]
    assert {"response", "unit", "by", "sizes", "change", "regimes", "predictions", "sentences", "warnings"} <= set(
        series
    )
    assert (series["by"], series["unit"], series["change"]) == ({"fs": "NFS"}, "kb/s", None)
    law = series["regimes"][0]["laws"][1]
    assert {"law", "formula", "identifiable", "why", "parameters", "aicc", "delta_aicc", "misfit_p"} == set(law)
    assert set(law["parameters"]) == {"rate_of_one", "contention", "ceiling"}
    assert [p["kind"] for p in series["predictions"]] == ["extrapolated", "scenario"]
    assert {"size", "n", "rate", "rate_low", "rate_high", "per_one"} <= set(series["sizes"][0])


def test_ten_processes_of_one_node_bring_nothing_on_nfs():
    made = json.loads(invoke(*ARGS, "--where", "fs=NFS", "--json"))
    laws = {one["law"]: one["parameters"] for one in made["series"][0]["regimes"][0]["laws"]}
    assert laws["amdahl"]["contention"]["low"] > 1, "ten are slower than one"
    assert made["verdicts"][0]["claim"].startswith("Amdahl") and made["series"][0]["sentences"][0] in " ".join(
        invoke(*ARGS, "--where", "fs=NFS").split()
    )


def test_a_missing_value_is_left_out_and_said():
    result = CliRunner().invoke(scale, [*ARGS, "--where", "fs=AFS"], standalone_mode=False)
    assert "1 of 10 " in result.stdout


def test_text_fits_a_terminal_and_ends_with_a_sentence():
    text = invoke(*ARGS, "--at", "20,10000")
    assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")


def test_far_outside_the_text_says_value_and_reason_for_one_law_as_for_several(tmp_path):
    rows = [f"{n},{min(100 * n, 400) * f}" for n in (1, 2, 4, 8, 16) for f in (0.99, 1, 1.01)]
    one = csv(tmp_path, "nodes,MB/s\n" + "\n".join(rows) + "\n")
    for args in ((one, "--response", "MB/s", "--at", "160"), (*ARGS, "--where", "fs=NFS", "--at", "100")):
        (prediction,) = json.loads(invoke(*args, "--json"))["series"][0]["predictions"]
        text = invoke(*args)
        (row,) = [line for line in text.splitlines() if "scenario" in line and line.strip()[0].isdigit()]
        assert prediction["fit_low"] is None and row.split()[1] != "~", row
        assert prediction["warnings"][0].split(":")[0] in " ".join(text.split())


def test_the_highest_of_several_series_is_per_node_and_no_advice(tmp_path):
    rows = [f"{n},{rw},{rate * n * f}" for rw, rate in (("read", 90), ("write", 40)) for n in (1, 2) for f in (1, 1.01)]
    path = csv(tmp_path, "nodes,rw,MiB/s\n" + "\n".join(rows) + "\n")
    text = " ".join(invoke(path, "--response", "MiB/s", "--by", "rw").split())
    assert "rw" in text.split("MiB/s")[-1], "only where it can be chosen"


def test_of_a_store_every_rate_is_a_series(tmp_path):
    stats_sample.store(tmp_path / "s")
    made = json.loads(invoke(str(tmp_path / "s"), "--json"))
    assert [series["response"] for series in made["series"]] == [
        "create rate_last_done",
        "read_1to1_large bandwidth_last_done",
    ]
    efficiency = made["series"][0]["sizes"][1]
    assert efficiency["efficiency_low"] < 0.95 < efficiency["efficiency_high"]


@pytest.mark.parametrize(
    ("text", "args", "error", "code"),
    [
        ("nodes,mib_s\n4,10\n4,11\n", ("--response", "mib_s"), DataError, "nothing-varies"),
        ("nodes,mib_s\n1,10\n2,0\n", ("--response", "mib_s"), DataError, "not-a-rate"),
        ("nodes,mib_s\n1.5,10\n2,3\n", ("--response", "mib_s"), DataError, "invalid-node-count"),
        ("nodes,mib_s\n1,10\n2,3\n", ("--response", "mib_s", "--at", "x"), InputError, "not-a-count-list"),
        ("nodes,mib_s\n1,10\n2,3\n", ("--response", "mib_s", "--by", "nodes"), InputError, "duplicate-column"),
        ("fs,mib_s\nx,10\ny,3\n", ("--response", "mib_s"), InputError, "missing-option"),
    ],
)
def test_wrong_input_is_one_sentence(tmp_path, text, args, error, code):
    with raises(code, error):
        invoke(csv(tmp_path, text), *args)


NETWORK = ("--station", "client=5ms:delay", "--station", "disk=2ms:4", "--station", "server=0.5ms:16queues")


def test_a_network_by_hand_has_every_promised_key():
    made = json.loads(
        invoke(*NETWORK, "--at", "1,10000", "--operations-per-phase", "10", "--arrivals", "100", "--json")
    )
    assert set(made) == {"schema", "stations", "bottleneck", "bottlenecks", "network", "open"}
    assert [station["kind"] for station in made["stations"]] == ["delay", "queue", "queues"]
    assert made["bottleneck"] == "disk"
    one, many = made["network"]
    assert one["rate"] == pytest.approx(1 / 7.5e-3) and one["of_linear"] == pytest.approx(1)
    assert many["rate"] == pytest.approx(2000, rel=1e-3)
    assert {"clients", "rate", "response_s", "rate_low", "rate_high", "exact", "stations", "phase"} <= set(many)
    assert {"seconds", "mean_s", "rate", "waiting"} <= set(many["phase"])
    assert made["open"][1]["utilisation"] == pytest.approx(0.05)


def test_a_network_names_what_limits_and_what_it_would_need():
    text = invoke(*NETWORK, "--at", "1,64,10000", "--operations-per-phase", "100")
    assert max(map(len, text.splitlines())) < 80
    assert "2.00 kop/s" in " ".join(text.split())
    assert json.loads(invoke(*NETWORK, "--at", "1", "--json"))["bottlenecks"] == ["disk"]


def test_stations_that_serve_the_same_limit_together():
    network = ("--station", "disk=2ms:4", "--station", "server=0.5ms", "--station", "cpu=0.4ms", "--at", "1,100")
    text = " ".join(invoke(*network).split())
    assert "2.00 kop/s" in text and "cpu" in text
    assert json.loads(invoke(*network, "--json"))["bottlenecks"] == ["disk", "server"]


def test_more_arrivals_than_can_be_served_grow_without_end():
    words = ("--station", "disk=2ms", "--arrivals")
    (steady,), (endless,) = (json.loads(invoke(*words, rate, "--json"))["open"] for rate in ("400", "600"))
    assert steady["residence_s"] == pytest.approx(0.01) and endless["residence_s"] is None


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ((), "missing-data"),
        ((PROCESSES, *NETWORK), "conflicting-options"),
        ((PROCESSES, "--response", "write_kb_s", "--arrivals", "5"), "option-requires-option"),
        (NETWORK, "missing-option"),
        ((*NETWORK, "--at", "2000000"), "out-of-range"),
        ((*NETWORK, "--at", "1", "--spread", "2"), "missing-option"),
        (("--station", "disk", "--at", "1"), "invalid-option-value"),
        (("--station", "disk=2ms:4:4", "--at", "1"), "invalid-option-value"),
        (("--station", "disk=fast", "--at", "1"), "invalid-duration"),
        (("--station", "disk=2ms:0", "--at", "1"), "out-of-range"),
        (("--station", "client=2ms:delay", "--at", "1"), "no-queueing-station"),
        (("--station", "disk=2ms", "--arrivals", "-1"), "not-a-rate"),
    ],
)
def test_a_wrong_network_is_one_sentence(args, code):
    with raises(code):
        invoke(*args)


def test_a_figure_of_trials_laws_and_predictions(tmp_path):
    invoke(*ARGS, "--where", "fs=NFS", "--at", "20,100", "--plot", str(tmp_path / "f.svg"))
    drawn = (tmp_path / "f.svg").read_text()
    assert "Amdahl" in drawn and "fs=NFS" in drawn and "min-law" not in drawn


@pytest.mark.parametrize(("name", "code"), [("f.bmp", "unknown-file-format"), ("nowhere/f.png", "unwritable-file")])
def test_a_figure_that_cannot_be_written_is_said(tmp_path, name, code):
    with raises(code):
        invoke(*ARGS, "--where", "fs=NFS", "--plot", str(tmp_path / name))


@pytest.mark.parametrize("option", [("--by", "fs"), ("--of-time",), ("--as-stations", "1"), ("--plot", "f.svg")])
def test_options_of_data_are_refused_where_stations_are_given(option):
    with raises("option-requires-data", option=option[0]):
        invoke("--station", "disk=3ms", "--at", "4", *option)


def queue_table(tmp_path, largest: int = 32) -> str:
    """One server that needs 0.5 ms, clients that think for 4 ms: create_ops/s, and the same in 64 KiB writes."""
    from iosonde.model.queues.queueing import Kind, Station, solve_network

    stations = [Station("client", 4e-3, 1, Kind.DELAY), Station("server", 5e-4)]
    rows = ["nodes,create_ops/s,write_MiB/s,number"]
    for n in (1, 2, 4, 8, 16, 32):
        rate = solve_network(stations, n).rate
        rows += [f"{n},{rate * f},{rate * f / 16},{rate * f}" for f in (0.99, 1.0, 1.01) if n <= largest]
    (tmp_path / "q.csv").write_text("\n".join(rows) + "\n")
    return str(tmp_path / "q.csv")


@pytest.mark.parametrize(("response", "size"), [("create_ops/s", "1"), ("write_MiB/s", "64KiB")])
def test_the_law_of_one_queue_gives_the_stations_it_came_from(tmp_path, response, size):
    args = (queue_table(tmp_path), "--response", response, "--as-stations", size)
    found = json.loads(invoke(*args, "--json"))["series"][0]["demands"]
    assert found["server_s"]["low"] < 5e-4 < found["server_s"]["high"]
    assert found["alone_s"]["low"] < 4.5e-3 < found["alone_s"]["high"]
    assert found["client_s"] == pytest.approx(4e-3, rel=0.02)
    (line,) = [line for line in invoke(*args).splitlines() if line.startswith("--station client=")]
    again = json.loads(invoke(*line.split(), "--at", "8", "--json"))["network"][0]["rate"]
    assert again == pytest.approx(8 / (4.5e-3) * 0.9, rel=0.2)


def test_no_stations_without_a_ceiling_that_was_reached(tmp_path):
    (tmp_path / "l.csv").write_text("nodes,create_ops/s\n" + "".join(f"{n},{100 * n}\n" for n in (1, 2, 4, 8, 16)))
    args = (str(tmp_path / "l.csv"), "--response", "create_ops/s", "--as-stations", "1")
    series = json.loads(invoke(*args, "--json"))["series"][0]
    assert series["demands"] is None and series["why_no_demands"] in " ".join(invoke(*args).split())


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--response", "create_ops/s", "--as-stations", "4k"), "unit-mismatch"),
        (("--response", "write_MiB/s", "--as-stations", "0"), "invalid-size"),
        (("--response", "number", "--as-stations", "1"), "missing-unit"),
    ],
)
def test_wrong_sizes_of_stations_are_one_sentence(tmp_path, args, code):
    with raises(code):
        invoke(queue_table(tmp_path), *args)


@pytest.mark.parametrize("args", [("--spread", "nan", "--operations-per-phase", "2"), ("--as-stations", "1")])
def test_a_network_by_hand_refuses_what_it_cannot_use(args):
    with pytest.raises(IosondeError):
        invoke("--station", "disk=2ms", "--at", "4", *args)


def test_the_only_factor_that_counts_is_taken_and_several_are_named(tmp_path):
    answer = json.loads(invoke(csv(tmp_path, "n,mbs\n1,10\n2,19\n4,36\n1,11\n2,18\n4,35\n"), "--json"))
    assert answer["on"] == "n"
    rows = "".join(
        f"{n},{copies},{100 * n * copies + trial}\n" for n in (1, 2, 4) for copies in (1, 2) for trial in (0, 1)
    )
    with raises("missing-option", InputError, columns="n, copies"):
        invoke(csv(tmp_path, "n,copies,mbs\n" + rows))
