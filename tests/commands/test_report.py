"""`iosonde report` and `iosonde plot` on stores with a known truth, whole and with parts missing."""

import json
import os
import re
import stat
import subprocess

import pytest
import stats_sample
from click.testing import CliRunner

from iosonde.commands.plot import ask
from iosonde.commands.report import timelines
from iosonde.commands.report.axis import Axis, title
from iosonde.commands.report.experiment import open_chosen
from iosonde.commands.report.of_store import build_store_page
from iosonde.commands.report.query import ReportQuery
from iosonde.core.errors import IosondeError
from iosonde.core.stored import StoredRun
from iosonde.core.types import Experiment, Run
from iosonde.store import Store
from terminal import command_of

plot = command_of("plot")
report = command_of("report")

MISSING = "rank 1 died"
FACTS = {
    "order": 0,
    "target": "/mnt/scratch",
    "command": ["iosonde", "run", "--target", "/mnt/my scratch"],
    "software": {"mpi": "MPICH 5"},
    "envelope": {"large_file_size": 2**26, "transfer_size": 2**20, "small_file_size": 4096},
    "machine": {
        "host": {"name": "node-1", "boot_id": "b"},
        "memory": {"total_bytes": 2**34},
        "mount": {"type": "nfs4", "source": "server:/export"},
        "network": [{"name": "eth0", "mtu_bytes": 1500, "driver": None}],
    },
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "store"
    stats_sample.store(path, facts=FACTS)
    return path


def run(command, *words):
    """Exit code as main() gives it, stdout, stderr."""
    result = CliRunner().invoke(command, [str(word) for word in words])
    code = result.exit_code
    if isinstance(result.exception, IosondeError):
        return result.exception.exit_code, result.stdout, result.exception.message
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return code, result.stdout, result.stderr


def page_at(path, experiment=None, where=()):
    source, chosen = open_chosen(str(path), experiment, where)
    return build_store_page(source, chosen, ReportQuery(str(path), again=("iosonde", "report")))


def test_report_writes_one_page_and_says_the_headline(whole, tmp_path):
    code, out, err = run(report, whole, "-o", tmp_path / "page.html")
    assert code == 0
    assert out.startswith("/mnt/scratch reads 2.") and max(map(len, out.splitlines())) < 80
    assert out.endswith("GiB/s from 2 nodes\n")
    html = (tmp_path / "page.html").read_text()
    assert html.lower().startswith("<!doctype") and html.rstrip().endswith("</html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert "page.html" in err


def test_a_long_headline_is_wrapped(tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text(f"nodes,write of {'very ' * 12} large files (MiB/s)\n1,2\n1,3\n2,4\n2,4.5\n")
    code, out, _ = run(report, path, "-o", tmp_path / "page.html")
    assert code == 0 and len(out) > 80 and max(map(len, out.splitlines())) < 80


def test_the_numbers_of_the_page_are_those_of_the_store(whole):
    page = page_at(whole)
    bars = {one.operation: one for one in page.bars.items}
    assert [one.operation for one in page.bars.items] == ["read_1to1_large", "create"]
    for (operation, nodes), truth in stats_sample.MEAN.items():
        cell = next(cell for cell in bars[operation].cells if cell.nodes == nodes)
        assert cell.estimate.n == 6 == len(cell.trials)
        assert cell.estimate.value == pytest.approx(sum(cell.trials) / 6)
        assert cell.estimate.value == pytest.approx(truth, rel=0.05)
        assert (cell.efficiency is None) == (nodes == 1)
    assert bars["create"].includes == "close"


def test_other_clocks_are_in_a_table_of_their_own(whole):
    metrics = {row[1] for row in page_at(whole).clocks.rows}
    assert metrics == {"bandwidth_sum_of_ranks", "rate_sum_of_ranks"}


def test_latency_has_a_series_for_each_node_count(whole):
    page = page_at(whole)
    assert [(one.operation, [s.nodes for s in one.series]) for one in page.latencies.items] == [
        ("read_1to1_large", [1, 2]),
        ("create", [1, 2]),
    ]
    series = page.latencies.items[0].series[1]
    assert series.operations == 6 * 2 * 500
    assert list(series.percentiles) == ["p50", "p99", "p99.9"]
    assert series.percentiles["p50"].value == pytest.approx(1e-4, rel=0.05)


def test_what_and_how_to_do_it_again(whole):
    page = page_at(whole)
    assert "nfs4 (server:/export)" in page.answers.what[0]
    assert page.reproduce.commands[0][1].split(maxsplit=3)[1:] == ["run", "--target", "'/mnt/my scratch'"]
    assert ("mpi", "MPICH 5") in page.reproduce.facts
    facts = {group.title: dict(group.rows) for group in page.facts.items}
    assert facts["Memory"] == {"total": "16 GiB"}
    assert list(facts["Network"].values()) == ["1500"]


@pytest.mark.parametrize("kind", ["bars", "latency", "timeline", "time"])
def test_plot_one_kind_to_a_file(whole, tmp_path, kind):
    code, out, _ = run(plot, whole, "-o", tmp_path / "figure.svg", "--kind", kind)
    assert (code, out.strip()) == (0, str(tmp_path / "figure.svg"))
    assert (tmp_path / "figure.svg").read_bytes().startswith(b"<?xml")


def test_plot_all_to_a_directory(whole, tmp_path):
    code, out, _ = run(plot, whole, "-o", tmp_path / "figures", "--format", "pdf", "--kind", "page")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["bars.pdf", "latency.pdf", "timeline.pdf"]
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize("kind", [*ask.BY_SETTINGS, ask.OVER_TIME, *ask.OF_PAGE, ask.PAGE, "--bars", "--on"])
def test_what_is_drawn_as_json_and_nothing_is_written(whole, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    words = {"--bars": ["--bars"], "--on": ["--on", "nodes"], "heatmap": []}.get(kind, ["--kind", kind])
    code, out, said = run(plot, whole, "--json", *words)
    made = json.loads(out)
    assert (code, list(made), made["schema"]) == (0, ["schema", "figures", "notes", "verdicts"], 1)
    assert not list(tmp_path.iterdir())
    kinds = {"--bars": {"bars"}, "--on": {"factors"}, "heatmap": {"settings"}, "page": set(ask.OF_PAGE)}.get(
        kind, {kind}
    )
    assert {one["kind"] for one in made["figures"]} == kinds and said == ""


def test_a_trial_over_its_time_as_data_is_all_that_was_recorded(whole):
    _, out, _ = run(plot, whole, "--json", "--kind", "time", "--metric", "create")
    (figure,) = json.loads(out)["figures"]
    (phase,) = figure["phases"]
    ends = [*(one["start_s"] for one in phase["bins"][1:]), phase["end_s"]]
    done = sum(one["rate"] * (end - one["start_s"]) for one, end in zip(phase["bins"], ends, strict=True))
    assert phase["operation"] == "create" and done == pytest.approx(phase["recorded"], rel=0.01)
    assert figure["run"] in figure["notes"][0]


def test_plot_only_a_metric(whole, tmp_path):
    assert run(plot, whole, "-o", tmp_path / "a.svg", "--metric", "create")[0] == 0
    drawn = (tmp_path / "a.svg").read_text()
    assert "Create" in drawn and "1-to-1" not in drawn


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-o", "x.gif"], "unknown format"),
        (["-o", "x.svg", "--format", "pdf"], "do not agree"),
        (["-o", "no/such/directory/x.svg"], "cannot write"),
        (["-o", "no/such/directory"], "cannot make the directory"),
        (["-o", "x.svg", "--metric", "nothing"], "unknown metric 'nothing'"),
        (["-o", "x.svg", "--response", "nothing"], "no response 'nothing'"),
        (["-o", "x.svg", "--metric", "nothing", "--kind", "bars"], "nothing of"),
        (["-o", "x.svg", "--kind", "page"], "is several figures"),
        (["--experiment", "nope"], "unknown experiment nope"),
        (["--where", "nods=2"], "nods"),
        (["--level", "95"], "confidence level"),
    ],
)
def test_wrong_input_to_plot_is_one_sentence_and_leaves_nothing(whole, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    code, _, message = run(plot, whole, *words)
    assert code == 2
    assert says in message
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_wrong_input_to_report(whole, tmp_path):
    assert run(report, tmp_path / "none")[0] == 2
    assert run(report, whole, "-o", tmp_path / "no" / "page.html")[0] == 2
    assert run(report, whole, "-o", tmp_path / "a.html", "--experiment", "nope")[0] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("--experiment", "last"), ("--metric", "p99"), ("--questions", "asked.yaml")])
def test_options_of_a_store_are_refused_for_a_table(tmp_path, words):
    (tmp_path / "a.csv").write_text("fs,MB/s\nnfs,1\nnfs,2\nceph,3\nceph,4\n")
    done = CliRunner().invoke(
        command_of("report"), [str(tmp_path / "a.csv"), *words, "-o", str(tmp_path / "page.html")]
    )
    assert done.exception.code == "not-a-store" and not (tmp_path / "page.html").exists()


def test_a_page_that_cannot_be_written_leaves_the_old_one(whole, tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("old")
    monkeypatch.setattr("iosonde.cli.output.Path.replace", _full)
    assert run(report, whole, "-o", tmp_path / "page.html")[0] == 3
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.html", "old")]


@pytest.mark.long
def test_a_page_goes_through_a_link_and_into_a_pipe_and_replaces_neither(whole, tmp_path):
    (tmp_path / "page.html").write_text("old")
    (tmp_path / "link").symlink_to("page.html")
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["wc", "-c", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True)
    for name in ("link", "pipe"):
        assert run(report, whole, "-o", tmp_path / name)[0] == 0
    assert (tmp_path / "link").is_symlink()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert int(reader.communicate()[0].split()[0]) > 10_000
    assert (tmp_path / "page.html").read_text().startswith("<!")


def _full(self, target):
    raise OSError(28, "No space left on device")


def test_an_empty_store(tmp_path):
    Store.create(tmp_path / "store")
    code, out, _ = run(report, tmp_path / "store", "-o", tmp_path / "page.html")
    assert code == 0
    page = page_at(tmp_path / "store")
    assert " ".join(out.split()) == page.headline and len(page.bars.missing) == 1
    assert run(plot, tmp_path / "store", "-o", tmp_path / "x.svg")[0] == 2
    assert not (tmp_path / "x.svg").exists()


def test_only_incomplete_trials(tmp_path):
    stats_sample.store(tmp_path / "store", repetitions=1, missing=[MISSING], phases=[], operations=None)
    page = page_at(tmp_path / "store")
    assert " 2 " in page.bars.missing[0] and MISSING in page.bars.missing[0]
    assert page.latencies.missing and page.timelines.missing and page.facts.missing
    assert {row[-1] for row in page.trials.rows} == {MISSING}
    assert any(finding.code == "S102" for finding in page.findings)
    assert run(report, tmp_path / "store", "-o", tmp_path / "page.html")[0] == 0


def test_no_operations_and_one_trial(tmp_path):
    import numpy as np

    store = Store.create(tmp_path / "store")
    store.append(stats_sample.run(1, 0, np.random.default_rng(1), operations=None, phases=[]))
    page = page_at(tmp_path / "store")
    assert not page.latencies.items and len(page.latencies.missing) == 1
    assert "--nodes" in page.bars.missing[0]
    assert page.bars.items[0].cells[0].estimate.low is None
    assert page.warnings(medians=False)
    assert run(report, tmp_path / "store", "-o", tmp_path / "page.html")[0] == 0


def test_the_first_screen_says_how_much_came_over_the_network(tmp_path):
    network = {
        "reads": "came",
        "writes": "",
        "why": "",
        "share_received": 0.92,
        "expected_received_bytes": 9,
        "share_sent": None,
        "expected_sent_bytes": 0,
    }
    phases = [{"index": 0, "name": "read", "network": network}]
    stats_sample.store(tmp_path / "store", repetitions=2, phases=phases)
    fast = page_at(tmp_path / "store").answers.fast
    assert " 92 % " in fast and "network" in fast and "caches" in fast


def test_the_newest_experiment_is_shown_and_the_others_are_mentioned(tmp_path):
    store = stats_sample.store(tmp_path / "store", repetitions=2)
    stats_sample.store(tmp_path / "other", repetitions=1)
    import numpy as np

    newer = stats_sample.run(
        1, 0, np.random.default_rng(1), id="new", experiment="y", started_at="2027-01-01T00:00:00Z"
    )
    store.append(newer)
    store.save_experiment(Experiment("y", "y", [], {}, [], 77, "2027-01-01T00:00:00Z"))
    page = page_at(tmp_path / "store")
    assert [row[0] for row in page.trials.rows] == ["new"]
    assert " 2 " in page.answers.what[-1] and " y" in page.answers.what[-1]
    assert "77" in dict(page.reproduce.facts).values()
    assert "seed 77" in " ".join(page.answers.what)
    assert len(page_at(tmp_path / "store", experiment="x").trials.rows) == 4


def test_a_probe_is_no_experiment_to_report_on(tmp_path):
    store = stats_sample.store(tmp_path / "store", repetitions=2)
    before = page_at(tmp_path / "store")
    probe = Run("p", "probe-1", "iosonde probe", "2027-01-01T00:00:00Z", 1.0, {"nodes": 2}, [])
    store.append(probe)
    page = page_at(tmp_path / "store")
    assert page.trials == before.trials and page.answers == before.answers
    assert [row[0] for row in page_at(tmp_path / "store", experiment="probe-1").trials.rows] == ["p"]


def test_trials_without_a_rate_are_not_called_incomplete(tmp_path):
    store = Store.create(tmp_path / "store")
    store.append(Run("p", "probe-1", "iosonde probe", "2027-01-01T00:00:00Z", 1.0, {"nodes": 2}, []))
    page = page_at(tmp_path / "store")
    for text in (page.answers.headline, page.bars.missing[0]):
        assert "rate" in text and "complete" not in text


def test_json(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(report, whole, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["iosonde_report"] == 1
    assert data["answers"]["headline"].endswith("from 2 nodes")
    assert list(tmp_path.iterdir()) == []


# Timelines


def stored(runs):
    return [StoredRun(run) for run in runs]


AXIS = Axis("nodes", "node", 1)


def phase(times, **changes):
    ranks = [
        {"rank": r, "host": f"h{r}", "started_ns": 10**12 + a, "ended_ns": 10**12 + b} for r, (a, b) in enumerate(times)
    ]
    starts, ends = zip(*times, strict=True)
    made = {
        "index": 0,
        "name": "write_large",
        "ranks": ranks,
        "comparable": True,
        "duration_ns": max(ends) - min(starts),
        "start_spread_ns": max(starts) - min(starts),
        "end_spread_ns": max(ends) - min(ends),
    }
    return made | changes


def trial(*phases, **changes):
    return {"id": "t", "missing": [], "factors": {"nodes": 2}, "phases": list(phases)} | changes


def test_the_late_and_the_last_are_marked():
    section, _ = timelines.build_timelines(
        stored([trial(phase([(0, 10**9), (5 * 10**8, 10**9 + 1), (0, 2 * 10**9)]))]), AXIS
    )
    spans = section.items[0].spans
    assert [span.mark for span in spans] == ["", "late", "last"]
    assert (spans[1].start_s, spans[2].end_s) == (0.5, 2.0)
    assert re.findall(r"[\d.]+ m?s\b|rank \d", section.items[0].note) == ["500 ms", "1.00 s", "rank 2"]


def test_where_clocks_cannot_be_compared_only_lengths_are_shown():
    one = phase([(0, 10**9), (10**11, 10**11 + 3 * 10**9)], comparable=False, start_spread_ns=None, end_spread_ns=None)
    section, _ = timelines.build_timelines(stored([trial(one)]), AXIS)
    assert [(span.start_s, span.end_s, span.mark) for span in section.items[0].spans] == [(0, 1, ""), (0, 3, "last")]
    assert "apart" not in section.items[0].note
    assert not section.items[0].comparable


def test_the_trial_whose_ranks_ended_furthest_apart_is_shown():
    calm, wild = trial(phase([(0, 100), (0, 101)])), trial(phase([(0, 100), (0, 900)]), id="wild")
    section, note = timelines.build_timelines(stored([calm, wild, calm]), AXIS)
    assert "wild" in section.items[0].trial
    assert note and "wild" not in note


def test_of_very_many_ranks_the_latest_and_the_last_are_shown():
    times = [(0, 10**9 + r) for r in range(10_000)]
    times[77] = (9 * 10**8, 10**9)
    section, _ = timelines.build_timelines(stored([trial(phase(times))]), AXIS)
    only = section.items[0]
    assert only.ranks == 10_000
    assert len(only.spans) <= timelines.MAX_DISPLAYED_RANKS
    assert {77, 9_999} <= {span.rank for span in only.spans}


def one_rank():
    section, _ = timelines.build_timelines(stored([trial(phase([(0, 100)]), factors={"nodes": 1})]), AXIS)
    return section


def test_one_rank_has_nobody_to_wait_for():
    section = one_rank()
    assert not section.items and len(section.missing) == 1


@pytest.mark.parametrize("factors", [{"nodes": 2}, {"nodes": 1, "ranks": 4}])
def test_several_ranks_of_which_one_told_its_times_are_not_one(factors):
    section, _ = timelines.build_timelines(stored([trial(phase([(0, 100)]), factors=factors)]), AXIS)
    assert not section.items and section.missing and section.missing != one_rank().missing


def test_phases_without_the_times_of_ranks_are_said_to_be_missing():
    section, _ = timelines.build_timelines(stored([trial({"index": 0, "name": "write"}), trial()]), AXIS)
    assert not section.items and len(section.missing) == 1 and section.missing != one_rank().missing


@pytest.mark.parametrize(
    ("operation", "heading"),
    [
        ("write_large", "Write, large files"),
        ("read_nto1_large_writer_node", "Read N-to-1, large files on the writer's node"),
        ("write_buffered_large", "Write, large files without fsync and close"),
        ("something_else", "something_else"),
    ],
)
def test_headings(operation, heading):
    assert title(operation) == heading
