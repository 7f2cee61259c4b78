"""What a store's page says at its top: of whatever tool, where its metrics go, and over what."""

import re

import pytest

from iosonde.commands.report.axis import Axis, map_metric_titles
from iosonde.commands.report.first_screen import (
    describe_levels,
    describe_measurement,
    describe_metrics,
    format_tools,
    get_target,
)
from iosonde.commands.report.headline import count_effects, format_headline
from iosonde.commands.report.of_store import tabulate_trials
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.stats.overview.types import Overview, OverviewRow

AXIS = Axis("nodes", "node", 1)
MIB = 2.0**20


def rates(said: str) -> list[str]:
    """The numbers of a headline, each with its unit where one follows."""
    return re.findall(r"(?<!\w)\d[\d.]*(?: (?:[KMG]iB/s|k?op/s|ms|s)\b)?", said)


def row(operation, metric, value, unit="bytes/s", **by):
    mean = Estimate(value, 0.9 * value, 1.1 * value, 0.95, 3)
    return OverviewRow(operation, metric, unit, by, 3, mean, mean, None, None, None)


def overview(*rows, units=None):
    return Overview(rows, (), (), (), "", 0.95, tuple(rows[0].by), units=units or {})


def imported(source="ior 4.1.0", **changes):
    made = {"id": "a", "source": source, "started_at": "", "seconds": 0.0, "factors": {}, "facts": {"import": {}}}
    return StoredRun({**made, **changes})


def stepped(*phases, **facts):
    made = {"id": "a", "source": "iosonde commands", "started_at": "", "seconds": 2.0, "factors": {"nodes": 1}}
    return StoredRun({**made, "phases": list(phases), "facts": {"target": "/mnt/t", **facts}})


IOR = {"index": 0, "name": "step-01", "command": "ior -t ${t}", "tools": ["ior"], "versions": ["4.1.0"]}
SLEEP = {"index": 0, "name": "step-01", "command": "sleep 0.0${x}"}


def test_the_best_and_the_worst_of_each_metric_of_another_tool_and_over_what():
    rows = [
        row("write", "bandwidth_last_done", value * MIB, t=t, n=n) for value, t, n in ((799, "1m", 1), (366, "64k", 2))
    ] + [row("read", "bandwidth_last_done", value * MIB, t=t, n=1) for value, t in ((8800, "64k"), (900, "1m"))]
    said = format_headline("t1", "ior", [imported()], overview(*rows), AXIS)
    assert rates(said) == ["366", "799 MiB/s", "900 MiB/s", "8.59 GiB/s"]
    assert said.split()[:3] == ["t1:", "ior", "write"] and said.endswith(" t × n")


def test_the_score_is_said_before_what_is_known_of_the_rates():
    scores = [row("score", "total", value, "", nodes=nodes) for value, nodes in ((5.4, 1), (7.7, 2))]
    said = describe_metrics(overview(*scores, row("find", "rate", 1e5, "operations/s", nodes=1)), ())
    assert "5.40" in said and "7.70" in said and "nodes=2" in said
    assert describe_metrics(overview(row("find", "rate", 1e5, "operations/s", nodes=1)), ()) == ""


def test_several_metrics_of_one_operation_name_it_once():
    rows = [
        row("read", metric, value, unit, bs=bs)
        for metric, unit in (
            ("completion_latency_p99", "s"),
            ("bandwidth_last_done", "bytes/s"),
            ("rate_last_done", "operations/s"),
        )
        for bs, value in (("4k", 2e-3 if unit == "s" else 2048.0), ("64k", 6e-3 if unit == "s" else 8192.0))
    ]
    said = format_headline("t", "fio", [imported("fio 3")], overview(*rows), AXIS)
    assert rates(said) == ["2.00", "8.00 KiB/s", "2.00", "6.00 ms", "2.05", "8.19 kop/s"]
    assert said.count("read") == said.count("p99") == 1


def test_a_command_that_only_takes_time_is_named_and_not_its_step():
    rows = [row("step-01", "seconds", value, "s", x=x) for x, value in ((1, 0.0179), (2, 0.0305))]
    said = format_headline("t", "", [stepped(SLEEP)], overview(*rows), AXIS)
    assert (
        said.startswith(f"t: '{SLEEP['command']}' ")
        and rates(said)[-2:] == ["17.9", "30.5 ms"]
        and "step-01" not in said
    )


def test_what_a_command_took_comes_after_what_its_tool_says():
    rows = [row("step-01", "seconds", value, "s", t=t) for t, value in ((1, 1.0), (2, 2.0))]
    rows += [row("write", "bandwidth_last_done", value * MIB, t=t) for t, value in ((1, 10), (2, 20))]
    said = format_headline("t", "ior", [stepped(IOR)], overview(*rows), AXIS)
    before, _, after = said.partition(f"'{IOR['command']}'")
    assert rates(before) == ["10.0", "20.0 MiB/s"] and rates(after) == ["1.00", "2.00 s"]


def test_files_come_before_directories_and_of_many_metrics_it_is_said_how_many_more():
    names = ["directory_creation", "directory_stat", "file_creation", "file_stat", "tree_creation"]
    rows = [row(name, "rate_last_done", 10.0 * value, "operations/s", n=value) for name in names for value in (1, 2)]
    said = format_headline("t", "mdtest", [imported()], overview(*rows), AXIS)
    assert said.index("file_creation") < said.index("file_stat") and "tree_creation" not in said
    assert rates(said)[-1] == "2" and rates(said)[:2] == ["10.0", "20.0 op/s"]


def test_where_only_the_size_varied_it_is_of_the_largest_with_its_interval():
    rows = [row("write", "bandwidth_last_done", value * MIB, nodes=n) for n, value in ((1, 10), (2, 20))]
    rows += [row("write", "rate_last_done", 5.0, "operations/s", nodes=n) for n in (1, 2)]
    assert (
        format_headline("t", "", [stepped()], overview(*rows), AXIS) == "t: write 20.0 (18.0–22.0) MiB/s with 2 nodes"
    )


def test_the_headline_of_many_factors_counts_them():
    by = dict.fromkeys("abcd", 1)
    rows = [row("write", "bandwidth_last_done", value * MIB, **{**by, "a": value}) for value in (1, 2)]
    assert format_headline("t", "ior", [imported()], overview(*rows), AXIS).endswith(
        "1.00 to 2.00 MiB/s over 4 factors"
    )


def test_an_import_claims_neither_an_order_nor_a_time_of_measuring():
    rows = [row("write", "bandwidth_last_done", size * MIB, transfer_size=size) for size in (4096, 65536, 2**20)]
    told = overview(*rows, units={"transfer_size": "bytes"})
    (said,) = describe_measurement([imported()] * 9, told, AXIS, 0)
    assert re.findall(r"[\d.]*\d(?: [KM]iB)?", said) == ["9", "4.1.0", "4 KiB", "64 KiB", "1 MiB"]
    assert "seed" not in said and " s " not in said
    assert get_target([imported()], "store") == "store"


def test_a_campaign_says_its_tool_what_was_swept_its_order_and_its_time():
    rows = [row("write", "bandwidth_last_done", 1.0, t=t) for t in ("64k", "1m")]
    said = " ".join(describe_measurement([stepped(IOR)] * 2, overview(*rows), AXIS, 7))
    assert re.findall(r"\d[\d.]*[km]?", said) == ["4.1.0", "64k", "1m", "1", "2", "7", "4.0"]
    assert f"'{SLEEP['command']}': " in " ".join(describe_measurement([stepped(SLEEP)], overview(*rows), AXIS, None))


def test_tools_are_named_once_and_with_a_version_only_where_it_is_one():
    several = [imported("ior 3.0"), imported("ior 4.1.0"), imported("fio 3.33")]
    assert format_tools(several, versions=True).split(" and ") == ["ior", "fio 3.33"]
    assert format_tools(several).split(" and ") == ["ior", "fio"] and format_tools([stepped()]) == ""
    assert re.findall(r"\w*\d", format_tools([imported(f"t{n} 1") for n in range(5)])) == ["t0", "t1", "t2", "2"]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ([1, 2], "1 and 2"),
        ([4096, 8192, 16384, 32768], "4 KiB to 32 KiB (4 levels)"),
        ([262144, 4096, 16777216, 16384], "4 KiB to 16 MiB (4 levels)"),
        (["4k", "8k", "16k", "1m"], "4k to 1m (4 levels)"),
        (["64k", "1m", "4k", "16k"], "4k to 1m (4 levels)"),
        ([8, 0.5, 128, 32], "0.5 to 128 (4 levels)"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
        ([], ""),
    ],
)
def test_levels_that_were_swept(levels, said):
    units = {"x": "bytes"} if 4096 in levels else {}
    assert describe_levels(levels, "x", units) == said


def test_titles_are_those_of_the_table_of_summary():
    rows = [
        row("read", "bandwidth_last_done", 1.0),
        row("read", "completion_latency_p99", 1.0, "s"),
        row("write", "bandwidth_last_done", 1.0),
        row("write_large", "bandwidth_last_done", 1.0),
        row("step-01", "seconds", 1.0, "s"),
    ]
    titles = list(map_metric_titles(rows).values())
    assert len(set(titles)) == len(rows) and titles[2::2] == ["write", "step-01"]
    assert [title.split()[0] for title in titles] == ["read", "read", "write", "Write,", "step-01"]
    assert "p99" in titles[1]


def test_trials_have_their_settings_and_no_empty_columns():
    rows = [row("write", "bandwidth_last_done", 1.0, transfer_size=4096)]
    run = imported(factors={"transfer_size": 4096, "nodes": 1})
    table = tabulate_trials([run], overview(*rows, units={"transfer_size": "bytes"}), AXIS)
    assert table.columns == ("run", "transfer_size", "started", "state") and table.rows[0][1] == "4 KiB"
    jobs = [row("write", "bandwidth_last_done", 1.0, job=job) for job in ("log", "mixed")]  # inside each trial
    stored = StoredRun({**run.document, "experiment": "e"})
    assert tabulate_trials([stored], overview(*jobs), AXIS).columns == ("run", "started", "state")


def test_a_mount_whose_source_nobody_says_is_told_by_its_type():
    rows = [row("write", "rate_last_done", 5.0, "operations/s", nodes=1)]
    said = " ".join(
        describe_measurement([stepped(SLEEP, machine={"mount": {"type": "nfs"}})], overview(*rows), AXIS, None)
    )
    assert " nfs: " in said and "None" not in said


def test_the_headline_of_many_metrics_counts_on_how_many_each_factor_has_an_effect():
    def effect(number, names, state):
        return Verdict("effect", f"m{number}", names, state)

    different, open_ = VerdictState.DIFFERENT, VerdictState.INCONCLUSIVE
    verdicts = [effect(n, ("w",), different if n < 3 else open_) for n in range(5)]
    verdicts += [effect(n, ("n",), different if n < 1 else open_) for n in range(5)]
    counted = count_effects(verdicts).split()
    assert counted[0] == "w" and counted[3:6] == ["3", "of", "5"] and counted[-3:] == ["n", "for", "1"]
    none = count_effects([effect(n, ("w",), open_) for n in range(5)])
    assert "w" in none.split() and "5" in none.split()
    assert count_effects([effect(0, tuple("abcde"), different)]).split()[0] == "5"
    assert count_effects([]) == ""


def test_effects_that_were_not_tested_are_not_counted():
    def effect(number, state, why=""):
        return Verdict("effect", f"m{number}", ("w",), state, why=why)

    untested = [effect(number, VerdictState.NOT_TESTED, "one trial per setting") for number in range(3)]
    said = count_effects(untested)
    assert "not tested" in said and "one trial per setting" in said and "significant" not in said
    some = count_effects([*untested, effect(3, VerdictState.INCONCLUSIVE)]).split()
    assert "significant" in some and "1" in some and "4" not in some


def test_no_number_of_nodes_is_stated_that_an_import_does_not_know():
    rows = [row("write", "bandwidth_last_done", 20 * MIB)]
    assert "node" not in format_headline("t", "ior", [imported()], overview(*rows), AXIS)
    assert format_headline("t", "ior", [imported(factors={"nodes": 1})], overview(*rows), AXIS).endswith("1 node")
