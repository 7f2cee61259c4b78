"""``iosonde compare`` of long, wide and published data, and of a store."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.cli.group import cli
from iosonde.core.errors import DataError, InputError, IosondeError
from messages import assert_problem
from terminal import command_of

compare = command_of("compare")

CP = str(Path(__file__).parents[1] / "golden" / "data" / "cp_raw.csv")
CP_ARGS = (CP, "--response", "real_s", "--group", "replicas")
UFS = "mean=177.1,low=167.6,high=186.6,n=8,level=0.9,name=UFS"


def invoke(*args: str) -> str:
    return CliRunner().invoke(compare, list(args), catch_exceptions=False, standalone_mode=False).stdout


def as_json(*args: str) -> dict:
    return json.loads(invoke(*args, "--json"))


def one(*args: str) -> dict:
    (only,) = as_json(*args)["comparisons"]
    return only


def refused(*args: str) -> IosondeError:
    with pytest.raises((InputError, DataError)) as error:
        invoke(*args)
    assert error.value.hint
    return error.value


def test_a_difference_in_a_table_of_ratios_has_its_unit(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(
        "build,user (s),wall (s)\n"
        + "".join(f"{side},{user},{wall}\n" for side in "ab" for user, wall in ((0, 2), (0.5, 2.5), (1, 3)))
    )
    args = (str(table), "--response", "user,wall", "--group", "build", "--adjust", "none")
    text = " ".join(invoke(*args).split())
    assert "+0.00 ms -1133.48–1133.48" in text and " B - A" in text
    assert "| +0.00 ms |" in invoke(*args, "--markdown")


def test_a_published_side_by_its_keys():
    made = one(*CP_ARGS, "1", "--b-summary", UFS, "--level", "0.9")
    assert made["t"] == pytest.approx(2.618035, abs=1e-3) and made["df"] == pytest.approx(12.923033, abs=1e-3)
    assert (made["overlap"], made["verdict"]) == (True, "different")
    assert set(made["ratio"]) == {"value", "low", "high", "level", "n", "warnings"}
    other = one(*CP_ARGS, "1", "--a-summary", UFS, "--level", "0.9")
    assert other["t"] == pytest.approx(-made["t"])


def test_two_published_sides_need_no_data():
    made = one("--a-summary", "mean=10,sd=1,n=12", "--b-summary", "mean=20,sd=1,n=12")
    assert made["t"] == pytest.approx(-10 / (2 / 12) ** 0.5) and made["verdict"] == "different"
    assert refused("--a-summary", "mean=10,sd=1,n=12").code == refused().code == "nothing-to-compare"


def test_all_levels_are_compared_pairwise_and_corrected():
    made = as_json(*CP_ARGS)
    assert [(c["a"]["name"], c["b"]["name"]) for c in made["comparisons"]] == [("1", "2"), ("1", "3"), ("2", "3")]
    assert all(c["p_holm"] >= c["p"] for c in made["comparisons"]) and "t" not in made


def test_each_level_with_the_first_only():
    made = as_json(*CP_ARGS, "--base-only")
    assert [(c["a"]["name"], c["b"]["name"]) for c in made["comparisons"]] == [("1", "2"), ("1", "3")]
    text = invoke(*CP_ARGS, "--base-only")
    assert made["verdicts"][0]["family"] == 2 and "-corrected for 2" in text
    assert re.search(r"^A, .*: replicas=1 ", text, re.MULTILINE)
    assert any(line.startswith("B  ") and "B ÷ A" in line for line in text.splitlines())


def test_a_difference_that_chance_may_show_among_many_is_marked_in_text_and_markdown(tmp_path):
    path = tmp_path / "many.csv"
    rows = [f"{op},{level},{10 + 1.1 * level + 0.4 * (i - 1)}" for op in range(6) for level in (1, 2) for i in range(3)]
    path.write_text("op,level,y\n" + "\n".join(rows) + "\n")
    args = (str(path), "--response", "y", "--group", "level", "--by", "op")
    text = invoke(*args)
    assert "p = 0.17" not in text and text.count("more ?\n") == 6
    assert re.search(r" 6 [a-z]+: 6 more \(", text) and re.search(r"^\? .* Holm's", text, re.MULTILINE)
    assert invoke(*args, "--markdown").count("| more ? |") == 6
    made = as_json(*args)
    assert all("p = 0.17" in " ".join(one["warnings"]) for one in made["comparisons"])
    for one, verdict in zip(made["comparisons"], made["verdicts"], strict=True):
        assert one["verdict"] == "different" and one["said"].startswith("more (")
        assert one["state"] == verdict["state"] == "inconclusive" and verdict["direction"] is None
        assert " more" in one["sentence"] and (verdict["family"], verdict["p"]) == (6, one["p_holm"])


def test_texts_fit_a_terminal():
    for args in [(*CP_ARGS,), (*CP_ARGS, "1", "3"), (*CP_ARGS, "1", "--b-summary", UFS)]:
        text = invoke(*args)
        assert max(map(len, text.splitlines())) < 80 and text.rstrip().endswith(".")


def test_two_columns_of_a_wide_table(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("before_s,after_s\n1,2\n1.1,2.2\n0.9,\n1.05,2.1\n")
    made = one(str(path), "before", "after_s")
    assert (made["a"]["n"], made["b"]["n"], made["verdict"]) == (4, 3, "different")
    assert made["ratio"]["value"] == pytest.approx(2.1 / 1.0125)


def test_pairs_by_a_key(tmp_path):
    made = one(*CP_ARGS, "1", "3", "--pair", "run_in_group")
    assert made["paired"] and made["df"] == 7
    path = tmp_path / "t.csv"
    path.write_text(
        "v,k,y\n" + "".join(f"{v},{k},{y}\n" for v, k, y in [("a", 1, 1), ("a", 1, 2), ("b", 1, 3), ("b", 2, 4)])
    )
    error = refused(str(path), "--response", "y", "--group", "v", "--pair", "k")
    assert_problem(error, "ambiguous-pair", n_trials=2, key="k=1")


def test_within_every_cell_of_other_columns(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(v, s, 100 * s + (9 if v == "b" else 0) + i) for v in "ab" for s in (1, 2) for i in range(4)]
    path.write_text("v,size,y\n" + "".join(f"{v},{s},{y}\n" for v, s, y in rows))
    made = as_json(str(path), "a", "b", "--response", "y", "--group", "v", "--by", "size")
    assert [c["by"] for c in made["comparisons"]] == [{"size": 1}, {"size": 2}]


@pytest.mark.parametrize(
    ("args", "code", "names"),
    [
        ((*CP_ARGS, "1", "9"), "unknown-level", ("'9'", "1, 2, 3")),
        ((*CP_ARGS, "1"), "too-few-levels", ("'replicas'", "1, 2, 3")),
        ((CP, "--response", "real_s", "--group", "replica"), "unknown-column", ("'replica'", "replicas")),
        ((CP, "--response", "real_s"), "missing-option", ("--group",)),
        ((*CP_ARGS, "1", "2", "--margin", "x"), "invalid-share", ("'x'",)),
        ((*CP_ARGS, "1", "2", "--margin", "200%"), "out-of-range", ("'200%'",)),
        ((*CP_ARGS, "1", "2", "--experiment", "last"), "not-a-store", ("--experiment", "is a table")),
        ((*CP_ARGS, "1", "2", "--metric", "p99"), "not-a-store", ("--metric", "is a table")),
        ((*CP_ARGS, "1", "2", "--clock", "first_done"), "not-a-store", ("--clock", "is a table")),
        ((*CP_ARGS, "1", "2", "--level", "1"), "out-of-range", ("level", "0.95")),
        ((*CP_ARGS, "1", "--b-summary", "mean=1"), "missing-key", (" n |",)),
        ((*CP_ARGS, "1", "--b-summary", "mean=x,n=8"), "not-a-number", ("mean=x",)),
        ((*CP_ARGS, "1", "--b-summary", "median=1,n=8"), "invalid-option-value", ("median=1",)),
        ((*CP_ARGS, "1", "--b-summary", "mean=1,n=8.5,sd=1"), "not-an-integer", ("n=8.5",)),
        ((*CP_ARGS, "1", "--b-summary", "mean=1,n=8,sd=1,mean=2"), "duplicate-name", ("--b-summary: ", "name mean")),
        ((*CP_ARGS, "1", "--b-summary", "mean=1,n"), "invalid-assignment", ("--b-summary: 'n'",)),
    ],
)
def test_wrong_input_names_what_is_wrong_and_a_cure(args, code, names):
    error = refused(*args)
    assert error.code == code and all(name in f"{error.message} | {error.hint}" for name in names)


def test_a_store_compares_every_metric_of_trials(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from stats_sample import store

    store(tmp_path / "s")
    made = as_json(str(tmp_path / "s"), "1", "2", "--group", "nodes")
    assert [c["by"]["operation"] for c in made["comparisons"]] == ["create", "read_1to1_large"]
    assert {c["a"]["n"] for c in made["comparisons"]} == {6}
    text = invoke(str(tmp_path / "s"), "1", "2", "--group", "nodes")
    assert max(map(len, text.splitlines())) < 80 and "GiB/s" in text


def test_a_stores_values_must_be_of_one_kind_and_of_trials(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from stats_sample import store

    anova = command_of("anova")
    regress = command_of("regress")

    store(tmp_path / "s")
    kind = ("--where", "operation=create", "--where", "metric=rate_last_done")
    path = str(tmp_path / "s")
    made = one(path, "1", "2", "--group", "nodes", "--response", "value", *kind)
    assert (made["a"]["n"], made["b"]["n"]) == (6, 6)
    error = refused(path, "1", "2", "--group", "nodes", "--response", "value")
    assert_problem(error, "ambiguous-metric", n_kinds=2)
    assert "--where 'operation=create'" in error.hint
    for command in (regress, anova):
        args = [path, "--response", "value", "--on", "nodes"]
        with pytest.raises(InputError):
            CliRunner().invoke(command, args, catch_exceptions=False, standalone_mode=False)
        text = CliRunner().invoke(command, [*args, *kind], catch_exceptions=False, standalone_mode=False).stdout
        assert "n = 12" in text


def test_other_clocks_can_be_compared(tmp_path):
    pytest.importorskip("iosonde.engine._native")
    from stats_sample import store

    store(tmp_path / "s")
    made = as_json(str(tmp_path / "s"), "1", "2", "--group", "nodes", "--clock", "all")
    assert [c["by"]["metric"] for c in made["comparisons"]] == [
        "rate_last_done",
        "rate_sum_of_ranks",
        "bandwidth_last_done",
        "bandwidth_sum_of_ranks",
    ]


# Two DATA, conditions, Markdown


@pytest.fixture
def files(tmp_path) -> tuple[str, str]:
    for name, more in (("before", 1.0), ("after", 1.1)):
        rows = [(size, size * more * (1 + i / 100)) for size in (1, 2) for i in range(6)]
        (tmp_path / f"{name}.csv").write_text("size,write_s\n" + "".join(f"{size},{v}\n" for size, v in rows))
    return str(tmp_path / "before.csv"), str(tmp_path / "after.csv")


def exit_code(*args: str) -> int:
    return CliRunner().invoke(cli, ["compare", *args]).exit_code


def test_two_files_are_a_base_and_another(files):
    made = as_json(*files, "--response", "write")
    assert made["schema"] == 4 and made["base"] and made["group"] is None
    assert [(c["a"]["name"], c["b"]["name"], c["said"]) for c in made["comparisons"]] == [
        ("before.csv", "after.csv", "slower")
    ] * 2
    assert "a" not in made and "verdict" not in made
    text = invoke(*files, "--response", "write")
    assert f": before.csv ({made['base']}); B: after.csv" in text and "6+6" in text and "slower" in text


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        (["slower>5%"], 1),
        (["slower>20%"], 0),
        (["faster>5%"], 0),
        (["more>0.05"], 1),
        (["different>5%"], 1),
        (["less>1%", "slower>50%"], 0),
        (["slower>10%"], 0),
        (["slower>10%", "--strict"], 1),
        (["slower>50%", "--strict"], 0),
    ],
)
def test_a_program_learns_of_it_by_the_exit_code(files, conditions, code):
    asked = [word for text in conditions for word in (["--fail-if", text] if ">" in text else [text])]
    assert exit_code(*files, "--response", "write", *asked) == code


def test_what_failed_is_said(files):
    done = CliRunner().invoke(cli, ["compare", *files, "--response", "write", "--fail-if", "slower>5%"])
    failed = [line.partition(" (")[0] for line in done.stdout.splitlines()[-2:]]
    assert failed == ["failed: size=1: slower>5%", "failed: size=2: slower>5%"]
    made = json.loads(
        CliRunner().invoke(cli, ["compare", *files, "--response", "write", "--fail-if", "slower>10%", "--json"]).stdout
    )["fail_if"]
    assert (made["problem"], made["failed"]) == (False, []) and len(made["cannot_tell"]) == 2


@pytest.mark.parametrize("text", ["slower", "worse>5%", "slower>x", "slower<5%", "slower>5 %%"])
def test_a_condition_that_cannot_be_read_is_refused(files, text):
    error = refused(*files, "--response", "write", "--fail-if", text)
    assert_problem(error, "invalid-gate-condition", condition=text)


def test_a_condition_of_nothing_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v,errors\n" + "".join(f"{v},{i}\n" for v in "ab" for i in range(1, 5)))
    args = (str(path), "--response", "errors", "--group", "v")
    assert_problem(refused(*args, "--fail-if", "slower>5%"), "condition-not-applicable", n_comparisons=1)
    assert_problem(refused(*args, "--strict"), "missing-condition")


def test_a_pull_request_gets_a_markdown_table(files):
    text = invoke(*files, "--response", "write", "--markdown")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 4 and len({line.count("|") for line in rows}) == 1
    assert rows[2].endswith("| slower |") and "before.csv" in text.splitlines()[0]


def test_markdown_of_a_hostile_name_is_no_markup(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v,y\n" + "".join(f"{v},{i + 1}\n" for v in ("<b>|x", "[a](b)") for i in range(4)))
    text = invoke(str(path), "--response", "y", "--group", "v", "--markdown")
    assert "<b>" not in text.replace("\\<b\\>", "") and "\\|x" in text and "\\[a\\]" in text


def test_wrong_second_data(files, tmp_path):
    assert_problem(refused(files[0], "nothing.csv", "--response", "write"), "no-such-file", path="nothing.csv")
    assert_problem(refused(*files, files[0], "--response", "write"), "too-many-sources", n_sources=3)
    assert_problem(refused(*files, "--response", "write", "--group", "size"), "conflicting-options")
    other = tmp_path / "rates.csv"
    other.write_text("size,write (MiB/s)\n1,1\n1,2\n")
    units = {"unit_a": "s", "name_a": "before.csv", "unit_b": "MiB/s", "name_b": "rates.csv"}
    assert_problem(refused(files[0], str(other), "--response", "write"), "unit-mismatch", **units)


def test_long_names_are_never_cut(tmp_path):
    path = tmp_path / "t.csv"
    names = [f"20261122-091500-envelope-of-the-{tail}" for tail in ("old-kernel", "new-kernel", "third-kernel")]
    path.write_text("v,y_s\n" + "".join(f"{v},{i + 1}\n" for v in names for i in range(4)))
    text = invoke(str(path), "--response", "y", "--group", "v")
    assert "…" not in text
    lines = text.splitlines()
    above = [" ".join(lines[place - 2 : place]) for place, line in enumerate(lines) if "4+4" in line]
    pairs = {tuple(name for name in names if name in labels) for labels in above}
    assert len(above) == len(pairs) == 3 and all(len(pair) == 2 for pair in pairs)


def test_settings_that_all_cells_share_are_named_once(tmp_path):
    """Nine settings stood in each row."""
    rows = [
        f"{fs},{nodes},64,{100 * (1 + (fs == 'b')) * nodes + n}\n" for fs in "ab" for nodes in (1, 2) for n in range(3)
    ]
    path = tmp_path / "t.csv"
    path.write_text("fs,nodes,ppn,mbs\n" + "".join(rows))
    text = invoke(str(path), "--response", "mbs", "--group", "fs", "--by", "nodes,ppn")
    header = next(line for line in text.splitlines() if "mean A" in line)
    assert "nodes" in header and "ppn" not in header and text.count("ppn=64") == 1


LONG = "20261122-091500-envelope-of-the-cluster-"


@pytest.mark.parametrize("length", [1, 8, 20, 60, 200])
@pytest.mark.parametrize("n_columns", [0, 1, 4])
@pytest.mark.parametrize("n_sides", [2, 3])
def test_no_line_of_a_table_is_too_wide_whatever_the_names(tmp_path, length, n_columns, n_sides):
    """Names that differ in their middle alone cannot be cut; then they stand on lines of their own, whole."""
    path, around = tmp_path / "t.csv", (LONG * 5)[:length]
    names = [f"{around}side{side}{around}" for side in range(n_sides)]
    by = [f"{around}factor{at}{around}" for at in range(n_columns)]
    rows = [
        [name, *(f"{around}level{at}{level}{around}" for at in range(n_columns)), str(n + 2.5 * level)]
        for name in names
        for level in range(2)
        for n in range(4)
    ]
    path.write_text("\n".join(",".join(row) for row in [["v", *by, "y_s"], *rows]) + "\n")
    text = invoke(str(path), "--response", "y", "--group", "v", *(("--by", ",".join(by)) if by else ()))
    head = next(at for at, line in enumerate(text.splitlines()) if re.search(r"mean.* interval( |$)", line))
    table = text.splitlines()[head : text.splitlines().index("", head)]
    assert len(table) > n_sides * (n_sides - 1) // 2 and max(map(len, table)) < 80
    assert not [line for line in table if re.search(r"…[\d.]*\d \w+ +\d", line)]  # a number is whole, or not there
    shown = "".join("".join(table).split())
    expected = [f"level{at}0" for at in range(n_columns)] if n_sides == 2 and by else names
    assert "…" in shown or all(name in shown for name in expected)


def test_without_levels_the_base_is_said(tmp_path):
    made = as_json(*CP_ARGS)
    assert made["base"] and made["comparisons"][0]["a"]["name"] == "1"
    assert as_json(*CP_ARGS, "3", "1")["comparisons"][0]["a"]["name"] == "3"


def test_times_end_at_zero_as_in_summary(tmp_path):
    """-0.5 to 73.4, where summary said 0 to 73.4."""
    path = tmp_path / "t.csv"
    path.write_text("v,value,unit\n" + "".join(f"{v},{y},s\n" for v in "ab" for y in (0.5, 1, 2, 40)))
    made = one(str(path), "--response", "value", "--group", "v", "--adjust", "none")
    assert made["a"]["mean_low"] == 0 and made["unit"] == "s"


def test_all_tied_trials_have_the_p_of_all_orders(tmp_path):
    path = tmp_path / "zero.csv"
    path.write_text("v,errors\n" + "a,0\n" * 3 + "b,1\n" * 3)
    made = one(str(path), "--response", "errors", "--group", "v")
    assert made["rank_test"]["p"] == pytest.approx(0.1) and made["ratio"] is None and made["decides"] == "difference"
