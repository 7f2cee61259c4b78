"""Tables in documents and in odd positions: each is read as the same trials, or refused with its place."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest
import yaml

from iosonde.core.errors import DataError, InputError
from iosonde.data.roles import guess_roles
from iosonde.data.table_source import Source
from iosonde.data.tables import read_file
from messages import codes, raises

FACTORS = ["fs", "clients"]


def make_trials(seed=8):
    """Make five trials in MB/s of two file systems with 1, 4 and 16 clients: xfs is 8 % faster."""
    noise = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            (fs, clients, round(100 * clients**0.6 * speed * (1 + 0.03 * noise.standard_normal()), 2))
            for fs, speed in (("ext4", 1.0), ("xfs", 1.08))
            for clients in (1, 4, 16)
            for _ in range(5)
        ],
        columns=[*FACTORS, "MB/s"],
    )


TRIALS = make_trials()
WIDE = str.maketrans("0123456789.", "０１２３４５６７８９．")


def write_html_by_hand(frame):
    rows = "".join(f"<tr><td>{a}<td>{b}<td><b>{c}</b>" for a, b, c in frame.itertuples(index=False))
    return f"<!DOCTYPE html><h1>R</h1><table class=x><tr><th>fs<th>clients<th>MB/s{rows}</table><p>end"


def write_html_with_spans(frame):
    return frame.set_index([*FACTORS, frame.groupby(FACTORS).cumcount().rename("run")]).to_html()


def write_latex_by_hand(frame):
    rows = "\n".join(
        rf"\textbf{{{a}}} & ${b}$ & \num{{{c}}} \\ \hline % ok" for a, b, c in frame.itertuples(index=False)
    )
    head = "\\documentclass{article}\n\\begin{tabular*}{\\textwidth}{l@{\\extracolsep{\\fill}}rr}\n\\hline\n"
    return f"{head}fs & clients & MB/s \\\\\n\\hline\n{rows}\n\\end{{tabular*}}\n"


def write_cells(frame, write):
    return frame.assign(**{"MB/s": frame["MB/s"].map(write)}).to_csv(index=False)


def write_nested(frame):
    results = [{"config": {"fs": a, "clients": b}, "metrics": {"MB/s": c}} for a, b, c in frame.itertuples(index=False)]
    return {"host": "n1", "meta": {"kernel": "6.1"}, "results": results}


def write_stacked(frame):
    other = frame.assign(IOPS=frame["MB/s"] * 256).drop(columns="MB/s")
    return f"{frame.to_csv(index=False)},,\n{other.to_csv(index=False)}"


DOCUMENTS = {
    "by hand.html": write_html_by_hand,
    "pandas.html": lambda frame: frame.to_html(),
    "spans.html": write_html_with_spans,
    "pasted.txt": write_html_by_hand,
    "table.tex": write_latex_by_hand,
    "nested.json": lambda frame: json.dumps(write_nested(frame)),
    "records.yaml": lambda frame: yaml.safe_dump(frame.to_dict("records")),
    "nested.yml": lambda frame: yaml.safe_dump(write_nested(frame)),
    "documents.yaml": lambda frame: yaml.safe_dump_all(frame.to_dict("records")),
    "split.json": lambda frame: frame.to_json(orient="split"),
    "arrays.json": lambda frame: json.dumps([list(frame.columns), *frame.to_numpy().tolist()]),
    "keys.jsonl": lambda frame: "\n".join(map(json.dumps, write_nested(frame)["results"])),
    "carriage returns.csv": lambda frame: frame.to_csv(index=False).replace("\n", "\r"),
    "blank lines.csv": lambda frame: frame.to_csv(index=False).replace("\n", "\r\n\r\n"),
    "quoted.csv": lambda frame: frame.to_csv(index=False, quoting=csv.QUOTE_ALL),
    "matlab.csv": lambda frame: f"% made by a script\n% of Monday\n{frame.to_csv(index=False)}",
    "slashes.csv": lambda frame: f"// made by a script\n{frame.to_csv(index=False)}",
    "semicolon.csv": lambda frame: f"; made by a script\n{frame.to_csv(index=False)}",
    "plus.csv": lambda frame: write_cells(frame, lambda rate: f"+{rate}"),
    "fortran.csv": lambda frame: write_cells(frame, lambda rate: f"{rate:.7e}".replace("e", "D")),
    "scientific.csv": lambda frame: write_cells(frame, lambda rate: f"{rate:.7E}"),
    "wide digits.csv": lambda frame: write_cells(frame, lambda rate: str(rate).translate(WIDE)),
    "jira.txt": lambda frame: (
        "||fs||clients||MB/s||\n" + "".join(f"|{a}|{b}|{c}|\n" for a, b, c in frame.itertuples(index=False))
    ),
    "side.csv": lambda frame: frame.T.to_csv(header=False),
    "numbered side.csv": lambda frame: frame.assign(run=range(1, 31))[["run", *frame.columns]].T.to_csv(header=False),
}


def read(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return Source(read_file(str(path))).fold_repeats(()).table


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_holds_the_same_trials(tmp_path, name):
    table = read(tmp_path, name, DOCUMENTS[name](TRIALS))
    assert table.columns["fs"].values.tolist() == TRIALS["fs"].tolist()
    assert table.numbers("clients").tolist() == TRIALS["clients"].tolist()
    assert table.numbers("MB/s").tolist() == TRIALS["MB/s"].tolist()
    roles = guess_roles(table)
    assert roles.responses == ("MB/s",) and {"fs", "clients"} <= set(roles.settings)


def make_many(seed=4):
    noise = np.random.default_rng(seed)
    rows = [
        (*key, op, run) for key in [("ext4", 1), ("ext4", 4), ("xfs", 1)] for op in ("read", "write") for run in (1, 2)
    ]
    frame = pd.DataFrame(rows, columns=[*FACTORS, "op", "run"])
    bw = (100 * noise.uniform(1, 2, len(rows))).round(2)
    return frame.assign(bw=bw, lat=(1000 / bw).round(3))


@pytest.mark.parametrize("values", [["bw"], ["bw", "lat"]])
@pytest.mark.parametrize("levels", [["op"], ["op", "run"], ["run"]])
@pytest.mark.parametrize("name", ["t.csv", "t.html"])
def test_headers_of_several_lines_are_levels_and_metrics(tmp_path, name, levels, values):
    frame, index = make_many(), [column for column in (*FACTORS, "op", "run") if column not in levels]
    pivot = frame.pivot_table(index=index, columns=levels, values=values, sort=False)
    table = read(tmp_path, name, pivot.to_csv() if name == "t.csv" else pivot.to_html())
    assert set(table.names) == {*FACTORS, "op", "run", *values} and len(table) == len(frame)
    for value in values:
        keys = [*FACTORS, "op", "run"]
        cells = zip(*(table.columns[key].values for key in keys), table.numbers(value), strict=True)
        assert {row[:-1]: row[-1] for row in cells} == frame.set_index(keys)[value].to_dict()


def test_headers_of_two_lines_without_a_name_are_names(tmp_path):
    frame = make_many().groupby(FACTORS)[["bw", "lat"]].agg(["mean", "max"])
    table = read(tmp_path, "t.csv", frame.to_csv())
    names = [f"{metric} {statistic}" for metric in ("bw", "lat") for statistic in ("mean", "max")]
    assert table.names == [*FACTORS, *names] and len(table) == 3


def test_versions_in_yaml_stay_as_they_are_written(tmp_path):
    rows = "".join(f"- kernel: {kernel}\n  MB/s: {100 + place}.5\n" for place, kernel in enumerate(["5.1", "5.10"] * 3))
    assert set(read(tmp_path, "t.yaml", rows).columns["kernel"].levels) == {"5.1", "5.10"}


def test_a_cell_of_a_document_has_a_line(tmp_path):
    text = write_html_by_hand(TRIALS).replace("<tr>", "\n<tr>").replace("99.67", "x")
    table = read(tmp_path, "t.html", text)
    assert table.lines.tolist() == list(range(3, 33))
    table = read(tmp_path, "t.tex", write_latex_by_hand(TRIALS))
    assert table.lines.tolist() == list(range(6, 36))


@pytest.mark.parametrize("name", ["t.html", "t.tex"])
def test_several_tables_are_refused(tmp_path, name):
    text = write_html_by_hand(TRIALS) if name == "t.html" else write_latex_by_hand(TRIALS)
    with raises("not-one-table", DataError, n=2):
        read(tmp_path, name, text * 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.yaml", "a: [1, 2]\nb: x\n"),
        ("t.yaml", "text"),
        ("t.json", '{"a": {"b": [{"c": [1]}, {"c": [2]}]}}'),
        ("t.yml", "a: 1"),
    ],
)
def test_documents_without_records_are_refused(tmp_path, name, text):
    with raises("unknown-format", InputError):
        read(tmp_path, name, text)


def test_blocks_of_keys_are_rows(tmp_path):
    blocks = (f"fs: {a}\nclients: {b}\nbandwidth: {c} MB/s\n" for a, b, c in TRIALS.itertuples(index=False))
    table = read(tmp_path, "t.txt", "\n".join(blocks))
    assert table.columns["fs"].values.tolist() == TRIALS["fs"].tolist()
    assert np.allclose(table.numbers("bandwidth"), 1e6 * TRIALS["MB/s"])


def test_a_narrow_blank_before_the_unit_is_a_blank(tmp_path):
    table = read(tmp_path, "t.csv", write_cells(TRIALS, lambda rate: f"{rate}\u202fMB/s"))
    assert np.allclose(table.numbers("MB/s"), 1e6 * TRIALS["MB/s"])


@pytest.mark.parametrize("mark", ["_", "-", "/"])
def test_settings_in_a_name_are_columns(tmp_path, mark):
    names = [mark.join((fs, f"c{clients}", "seq")) for fs, clients, _ in TRIALS.itertuples(index=False)]
    text = TRIALS.assign(test=names)[["test", "MB/s"]].to_csv(index=False)
    table = read(tmp_path, "t.csv", text)
    assert guess_roles(table).settings == ("part1", "c", "part3") and "joined-names" in codes(table.warnings)
    assert table.numbers("c").tolist() == TRIALS["clients"].tolist()
    kept = Source(read_file(str(tmp_path / "t.csv"))).fold_repeats(("test",)).table
    assert kept.names == ["test", "MB/s"]


@pytest.mark.parametrize("names", [["ext4_1", "xfs_4"], ["ext4_a_b", "xfs_a"], ["ext4", "xfs"], ["a_1", "a_2"]])
def test_names_that_split_in_other_ways_stay(tmp_path, names):
    rows = [f"{names[place % 2]},{rate}" for place, rate in enumerate(TRIALS["MB/s"])]
    assert read(tmp_path, "t.csv", "\n".join(["test,MB/s", *rows])).names == ["test", "MB/s"]


def test_a_minus_sign_is_one(tmp_path):
    changes = [str(round(rate - 300, 2)).replace("-", "−") for rate in TRIALS["MB/s"]]
    table = read(tmp_path, "t.csv", TRIALS.assign(change=changes).to_csv(index=False))
    assert np.allclose(table.numbers("change"), TRIALS["MB/s"] - 300)


@pytest.mark.parametrize("cell", ["missing", "pending", "see note"])
def test_a_word_among_rates_is_refused_with_its_place(tmp_path, cell):
    frame = TRIALS.assign(**{"MB/s": [cell if place == 4 else rate for place, rate in enumerate(TRIALS["MB/s"])]})
    with raises("not-a-number", DataError, column="MB/s", cell=cell):
        guess_roles(read(tmp_path, "t.csv", frame.to_csv(index=False)))


def test_a_note_below_the_rows_is_refused_with_its_line(tmp_path):
    with raises("wrong-cell-count", DataError, line=33):
        read(tmp_path, "t.csv", f"{TRIALS.to_csv(index=False)}\nNote: three nodes, see wiki, page 7, and more\n")


def test_a_document_that_is_broken_is_refused(tmp_path):
    with raises("unreadable-file", DataError):
        read(tmp_path, "t.yaml", "- a: [1\n- b: {")
    with raises("unreadable-file", DataError):
        read(tmp_path, "t.yaml", "- &x {a: 1, b: 2}\n- *x\n")


@pytest.mark.parametrize(
    "text",
    [
        "fs,run1,run2,run3\next4,99,98,97.5\nxfs,105,106,107\n",  # levels in rows, trials in columns
        "op,a,b,a2,b2\nread,1,2,3,4.5\nwrite,2,3,4,5.5\n",
        "fs,size,MB/s,n,x,y\next4,4k,99,1,2,3\nxfs,4k,99,1,2,3\n",
    ],
)
def test_upright_tables_are_not_turned(tmp_path, text):
    assert "turned-table" not in codes(read(tmp_path, "t.csv", text).warnings)


def test_a_second_table_below_with_another_unit_is_another_response(tmp_path):
    table = read(tmp_path, "t.csv", write_stacked(TRIALS))
    assert len(table) == 60 and guess_roles(table).responses == ("MB/s", "IOPS")
    rates, operations = table.numbers("MB/s"), table.numbers("IOPS")
    assert rates[:30].tolist() == TRIALS["MB/s"].tolist() and np.isnan(rates[30:]).all()
    assert np.allclose(operations[30:], 256 * TRIALS["MB/s"]) and np.isnan(operations[:30]).all()


@pytest.mark.parametrize("mark", ["-", "–", " - "])
def test_ranges_stand_for_their_middle(tmp_path, mark):
    cells = [f"{rate - 3:.2f}{mark}{rate + 3:.2f}" for rate in TRIALS["MB/s"]]
    table = read(tmp_path, "t.csv", TRIALS.assign(**{"MB/s": cells}).to_csv(index=False))
    assert np.allclose(table.numbers("MB/s"), TRIALS["MB/s"]) and "ranges-in-cells" in codes(table.warnings)


def test_ranges_of_settings_stay(tmp_path):
    frame = TRIALS.assign(size=["1-10" if place % 2 else "10-100" for place in range(30)])
    assert read(tmp_path, "t.csv", frame.to_csv(index=False)).columns["size"].levels == ("10-100", "1-10")


@pytest.mark.parametrize("mark", ["~", "ca. ", "≈", "approx. "])
def test_marks_of_rounded_rates_are_left_out(tmp_path, mark):
    frame = TRIALS.assign(**{"MB/s": [f"{mark}{rate}" for rate in TRIALS["MB/s"]]})
    assert np.allclose(read(tmp_path, "t.csv", frame.to_csv(index=False)).numbers("MB/s"), TRIALS["MB/s"])


def test_a_rate_with_a_prefix_beside_sizes_with_one_is_a_number(tmp_path):
    rows = [f"{fs},{'4K' if clients == 1 else '1M'},{rate}M" for fs, clients, rate in TRIALS.itertuples(index=False)]
    table = read(tmp_path, "t.csv", "\n".join(["fs,bs,rate", *rows]))
    assert np.allclose(table.numbers("rate"), 1e6 * TRIALS["MB/s"]) and guess_roles(table).settings == ("fs", "bs")


def test_all_spellings_of_a_level_are_in_the_warning(tmp_path):
    spellings = ["xfs", "XFS ", "xfs.", "xfs", "ext4"]
    frame = TRIALS.assign(fs=[spellings[place % 5] for place in range(30)])
    warnings = {warning.code: warning for warning in read(tmp_path, "t.csv", frame.to_csv(index=False)).warnings}
    assert warnings["similar-levels"].values["n_levels"] == 3
