"""``iosonde summary`` of a table and of a store, as text and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("iosonde.engine._native")
from stats_sample import MEAN, run, store  # noqa: E402

from iosonde.commands.summary import text as summary_text  # noqa: E402
from iosonde.commands.summary.answer import Summary  # noqa: E402
from iosonde.commands.summary.answer import summary as summary_of  # noqa: E402
from iosonde.core.errors import DataError, InputError  # noqa: E402
from iosonde.core.table import build_table  # noqa: E402
from iosonde.core.types import Estimate  # noqa: E402
from iosonde.data.query import ResponseQuery  # noqa: E402
from iosonde.data.source import open_data  # noqa: E402
from iosonde.stats.overview import overview  # noqa: E402
from iosonde.stats.overview.cells import MeasuredCells, TrialCell  # noqa: E402
from iosonde.stats.overview.types import Overview, OverviewLatency  # noqa: E402
from messages import raises
from terminal import command_of

explain = command_of("explain")
summary = command_of("summary")

SERVER = "server1: no answer"
CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")
WRITES = str(Path(CP).parent / "write_by_process_count.csv")


def invoke(*args: str) -> str:
    done = CliRunner().invoke(summary, list(args), catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def as_json(*args: str) -> dict:
    return json.loads(invoke(*args, "--json"))


def test_the_published_cp_means_with_their_right_intervals():
    groups = as_json(CP, "--response", "real_s", "--by", "replicas", "--level", "0.9")["groups"]
    assert [g["by"] for g in groups] == [{"replicas": 1}, {"replicas": 2}, {"replicas": 3}]
    assert [g["mean"] for g in groups] == pytest.approx([199.1125, 218.2625, 211.225])
    assert [(g["mean_low"], g["mean_high"]) for g in groups] == [
        pytest.approx(interval, abs=1e-3)
        for interval in [(186.325626, 211.899374), (195.206673, 241.318327), (198.070061, 224.379939)]
    ]
    keys = {"by", "metric", "unit", "n", "mean", "sd", "mean_low", "mean_high", "median", "median_low", "median_high"}
    assert keys <= set(groups[0]) and groups[0]["harmonic_mean"] is None


PUBLISHED_MEANS = {
    "write_by_record_size.csv": {"NFS": 11045.444444, "AFS": 5234.888889, "PVFS": 10489.0, "CASTOR": 10580.111111},
    "write_by_process_count.csv": {"NFS": 10280.1, "AFS": 8636.666667, "PVFS": 10717.9, "CASTOR": 11317.9},
}


@pytest.mark.parametrize("name", PUBLISHED_MEANS)
def test_published_tables_with_a_missing_cell(name):
    made = as_json(str(Path(CP).parent / name), "--response", "write", "--by", "fs")
    assert {g["by"]["fs"]: g["mean"] for g in made["groups"]} == pytest.approx(PUBLISHED_MEANS[name], abs=1e-3)
    sizes = [g["n"] for g in made["groups"]]
    assert sizes == ([9] * 4 if "record" in name else [10, 9, 10, 10])
    assert bool(made["warnings"]) == ("process" in name)
    assert all(g["harmonic_mean"] < g["mean"] for g in made["groups"])
    # The network carries 94.11 Mbit/s: nothing that was written is above it.
    bound = 94.11e6 / 8 / 1024
    assert bound == pytest.approx(11488.037109, abs=1e-5)
    assert all(g["mean_high"] is not None and g["mean"] < bound for g in made["groups"])


def test_text_fits_a_terminal_and_ends_with_a_sentence():
    text = invoke(CP, "--response", "real", "--by", "replicas")
    assert max(map(len, text.splitlines())) < 80
    assert re.findall(r"\d+ [%a-z]+", text.splitlines()[0]) == ["95 %", "8 trials"]
    assert text.splitlines()[-1].endswith(".")


def test_what_was_measured_and_what_was_set_is_found_in_a_table_as_by_plot_and_rank(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "fs,n,real (s)\n" + "".join(f"{fs},{n},{n}.{k}3{n}\n" for fs in "ab" for n in (1, 2) for k in "1234")
    )
    found, named = as_json(str(path)), as_json(str(path), "--response", "real (s)", "--by", "fs,n")
    assert found["groups"] == named["groups"] and len(found["groups"]) == 4
    assert re.search(r"^~ data: real \(s\) by fs, n$", invoke(str(path)), re.MULTILINE)
    assert [row["by"] for row in as_json(str(path), "--by", "n")["groups"]] == [{"n": 1}, {"n": 2}]
    assert as_json(str(path), "--response", "real (s)")["groups"] == found["groups"], "nothing is pooled unasked"


@pytest.mark.parametrize("args", [["--response", "real_s", "--by", "replica"], ["--response", "none"]])
def test_a_wrong_or_missing_column_is_refused_with_the_right_ones(args):
    with pytest.raises((InputError, DataError)) as refused:
        CliRunner().invoke(summary, [CP, *args], catch_exceptions=False, standalone_mode=False)
    assert "re" in refused.value.hint


def test_where_trials_share_a_bring_up_the_head_counts_bring_ups(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{up % 2},{up},{10 * up + n}" for up in range(1, 9) for n in range(3)]
    path.write_text("\n".join(["copies,bring_up,rate", *rows]) + "\n")
    assert " 4 bring-ups " in invoke(str(path), "--response", "rate", "--by", "copies").splitlines()[0]
    assert as_json(str(path), "--response", "rate", "--by", "copies")["n_counts"] == "bring-ups"


def test_missing_values_are_counted_and_a_hidden_column_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "x,version,y\n" + "".join(f"1,{v},{y}\n" for v, y in zip("aaabbb", [1, 2, "", 3, 4, 5], strict=True))
    )
    made = as_json(str(path), "--response", "y", "--by", "x")
    assert re.findall(r"\b\d+\b", made["warnings"][0].replace(str(path), "")) == ["1", "6", "4"]
    assert [f["code"] for f in made["findings"]] == ["S101", "S110"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("summary") / "store"
    store(path)
    return str(path)


def test_a_store_needs_no_response_and_n_counts_trials(measured):
    made = as_json(measured)
    assert [(g["operation"], g["by"]["nodes"]) for g in made["groups"]] == list(MEAN)
    for group in made["groups"]:
        assert (group["n"], group["metric"].endswith("_last_done")) == (6, True)
        truth = MEAN[group["operation"], group["by"]["nodes"]]
        assert group["mean_low"] < truth < group["mean_high"]
        assert group["harmonic_mean"] < group["mean"]


def test_latency_is_per_trial_and_hides_the_tail_it_did_not_see(measured):
    latency = as_json(measured)["latency"]
    p50, p99, p999 = latency[:3]
    assert (p50["operation"], p50["kind"], p50["n"]) == ("create", "create", 6)
    assert p50["duration_low"] < 1e-4 < p50["duration_high"]
    assert p99["duration"] == pytest.approx(2e-4, rel=0.2)
    assert p999["duration"] is None and "operations per trial" in p999["warnings"][0]


def test_latency_is_of_what_was_asked_for(measured):
    assert {one["operation"] for one in as_json(measured, "--response", "create")["latency"]} == {"create"}
    assert {one["operation"] for one in as_json(measured, "--response", "log(create)")["latency"]} > {"create"}


def test_columns_that_were_asked_for_have_no_durations_beside_them(measured):
    assert "durations" in invoke(measured) and "durations" not in invoke(measured, "--columns", "nodes")


def test_a_percentile_that_no_operation_tells_and_a_factor_that_none_has_are_no_columns(measured):
    told = summary_of(open_data(measured), ResponseQuery())
    unknown = [
        replace(
            item,
            by={**item.by, "x": None},
            duration=replace(item.duration, value=None) if item.percentile > 0.9 else item.duration,
        )
        for item in told.overview.latency
    ]
    overview = replace(told.overview, latency=unknown, by=(*told.overview.by, "x"))
    text = "\n".join(summary_text.lines(replace(told, overview=overview)))
    headers = text[text.index("durations of operations") :].splitlines()[1]
    assert headers.split() == ["nodes", "p50", "interval"]


def test_efficiency_against_one_node(measured):
    by_operation = {e["operation"]: e for e in as_json(measured)["efficiency"]}
    assert by_operation["create"]["efficiency"] == pytest.approx(0.95, abs=0.03)
    assert by_operation["read_1to1_large"]["efficiency_high"] < 0.6


def test_text_of_a_store(measured):
    text = invoke(measured)
    assert re.findall(r"\d+ [%a-z]+", text.splitlines()[0]) == ["95 %", "6 trials"]
    assert max(map(len, text.splitlines())) < 80
    assert "read_1to1_large, GiB/s" in text and "repetition" not in text
    assert as_json(measured)["sentence"] in " ".join(text.split())


def sentence(tmp_path: Path, nodes: dict[int, list[float]]) -> str:
    path = tmp_path / "t.csv"
    path.write_text(
        "nodes,rate (op/s)\n" + "".join(f"{k},{value}\n" for k, values in nodes.items() for value in values)
    )
    made: str = as_json(str(path), "--response", "rate", "--by", "nodes")["sentence"]
    return made


def test_the_sentence_claims_only_what_the_trials_tell(tmp_path):
    steady = [99.0, 100, 101, 100, 99.5, 100.5]
    told = sentence(tmp_path, {1: steady, 2: [2 * value for value in steady]})
    assert " ± " in told and told.endswith(" linear.")
    wild = sentence(tmp_path, {1: [50.0, 150], 2: [90.0, 260]})
    assert "1 node" not in wild and not {"linear", "best", "worst"} & set(re.findall(r"\w+", wild))


def on_scaling(tmp_path: Path, speed: dict[tuple[int, str], float]) -> str:
    """The sentence of four trials about each speed, by nodes and file system."""
    rows = [f"{k},{fs},{v * factor}" for (k, fs), factor in speed.items() for v in (99, 100, 101, 100)]
    (tmp_path / "t.csv").write_text("\n".join(["nodes,fs,rate (op/s)", *rows]) + "\n")
    return as_json(str(tmp_path / "t.csv"), "--response", "rate", "--by", "nodes,fs")["sentence"]


def test_the_sentence_on_scaling_names_the_setting_and_no_efficiency_is_0_that_is_none(tmp_path):
    said = on_scaling(tmp_path, {(1, "a"): 1.0, (2, "a"): 2.0, (1, "b"): 1000.0, (2, "b"): 6.0})
    assert re.search(r" fs=a \w+ best \(efficiency 1\.00, ", said)
    assert re.search(r" fs=b worst \(0\.0030, 0\.0030 to 0\.0030: slower ", said)


def test_what_gains_nothing_on_more_nodes_is_not_said_to_scale_best(tmp_path):
    said = on_scaling(tmp_path, {(1, "a"): 10.0, (2, "a"): 6.0, (1, "b"): 1000.0, (2, "b"): 6.0})
    assert re.search(r" fs=b \(0\.0030, .* slower ", said)
    assert "best (" not in said


def test_other_clocks_are_other_metrics(measured):
    assert {g["metric"] for g in as_json(measured, "--clock", "sum_of_ranks")["groups"]} == {
        "rate_sum_of_ranks",
        "bandwidth_sum_of_ranks",
    }
    assert len(as_json(measured, "--clock", "all")["groups"]) == 8
    assert {g["metric"] for g in as_json(measured, "--clock", "rate_last_done")["groups"]} == {"rate_last_done"}
    with pytest.raises(DataError):
        CliRunner().invoke(summary, [measured, "--clock", "x"], catch_exceptions=False, standalone_mode=False)


def test_ranks_are_no_trials_even_when_a_response_is_named(measured):
    asked = [measured, "--response", "value", "--by", "operation,nodes", "--where"]
    with pytest.raises(InputError):  # a rate and a bandwidth are never one cell
        CliRunner().invoke(summary, [*asked, "operation=create"], catch_exceptions=False, standalone_mode=False)
    assert [g["n"] for g in as_json(*asked, "metric=rate_last_done")["groups"]] == [6, 6]
    with pytest.raises(InputError):
        CliRunner().invoke(summary, [*asked, "metric=rate_own"], catch_exceptions=False, standalone_mode=False)


def test_where_holds_for_runs_and_rows(measured):
    made = as_json(measured, "--where", "nodes=2", "--where", "operation=create")
    assert [(g["operation"], g["n"]) for g in made["groups"]] == [("create", 6)]


def test_incomplete_runs_are_said_and_left_out(tmp_path):
    made = store(tmp_path / "s", repetitions=2)
    import numpy as np

    made.append(run(2, 9, np.random.default_rng(0), missing=["create: not finished by rank 1"]))
    out = as_json(str(tmp_path / "s"))
    assert {g["n"] for g in out["groups"]} == {2}
    assert [f["code"] for f in out["findings"]] == ["S101", "S102"]


def test_an_empty_store_says_so(tmp_path):
    from iosonde.store import Store

    Store.create(tmp_path / "s")
    assert not as_json(str(tmp_path / "s"))["groups"] and "--incomplete" in invoke(str(tmp_path / "s"))


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n\x1b[31mred,1\n\x1b[31mred,2\n")
    assert "\x1b" not in invoke(str(path), "--response", "y", "--by", "x")


def test_explain_prints_the_page_or_the_nearest_code():
    assert CliRunner().invoke(explain, ["s104"]).stdout.startswith("S104: cache ")
    assert "S101: " in CliRunner().invoke(explain, []).stdout
    with pytest.raises(InputError):
        CliRunner().invoke(explain, ["S999"], catch_exceptions=False, standalone_mode=False)


@pytest.mark.parametrize(("unit", "cut"), [("bytes/s", True), ("K", False)])
def test_the_interval_of_a_rate_is_cut_at_zero_and_says_so(unit, cut):
    row = overview.build_overview_row(TrialCell({}, "y", unit, np.array([1.0, 1.0, 40.0])), 0.95)
    assert (row.mean.low == 0) == cut
    assert (row.mean.low < 0) != cut
    assert any("cut" in warning for warning in row.mean.warnings) == cut


def test_what_is_the_same_in_all_rows_of_a_run_is_not_counted_row_by_row(measured):
    with raises("ambiguous-metric"):
        CliRunner().invoke(summary, [measured, "--response", "nodes"], catch_exceptions=False, standalone_mode=False)


def test_the_harmonic_mean_of_iterations_in_one_run_counts_that_run():
    row = overview.build_overview_row(TrialCell({}, "y", "bytes/s", np.array([1.0, 1.2, 1.1]), within_run=True), 0.95)
    assert row.harmonic_mean.n == row.mean.n == 1
    assert any(re.search(r"\bone\s+run\b", warning) for warning in row.harmonic_mean.warnings)


def test_a_cache_that_varied_is_said_of_reads_alone():
    rows = [(op, "warm" if trial % 3 else "cold-verified", trial) for trial in range(6) for op in ("create", "read_x")]
    table = build_table(
        {
            "run": [f"r{trial}" for _, _, trial in rows],
            "operation": [op for op, _, _ in rows],
            "metric": ["rate_last_done"] * len(rows),
            "unit": ["operations/s"] * len(rows),
            "rank": [None] * len(rows),
            "value": [100.0 + trial for _, _, trial in rows],
            "started_at": [f"2026-01-0{t + 1}" for _, _, t in rows],
            "client_cache": [cache for _, cache, _ in rows],
        }
    )
    cells = tuple(
        TrialCell({}, str(key[1]), "operations/s", table.numbers("value")[at], str(key[0]), at)
        for key, at in table.groups(["operation", "metric"])
    )
    assert overview.find_hidden_in_store(MeasuredCells(cells, table, ())) == {"client_cache": ["read_x"]}


def test_the_harmonic_mean_of_rates_is_named_where_it_differs(tmp_path):
    four = "a,10,1\na,40,9\n" * 2
    (tmp_path / "r.csv").write_text(f"fs,rate (MB/s),t_s\n{four}b,20,2\nb,20.1,8\nc,10,1\nc,40,2\n")
    text = CliRunner().invoke(summary, [str(tmp_path / "r.csv"), "--response", "rate", "--by", "fs"]).stdout
    said = " ".join(text.split())
    assert re.search(r"16\.0 \([0-9.e-]+–[0-9.e+]+\) MB/s \(fs=a\)", said), "with its interval"
    harmonic = said[said.index("harmonic") : said.index("~ ")]
    assert "(fs=b)" not in harmonic and "(fs=c)" not in harmonic, "neither the mean nor an interval over decades"
    other = CliRunner().invoke(summary, [str(tmp_path / "r.csv"), "--response", "t_s", "--by", "fs"]).stdout
    assert "harmonic" not in other, "times add up: their mean is the arithmetic one"


def test_a_column_for_each_file_system_in_the_unit_that_was_asked_for():
    """The table of the talk: processes by file system, a cell without a number stays one."""
    text = invoke(WRITES, "--columns", "fs")
    head, first, *_ = text.split("write, kb/s: by fs\n")[1].splitlines()
    assert head.split() == ["processes", "NFS", "AFS", "PVFS", "CASTOR"] and first.split()[1] == "10400"
    assert [line.split()[:4] for line in text.splitlines() if line.split()[:1] == ["4"]] == [["4", "10300", "~", "-"]]
    mib = invoke(WRITES, "--columns", "fs", "--unit", "MiB/s")
    assert re.search(r"^write, MiB/s \(.*1000.*\): by fs$", mib, re.MULTILINE) and "9.89 ~" in mib  # 10372 KB/s
    assert max(map(len, (text + mib).splitlines())) < 80


def test_columns_without_room_are_in_a_table_below(tmp_path):
    path = tmp_path / "t.csv"
    names = [f"filesystem-{n}" for n in range(9)]
    rows = [f"{name},{size},{100 + t}\n" for name in names for size in (1, 2) for t in range(2)]
    path.write_text("fs,size,write_MB/s\n" + "".join(rows))
    text = invoke(str(path), "--columns", "fs")
    heads = [line.split()[1:] for line in text.splitlines() if line.startswith("size  ")]
    assert len(heads) == 2 and sum(heads, []) == names
    assert "100 ± 6" in text and max(map(len, text.splitlines())) < 80


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--columns", "f"), "unknown-factor"),
        (("--unit", "parsec/s"), "unknown-unit"),
        (("--response", "processes", "--unit", "KB/s"), "no-rate-column"),
    ],
)
def test_what_cannot_be_a_column_or_a_unit_is_said(options, code):
    with raises(code):
        invoke(WRITES, *options)


def test_quantiles_are_said_where_the_trials_are_enough(tmp_path):
    table = tmp_path / "t.csv"
    rows = [f"{mode},{value}" for mode, n in (("few", 5), ("some", 12), ("many", 40)) for value in range(1, n + 1)]
    table.write_text("\n".join(["mode,time (s)", *rows]) + "\n")
    words = (str(table), "--response", "time", "--by", "mode", "--quantiles")
    groups = {one["by"]["mode"]: one for one in as_json(*words)["groups"]}
    told = {name: [q["share"] for q in one["quantiles"] if q["low"] is not None] for name, one in groups.items()}
    assert told == {"few": [], "some": [0.25, 0.75], "many": [0.1, 0.25, 0.75, 0.9]}
    assert all((q["value"] is None) == (q["low"] is None) for one in groups.values() for q in one["quantiles"])
    assert groups["some"]["ecdf"][2] == [3.0, 0.25] and groups["few"]["geometric_mean"]["n"] == 5
    assert groups["some"]["geometric_mean"]["value"] == pytest.approx(np.exp(np.mean(np.log(np.arange(1, 13)))))
    text = invoke(*words)
    assert "p25" in text and max(map(len, text.splitlines())) < 80
    assert "quantiles" not in as_json(*words[:-1])["groups"][0]


def test_quantiles_of_values_below_zero_have_no_geometric_mean(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("mode,time (s)\n" + "".join(f"a,{value}\n" for value in range(-6, 6)))
    words = (str(table), "--response", "time", "--by", "mode", "--quantiles")
    assert as_json(*words)["groups"][0]["geometric_mean"]["value"] is None
    assert "geometric" not in invoke(*words).split("efficiency")[0].partition("~")[0]


def test_a_response_with_wide_numbers_does_not_spread_out_the_others(tmp_path):
    """Each has columns by record where its own numbers leave room for them."""
    lines = ["fs,record,write_KB/s,moved"]
    for fs in ("nfs", "afs", "pvfs", "castor"):
        for record in (64, 128, 256):
            lines += [f"{fs},{record},{5000 + 97 * n},{54321098.7 * (n + 1)}" for n in range(4)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines))
    words = [str(path), "--by", "fs,record", "--unit", "KB/s", "--response"]
    text = CliRunner().invoke(summary, [*words, "write_KB/s,moved"]).stdout
    assert max(map(len, text.splitlines())) < 80
    alone = CliRunner().invoke(summary, [*words, "write_KB/s"]).stdout
    block = alone[alone.index("write, KB/s") : alone.index("  n 4")]
    assert "record=64" in block and block in text, "as it is alone"
    assert text.count("median") > alone.count("median"), "the other one has a line a cell, with medians"
    assert re.search(r"\b6 trials\b.*\bmedian\b", text)


def test_a_logarithm_is_called_what_it_is(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("fs,write (MiB/s)\na,10\na,11\nb,20\nb,21\n")
    done = CliRunner().invoke(summary, [str(path), "--response", "log(write)", "--by", "fs"])
    assert "\nlog(write)\n" in done.output


def test_levels_stand_in_their_order_where_settings_are_not_a_full_grid(tmp_path):
    path = tmp_path / "sparse.csv"
    path.write_text("nodes,t,rate\n1,64k,1\n1,1m,2\n2,256k,3\n2,64k,3\n")
    lines = invoke(str(path), "--response", "rate", "--by", "nodes,t").splitlines()
    assert [line.split()[0] for line in lines[4:7]] == ["64", "256", "1"], lines


def test_factors_that_leave_no_room_stand_above_the_cells_that_share_their_levels(tmp_path):
    """A number for each setting would be told by lines further down, or by none that is shown."""
    lines = ["file_system,file_size (bytes),record_size (bytes),well,write (bytes/s)"]
    for system in ("glusterfs", "nfs", "openafs"):
        for size in (2**23, 2**25):
            for record in (2**16, 2**20, 2**24):
                lines += [f"{system},{size},{record},{SERVER},{7e6 + record + n * 3e5}" for n in range(3)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(lines))
    text = invoke(str(path), "--response", "write", "--by", "file_system,file_size,record_size,well", "--all")
    table = text[: text.index("harmonic") if "harmonic" in text else text.index("~ needs")]
    assert max(map(len, text.splitlines())) < 80
    assert "…" not in table
    assert f"write, MiB/s: file_size=8 MiB, well={SERVER}" in table.splitlines()
    assert sum(line.startswith("glusterfs") for line in table.splitlines()) == 6


def test_calls_too_few_for_a_percentile_are_counted_and_not_listed():
    """Of three settings one has calls enough for a median, and none for more."""
    latencies = [
        OverviewLatency("write", "write", {"size": size}, p, n, Estimate(known, None, None, 0.95, 1))
        for size, n, median in (("4k", 100, 0.001), ("8m", 4, None), ("16m", 2, None))
        for p, known in ((0.5, median), (0.99, None))
    ]
    made = Overview((), tuple(latencies), (), (), "", 0.95, ("size",), (), {})
    text = list(summary_text.lines(Summary(made)))
    assert any(line.startswith("durations ") for line in text)
    assert "p99" not in "".join(text)
    assert [line.split()[0] for line in text if "1.00" in line] == ["4k"]
    assert any(re.search(r"\bwrite \(2 settings\)", line) for line in text)


def test_levels_wider_than_a_terminal_are_broken_above_their_cells(tmp_path):
    rows = [f"{'x' * 150}{n},r{m},{100 + n + m + k}" for n in range(3) for m in range(4) for k in range(3)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["system,mode,rate (op/s)", *rows]))
    table = invoke(str(path), "--response", "rate", "--by", "system,mode", "--all").partition("\n~ ")[0]
    assert max(map(len, table.splitlines())) < 80
    assert all(f"{'x' * 150}{n}" in table.replace("\n", "") for n in range(3))


def test_effects_on_a_logarithm_are_ratios_of_what_it_is_of(tmp_path):
    noise = np.random.default_rng(4)
    lines = ["fs,n,mib_s"]
    for n in (1, 16, 256):
        for fs, factor in (("a", 1.0), ("b", 1.05)):
            lines += [f"{fs},{n},{40 * n * factor * np.exp(noise.normal(0, 0.01))}" for _ in range(6)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    summary = summary_of(open_data(str(path)), ResponseQuery(("log(mib_s)",), ("fs", "n")))
    (effects,) = [story.effects for story in summary.overview.stories]
    assert {effect.name for effect in effects.significant} == {"fs", "n"} and not effects.negligible
    widest = max((row.mean.high - row.mean.low) / 2 for row in summary.overview.rows)
    assert f"± {100 * np.expm1(widest):.2g} %" in summary.overview.sentence
