"""Pieces of a page as data: its command, findings, bars and summaries; what it shows of a bound and of a survey."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.advise.for_page import Choosing
from iosonde.commands.bound.answer import How, _determine_scale, _list_memory_warnings, describe_shares
from iosonde.commands.bound.for_page import _format_input, _list_inputs, parse_system_option
from iosonde.commands.bound.inputs import Inputs
from iosonde.commands.plot.content import Bars, Cell
from iosonde.commands.report import html, questions
from iosonde.commands.report.answer import _select_rows_and_columns
from iosonde.commands.report.axis import Axis
from iosonde.commands.report.charts import build_bars_section
from iosonde.commands.report.content import AnsweredQuestion, build_summaries
from iosonde.commands.report.findings import collect_findings, format_finding_counts, select_top_findings
from iosonde.commands.report.first_screen import (
    _describe_size,
    _describe_sizes,
    _describe_timed_commands,
    _has_ranks_as_nodes,
    describe_interval,
    find_experiment_name,
    get_target,
)
from iosonde.commands.report.headline import _is_redundant_rate, shorten_command
from iosonde.commands.report.of_store import _format_period
from iosonde.commands.report.of_table import _coarsen_settings, _format_mean_range, build_table_page
from iosonde.commands.report.query import ReportQuery
from iosonde.commands.report.sealed_pairs import _leave_out_same_words
from iosonde.commands.report.terms import select_default_terms, select_varying_terms
from iosonde.commands.survey.for_page import (
    REST,
    _accumulate_rows,
    _build_rate_bars,
    _merge_smaller_parts,
    _select_largest,
    _tabulate_reading,
)
from iosonde.commands.survey.reading import ReadSpeed
from iosonde.commands.survey.walk import WalkRow
from iosonde.core.errors import DataError, InputError
from iosonde.core.questions import TIME_MODEL, DeclaredQuestion
from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Estimate, Finding, Severity
from iosonde.data.source import open_data
from iosonde.model.bound.roofline import choose_axis
from iosonde.model.bound.system import System
from iosonde.page.tables import Section
from iosonde.stats.overview.types import Efficiency, Overview, OverviewRow
from messages import codes, raises
from page_sample import sample_page

MIB = 2.0**20
AXIS = Axis("nodes", "node", 1)


def estimate(value: float | None, *warnings: str) -> Estimate:
    return Estimate(value, None, None, 0.95, 3, warnings)


def row(operation: str, metric: str, value: float | None = 1.0, n: int = 3, **by: Any) -> OverviewRow:
    mean = Estimate(value, None, None, 0.95, n)
    return OverviewRow(operation, metric, "s", by, n, mean, estimate(2.0, "median"), 0.1, 0.2, None)


def overview(
    *rows: OverviewRow, by: tuple[str, ...] = ("nodes",), efficiency: tuple[Any, ...] = (), **more: Any
) -> Overview:
    return Overview(rows, (), efficiency, (), "", 0.9, by, **more)


def run(name: str = "a", **fields: Any) -> StoredRun:
    return StoredRun({"id": name, "experiment": "e", "source": "iosonde", "started_at": "", "seconds": 1.0, **fields})


def test_the_command_of_a_page_has_the_options_that_are_not_the_default() -> None:
    assert ReportQuery("d").with_command("p.html").again == ("iosonde", "report", "d", "-o", "p.html")
    choosing = Choosing(("fs", "sync"), ("size",), {"fs": "nfs"})
    full = ReportQuery(
        "d",
        ("y", "z"),
        ("n",),
        ("a", "b"),
        "net=1",
        choosing,
        "e",
        ("n>1", "m=2"),
        0.9,
        "overlap",
        ("write",),
        constraints=("c",),
    )
    words = full.with_command("p.html", "q.yaml").again[5:]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    expected = [
        ("--response", "y,z"),
        ("--on", "n"),
        ("--by", "a,b"),
        ("--bound", "net=1"),
        ("--choose", "fs,sync"),
        ("--given", "size"),
        ("--current", "fs=nfs"),
        ("--metric", "write"),
        ("--questions", "q.yaml"),
        ("--experiment", "e"),
        ("--clock", "overlap"),
        ("--level", "0.9"),
        ("--where", "n>1"),
        ("--where", "m=2"),
        ("--constraint", "c"),
    ]
    assert pairs == expected


def test_options_of_the_page_of_a_campaign() -> None:
    assert ReportQuery("d", ("y",), ("n",), where=("a=1",), metric=("m",)).list_campaign_options() == []
    choosing = Choosing(("fs",), None, None)
    question = DeclaredQuestion("?", "summary", {})
    full = ReportQuery("d", by=("a",), bound="x", choosing=choosing, questions=[question], constraints=("c",))
    assert full.list_campaign_options() == ["by", "bound", "choose", "questions", "constraint"]


def finding(code: str, severity: Severity, sentence: str, **evidence: Any) -> Finding:
    return Finding(code, severity, sentence, evidence, "act")


def test_findings_are_counted_and_sorted_by_severity() -> None:
    error, info = finding("S1", Severity.ERROR, "e"), finding("S3", Severity.INFO, "i")
    warning = finding("S2", Severity.WARNING, "w")
    survey = replace(overview(), findings=(info, warning), warnings=("own",))
    every = collect_findings(survey, [run(), run()], [error, warning], [finding("S2", Severity.WARNING, "v")])
    assert [(each.code, each.severity) for each in every] == [
        ("S1", Severity.ERROR),
        ("S2", Severity.WARNING),
        ("S2", Severity.WARNING),
        ("", Severity.WARNING),
        ("S3", Severity.INFO),
    ]
    expected = "1 error, 3 warnings and 1 note."
    assert format_finding_counts(every, True) == expected
    assert format_finding_counts([info, info], False) == "2 notes."
    expected = "1 error and 1 warning."
    assert format_finding_counts([error, warning], False) == expected
    assert format_finding_counts([], False) == "" != format_finding_counts([], True)


def test_findings_of_several_models_that_differ_in_numbers_stand_once() -> None:
    def models(*sentences: str) -> Any:
        return Section(
            tuple(
                SimpleNamespace(title=f"m{at}", findings=(finding("S1", Severity.INFO, sentence, x=1),))
                for at, sentence in enumerate(sentences)
            )
        )

    (alone,) = select_top_findings(models("bent by 2"))
    assert (alone.code, alone.evidence, alone.action) == ("S1", {"x": 1}, "act")
    assert alone.sentence.endswith("2")
    assert "m0" not in alone.sentence
    first, second = select_top_findings(models("bent by 2", "bent by 2", "odd"))
    assert first.sentence.startswith("m0 and 1 other")
    expected = {"x": 1, "said of": "m0, m1"}
    assert first.evidence == expected
    assert second.sentence == "m2: odd" and second.evidence == {"x": 1}
    (near,) = select_top_findings(models("bent by 2", "bent by -3.5e+07", "bent by 2"))
    assert near.sentence.startswith("m0:")
    assert "2 others" in near.sentence


def bars(operation: str, *nodes: int, title: str = "") -> Bars:
    return Bars(operation, "rate", title or operation, "B", tuple(Cell(n, estimate(1.0)) for n in nodes))


@pytest.mark.parametrize(
    ("charts", "runs", "n", "expected"),
    [
        ([], [], 0, ["no-runs"]),
        ([], [run()], 0, ["no-rate"]),
        ([], [run(missing=["x"])], 0, ["only-incomplete"]),
        ([], [run(missing=["x"]), run()], 0, ["no-rate"]),
        ([bars("write", 1)], [run()], 1, ["nothing-varies"]),
        ([bars("write", 1), bars("read", 1)], [run()], 2, ["nothing-varies"]),
        ([bars("write", 1, 2)], [run()], 1, []),
        ([bars("write", 1), bars("write", 1, title="other")], [run()], 2, []),
    ],
)
def test_why_bars_are_missing_or_few(charts: list[Bars], runs: list[StoredRun], n: int, expected: list[str]) -> None:
    section = build_bars_section(charts, runs)
    assert (len(section.items), codes(section.missing)) == (n, expected)


def test_cells_of_a_summary_have_their_efficiency() -> None:
    rows = row("write", "rate", nodes=1), row("write", "rate", nodes=2), row("read", "time", nodes=2)
    half = Efficiency("write", "rate", {}, "nodes", 1, 2, estimate(0.5))
    survey = overview(*rows, efficiency=(half,))
    write, read = build_summaries(survey)
    assert (write.title, read.title, write.unit, write.by) == ("rate", "time", "s", ("nodes",))
    assert [each.efficiency for each in write.rows] == [None, estimate(0.5)] and read.rows[0].efficiency is None
    first = write.rows[0]
    assert (first.levels, first.setting, first.sd, first.cv) == (("1",), (1,), 0.1, 0.2)
    titles = {("read", "time"): "Read", ("none", "x"): "None", ("write", "rate"): "Write"}
    named = build_summaries(survey, titles, {("read", "time"): "open"})
    assert [(each.title, each.includes) for each in named] == [("Read", "open"), ("Write", "")]


def test_a_page_has_its_questions_node_counts_and_warnings() -> None:
    question = AnsweredQuestion("q?", "summary", "iosonde summary d", None, "none", "1 MB/s", ("net",))
    page = replace(sample_page(), questions=(question,))
    document = page.to_json()
    expected = [
        {
            "question": "q?",
            "command": "iosonde summary d",
            "missing": "none",
            "published": "1 MB/s",
            "constant": ["net"],
            "answer": None,
        }
    ]
    assert document["questions"] == expected
    assert "questions" not in sample_page().to_json() and document["iosonde_report"] == 1
    some = replace(page, bars=Section((bars("write", 4, 1), bars("read", 1, 2))))
    assert (some.node_counts(), some.scales) == ((1, 2, 4), True)
    assert not replace(page, bars=Section((bars("write", 4), bars("read", 1)))).scales
    warned = replace(row("write", "rate", nodes=1), mean=estimate(1.0, "mean"))
    cells = replace(page, summary=build_summaries(overview(warned, warned)))
    assert (cells.warnings(False), cells.warnings(True)) == (("mean",), ("mean", "median"))


def test_the_interval_sentence_counts_trials() -> None:
    def numbers(*counts: int) -> str:
        return describe_interval(overview(*(row("w", "rate", n=n) for n in counts)))

    assert "90 %" in numbers(3) and "3 trials" in numbers(3, 3) and "2 to 5 trials" in numbers(5, 3, 2)
    assert "1 trial " in numbers(1) and "0 trials" in numbers()


@pytest.mark.parametrize(
    ("factors", "axis", "expected"),
    [
        ([{"nodes": 1}], AXIS, "1 node"),
        ([{"nodes": 1, "ranks_per_node": 2}], AXIS, "1 node, 2 ranks"),
        ([{"nodes": 4, "ranks_per_node": 2}, {"nodes": 2, "ranks_per_node": 2}], AXIS, "2, 4 nodes, 2 ranks on each"),
        ([{"nodes": 2, "ranks_per_node": 1}, {"nodes": 2, "ranks_per_node": 2}], AXIS, "2 nodes"),
        ([{"ranks": 2, "ranks_per_node": 2}], Axis("ranks", "rank", 1), "2 ranks"),
        ([{"nodes": 2}, {"nodes": 2, "ranks_per_node": 4}], AXIS, "2 nodes, 4 ranks on each"),
    ],
)
def test_sizes_of_a_campaign(factors: list[dict[str, int]], axis: Axis, expected: str) -> None:
    assert _describe_size([run(factors=each) for each in factors], axis) == [expected]


def test_ranks_of_one_machine_stand_in_for_nodes() -> None:
    def stands_in(nodes: int, launcher: str, axis: Axis = AXIS) -> bool:
        return _has_ranks_as_nodes(
            [run(factors={"nodes": 1}), run(factors={"nodes": nodes}, facts={"launcher": launcher})], axis
        )

    assert stands_in(2, "local") and not stands_in(1, "local") and not stands_in(2, "mpi")
    assert not _has_ranks_as_nodes([run(factors={"ranks": 2}, facts={"launcher": "local"})], Axis("ranks", "rank", 1))


def test_the_directory_and_the_experiment_of_a_page() -> None:
    runs = [run(facts={"target": target}) for target in ("/b", "/a", "/b")]
    assert get_target([*runs, run()], "s") == "/b, /a" and get_target([run()], "s") == "s"
    in_lab = run(facts={"target": "/var/lib/x/mnt", "machine": {"lab": {"file_system": "glusterfs"}}})
    assert "/var" not in get_target([in_lab], "s") and "glusterfs" in get_target([in_lab], "s")

    def name(*of: tuple[str, dict[str, Any]]) -> str:
        experiments: Any = [SimpleNamespace(name=each, settings=settings) for each, settings in of]
        return find_experiment_name(experiments)

    assert (name(("x", {"file": 1})), name(("x", {})), name()) == ("x", "", "")
    assert name(("x", {"file": 1}), ("y", {"file": 1})) == "" and name(("x", {"file": 1}), ("x", {"file": 2})) == "x"


def test_sizes_of_the_envelope_are_listed_with_the_cache() -> None:
    sizes = {"large_file_size": 2**30, "transfer_size": 2**20, "small_file_size": 4096}
    runs = [run(factors={"client_cache": "warm"}), run(factors={"client_cache": "cold"}, facts={"envelope": sizes})]
    text = _describe_sizes(runs, "Clock")
    assert all(part in text for part in ("Clock;", "1 GiB", "1 MiB", "4 KiB", "warm."))
    assert (_describe_sizes(runs[:1], "Clock"), _describe_sizes(runs[:1], "")) == ("Clock.", "")


def test_timed_commands_of_runs_that_did_nothing_else() -> None:
    def describe(*phases: dict[str, Any]) -> str:
        return _describe_timed_commands([run(phases=[{"index": 0, "name": "s", **phase} for phase in phases])])

    commands = [{"command": f"c{n}"} for n in range(5)]
    assert describe(*commands[:2]) == "'c0' and 'c1'" and describe(*commands[:3]) == "'c0', 'c1' and 'c2'"
    assert describe(*commands) == "'c0', 'c1', 'c2' and 2 more"
    assert describe() == describe({"command": "c", "stage": "set_up"}) == describe(commands[0], {}) == ""
    assert (shorten_command("x" * 40), shorten_command("x" * 41)) == ("x" * 40, "x" * 39 + "…")


def test_what_differs_between_two_commands_survives_their_shortening() -> None:
    shared = "--directory=t --rw=randread --size=16m --runtime=1"
    long = [f"fio {shared} --bs={size} --output-format=json" for size in ("4k", "16k")]
    assert _leave_out_same_words(long) == ["fio … --bs=4k …", "fio … --bs=16k …"]
    assert _leave_out_same_words(["dd bs=1", "dd bs=2"]) == ["dd bs=1", "dd bs=2"]


def test_a_rate_next_to_its_bandwidth_is_redundant() -> None:
    keys = {("write", "bandwidth_mean"), ("write", "rate_mean"), ("create", "rate_mean")}
    assert [_is_redundant_rate(*key, keys) for key in sorted(keys)] == [False, False, True]
    assert not _is_redundant_rate("write", "rate_overlap", keys)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], ""),
        (["2026-11-21T10:00:59Z"], "2026-11-21 10:00 UTC"),
        (["2026-11-21T10:00:01Z", "", "2026-11-21T10:00:30Z"], "2026-11-21 10:00 UTC"),
        (["2026-11-21T10:00:00Z", "2026-11-21T11:30:00Z"], "2026-11-21 10:00 to 11:30 UTC"),
        (["2026-11-21T10:00:00Z", "2026-11-22T11:30:00Z"], "2026-11-21 10:00 to 2026-11-22 11:30 UTC"),
    ],
)
def test_the_time_of_a_campaign(times: list[str], expected: str) -> None:
    assert _format_period([run(started_at=at) for at in times]) == expected


def test_only_numbers_that_would_make_more_cells_than_anybody_reads_are_averaged() -> None:
    n = 500
    table = build_table({"fs": list("ab") * (n // 2), "n": [1, 2] * (n // 2), "fine": list(range(n)), "y": [1.0] * n})
    assert _coarsen_settings(table, ["fs", "n", "fine"]) == ["fs", "n"] and _coarsen_settings(table, ["fine"]) == []
    few = table.take(np.arange(100))
    assert _coarsen_settings(few, ["fs", "n", "fine"]) == ["fs", "n", "fine"]
    names = build_table({"name": [str(place) for place in range(n)], "y": [1.0] * n})
    assert _coarsen_settings(names, ["name"]) == ["name"]


@pytest.mark.parametrize("n", [12, 600])
def test_the_page_of_a_table_has_the_cells_of_a_summary_or_says_that_it_averages(n: int) -> None:
    rng = np.random.default_rng(1)
    clients = np.arange(n) // 2 + 1
    table = build_table(
        {"fs": ["xfs", "ext4"] * (n // 2), "clients": clients, "mib_s": 100.0 * clients + rng.random(n)}
    )
    page = build_table_page(table, ReportQuery("d", ("mib_s",), roles={"clients": "setting"}))
    averages = "averages over all levels of clients" in page.answers.headline
    assert averages == (n > 400)
    assert ("clients=1" in page.answers.headline) == (not averages)


def test_the_headline_of_a_table_has_both_ends() -> None:
    def text(*rows: OverviewRow) -> str:
        return _format_mean_range(overview(*rows), "rate", " of t")

    ends = text(
        row("", "rate", 2.0, n=2, a=1), row("", "rate", 1.0, n=2, a=2), row("", "rate", None, a=3), row("", "x", 9.0)
    )
    low, high = ends.removeprefix("rate of t: ").split(" to ")
    assert low.startswith("1.00") and low.endswith("at a=2") and high.startswith("2.00") and high.endswith("at a=1")
    assert "at" not in text(row("", "rate", 2.0, a=1)).split()
    assert text(row("", "rate", None)).startswith("rate")
    assert text() == text(row("", "rate", None))
    one, other = ({"a": n, "b": n, "c": n} for n in (1, 2))
    assert "over 2 settings" in text(row("", "rate", 2.0, **one), row("", "rate", 1.0, **other))


def test_terms_are_settings_that_vary_and_do_not_name_rows() -> None:
    rows = build_table(
        {
            "n": [1, 2] * 6,
            "twin": [10, 20] * 6,
            "fs": list("aabb") * 3,
            "m": [1, 1, 2, 2] * 3,
            "same": [1] * 12,
            "name": list("abcdefghijkl"),
            "third": list("abcd") * 3,
            "fifth": list("abcde") * 2 + ["a", "b"],
            "y": [1.0, 2.0] * 6,
        }
    )
    assert select_varying_terms(rows, ["n", "twin", "fs", "same", "name"]) == ["n", "fs"]
    assert select_varying_terms(rows, ["third"]) == ["third"] and select_varying_terms(rows, ["fifth"]) == []
    assert select_default_terms(rows, "y", ["n", "fs", "same"]) == ["n", "fs"]
    for settings, code in ((["same"], "nothing-varies"), (["name"], "near-unique-levels"), (["n"], "too-few-levels")):
        with raises(code, DataError):
            select_default_terms(rows, "y", settings)
    total = build_table({"a": [1, 1, 2, 2, 3, 3], "b": [1, 10] * 3, "a_times_b": [1, 10, 2, 20, 3, 30]})
    assert select_varying_terms(total, ["a_times_b", "a", "b"]) == ["a", "b"]
    few = rows.take(np.arange(6))
    assert select_default_terms(few, "y", ["n", "m"]) == ["n", "m"]  # 3 parameters leave 3 degrees of freedom
    with raises("too-few-trials", DataError, n_trials=5, needed_trials=6):
        select_default_terms(rows.take(np.arange(5)), "y", ["n", "m"])


def test_parts_beyond_the_largest_are_one() -> None:
    parts = [(f"p{n}", float(n)) for n in range(43)]
    merged = _merge_smaller_parts(parts)
    assert merged[:2] == (("p42", 42.0), ("p41", 41.0)) and len(merged) == 41 and merged[-1] == (REST, 3.0)
    assert _merge_smaller_parts(parts[:41]) == tuple(reversed(parts[1:41]))
    assert _merge_smaller_parts([("a", -1.0), ("b", 0.0)]) == ()


def test_the_largest_shares_are_drawn() -> None:
    def share(name: str, value: float | None) -> Any:
        return SimpleNamespace(name=name, inference=SimpleNamespace(estimate=estimate(value)))

    shares = [share("a", 0.5), share("b", 0.0005), share("c", 0.00049), share("d", None)]
    assert _select_largest(shares) == (("a", estimate(0.5)), ("b", estimate(0.0005)))
    assert [name for name, _ in _select_largest([share(str(n), 0.01) for n in range(13)])] == [
        str(n) for n in range(12)
    ]


def test_shares_add_up_from_small_to_large() -> None:
    rows = [WalkRow(1, 1, 10, 0), WalkRow(3, 1, 30, 0), WalkRow(None, 2, 60, 0)]
    assert _accumulate_rows(rows, "bytes") == ((1, 0.25, 0.1), (3, 0.5, 0.4), (None, 1.0, 1.0))
    assert _accumulate_rows(rows, "allocated_bytes") == _accumulate_rows([], "bytes") == ()


def test_speeds_of_reading_by_state() -> None:
    speeds = [ReadSpeed(f"t{n}", "cold", estimate(float(n)), n) for n in range(13)] + [
        ReadSpeed("u", "unknown", estimate(5.0), 7)
    ]
    cold, unknown = _build_rate_bars(speeds)
    assert [name for name, _ in cold.bars] == [f"t{n}" for n in range(12)] and unknown.bars == (("u", estimate(5.0)),)
    assert cold.title != unknown.title and {cold.unit, unknown.unit} == {"bytes/s"}
    (table,) = _tabulate_reading(speeds)
    expected = ("t1", "not in memory", 1, 1.0, None, None, 3)
    assert table.rows[1] == expected
    assert len(table.rows) == 14
    assert list(_tabulate_reading([])) == list(_build_rate_bars([])) == []


def test_the_option_of_a_bound_is_a_probe_or_a_system() -> None:
    probe = parse_system_option("probe.json")
    assert (probe.fields, probe.words, probe.others) == ({}, {}, {"probe": "probe.json"})
    system = parse_system_option("servers=4,net=1MB/s,operation=read,erasure=4+2,unit=KiB/s,data=1GB")
    assert system.fields == {"servers": "4", "network": "1MB/s"}
    assert system.words == {"operation": "read", "redundancy": "erasure", "data_chunks": 4, "parity_chunks": 2}
    assert system.others == {"data": "1GB", "unit": "KiB/s"}
    for text, near in (("server=4", "servers"), ("xyzzy=1", "")):
        with raises("unknown-key", InputError, suggestion=near):
            parse_system_option(text)


def inputs(system: System, worst: System | None = None, best: System | None = None, **columns: str) -> Inputs:
    return Inputs(system, worst or system, best or system, columns)


def test_inputs_of_a_bound_are_listed_for_reading_and_writing_together_unless_they_differ() -> None:
    one_link, two_links = inputs(System(network=MIB)), inputs(System(network=2 * MIB))
    alike = dict(_list_inputs({"write": one_link, "read": one_link}, True, {}))
    assert alike["net"] == "1.00 MiB/s" and alike["clients"] != alike["servers"]
    apart = dict(_list_inputs({"write": one_link, "read": two_links}, False, {"servers": "4, from the lab"}))
    write_key, read_key, servers = "net, write", "net, read", "4, from the lab"
    assert (apart[write_key], apart[read_key], apart["servers"]) == ("1.00 MiB/s", "2.00 MiB/s", servers)
    assert apart["clients"] == dict(_list_inputs({"write": one_link}, False, {}))["servers"]
    single = dict(_list_inputs({"write": one_link, "read": inputs(System())}, True, {}))
    assert single[write_key] == "1.00 MiB/s"
    assert read_key not in single
    assert _format_input(inputs(System(), servers="m"), "servers") == "column m"
    assert _format_input(inputs(System()), "servers") == ""
    ends = inputs(System(disk=2 * MIB), System(disk=3 * MIB), System(disk=MIB))
    assert _format_input(ends, "disk") == "2.00 MiB/s (1.00 MiB/s to 3.00 MiB/s)"


def test_the_axis_of_a_roofline_is_a_column_of_the_system_else_the_clients() -> None:
    shares: list[Any] = [
        SimpleNamespace(columns=dict.fromkeys(names, "c"), by={}, units={})
        for names in (("servers",), ("servers", "request_size"), ())
    ]
    assert [choose_axis([share]) for share in shares] == ["servers", "request", "clients"]
    assert choose_axis([]) == "clients"


def test_data_that_fits_into_a_memory_is_noted() -> None:
    def machines(**how: float) -> list[str]:
        system = inputs(System(clients=2, servers=4))
        return [str(each.values["machine"]) for each in _list_memory_warnings(How(**how), system)]  # type: ignore[arg-type, attr-defined]

    assert machines(data=8.0, client_memory=4.0, server_memory=2.0) == ["client", "server"]
    assert machines(data=8.1, client_memory=4.0, server_memory=2.1) == ["server"]
    assert machines(client_memory=4.0) == machines(data=8.0) == []


def test_the_scale_of_a_unit() -> None:
    assert _determine_scale("s", How(data=1.0)) == (1.0, "") and _determine_scale("s", How())[0] is None
    assert (
        _determine_scale("", How(unit="KiB/s")) == (1024.0, "") and _determine_scale("operations/s", How())[0] is None
    )
    scale, doubt = _determine_scale("kB/s", How())
    assert scale in (1000.0, 1024.0) and _determine_scale("kB/s", How(unit="kB/s")) == (scale, "")
    values: Any = getattr(doubt, "values", {})
    assert (values.get("bytes_per_s"), doubt != "") == ((scale, True) if doubt else (None, False))


def share(
    value: float | None, verdict: str = "", limit: tuple[str, ...] = ("disks",), link: float | None = None
) -> Any:
    ceiling = SimpleNamespace(limit=limit, missing=())
    used = {} if link is None else {"client_links": link}
    return SimpleNamespace(share=estimate(value), verdict=verdict, ceiling=ceiling, used=lambda: used)


def test_shares_of_a_bound_in_a_sentence() -> None:
    text = describe_shares([share(0.25), share(0.755), share(None)], 0.9)
    assert "25 to 76 %" in text and "90 %" in text and "Above" not in text
    assert " to " not in describe_shares([share(0.5)], 0.9).partition("%")[0] and describe_shares([], 0.9) == ""
    above, perhaps = "above the bound", "may be above the bound"
    mixed = describe_shares([share(0.5), share(2.0, above), share(1.1, perhaps)], 0.9)
    assert "in 1 of 3" in mixed
    assert "1 of 3 is" in mixed
    part = "1 more perhaps"
    assert part in mixed
    unsure = describe_shares([share(1.1, perhaps), share(1.2, perhaps)], 0.9)
    part = "2 of 2 are perhaps"
    assert part in unsure
    assert "delivered" not in unsure
    assert "Above 100 %" in describe_shares([share(1.01)], 0.9) and "Above 100 %" not in describe_shares(
        [share(1.0)], 0.9
    )


def question(kind: str, **words: Any) -> DeclaredQuestion:
    return DeclaredQuestion("?", kind, words, metric=("m",))


def test_a_question_is_passed_to_its_analysis(monkeypatch: Any) -> None:
    calls: list[tuple[Any, ...]] = []
    for name in (
        "compare",
        "regress",
        "advise",
        "anova",
        "rank",
        "validate",
        "diagnose",
        "time_model",
        "build_settings_plot",
    ):
        monkeypatch.setattr(
            questions, name, lambda *arguments, name=name, **more: calls.append((name, *arguments, *more.values()))
        )
    query = questions.ResponseQuery(level=0.9)
    source: Any = SimpleNamespace(level=None)

    def ask(kind: str, **words: Any) -> tuple[Any, ...]:
        questions._ASK[kind](source, query, question(kind, **words))
        return calls.pop()[3:] if kind not in ("anova", "rank", "validate", "diagnose") else calls.pop()[1:]

    (sides,) = ask("compare", group="fs", levels=["a", "b"], by="n", pair=["p"], adjust="x", base_only=True)
    assert (sides.levels, sides.group, sides.by, sides.pair, sides.adjust, sides.base_only) == (
        ("a", "b"),
        "fs",
        ("n",),
        ("p",),
        ("x",),
        True,
    )
    (plain,) = ask("compare")
    assert (plain.group, plain.adjust, plain.base_only, plain.pair) == (None, None, False, ())
    (advising,) = ask("advise", choose=["fs"], given="n", current="fs=nfs")
    assert (advising.choose, advising.workload_columns, advising.wish.current) == (("fs",), ("n",), {"fs": "nfs"})
    (free,) = ask("advise", choose="fs")
    assert (free.workload_columns, free.wish.current) == (None, None)
    (roles,) = ask("plot", x="n", color="fs", panel=["a", "b"])
    assert (roles.x, roles.color, roles.panel) == ("n", "fs", ("a", "b"))
    for kind in ("anova", "rank", "validate"):
        assert ask(kind, on=["n", "fs"]) == (source, replace(query, on=("n", "fs")))
    assert ask("diagnose") == (source, 0.9, ("m",))
    monkeypatch.setattr(questions, "is_path_study_request", lambda *arguments: False)
    (by,) = ask(TIME_MODEL, by=["n"])
    assert by == ("n",)
    monkeypatch.setattr(questions, "is_path_study_request", lambda *arguments: True)
    monkeypatch.setattr(questions, "analyse_path_study", lambda *arguments: calls.append(arguments))
    questions._ASK[TIME_MODEL](source, query, question(TIME_MODEL))
    assert calls.pop() == (source, 0.9)


def test_a_question_about_an_application_is_bounded_by_the_probe_of_its_store(monkeypatch: Any) -> None:
    table = build_table({"y": [1.0]})
    source: Any = SimpleNamespace(table=table, runs=(), all_runs=[run(facts={"probe": {"pairs": []}})], path="store")
    descriptions: list[Any] = []
    monkeypatch.setattr(questions, "inputs_of", lambda *arguments: descriptions.append(arguments) or "inputs")
    monkeypatch.setattr(questions, "predict_times", lambda *arguments: arguments)
    query = questions.ResponseQuery(level=0.9)
    asked = question("bound", application="write=1,read=2")
    answer: Any = questions._ASK["bound"](source, query, asked)
    assert answer == (source, "inputs", query, {"write": "1", "read": "2"})
    ((description, rows, level),) = descriptions
    assert (description.probes, set(description.lab_fields), rows, level) == (("store",), set(), table, 0.9)
    source.all_runs = [run()]
    questions._ASK["bound"](source, query, asked)
    assert descriptions[1][0].probes == ()


def test_each_kind_of_page_is_rendered_by_its_own_section(monkeypatch: Any) -> None:
    calls: list[tuple[Any, ...]] = []
    for name in ("render", "render_survey", "render_corpus"):
        monkeypatch.setattr(html, name, lambda *arguments, name=name: calls.append((name, *arguments)) or name)
    monkeypatch.setattr(html, "build_sections", lambda parts: ("sections", parts))
    survey, corpus = (object.__new__(kind) for kind in (html.SurveyPage, html.CorpusPage))
    page: Any = SimpleNamespace(parts={"x": 1})
    for content in (survey, corpus, page):
        html.render_page_html(content, print)
    assert calls == [
        ("render_survey", survey, print),
        ("render_corpus", corpus, print),
        ("render", page, print, ("sections", {"x": 1}), ()),
    ]


def test_rows_of_one_page_are_trials_or_a_chosen_response() -> None:
    source = open_data(build_table({"n": [1, 1, 2, 2], "fs": list("abab"), "y": [1.0, 2.0, 3.0, 4.0]}))
    rows, responses, by, _ = _select_rows_and_columns(source, ReportQuery("d", ("y",), by=("fs",)))
    assert (rows.names, responses, by) == (["n", "fs", "y"], ("y",), ("fs",))
    computed, names, none, _ = _select_rows_and_columns(source, ReportQuery("d", ("y/n",)))
    assert (computed.numbers(names[0]).tolist(), none) == ([1.0, 2.0, 1.5, 2.0], None)
